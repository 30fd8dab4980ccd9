# What the scripts about plants share; sourced by them. Leaves the shell in $WORK, which is empty.
PYTHON=/usr/bin/python3
command -v "$PYTHON" > /dev/null || PYTHON=$(command -v python3)
export DRIVERS=$SOURCE/examples/drivers
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }

learn() { # folder, task, more: a short run
    local out=$1 task=$2; shift 2
    "$MCPILCO" learn "$task" --out "$out" --trials 1 --seed 3 --yes --set optimise.particles=32 \
        --set optimise.steps_first=20 "$@" \
        > "$out.log" 2>&1 || { cat "$out.log"; fail "learn $task $*"; }
}

same() { # folder: the files of a run equal those of the run in folder here
    for f in explore-01/trial.csv explore-01/states.csv trial-01/trial.csv trial-01/policy.json; do
        cmp "here/$f" "$1/$f" || fail "$1 differs from the plant in this process"
    done
    echo "ok   $1 equals in-process"
}

listening() { # log file -> address, once it is there
    for _ in $(seq 600); do
        sed -n 's/^listening on //p' "$1" | grep . && return
        sleep 0.05
    done
    fail "nobody listens: $1"
}

spring() { # seconds, plant -> a task about a mass on a spring
    cat <<END
name: spring
rate: 50
trial: $1
state: {q: m, v: m/s}
inputs: {u: 2}
measured: {q: 1e-3}
model: {velocities: {q: v}}
cost: 1 - exp(-q^2)
start: {mean: [0.1, 0], std: 0}
explore: {type: uniform}
plant: $2
END
}
