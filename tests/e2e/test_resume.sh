#!/usr/bin/env bash
# A run killed by SIGKILL at random moments and resumed ends with the same files, bit for bit, as one that was
# left alone.
# usage: test_resume.sh [KILLS]      (5; by hand: MCPILCO=build/mcpilco SOURCE=. WORK=/tmp/w
# tests/e2e/test_resume.sh 20)
set -eu
kills=${1:-5}
rm -rf "$WORK" && mkdir -p "$WORK"
learn() { # in a shell of its own when in the background: exec, so that the pid is the program's
    exec "$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" --trials 3 --seed 3 \
        --quiet --set optimise.particles=32 \
        --set optimise.steps_first=150 --set optimise.steps=100 --set optimise.patience=50 "$@"
}
began=$(date +%s%N)
(learn --out "$WORK/whole")
took=$(( ($(date +%s%N) - began) / 1000000 ))   # ms

RANDOM=17
done=0
while [ "$done" -lt "$kills" ]; do
    learn --out "$WORK/cut" --resume &
    pid=$!
    ms=$(( RANDOM % (took + 1) ))
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
    if kill -9 "$pid" 2>/dev/null; then done=$((done + 1)); fi
    wait "$pid" 2>/dev/null || true
    # A run that came to its end in spite of it begins again.
    if [ -f "$WORK/cut/run.json" ] && grep -q '"status": "finished"' "$WORK/cut/run.json"; then
        [ "$done" -lt "$kills" ] && rm -rf "$WORK/cut"
    fi
done
(learn --out "$WORK/cut" --resume)

bad=0
for f in $(cd "$WORK/whole" && find explore-* trial-* -type f ! -name result.json ! -name optimise.json \
    ! -name forecast.json); do
    cmp -s "$WORK/whole/$f" "$WORK/cut/$f" || { echo "FAIL $f differs"; bad=1; }
done
# The other three hold wall times; all else in them is the same too.
for f in $(cd "$WORK/whole" && find trial-* explore-* -name result.json -o -name optimise.json \
    -o -name forecast.json); do
    diff <(grep -v '_s"' "$WORK/whole/$f") <(grep -v '_s"' "$WORK/cut/$f") > /dev/null ||
        { echo "FAIL $f differs"; bad=1; }
done
[ -z "$(find "$WORK/cut" -name '*.partial')" ] || { echo "FAIL half-written files are left"; bad=1; }
[ -f "$WORK/cut/trial-03/policy.json" ] || { echo "FAIL no third policy"; bad=1; }
[ $bad = 0 ] && echo "ok   $kills kills in runs of $took ms: the same bits"
exit $bad
