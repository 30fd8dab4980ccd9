#!/usr/bin/env bash
# Learning by files: next, run elsewhere, add, next, ... With the data of a live run it gives the same bits as
# the live run; with a bench of its own, other names, other units and an uneven clock it learns; every mistake
# gets one sentence and changes nothing.
set -u
PYTHON=/usr/bin/python3
command -v "$PYTHON" > /dev/null || PYTHON=$(command -v python3)
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK" || exit 1
failed=0
fail() { echo "FAIL $*"; failed=1; }
task=$SOURCE/tasks/pendulum.yaml
tiny="--set optimise.particles=24 --set optimise.steps_first=40 --set optimise.steps=30
      --set optimise.patience=10 --set optimise.evaluate_every=5 --set optimise.candidates=0"
expect() { # code, pattern, command ...
    local code=$1 pattern=$2 out got
    shift 2
    out=$("$@" 2>&1 < /dev/null)
    got=$?
    if [ "$got" != "$code" ] || ! grep -qE -e "$pattern" <<< "$out"; then
        fail "exit $got, expected $code and \"$pattern\": $* : $out"
    else
        echo "ok   $pattern"
    fi
    [ "$code" = 0 ] || [ "$(wc -l <<< "$out")" = 1 ] || fail "more than one sentence: $out"
}
columns() { # trial.csv -> data.csv, from what a live run wrote; python expression for the rows' change
    "$PYTHON" - "$1" "$2" "${3:-rows}" <<'END'
import csv, math, sys
columns = ["t", "measured.theta", "commanded.u", "truth.theta", "truth.dtheta"]
rows = [[r[c] for c in columns] for r in csv.DictReader(open(sys.argv[1]))]
rows = eval(sys.argv[3])
text = "".join(",".join(r) + "\n" for r in rows)
open(sys.argv[2], "w").write("t,theta,u,truth.theta,truth.dtheta\n" + text)
END
}

# 1. The data of a live run: the same bits.
"$MCPILCO" learn "$task" --trials 2 --seed 4 $tiny --out live --quiet || fail "live run"
expect 0 'play off/next/explore-01/inputs.csv' "$MCPILCO" next "$task" --run off --seed 4 --trials 2 $tiny
expect 0 'play off/next/explore-01/inputs.csv' "$MCPILCO" next off
for f in explore-01 trial-01 trial-02; do
    [ $f = explore-01 ] || expect 0 "run the controller in off/next/$f" "$MCPILCO" next off
    columns live/$f/trial.csv data.csv
    expect 0 '(exploration|trial) [12]: 51 samples' "$MCPILCO" add off data.csv
done
for f in $(cd live && find explore-* trial-* -type f ! -name result.json ! -name optimise.json \
    ! -name forecast.json); do
    cmp -s "live/$f" "off/$f" || fail "$f differs from the live run"
done
for f in $(cd live && find . -name result.json -o -name optimise.json -o -name forecast.json); do
    diff <(grep -v '_s"' "live/$f") <(grep -v '_s"' "off/$f") > /dev/null ||
        fail "$f differs from the live run"
done
[ $failed = 0 ] && echo "ok   the same bits as live"
expect 0 'seed 4, mc-pilco4pms, finished' "$MCPILCO" show off
# and live again, from there
expect 0 'trial 3 ' "$MCPILCO" learn "$task" --out off --seed 4 --trials 3 $tiny --resume
make -s -C off/next/trial-02 check CFLAGS='-O2 -Werror' || fail "the controller's self-test"

# 2. A bench of its own.
expect 0 'play bench/next/explore-01' "$MCPILCO" next "$task" --run bench --seed 6 --trials 2 $tiny
units="--map time_ms=t --scale t=1e-3 --map angle_deg=theta --scale theta=0.017453292519943295 --map torque=u"
for f in explore-01 trial-01 trial-02; do
    [ $f = explore-01 ] || expect 0 "run the controller in bench/next/$f" "$MCPILCO" next bench
    "$PYTHON" "$SOURCE/tests/rig/bench_rig.py" "$MCPILCO" "$task" bench/next/$f log.csv ||
        fail "the bench, $f"
    expect 0 '(exploration|trial) [12]: 51 samples' "$MCPILCO" add bench log.csv $units
done

# 3. Mistakes. A run that waits for its first exploration, then one that waits for a policy.
"$MCPILCO" next "$task" --run new --seed 4 $tiny --quiet || fail "new run"
bad() { # what is done to the rows, sentence, more arguments
    local change=$1 pattern=$2
    shift 2
    columns live/explore-01/trial.csv bad.csv "$change"
    expect 1 "$pattern" "$MCPILCO" add new bad.csv "$@"
    [ ! -e new/explore-01/trial.csv ] || fail "bad data were stored: $pattern"
}
bad '[r[:1] + ["nan"] + r[2:] if k == 9 else r for k, r in enumerate(rows)]' \
    'row 10 of the data: theta is not a finite number'
bad '[r[:2] + [""] + r[3:] if k == 9 else r for k, r in enumerate(rows)]' \
    'row 10 of the data: u is not a finite number'
bad '[r[:2] + ["2.4"] + r[3:] if k == 9 else r for k, r in enumerate(rows)]' \
    'sample 9: u was 2.4, but .* was asked'
bad '[[str(float(r[0])/2)] + r[1:] for r in rows]' 'it was recorded at 40 Hz, the task runs at 20 Hz'
bad 'rows[:30]' 'it has 30 samples of a trial of 51; give --ended'
bad 'rows[:5]' '5 rows of data are too few'
bad 'rows[:20] + rows[24:]' 'row 21 of the data comes 0.25 s after the one before'
bad 'rows[:20] + rows[19:]' 'row 21 of the data: the time does not go on'
bad 'rows' 'map "enc=theta": bad.csv has no column enc' --map enc=theta
bad 'rows' 'map "u=v": the task has no signal v' --map u=v
bad 'rows' 'it has no column theta; it has t, theta, u' --map theta=truth.theta
bad 'rows' 'scale "theta=x": expected NAME=FACTOR' --scale theta=x
bad 'rows' 'scale "phi=2": the task has no signal phi' --scale phi=2
printf 't,u\n0,1\n' > few.csv
expect 1 'few.csv: 1 rows of data are too few' "$MCPILCO" add new few.csv
expect 1 'nowhere.csv' "$MCPILCO" add new nowhere.csv
expect 1 'not a run folder' "$MCPILCO" add "$SOURCE" few.csv
expect 2 'new is a run' "$MCPILCO" next new --seed 3

# Uneven time stamps are resampled: a smooth motion sampled at odd times is the smooth motion.
columns live/explore-01/trial.csv odd.csv \
    '[[repr(0.05 * k + 0.02 * math.sin(k))] + [repr(math.sin(2 * (0.05 * k + 0.02 * math.sin(k))))] + r[2:]
      for k, r in enumerate(rows)]'
cp -r new odd
expect 0 'were up to .* ms from their time at 20 Hz: 51 rows were resampled to 5[01]' "$MCPILCO" add odd \
    odd.csv --ended "the log is short"
"$PYTHON" - odd/explore-01/trial.csv live/explore-01/trial.csv <<'END' || fail "resampling"
import csv, math, sys
rows, live = (list(csv.DictReader(open(f))) for f in sys.argv[1:])
for k, r in enumerate(rows):
    assert abs(float(r["t"]) - 0.05 * k) < 1e-12
    assert abs(float(r["measured.theta"]) - math.sin(2 * float(r["t"]))) < 5e-3, (k, r)
    assert not r["commanded.u"] or r["commanded.u"] == live[k]["commanded.u"], (k, r)
END

# A log of three times the rate, inputs held.
columns live/explore-01/trial.csv fast.csv \
    '[[repr(float(r[0]) + j * 0.05 / 3)] + r[1:] for r in rows for j in range(3)][:-2]'
cp -r new fast
expect 1 'recorded at 60 Hz, the task runs at 20 Hz' "$MCPILCO" add fast fast.csv
expect 0 '151 rows were resampled to 51' "$MCPILCO" add fast fast.csv --resample
cut -d, -f1-2 live/explore-01/trial.csv | cmp - <(cut -d, -f1-2 fast/explore-01/trial.csv) ||
    fail "every third row is what was measured"

# An early end, a policy that nobody made, other inputs on purpose.
cp -r new short
columns live/explore-01/trial.csv bad.csv 'rows[:30]'
expect 0 'ended at sample 29: cable caught' "$MCPILCO" add short bad.csv --ended "cable caught"
expect 1 'no policy was made for trial 1.*mcpilco next short makes it' "$MCPILCO" add short bad.csv
cp -r new other
columns live/explore-01/trial.csv bad.csv '[r[:2] + (["1.25"] if r[2] else [""]) + r[3:] for r in rows]'
expect 0 'commands differ from those asked by up to' "$MCPILCO" add other bad.csv --input-tolerance 2
grep -q ',1.25,1.25,' other/explore-01/trial.csv || fail "the recorded inputs are not what counts"
cp -r new json
columns live/explore-01/trial.csv good.csv
"$MCPILCO" add json good.csv --json |
    "$PYTHON" -c 'import json, sys
o = json.load(sys.stdin)
assert o["samples"] == 51 and not o["resampled"]' || fail "add --json"
"$MCPILCO" next json --json |
    "$PYTHON" -c 'import json, sys
o = json.load(sys.stdin)
assert o["kind"] == "policy" and o["number"] == 1' || fail "next --json"
"$MCPILCO" next "$task" --run risky --seed 4 --set 'limits={far: abs(theta) > 1}' $tiny --quiet ||
    fail "risky"
expect 0 'ended at sample .*: limit far|51 samples' "$MCPILCO" add risky good.csv
expect 1 'was not written: its forecast chance of reaching a limit is' "$MCPILCO" next risky --risk 0 --quiet
[ $failed = 0 ] && echo "ok   exchange"
exit $failed
