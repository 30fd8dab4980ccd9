#!/usr/bin/env bash
# mcpilco rig over a wire finds what was changed behind it: noise, resolution, delays, sign, a wrapping angle,
# a wrong clock.
set -u
PYTHON=/usr/bin/python3
command -v "$PYTHON" > /dev/null || PYTHON=$(command -v python3)
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK" || exit 1
failed=0
fail() { echo "FAIL $*"; failed=1; }
cartpole=$SOURCE/tasks/cartpole.yaml

# found NAME PYTHON-CONDITION: over the JSON object o
found() {
    "$PYTHON" - "$1.json" "$2" <<'END' || fail "$1: $2: $(cat "$1.json")"
import json, sys
o = json.load(open(sys.argv[1]))
c = {x["name"]: x for x in o["channels"]}
r = {(x["input"], x["channel"]): x for x in o["responses"]}
sys.exit(0 if eval(sys.argv[2]) else 1)
END
}

"$MCPILCO" rig "$cartpole" --json > same.json || fail "in-process"
found same 'o["changes"] == 0 and r["u", "theta"]["gain"] < -4.3 and r["u", "theta"]["gain"] > -5.3'

# Over exec: everything is different behind the wire.
plant="[$MCPILCO, plant, $cartpole,
 --set, 'measured={p: {noise: 6e-3, resolution: 5e-3}, theta: {noise: 3e-4, delay: 1}}',
 --set, inputs.u.delay=2,
 --set, plant.ode.dp='(2*mp*l*dtheta^2*s + 3*mp*g*s*c - 4*u - 4*b*dp)/den',
 --set, plant.ode.dtheta='(-3*mp*l*dtheta^2*s*c - 6*(mc + mp)*g*s - 6*(-u - b*dp)*c)/(l*den)']"
"$MCPILCO" rig "$cartpole" --yes --json --amplitude 0.3 --set "plant={exec: $plant}" > altered.json ||
    fail "exec"
found altered 'abs(c["p"]["noise"]/6e-3 - 1) < 0.25 and abs(c["theta"]["noise"]/3e-4 - 1) < 0.25'
found altered 'abs(c["p"]["resolution"]/5e-3 - 1) < 1e-6 and c["theta"]["resolution"] == 0'
found altered 'r["u", "p"]["delay"] == 2 and r["u", "theta"]["delay"] == 3'
found altered 'o["input_delays"]["u"] == 2 and c["theta"]["delay"] == 1'
found altered 'r["u", "p"]["equations"] == "opposite" and r["u", "theta"]["equations"] == "opposite"'
found altered 'abs(r["u", "theta"]["gain"]/-r["u", "theta"]["equations_gain"] - 1) < 0.1'
"$MCPILCO" rig "$cartpole" --yes --amplitude 0.3 --set "plant={exec: $plant}" > altered.txt ||
    fail "exec, in words"
grep -q '^  u: {limit: 10, unit: N, delay: 2}$' altered.txt ||
    fail "no line for the input: $(cat altered.txt)"
grep -q '^  p: {noise: 0.00[56].*, resolution: 0.005}$' altered.txt || fail "no line for p"
grep -q 'OPPOSITE SIGN' altered.txt || fail "the sign is not mentioned"

# The lines it proposes are what it then finds.
lines=$(sed -n '/^lines to change/,$p' altered.txt | tail -n +2)
"$PYTHON" - "$cartpole" "$lines" > mended.yaml <<'END'
import re, sys
text = open(sys.argv[1]).read()
text = re.sub(r"^inputs:.*\n|^measured:.*\n", "", text, flags=re.M)
print(text + sys.argv[2])
END
"$MCPILCO" rig mended.yaml --yes --json --amplitude 0.3 --set "plant={exec: $plant}" > mended.json ||
    fail "mended"
found mended 'o["changes"] == 0'

# Over TCP, twice: the same numbers as in-process.
"$MCPILCO" plant "$cartpole" --tcp 0 > tcp.out &
pid=$!
for _ in $(seq 600); do grep -q listening tcp.out && break; sleep 0.05; done
"$MCPILCO" rig "$cartpole" --yes --json --set "plant={tcp: '$(sed -n 's/^listening on //p' tcp.out)'}" \
    > tcp.json || fail "tcp"
kill $pid
found tcp 'o["changes"] == 0 and r["u", "theta"]["equations"] == "agrees" and o["time"]["answer_mean"] > 0'
"$PYTHON" -c 'import json
a, b = (json.load(open(f)) for f in ("same.json", "tcp.json"))
assert a["channels"] == b["channels"]' || fail "tcp differs from in-process"

# A sensor that wraps, upright; the task does not know.
cat > upright.yaml <<END
name: upright
rate: 50
trial: 2
state: {theta: {unit: rad, angle: yes}, dtheta: rad/s}
inputs: {u: 2}
measured: {theta: 2e-3}
model: {velocities: {theta: dtheta}}
cost: 1 - exp(-theta^2)
start: {mean: [3.141592653589793, 0], std: 0}
plant: {ode: {dtheta: '10*u - 20*(theta - pi) - 2*dtheta'}}
END
wrapping="[$MCPILCO, plant, upright.yaml, --set, 'measured={theta: {noise: 2e-3, wraps: yes}}']"
"$MCPILCO" rig upright.yaml --yes --json --set "plant={exec: $wrapping}" > wraps.json || fail "wraps"
found wraps 'c["theta"]["wraps"] > 10 and c["theta"]["change_wraps"]'
found wraps '"theta: {noise: 0.002, wraps: yes}" in o["lines"]'
found wraps 'r["u", "theta"]["found"] and 9 < r["u", "theta"]["gain"] < 11'

# A plant whose clock is four per cent fast and not quite even.
cat > clock.py <<'END'
import sys
n = 0
for line in sys.stdin:
    w = line.split()
    if w[0] == "hello": print("hello 1 rate=50 inputs=u measured=theta", flush=True)
    elif w[0] == "reset": n = 0; print("data", w[1], 0, 0.001, flush=True)
    elif w[0] == "step": n += 1; print("data", w[1], n / 52 + (n % 2) * 1e-3, 0.001 * (n % 3), flush=True)
    elif w[0] == "stop": print("stopped", w[1], flush=True)
    else: break
END
"$MCPILCO" rig upright.yaml --yes --json --set "plant={exec: [$PYTHON, clock.py]}" > clock.json ||
    fail "clock"
found clock 'abs(o["rate"] - 52) < 0.01 and abs(o["time"]["jitter"] - 1e-3) < 1e-5'
found clock 'o["lines"].startswith("rate: 52")'

# Paced: we keep time.
"$MCPILCO" rig upright.yaml --yes --json --seconds 3 \
    --set "plant={exec: [$MCPILCO, plant, upright.yaml], paced: yes}" > paced.json || fail "paced"
found paced 'o["time"]["paced"] and o["time"]["real_time"] and abs(o["time"]["period"] - 0.02) < 2e-3'

# Mistakes.
expect() { # code, pattern, command ...
    local code=$1 pattern=$2 out got
    shift 2
    out=$("$@" 2>&1 < /dev/null)
    got=$?
    if [ "$got" != "$code" ] || ! grep -qE -e "$pattern" <<< "$out"; then
        fail "exit $got, expected $code and \"$pattern\": $* : $out"
    fi
}
expect 2 'the plant was not moved' "$MCPILCO" rig upright.yaml --set "plant={exec: [$PYTHON, clock.py]}"
expect 1 'are too short to probe' "$MCPILCO" rig upright.yaml --seconds 1
expect 1 'runs at 50 Hz, the task at 40 Hz' "$MCPILCO" rig upright.yaml --yes --set rate=40 \
    --set "plant={exec: [$PYTHON, clock.py]}"
expect 1 'its inputs and measured channels are not those' "$MCPILCO" rig upright.yaml \
    --yes --reference "$cartpole"
[ $failed = 0 ] && echo "ok   rig"
exit $failed
