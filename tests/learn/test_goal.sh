#!/usr/bin/env bash
# --goal gives evaluate and simulate a set-point instead of drawing it; a wrong one is told.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
cat > task.yaml <<'YAML'
name: to-a-place
rate: 20
trial: 1.5
goals: {r: [-1, 1]}
state: [q, v]
inputs: {u: 2}
measured: {q: 1e-3}
model: {velocities: {q: v}}
cost: 1 - exp(-(q - r)^2)
start: {std: 0.05}
optimise: {particles: 24, steps_first: 60}
plant: {ode: {v: 4*u - v}}
YAML
"$MCPILCO" learn task.yaml --out run --trials 1 --quiet
cost() {
  "$MCPILCO" evaluate run --runs 20 --json "$@" |
    sed -n 's/.*"cost_median": \([0-9.e+-]*\).*/\1/p' | sort -g
}
near=$(cost --goal r=0.05 | tail -n 1) far=$(cost --goal r=0.95 | head -n 1)
awk "BEGIN { exit !($near < $far) }" || fail "near the start costs $near, far from it $far"
echo "ok   evaluate goes where it is told, on the plant and on the model"
"$MCPILCO" simulate run -o a.npy --goal r=0.5 > a.txt
"$MCPILCO" simulate run -o b.npy --goal r=0.5 > b.txt
cmp -s a.npy b.npy || fail "the same goal gives other particles"
"$MCPILCO" simulate run -o c.npy > c.txt
cmp -s a.npy c.npy && fail "the goal does not reach the particles"
echo "ok   simulate goes there too"
for wrong in q=1 r r= r=x r=inf; do
  "$MCPILCO" evaluate run --goal "$wrong" 2> why.txt && fail "--goal $wrong is taken"
  grep -q 'expected' why.txt || fail "--goal $wrong: $(cat why.txt)"
done
echo "ok   a goal that cannot be is told"
