#!/bin/bash
# What learn says while it works: steps never pass their limit, times left are bounds for the optimisation at
# hand, the table shows the wait before each trial and how it compares to the motion.
set -u
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK" || exit 1
fail() { echo "FAIL: $*"; sed -n 1,60p log; exit 1; }

# candidates race on top of the steps, and from trial 2 on a fresh policy is optimised as well
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" --trials 3 --seed 4 --threads 1 --out run \
    --set optimise.particles=16 --set optimise.steps_first=200 --set optimise.steps=200 \
    --set optimise.patience=1000 --set optimise.candidates=2 --set optimise.second_try=2 > log 2>&1 ||
    fail "learn failed"
grep -q 'step' log || fail "no progress was said"
awk '/: step / { split($4, s, "[/,]"); if (s[1] + 0 > s[2] + 0) bad = 1 } END { exit bad }' log ||
    fail "a step beyond its limit"
grep ': step .*left' log | grep -vE 'at most about ([0-9]+ (h|min) )?[0-9]+(\.[0-9]+)? (s|min) left' &&
    fail "a time left that is no bound"
grep -E -- '-[0-9.]+ (s|min) left' log && fail "a negative time"
[ "$(grep -c ': step .*left' log)" -ge 3 ] || fail "no times left"
grep -qE 'ready in [0-9].* \([0-9.]+ times the motion\)' log || fail "the wait before a trial is not said"
grep -qE 'in band +wait$' log || fail "the table has no column of waits"
grep -qE '^  [0-9.]+ s of waiting for policies, [0-9.]+ s of motion: [0-9.]+ times as long$' log ||
    fail "no ratio"
echo "ok   progress lines"
