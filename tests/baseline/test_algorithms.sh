# Both baselines learn on a small plant through the whole loop, and the number of threads does not change a
# bit of the policy.
set -e
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
cat > slide.yaml <<'Y'
name: slide
rate: 10
trial: 1.5
trials: 1
state: {p: m, v: m/s}
inputs: {u: {limit: 2}}
measured: {p: 1e-3, v: 1e-3}
observer: none
smoother: none
model: {changes: [p, v], features: [p, v, u], kernel: se}
let: {s: "rbf(5, p, v)"}
policy: 2*(9*sin(s) + sin(3*s))/8
cost: 1 - exp(-((p - 0.4)^2 + 0.1*v^2)/(2*0.3^2))
start: {std: 0.01}
explore: uniform
success: {when: abs(p - 0.4) < 0.1, last: 0.3}
plant: {ode: {p: v, v: u - 0.5*v}}
Y
# cost of the policy's trial, from its result
cost() { sed -n 's/^ *"cost": *\([0-9.eE+-]*\).*/\1/p' "$1"/trial-01/result.json | head -1; }
for algorithm in pilco black-drops; do
    "$MCPILCO" learn slide.yaml --algorithm $algorithm --seed 3 --threads 1 --quiet -o $algorithm-1
    "$MCPILCO" learn slide.yaml --algorithm $algorithm --seed 3 --threads 3 --quiet -o $algorithm-3
    cmp $algorithm-1/trial-01/policy.json $algorithm-3/trial-01/policy.json ||
        { echo "$algorithm: threads change the policy"; exit 1; }
    awk -v c="$(cost $algorithm-1)" 'BEGIN { exit !(c > 0 && c < 9) }' ||
        { echo "$algorithm: cost $(cost $algorithm-1), expected below 9 of 16"; exit 1; }
done
# a task that does not fit is refused before anything moves
if "$MCPILCO" learn slide.yaml --algorithm pilco --set 'model.kernel=matern52' --quiet -o refused \
    2> message; then exit 1; fi
grep -q "kernel: se" message
[ ! -d refused/explore-01 ]
