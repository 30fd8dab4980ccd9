#!/usr/bin/env bash
# labels: asan
# What the command line says when something is wrong, and that it does what it says when nothing is.
set -u
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK" || exit 1
failed=0
task="$SOURCE/tasks/pendulum.yaml"
tiny="--set optimise.particles=24 --set optimise.steps_first=40 --set optimise.steps=30
      --set optimise.patience=10 --set optimise.evaluate_every=5"

# expect CODE PATTERN command...: exit code, and a line of its output that has the pattern
expect() {
    local code=$1 pattern=$2 out got
    shift 2
    out=$("$@" 2>&1 < /dev/null)
    got=$?
    if [ "$got" != "$code" ]; then echo "FAIL exit $got, expected $code: $*"; echo "$out" | tail -3; failed=1
    elif ! grep -qE -e "$pattern" <<< "$out"; then
        echo "FAIL no \"$pattern\" in the output of: $*"
        echo "$out" | tail -3
        failed=1
    else echo "ok   $pattern"; fi
}

expect 2 'usage: mcpilco VERB' "$MCPILCO"
expect 0 'evaluate .*run a policy many times' "$MCPILCO" --help
expect 2 'no verb "lern"; did you mean learn\?' "$MCPILCO" lern
for verb in learn evaluate check simulate show; do expect 0 'examples:' "$MCPILCO" $verb --help; done
expect 2 'no option --trails; did you mean --trials\?' "$MCPILCO" learn "$task" --trails 3
expect 2 '--trials 0: expected a whole number from 1' "$MCPILCO" learn "$task" --trials 0
expect 2 '--trials 2.5: expected a whole number' "$MCPILCO" learn "$task" --trials=2.5
expect 2 '--seed -1: expected a whole number' "$MCPILCO" learn "$task" --seed -1
expect 2 '--trials needs a value: N' "$MCPILCO" learn "$task" --trials
expect 2 'takes no value' "$MCPILCO" learn "$task" --resume=yes
expect 2 'argument is missing; usage: mcpilco learn TASK' "$MCPILCO" learn
expect 2 'one argument too many' "$MCPILCO" learn "$task" more
expect 1 'nowhere.yaml' "$MCPILCO" learn nowhere.yaml
expect 1 'optimise.*"particle".*particles' "$MCPILCO" learn "$task" --set optimise.particle=3
expect 1 'no algorithm "mc-pilko"; there are mc-pilco4pms, mc-pilco' "$MCPILCO" learn "$task" \
    --algorithm mc-pilko --out a
expect 1 'not a run folder' "$MCPILCO" show "$SOURCE"
expect 0 'usage: mcpilco learn' "$MCPILCO" help learn
expect 2 'did you mean learn' "$MCPILCO" help lern
expect 1 '"event": "error".*"exit": 1' "$MCPILCO" show nowhere --json
expect 1 'not a run folder' "$MCPILCO" evaluate nowhere

expect 0 'the gradient is right' "$MCPILCO" check "$task"
expect 0 'controller: measurement' "$MCPILCO" check "$task"
expect 0 '"gradient_right": true' "$MCPILCO" check "$task" --json

expect 0 'trial 2 ' "$MCPILCO" learn "$task" --trials 2 --seed 4 $tiny
expect 0 'task pendulum, seed 4, mc-pilco4pms, finished' "$MCPILCO" show runs/pendulum-4
wide=$("$MCPILCO" show runs/pendulum-4 | grep -E '^  (trial|explore) ' | awk 'length > 80')
[ -z "$wide" ] || { echo "FAIL wider than a terminal of 80 columns: $wide"; failed=1; }
expect 1 'holds a run already; continue it with --resume' "$MCPILCO" learn "$task" --seed 4 $tiny
expect 0 '^  trial 3 ' "$MCPILCO" learn "$task" --seed 4 --trials 3 $tiny --resume
expect 0 'is now runs/pendulum-4.old-1' "$MCPILCO" learn "$task" --seed 4 --trials 1 $tiny --force
expect 1 'has policy trials 1 to 1, not 7' "$MCPILCO" evaluate runs/pendulum-4 --policy 7
expect 0 'on the plant +[0-9]+ of 30' "$MCPILCO" evaluate runs/pendulum-4.old-1 --runs 30
expect 0 '"successes": ' "$MCPILCO" evaluate runs/pendulum-4 --runs 5 --json
expect 2 'say where to save' "$MCPILCO" simulate runs/pendulum-4
expect 0 '51 x 20 x 2' "$MCPILCO" simulate runs/pendulum-4 --particles 20 -o fan.npy
expect 1 'cannot write it' "$MCPILCO" simulate runs/pendulum-4 --particles 20 -o nowhere/fan.npy
expect 0 '"event": "end"' "$MCPILCO" learn "$task" --trials 1 --seed 5 $tiny --json
expect 0 '^$' "$MCPILCO" learn "$task" --trials 1 --seed 6 $tiny --quiet
"$MCPILCO" learn "$task" --trials 1 --seed 7 $tiny --json | while read -r line; do
    echo "$line" | /usr/bin/python3 -c 'import json, sys; json.loads(sys.stdin.read())' || echo bad
done | grep -q bad && { echo "FAIL a line of --json is not JSON"; failed=1; }

# Ctrl-C: exit 130, how to go on, and then it does.
"$MCPILCO" learn "$task" --seed 8 --trials 3 > out 2> err &
pid=$!
for _ in $(seq 600); do [ -f runs/pendulum-8/explore-01/trial.csv ] && break; sleep 0.05; done
kill -INT $pid
wait $pid
code=$?
if [ $code = 0 ]; then echo "FAIL it was not stopped"; failed=1
elif [ $code != 130 ] || ! grep -q 'go on with: mcpilco learn .*--seed 8 --trials 3 --resume' err; then
    echo "FAIL exit $code after Ctrl-C: $(cat err)"; failed=1
else echo "ok   Ctrl-C"; fi
expect 0 'seed 8, mc-pilco4pms, stopped' "$MCPILCO" show runs/pendulum-8
expect 0 'First success|No trial succeeded' "$MCPILCO" learn "$task" --seed 8 --trials 1 --resume

# A second process in the same folder is refused, by pid.
"$MCPILCO" learn "$task" --seed 9 --trials 4 > /dev/null 2>&1 &
pid=$!
for _ in $(seq 600); do [ -f runs/pendulum-9/run.json ] && break; sleep 0.05; done
expect 1 "process $pid is working in this run folder" "$MCPILCO" learn "$task" --seed 9 --trials 4 --resume
kill -TERM $pid
wait $pid
[ $? = 130 ] || { echo "FAIL SIGTERM does not stop cleanly"; failed=1; }

exit $failed
