#!/usr/bin/env bash
# labels: asan
# check names all mistakes of a file at once, in words and as JSON, and none that only follows from another.
# It says what a task with a real plant will cost without asking the plant.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
cat > bad.yaml <<'YAML'
name: my-robot
rate: 30
trial: 3.05
state: {p: m, dp: m/s, theta: rad, dtheta: rad/s}
inputs: {u: {limit: 10, unit: N}}
measured: {p: 3e-3, theta: 3e-3}
observer: {type: difference, lowpas: 0.5}
model:
  velocities: {p: dp, theta: dtheta}
  features: [p, dp, dthet, sin(theta), cos(theta), u]
  restarts: many
policy: 10*tanh(rbf(200, p, dp, dtheta, sin(thta), cos(theta))/10)
cost: 1 - exp(-((abs(theta) - pi)/3)^2 - q^2)
start: {std: 0.01}
optimise: {particles: -3, stps: 4, dropout: 7}
limits: {far: abs(p) > bound}
plant: {ode: {dp: 4*u - 0.4*dp}}
YAML
places() { sed -n 's/^mcpilco check: [^:]*:\([0-9]*\):.*/\1/p' | sort -n | paste -s -d ' '; }
"$MCPILCO" check bad.yaml 2> err.txt && fail "a wrong file passed"
[ "$(places < err.txt)" = "3 7 10 11 12 13 15 15 15 16 17" ] || fail "mistakes on lines $(places < err.txt)"
echo "ok   eleven mistakes at once"

"$MCPILCO" check bad.yaml --json > out.json 2> /dev/null && fail "a wrong file passed with --json"
python3 - out.json <<'PY' || fail "$(cat out.json)"
import json, sys
said = json.loads(open(sys.argv[1]).read())
assert said["event"] == "error" and said["exit"] == 1 and len(said["mistakes"]) == 11
assert said["text"] == said["mistakes"][0]
PY
echo "ok   the same as JSON"

# one mistake is one message: what needs it stays unsaid
one() { # message, sed expression on a right file
  sed "$2" "$SOURCE/tasks/pendulum.yaml" > one.yaml
  ! cmp -s one.yaml "$SOURCE/tasks/pendulum.yaml" || fail "$2 changes nothing"
  "$MCPILCO" check one.yaml 2> err.txt > /dev/null && fail "$2 passed"
  [ "$(wc -l < err.txt)" = 1 ] && grep -q "$1" err.txt || fail "$2: $(cat err.txt)"
}
one 'unknown key "rat"' 's/^rate:/rat:/'
one 'unknown key "stat"' 's/^state:/stat:/'
one 'rate: found' 's/^rate:.*/rate: -1/'
one 'key "cost" is missing' '/^cost:/d'
one 'unknown name' 's/^cost: .*/cost: 1 - exp(-tetha^2)/'
one 'observer.type: found' 's/^policy:/observer: {type: diference, lowpass: 0.5}\n&/'
one 'unknown key "measurd"' 's/^measured:/measurd:/'
echo "ok   one mistake is one message"

# every file of one planted mistake: the first message is the one that learn gives
for file in "$SOURCE"/tests/data/broken/*; do
  "$MCPILCO" check "$file" 2> err.txt > /dev/null && fail "$file passed"
  "$MCPILCO" learn "$file" --out never 2> first.txt > /dev/null && fail "$file was learned"
  first=$(sed 's/^mcpilco learn: //' first.txt | head -n 1)
  grep -qF -- "$first" err.txt || fail "$file: learn says $first, check $(cat err.txt)"
done
echo "ok   learn's message is among check's"

"$MCPILCO" check "$SOURCE/examples/drivers/pendulum-rig.yaml" --brief > rig.txt || fail "$(cat rig.txt)"
grep -q 'trials take at most' rig.txt && grep -q 'the plant is not asked' rig.txt || fail "$(cat rig.txt)"
echo "ok   time and memory of a task with a real plant"
