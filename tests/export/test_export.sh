#!/usr/bin/env bash
# Exported controllers: clean C99 with gcc and clang, float and double, Python; each reproduces the recorded
# trial.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"; cd "$WORK"
fail() { echo "FAIL: $*"; exit 1; }
tiny="--seed 1 --trials 1 --quiet --set optimise.particles=24 --set optimise.steps_first=15"
strict="-O2 -std=c99 -Wall -Wextra -Wpedantic -Werror"
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" --out a $tiny
# an mlp policy, a Kalman observer, a slew limit and a sensor that wraps
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" --out b $tiny \
    --set 'policy=2.5*tanh(mlp(8, 5, dtheta, sin(theta), cos(theta)))' \
    --set inputs.u.slew=20 --set measured.theta.wraps=yes --set 'observer={type: kalman, drive: 50}'
for run in a b; do
    for kind in double float; do
        "$MCPILCO" export $run --$kind --prefix ctl -o $run-$kind > $run-$kind.txt
        for cc in gcc clang; do
            command -v $cc > /dev/null || continue
            make -s -C $run-$kind clean check CC=$cc CFLAGS="$strict" > out.txt 2>&1 ||
                { cat out.txt; fail "$run, $kind, $cc"; }
            grep -q ': ok' out.txt || fail "$run, $kind, $cc: $(cat out.txt)"
        done
        ! grep -qE 'malloc|calloc|alloca' $run-$kind/ctl.c || fail "allocation in exported code"
    done
    /usr/bin/env python3 $run-double/ctl.py > out.txt || { cat out.txt; fail "$run in Python"; }
    python3 -c "import json
d = json.load(open('$run-double/ctl.json'))
assert d['rate'] == 20 and d['measured'][0]['name'] == 'theta', d" || fail "JSON of $run"
done
grep -q 'Rate: call it every 0.05 s (20 Hz)' a-double/ctl.h || fail "the header does not state the rate"
grep -q 'at most 20 per second' b-double/ctl.h || fail "the header does not state the slew limit"
"$MCPILCO" export a --prefix ctl --json -o 'so "called"' > json.txt
python3 -c 'import json
d = json.load(open("json.txt"))
assert d["folder"] == "so \"called\"" and d["multiply"] > 0 and d["precision"] == "double", d' ||
    fail "--json"
# the self-test can fail: another parameter, another answer
sed -i 's/_net1_weight\(.*\) = {/_net1_weight\1 = { 1.5 +/' a-double/ctl.c
make -s -C a-double clean check CFLAGS=-O2 > out.txt 2>&1 &&
    fail "the self-test does not notice a changed weight"
grep -q FAILED out.txt || fail "the self-test does not say that it failed"
"$MCPILCO" export a --prefix 'not a name' -o x 2> e.txt && fail "a bad prefix was taken"
grep -q 'C name' e.txt || fail "no word about the prefix"
"$MCPILCO" export a --trial 7 -o x 2> e.txt && fail "a trial that is not there was exported"
echo ok
