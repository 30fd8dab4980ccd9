#!/usr/bin/env bash
# labels: e2e
# Going on: --resume RUN alone, a task that changed harmlessly or not, an empty run, --from, a damaged trial.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"; cd "$WORK"
bad=0
fail() { echo "FAIL: $*"; bad=1; }
says() { # pattern, command...: it fails and says so
    local pattern=$1
    shift
    if "$@" > out.txt 2>&1; then fail "succeeded: $*"; fi
    grep -qE "$pattern" out.txt || { fail "$* does not say \"$pattern\":"; cat out.txt; }
}
small="--set optimise.particles=16 --set optimise.steps=4 --set optimise.steps_first=4 --threads 1 --quiet"
cp "$SOURCE/tasks/pendulum.yaml" p.yaml

# the run knows task, seed and settings
"$MCPILCO" learn p.yaml --seed 3 --trials 3 --out whole $small || fail "learn"
"$MCPILCO" learn p.yaml --seed 3 --trials 1 --out part $small || fail "learn, one trial"
"$MCPILCO" learn --resume part --trials 3 --quiet || fail "learn --resume RUN"
cmp whole/trial-03/policy.json part/trial-03/policy.json || fail "--resume RUN leads to another policy"
"$MCPILCO" learn p.yaml --seed 3 --trials 1 --out part2 $small || fail "learn, one trial"
"$MCPILCO" learn part2 --resume --trials 2 --quiet || fail "learn RUN --resume"
cmp whole/trial-02/policy.json part2/trial-02/policy.json || fail "RUN --resume leads to another policy"

# comments and titles do not matter; what matters is named, with the way out
{ echo '# a remark'; sed 's/^title:.*/title: another one/' p.yaml; } > titled.yaml
"$MCPILCO" learn titled.yaml --seed 3 --trials 3 --out part2 --resume $small || fail "a new title"
cmp whole/trial-03/policy.json part2/trial-03/policy.json || fail "a title changed the policy"
says 'start.*--from part2' \
    "$MCPILCO" learn p.yaml --seed 3 --trials 4 --out part2 --resume $small --set start.std=0.02

# an empty run is no obstacle
mkdir empty
sed 's/^policy:.*/policy: 2.5*tanh(rbf(50, dtheta, sin(theta), cos(theta)))/' p.yaml > other.yaml
"$MCPILCO" learn p.yaml --out empty $small --set 'plant={exec: [/bin/false]}' --yes > /dev/null 2>&1 &&
    fail "false is a plant"
[ -e empty/run.json ] || fail "no run.json to try this with"
"$MCPILCO" learn other.yaml --out empty --trials 1 $small || fail "an empty run is in the way"

# the same robot, another goal
"$MCPILCO" learn p.yaml --seed 3 --trials 1 --out goal --from whole $small --set 'start={std: 0.02}' ||
    fail "--from"
[ "$(find goal -name trial.csv | wc -l)" = 5 ] || fail "--from: $(find goal -name trial.csv)"
"$MCPILCO" show goal > /dev/null || fail "show after --from"
says 'another robot.*rate' "$MCPILCO" learn p.yaml --out goal2 --from whole $small --set rate=40
[ ! -e goal2/run.json ] || fail "--from left a run behind"
says 'holds a run' "$MCPILCO" learn p.yaml --seed 3 --out goal --from whole $small

# nothing is substituted
cp -r whole damaged
: > damaged/trial-03/policy.json
for verb in evaluate export "simulate -o out.npy"; do
    says 'name the one to use' "$MCPILCO" $verb damaged
done
"$MCPILCO" evaluate damaged --policy 2 --runs 2 > /dev/null || fail "a policy that is whole"
[ $bad = 0 ] && echo ok
exit $bad
