#!/usr/bin/env bash
# A plant that talks without end about something else counts as lost, and keeps nobody from leaving. What a
# crash sends is within the input's range. Closed standard descriptors do not become a file or a wire.
set -eu
. "$SOURCE/tests/plant/common.sh"
plant() { echo "{exec: [$PYTHON, $SOURCE/tests/attack/talkative_plant.py, $PWD/$1.log, $2], timeout: 0.5}"; }
begun() { # name: waits for the trial's tenth step
    for _ in $(seq 3000); do
        [ -e "$1.log" ] && [ "$(grep -c '^step' "$1.log")" -ge 10 ] && return
        sleep 0.01
    done
    fail "the trial did not start: $(cat "$1.out")"
}
learn_on() { # name, words of the plant: in the background, once the trial is at its tenth step
    spring 30 "$(plant "$1" "$2")" > "$1.yaml"
    "$MCPILCO" learn "$1.yaml" --out "run-$1" --trials 1 --yes --set optimise.particles=16 \
        --set optimise.steps_first=4 > "$1.out" 2>&1 &
    learner=$!
    begun "$1"
}
ended() { # name, exit code, words
    local code=0
    wait $learner || code=$?
    [ $code -eq "$2" ] && grep -q "$3" "$1.out" || fail "$1: exit code $code, $(cat "$1.out")"
}

for line in 'data 1 0 0' 'hello 1' 'applied 1' 'wait 0'; do
    learn_on "${line%% *}" "'$line'"
    ended "${line%% *}" 1 'gave no answer to "step 11'
done
learn_on asking "'wait 3600 homing'"
kill -TERM $learner
ended asking 130 'stopped while waiting' # the last resort would say "mcpilco: stopped"
echo "ok   endless talk counts as silence"

spring 30 "$(plant range "'-'")" | sed 's/^inputs:.*/inputs: {u: {limit: [0.5, 2]}}/' > range.yaml
"$MCPILCO" learn range.yaml --out run-range --trials 1 --yes > range.out 2>&1 &
learner=$!
begun range
kill -ABRT $learner
wait $learner || true
for _ in $(seq 500); do
    grep -q '^stop' range.log && break
    sleep 0.01
done
grep -q '^stop [0-9]* 0.5$' range.log || fail "what a crash sent: $(grep '^stop' range.log)"
echo "ok   a crash sends what is within the range"

spring 0.6 "$(plant closed "'-'")" > closed.yaml
code=0
"$MCPILCO" rig closed.yaml --yes >&- 2>&- || code=$?
[ -s closed.log ] || fail "the rig was not asked: exit code $code"
grep -vq '^\(hello\|reset\|step\|stop\|apply\|read\|bye\)' closed.log &&
    fail "messages went down the wire: $(grep -v '^\(hello\|reset\|step\|stop\|bye\)' closed.log | head -n 3)"
"$MCPILCO" learn closed.yaml --out run-closed --trials 1 --yes --set optimise.particles=16 \
    --set optimise.steps_first=4 <&- >&- 2>&- || true
grep -q '^[0-9]*$' run-closed/lock && [ "$(wc -l < run-closed/lock)" -eq 1 ] ||
    fail "messages went into a run's file: $(head -n 3 run-closed/lock)"
echo "ok   closed descriptors stay closed"
