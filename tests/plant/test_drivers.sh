#!/usr/bin/env bash
# The example drivers do what their first lines say: C, Python, Gymnasium, an Arduino sketch. Learning on the
# Python cart-pole over exec, tcp and udp gives the same files as learning on the plant in this process.
set -eu
. "$SOURCE/tests/plant/common.sh"

learn here "$SOURCE/tasks/cartpole.yaml"
learn exec "$SOURCE/tasks/cartpole.yaml" --set "plant={exec: [$PYTHON, $DRIVERS/cartpole.py]}"
same exec
for kind in tcp udp; do
    "$PYTHON" "$DRIVERS/cartpole.py" --$kind 0 > $kind.out &
    pid=$!
    trap 'kill $pid 2> /dev/null || true' EXIT
    learn $kind "$SOURCE/tasks/cartpole.yaml" --set "plant={$kind: '$(listening $kind.out)'}"
    kill $pid
    same $kind
    # and the plant that comes with the program
    "$MCPILCO" plant "$SOURCE/tasks/cartpole.yaml" --$kind 0 > own-$kind.out &
    pid=$!
    learn own-$kind "$SOURCE/tasks/cartpole.yaml" --set "plant={$kind: '$(listening own-$kind.out)'}"
    kill $pid
    same own-$kind
done
learn own-exec "$SOURCE/tasks/cartpole.yaml" \
    --set "plant={exec: [$MCPILCO, plant, $SOURCE/tasks/cartpole.yaml]}"
same own-exec

cp "$DRIVERS"/pendulum-*.yaml .
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 -o rig "$DRIVERS/rig.c" -lm
learn c pendulum-rig.yaml
echo "ok   driver in C"

if command -v c++ > /dev/null; then
    c++ -Wall -Wextra -Werror -O2 -I "$DRIVERS/arduino/host" -include Arduino.h -x c++ \
        "$DRIVERS/arduino/rig/rig.ino" -x none "$DRIVERS/arduino/host/host.cpp" -o board
    learn sketch pendulum-arduino.yaml --set 'plant={exec: [./board]}'
    grep -q '^0,' sketch/trial-01/trial.csv || fail "the sketch's trial is empty"
    echo "ok   Arduino sketch"
else
    echo "skip Arduino sketch: no C++ compiler"
fi

cp "$SOURCE/tests/plant/spring_env.py" .
spring 1 "{exec: [$PYTHON, $DRIVERS/gymnasium_plant.py, 'spring_env:Spring', --args, '4', --rate, '50',
    --inputs, u, --truth, 'q:m,v:m/s', --pick, '0,1']}" > spring.yaml
learn gym spring.yaml
[ "$(wc -l < gym/trial-01/trial.csv)" -eq 52 ] ||
    fail "an environment's trial has $(wc -l < gym/trial-01/trial.csv) lines"
learn ended spring.yaml --set 'start.mean=[0.3, 1.6]'
grep -q 'the environment terminated the episode' ended/trial-01/trial.json ||
    fail "the end of an episode was not noticed"
gym="$PYTHON, $DRIVERS/gymnasium_plant.py, 'spring_env:SpringSteps', --rate, '50', --inputs, u"
spring 1 "{exec: [$gym, --truth, 'q:m,v:m/s', --pick, '0,1', '--actions=-1,0,1']}" > steps.yaml
learn steps steps.yaml
echo "ok   Gymnasium wrapper"
