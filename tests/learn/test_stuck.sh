#!/usr/bin/env bash
# labels: e2e
# An optimisation that fails never moves the plant without a sentence before it, and the run recovers.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
task=$SOURCE/tasks/pendulum.yaml
learn() { # name, options
  local name=$1; shift
  "$MCPILCO" learn "$task" --out "$name" --no-finish --set optimise.particles=24 \
    --set optimise.steps_first=60 --set optimise.steps=60 "$@" > "$name.txt" 2>&1
}
before() { # file, what, trial: the sentence stands before the trial's own line
  local said done
  said=$(grep -n "$2" "$1" | head -n 1 | cut -d: -f1)
  done=$(grep -n "^trial $3: .*steps on" "$1" | cut -d: -f1)
  [ -n "$said" ] && [ -n "$done" ] && [ "$said" -lt "$done" ] ||
    { cat "$1"; fail "$1: nothing before trial $3"; }
}

# Nothing to follow: the cost is flat wherever the pendulum can be.
learn flat --trials 1 --set 'cost=1 - exp(-((theta - 1000)/2)^2)' || fail "a flat cost: $(cat flat.txt)"
before flat.txt 'the optimisation FAILED' 1
grep -q '"outcome": 5' flat/trial-01/optimise.json || fail "the folder does not say so"
# Another cost on the same data: it starts afresh and learns.
again() { # from, name
  "$MCPILCO" learn "$task" --from "$1" --out "$2" --no-finish --trials 2 --set optimise.particles=48 \
    > "$2.txt" 2>&1 || fail "the run does not go on: $(cat "$2.txt")"
}
again flat mended
grep -q 'FAILED' mended.txt && fail "a good cost is called failed: $(cat mended.txt)"
grep -q ': success' mended.txt || fail "it does not recover: $(cat mended.txt)"
echo "ok   a start far from any gradient is told before the plant moves, and the run recovers"

# Almost no budget.
learn poor --trials 1 --set optimise.budget=1e-6 || fail "a small budget ends the run: $(cat poor.txt)"
before poor.txt 'the budget of computing is used up\|the optimisation FAILED' 1
again poor paid
grep -q ': success' paid.txt || fail "it does not recover: $(cat paid.txt)"
echo "ok   a budget of almost nothing is told before the plant moves, and the run recovers"

# Numbers that leave all bounds, again and again: nothing moves.
if learn nan --trials 1 --set 'cost=log(-1 - theta^2)' --set 'success={when: abs(theta) > 3, last: 0.1}'; then
  fail "a cost that is no number is learned from: $(cat nan.txt)"
fi
grep -q '^trial 1: .*steps on' nan.txt && fail "the plant moved: $(cat nan.txt)"
grep -qi 'not a finite number' nan.txt || fail "no sentence: $(cat nan.txt)"
[ ! -e nan/trial-01/trial.csv ] || fail "the plant moved"
echo "ok   without a number nothing moves"
