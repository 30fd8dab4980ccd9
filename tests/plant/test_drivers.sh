#!/usr/bin/env bash
# The example drivers do what their first lines say: C, Python, Gymnasium, an Arduino sketch. Learning on the Python cart-pole
# over exec, tcp and udp gives the same files as learning on the plant in this process.
set -eu
PYTHON=/usr/bin/python3
command -v "$PYTHON" > /dev/null || PYTHON=$(command -v python3)
drivers=$SOURCE/examples/drivers
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"
quick="--trials 1 --seed 3 --yes --set optimise.particles=32 --set optimise.steps_first=20"
fail() { echo "FAIL $*"; exit 1; }
learn() { # folder, task, more
    local out=$1 task=$2; shift 2
    "$MCPILCO" learn "$task" --out "$out" $quick "$@" > "$out.log" 2>&1 || { cat "$out.log"; fail "learn $task $*"; }
}
same() {
    for f in explore-01/trial.csv explore-01/states.csv trial-01/trial.csv trial-01/policy.json; do
        cmp "here/$f" "$1/$f" || fail "$1 differs from the plant in this process"
    done
    echo "ok   $1 equals in-process"
}
listening() { # log file -> address, once it is there
    for _ in $(seq 100); do
        sed -n 's/^listening on //p' "$1" | grep . && return
        sleep 0.05
    done
    fail "nobody listens: $1"
}

learn here "$SOURCE/tasks/cartpole.yaml"
learn exec "$SOURCE/tasks/cartpole.yaml" --set "plant={exec: [$PYTHON, $drivers/cartpole.py]}"
same exec
for kind in tcp udp; do
    "$PYTHON" "$drivers/cartpole.py" --$kind 0 > $kind.out &
    pid=$!
    trap 'kill $pid 2> /dev/null || true' EXIT
    learn $kind "$SOURCE/tasks/cartpole.yaml" --set "plant={$kind: '$(listening $kind.out)'}"
    kill $pid
    same $kind
    # and the plant that comes with the program
    "$MCPILCO" plant "$SOURCE/tasks/cartpole.yaml" --$kind 0 > own-$kind.out &
    pid=$!
    learn own-$kind "$SOURCE/tasks/cartpole.yaml" --set "plant={$kind: '$(listening own-$kind.out)'}"
    kill $pid
    same own-$kind
done
"$PYTHON" "$SOURCE/tests/plant/null_modem.py" > cable.out &
cable=$!
trap 'kill $cable $pid 2> /dev/null || true' EXIT
read -r near far <<< "$(listening cable.out)"
"$MCPILCO" plant "$SOURCE/tasks/cartpole.yaml" --serial "$far" 2> own-serial.err &
pid=$!
learn own-serial "$SOURCE/tasks/cartpole.yaml" --set "plant={serial: $near}"
kill $pid $cable
same own-serial
learn own-exec "$SOURCE/tasks/cartpole.yaml" --set "plant={exec: [$MCPILCO, plant, $SOURCE/tasks/cartpole.yaml]}"
same own-exec

cp "$drivers"/pendulum-*.yaml .
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 -o rig "$drivers/rig.c" -lm
learn c pendulum-rig.yaml
echo "ok   driver in C"

if command -v c++ > /dev/null; then
    c++ -Wall -Wextra -Werror -O2 -I "$drivers/arduino/host" -include Arduino.h -x c++ "$drivers/arduino/rig/rig.ino" -x none "$drivers/arduino/host/host.cpp" -o board
    learn sketch pendulum-arduino.yaml --set 'plant={exec: [./board]}'
    grep -q '^0,' sketch/trial-01/trial.csv || fail "the sketch's trial is empty"
    echo "ok   Arduino sketch"
else
    echo "skip Arduino sketch: no C++ compiler"
fi

cp "$SOURCE/tests/plant/spring_env.py" .
cat > spring.yaml <<END
name: spring
rate: 50
trial: 1
state: {q: m, v: m/s}
inputs: {u: 2}
measured: {q: 1e-3}
model: {velocities: {q: v}}
cost: 1 - exp(-q^2)
start: {mean: [0.1, 0], std: 0}
explore: {type: uniform}
plant: {exec: [$PYTHON, $drivers/gymnasium_plant.py, "spring_env:Spring", --args, "4", --rate, "50", --inputs, u, --truth, "q:m,v:m/s", --pick, "0,1"]}
END
learn gym spring.yaml
[ "$(wc -l < gym/trial-01/trial.csv)" -eq 52 ] || fail "an environment's trial has $(wc -l < gym/trial-01/trial.csv) lines"
learn ended spring.yaml --set 'start.mean=[0.3, 1]'
grep -q 'the environment ended the episode' ended/trial-01/trial.json || fail "the end of an episode was not noticed"
echo "ok   Gymnasium wrapper"
