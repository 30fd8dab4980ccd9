#!/usr/bin/env bash
# Single precision changes J and its gradient at least 30 times less than another draw of the particles' noise
# does: on models of real, short runs, for fresh and for learned policies, with the tasks' own settings.
# labels: slow
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
for task in pendulum cartpole quadrotor tanks; do
  "$MCPILCO" learn "$SOURCE/tasks/$task.yaml" --seed 1 --trials 2 --quiet --out $task \
    --set optimise.steps_first=120 --set optimise.steps=120 > /dev/null
  "$MCPILCO" bench precision $task > $task.txt || fail "$(cat $task.txt)"
  [ "$(grep -c ' fresh \| learned ' $task.txt)" = 4 ] || fail "$task: not both policies of both trials"
  echo "ok   $task"
done
# there is single precision in it, and too little is told
grep -q 'dtheta: single' cartpole.txt || fail "no GP of the cart-pole runs in single precision"
if "$MCPILCO" bench precision pendulum --least 1e9 > much.txt; then fail "a margin of 1e9 is believed"; fi
grep -q 'TOO LITTLE' much.txt || fail "what is too little is not marked"
"$MCPILCO" bench precision pendulum --draws 2 --least 0 --json | grep -q '"enough": true' || fail "no JSON"
echo "ok   what is too little is told"
# many data: weights of opposite sign stay small enough for single precision
"$MCPILCO" bench step --data 1760 --particles 32 --repeats 1 > many.txt || fail "$(cat many.txt)"
[ "$(grep -c 'in single precision' many.txt)" = 2 ] || fail "1760 data: $(grep precision many.txt)"
echo "ok   1760 data"
