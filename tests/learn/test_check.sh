#!/usr/bin/env bash
# check tells a gradient that is right from differences that are too rough to tell; neither is an error.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
task=$SOURCE/tasks/pendulum.yaml
"$MCPILCO" check "$task" --brief --set optimise.particles=8 > right.txt || fail "$(tail -n 5 right.txt)"
grep -q 'the gradient is right' right.txt || fail "a right gradient: $(tail -n 3 right.txt)"
echo "ok   a right gradient is called right"

# A ripple far below any step of a parameter: its slope is real, and no difference shows it.
rough='cost=1 - exp(-((abs(theta) - pi)/2)^2) + 0.01*sin(1e15*theta)'
"$MCPILCO" check "$task" --brief --set optimise.particles=8 --set "$rough" > rough.txt ||
  fail "a rough cost is an error: $(tail -n 5 rough.txt)"
grep -q 'the gradient cannot be checked' rough.txt || fail "a rough cost: $(tail -n 5 rough.txt)"
grep -q 'again over 12 steps' rough.txt || fail "no shorter rollout was tried"
"$MCPILCO" check "$task" --set optimise.particles=8 --set "$rough" --json > rough.json || fail "as JSON"
grep -q '"gradient_right": null' rough.json || fail "$(cat rough.json)"
echo "ok   differences that are too rough are called so, after shorter rollouts"
