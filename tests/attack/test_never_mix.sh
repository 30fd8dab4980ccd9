#!/usr/bin/env bash
# Two runs never mix: --force refuses while somebody works in the folder, moves nothing before it was
# confirmed, and a run whose folder was moved away writes nothing into the one that took its place.
set -eu
. "$SOURCE/tests/plant/common.sh"
cp "$SOURCE/tests/plant/logging_rig.py" .
spring 2 "{exec: [$PYTHON, logging_rig.py, rig.log]}" > spring.yaml
printf 'optimise: {particles: 16, steps_first: 10}\n' >> spring.yaml
begin() { # seed: a run in the background, once its exploration has begun
    : > rig.log
    "$MCPILCO" learn spring.yaml --out run --trials 1 --seed "$1" --yes > "$1.out" 2>&1 &
    learner=$!
    for _ in $(seq 3000); do
        grep -q '^step 20$' rig.log && return
        sleep 0.01
    done
    fail "the trial did not start: $(cat "$1.out")"
}

begin 1
code=0
"$MCPILCO" learn spring.yaml --out run --trials 1 --seed 2 --yes --force > forced.out 2>&1 || code=$?
[ $code -eq 1 ] || fail "--force beside a running learner: exit code $code"
grep -q "process $learner is working in this run folder" forced.out || fail "no sentence: $(cat forced.out)"
[ ! -e run.old-1 ] || fail "--force moved a folder somebody works in"
wait $learner || fail "the first run did not end well: $(cat 1.out)"
echo "ok   --force refuses while the folder is in use"

before=$(cat run/run.json run/trial-01/policy.json | sha256sum)
code=0
"$MCPILCO" learn spring.yaml --out run --trials 1 --seed 2 --force > asked.out 2>&1 < /dev/null || code=$?
[ $code -eq 2 ] || fail "unconfirmed --force: exit code $code"
[ ! -e run.old-1 ] && [ "$before" = "$(cat run/run.json run/trial-01/policy.json | sha256sum)" ] ||
    fail "--force moved a run before it was confirmed"
echo "ok   --force moves nothing before it is confirmed"

mv run first
begin 3
mv run moved
spring 2 '{ode: {v: u - 4*q - 0.1*v}}' > other.yaml
"$MCPILCO" learn other.yaml --out run --trials 1 --seed 4 --set optimise.particles=16 \
    --set optimise.steps_first=10 > 4.out 2>&1 || fail "a new run in the old place: $(cat 4.out)"
files=$(find run -type f | sort | xargs sha256sum)
code=0
wait $learner || code=$?
[ $code -eq 1 ] || fail "the run whose folder was moved: exit code $code"
grep -q 'moved, removed or replaced' 3.out || fail "no sentence about the moved folder: $(cat 3.out)"
[ "$files" = "$(find run -type f | sort | xargs sha256sum)" ] || fail "the moved run wrote into the new one"
[ "$(wc -l < moved/explore-01/trial.csv)" -eq 102 ] || fail "the last trial was not kept in its folder"
[ "$(grep -c '^reset' rig.log)" -eq 1 ] || fail "the plant moved again for a folder that was gone"
echo "ok   a run whose folder was moved keeps to its own"
