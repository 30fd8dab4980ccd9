#!/usr/bin/env bash
# However a run ends, the plant gets its safe input: Ctrl-C, SIGTERM, SIGKILL of mcpilco, death of the plant;
# and the run goes on from there to the same result as one that was not disturbed.
set -eu
. "$SOURCE/tests/plant/common.sh"
cp "$SOURCE/tests/plant/logging_rig.py" .
task() { # log file -> task file
    spring 2 "{exec: [$PYTHON, logging_rig.py, $1]}" > "$1.yaml"
    printf 'safe: 0.25 + 0*q\noptimise: {particles: 16, steps_first: 10}\n' >> "$1.yaml"
}
start() { # name: learns in the background, until its exploration has taken some steps
    task "$1"
    "$MCPILCO" learn "$1.yaml" --out "run-$1" --trials 1 --seed 2 --yes > "$1.out" 2>&1 &
    learner=$!
    for _ in $(seq 3000); do
        grep -q '^step 20$' "$1" 2> /dev/null && return
        sleep 0.01
    done
    cat "$1.out"
    fail "$1: the trial did not start"
}
plant_gone() { # the plant's process ends too
    local pid
    pid=$(sed -n 's/^pid //p' "$1" | tail -1)
    for _ in $(seq 3000); do
        kill -0 "$pid" 2> /dev/null || return 0
        sleep 0.01
    done
    fail "$1: the plant's process $pid is still there"
}
finish() { # resumes and compares with the undisturbed run
    "$MCPILCO" learn "$1.yaml" --out "run-$1" --trials 1 --seed 2 --yes --resume > "$1.resumed" 2>&1 ||
        { cat "$1.resumed"; fail "$1: resume"; }
    for f in explore-01/trial.csv trial-01/trial.csv trial-01/policy.json; do
        cmp "run-calm/$f" "run-$1/$f" || fail "$1: $f differs from the undisturbed run"
    done
    echo "ok   $1"
}

task calm
"$MCPILCO" learn calm.yaml --out run-calm --trials 1 --seed 2 --yes > calm.out 2>&1 ||
    { cat calm.out; fail "calm run"; }
[ "$(grep -c '^stop 0.25$' calm)" -eq 2 ] ||
    fail "calm: two trials end with the safe input, found: $(grep stop calm)"

for signal in INT TERM; do
    start "$signal"
    kill -$signal $learner
    code=0
    wait $learner || code=$?
    [ $code -eq 130 ] || [ $code -eq 143 ] || { cat "$signal.out"; fail "$signal: exit code $code"; }
    grep -q '^stop 0.25$' "$signal" || fail "$signal: no safe input: $(tail -2 "$signal")"
    plant_gone "$signal"
    finish "$signal"
done

start KILL
kill -KILL $learner
wait $learner 2> /dev/null || true
plant_gone KILL
grep -q '^stop 0.0$' KILL || fail "KILL: the plant did not stop by itself: $(tail -2 KILL)"
finish KILL

echo 30 > death.die
task death
code=0
"$MCPILCO" learn death.yaml --out run-death --trials 1 --seed 2 --yes > death.out 2>&1 || code=$?
[ $code -eq 1 ] || fail "death: exit code $code"
grep -q 'was killed by signal 9' death.out || { cat death.out; fail "death: no sentence"; }
[ "$(wc -l < run-death/explore-01/interrupted.csv)" -eq 31 ] || fail "death: the data before was not kept"
finish death
