#!/usr/bin/env bash
# Too little memory, files, disk: a sentence before anything moves; a measured trial is never lost; a run
# whose folder was damaged is recognised before anything moves; a full device is an error.
set -eu
. "$SOURCE/tests/plant/common.sh"
unset TMPDIR
rig() { echo "{exec: [$PYTHON, $SOURCE/tests/attack/hostile_plant.py, $1.log]}"; }
task() { { spring 2 "$(rig "$1")"; echo 'optimise: {particles: 16, steps_first: 4}'; } > "$1.yaml"; }
run() { # name, options: learns, one trial
    local name=$1; shift
    "$MCPILCO" learn "$name.yaml" --out "run-$name" --trials 1 --seed 1 --yes "$@"
}
resets() { grep -c '^reset' "$1.log" 2> /dev/null || true; }

for limit in 120000 250000; do
    code=0
    (ulimit -v $limit && timeout 20 "$MCPILCO" check "$SOURCE/tasks/pendulum.yaml" --threads 1) \
        > limit.out 2>&1 || code=$?
    [ $code -eq 1 ] && grep -q 'memory limit is too low' limit.out ||
        fail "ulimit -v $limit: $code $(cat limit.out)"
done
code=0
(exec 3>&- 4>&- 5>&- 6>&- && ulimit -n 5 && timeout 20 "$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" \
    --out few) > few.out 2>&1 || code=$?
[ $code -eq 1 ] && grep -q 'Too many open files' few.out || fail "ulimit -n 5: $code $(cat few.out)"
echo "ok   limits are sentences"

task full
code=0
(ulimit -f 8 && run full) > full.out 2>&1 || code=$?
[ $code -eq 1 ] && grep -q 'no room for the' full.out || fail "no room: $code $(cat full.out)"
[ ! -s full.log ] || [ "$(resets full)" = 0 ] || fail "the plant moved without room for its data"
code=0
run full --set trial=600 > amount.out 2>&1 || code=$?
[ $code -eq 1 ] && grep -q 'the exploration alone has 29999 pairs' amount.out ||
    fail "data that no model takes: $code $(cat amount.out)"
[ ! -s full.log ] || [ "$(resets full)" = 0 ] || fail "the plant moved for data that no model takes"
echo "ok   nothing moves without room for the data"

task spool
code=0
FAULT_CALL=rename FAULT_AT=1 FAULT_ALWAYS=1 FAULT_KIND=28 FAULT_PATH=explore-01/trial \
    LD_PRELOAD="$BUILD/tests/faults.so" run spool > spool.out 2>&1 || code=$?
kept=$(sed -n 's/.*measured is kept in \([^:]*\):.*/\1/p' spool.out)
[ $code -eq 1 ] && [ -n "$kept" ] || fail "no word of where the trial is: $code $(cat spool.out)"
[ "$(wc -l < "$kept/trial.csv")" -eq 102 ] || fail "the trial is not whole in $kept"
cp "$kept"/trial.* run-spool/explore-01/
rm -r "$kept"
run spool --resume > spool.out 2>&1 || fail "resume: $(cat spool.out)"
[ "$(resets spool)" = 2 ] || fail "a trial that was kept was measured again"
echo "ok   a measured trial is kept elsewhere when its folder is full"

mv run-spool/explore-01/trial.csv aside.csv
before=$(resets spool)
code=0
run spool --resume --trials 2 > hole.out 2>&1 || code=$?
[ $code -eq 1 ] && grep -q 'the folder is damaged' hole.out || fail "a hole: $code $(cat hole.out)"
[ "$(resets spool)" = "$before" ] || fail "the plant moved for a damaged folder"
mv aside.csv run-spool/explore-01/trial.csv
sed -i 's/"samples": [0-9]*/"samples": 9223372036854775807/' run-spool/trial-01/result.json
"$MCPILCO" report run-spool -o report.html > report.out 2>&1 || fail "a hostile count: $(cat report.out)"
echo "ok   damaged folders are recognised before anything moves"

for verb in "show run-spool" "check $SOURCE/tasks/pendulum.yaml --brief" "help task" \
    "report run-spool -o /dev/full"; do
    code=0
    # shellcheck disable=SC2086
    "$MCPILCO" $verb > /dev/full 2> device.out || code=$?
    [ $code -eq 1 ] || fail "$verb > /dev/full: exit code $code"
done
echo "ok   a full device is an error"
