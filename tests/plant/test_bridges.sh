#!/usr/bin/env bash
# The bridges to ROS 2 topics and to a motor board on a CAN bus, on stand-ins of ours: a trial is learned
# from; when mcpilco dies in the middle, or the robot goes silent, the motor gets zero.
set -eu
. "$SOURCE/tests/plant/common.sh"
export PYTHONPATH=$DRIVERS:$SOURCE/tests/plant/ros_stand_in ROS_LOG=$WORK/ros.wire CAN_LOG=$WORK/can.wire
ros="[$PYTHON, $DRIVERS/ros2_plant.py, --rate, '20', --joint, hinge, --inputs, 'u:N.m',
  --measured, 'theta:rad']"
can="[$PYTHON, $SOURCE/tests/plant/can_board.py, --node, '1', --rate, '20', --inputs, 'u:N.m',
  --measured, 'theta:rad']"
for driver in ros2_plant.py can_plant.py; do
  [ "$(wc -l < "$DRIVERS/$driver")" -lt 100 ] || fail "$driver has grown beyond 100 lines"
done
short="--set trial=0.5 --set success.last=0.1"

learn ros "$DRIVERS/pendulum-rig.yaml" --set "plant={exec: $ros}" $short
[ "$(wc -l < ros/trial-01/trial.csv)" -eq 12 ] || fail "ROS: the trial is too short"
[ "$(tail -n 2 ros.wire)" = "$(printf '/effort_controller/commands [0.0]\nshutdown')" ] ||
  fail "ROS: ends with $(tail -n 2 ros.wire)"
echo "ok   learning over topics, and zero at the end"

ROS_MUTE_AFTER=1 "$MCPILCO" learn "$DRIVERS/pendulum-rig.yaml" --yes --out mute --set "plant={exec: $ros}" \
  --set trial=3 > mute.txt 2>&1 || true
grep -q 'the last JointState is' mute/*/trial.json mute.txt ||
  fail "silence of the robot: $(tail -n 3 mute.txt)"
echo "ok   a robot that goes silent ends the trial"

learn can "$DRIVERS/pendulum-rig.yaml" --set "plant={exec: $can}" $short
[ "$(wc -l < can/trial-01/trial.csv)" -eq 12 ] || fail "CAN: the trial is too short"
[ "$(tail -n 1 can.wire)" = "enable 0" ] || fail "CAN: the board was left enabled"
echo "ok   learning over frames, and the board off at the end"

CAN_LOST_AFTER=15 "$MCPILCO" learn "$DRIVERS/pendulum-rig.yaml" --yes --out lost --set "plant={exec: $can}" \
  > lost.txt 2>&1 && fail "a lost board was not noticed"
grep -q 'no answer from board 1' lost.txt || fail "CAN: $(cat lost.txt)"
echo "ok   a board that does not answer ends the trial by name"

# mcpilco is killed in the middle of a trial: the driver sees the end of the pipe
for kind in ros can; do
  : > $kind.wire
  "$MCPILCO" learn "$DRIVERS/pendulum-rig.yaml" --yes --out killed-$kind --set "plant={exec: ${!kind}}" \
    --set trial=30 > killed.txt 2>&1 &
  pid=$!
  for _ in $(seq 200); do
    grep -q 'enable 1\|commands \[-\?[0-9.]*[1-9]' $kind.wire && break
    sleep 0.05
  done
  kill -9 $pid
  wait $pid 2> /dev/null || true
  for _ in $(seq 100); do
    tail -n 2 $kind.wire | grep -q 'enable 0\|commands \[0.0\]\|shutdown' && break
    sleep 0.05
  done
  tail -n 2 $kind.wire | grep -q 'enable 0\|commands \[0.0\]' ||
    fail "$kind: not switched off: $(tail -n 2 $kind.wire)"
done
echo "ok   the motor is switched off when mcpilco dies"
