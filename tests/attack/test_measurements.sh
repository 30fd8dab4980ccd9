#!/usr/bin/env bash
# Measurements that cannot be: a trial ends at one with a sentence, a run that holds one goes on without it, a
# command that got lost is not recorded as applied, and no control character of a plant reaches the terminal.
set -eu
. "$SOURCE/tests/plant/common.sh"
plant() { echo "{exec: [$PYTHON, $SOURCE/tests/attack/hostile_plant.py, $1.log, --do, $2]}"; }
short='optimise: {particles: 16, steps_first: 4}'
run() { # name, plant, more options
    local name=$1 plant=$2; shift 2
    { spring 2 "$plant"; echo "$short"; } > "$name.yaml"
    "$MCPILCO" learn "$name.yaml" --out "run-$name" --trials 1 --seed 1 --yes "$@" > "$name.out" 2>&1
}

run wraps "$(plant wraps huge@30)" --set 'measured={q: {noise: 1e-3, wraps: yes}}' &&
    fail "an angle of 1e308 was taken"
grep -q 'at sample 30 cannot be' wraps.out || fail "wraps: $(cat wraps.out)"
run most "$(plant most nothing)" --set 'measured={q: {noise: 1e-3, most: 0.05}}' &&
    fail "more than most was taken"
grep -q 'at most 0.05 is expected' most.out || fail "most: $(cat most.out)"
grep -q '^stop 0$' wraps.log && grep -q '^stop 0$' most.log || fail "no safe input"
echo "ok   a measurement that cannot be ends the trial"

run healthy "$(plant healthy nothing)" || fail "$(cat healthy.out)"
cp -r run-healthy run-stranded
rm -r run-stranded/trial-01 run-stranded/explore-01/{states.csv,result.json}
awk -F, 'BEGIN { OFS = "," } NR == 62 { $2 = "1e308" } { print }' run-healthy/explore-01/trial.csv \
    > run-stranded/explore-01/trial.csv
"$MCPILCO" learn healthy.yaml --out run-stranded --trials 1 --seed 1 --yes --resume > stranded.out 2>&1 ||
    fail "a run with an impossible sample is stranded: $(cat stranded.out)"
grep -q 'cut: q = 1e+308 at sample 60 cannot be' run-stranded/explore-01/result.json ||
    fail "not said to be cut"
grep -q '"samples": 60' run-stranded/explore-01/result.json || fail "not cut at the sample"
grep -q 1e308 run-stranded/explore-01/trial.csv || fail "the measured file was changed"
echo "ok   a run with an impossible sample goes on without it"

"$PYTHON" "$SOURCE/tests/attack/hostile_plant.py" lost.log --wire udp --lose 10 > lost.address &
server=$!
trap 'kill $server 2> /dev/null || true' EXIT
run lost "{udp: '$(listening lost.address)', paced: yes}" || fail "$(cat lost.out)"
"$PYTHON" - <<'END' || fail "lost commands were recorded as applied"
import csv
rows = list(csv.DictReader(open("run-lost/explore-01/trial.csv")))
sent, given = ([float(r[c + ".u"]) for r in rows[:-1]] for c in ("commanded", "applied"))
lost = [int(x.split()[1]) - 1 for x in open("lost.log") if x.startswith("lost")][:10]
assert len(lost) == 10, lost
for k in range(100):
    assert given[k] == (sent[k - 1] if k in lost else sent[k]), (k, given[k], sent[k])
END
echo "ok   a lost command is not recorded as applied"

run escape "$(plant escape escape@20)" && fail "an error of the plant was taken for an answer"
run ended "$(plant ended end_escape@20)" || fail "$(cat ended.out)"
"$MCPILCO" show run-ended > show.out
"$MCPILCO" report run-ended -o report.html > /dev/null
LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" escape.out ended.out show.out report.html \
    run-ended/explore-01/*.json && fail "control characters of a plant got through"
grep -q '<script>alert' report.html && fail "a plant's text is code in the page"
echo "ok   a plant's text is plain"
