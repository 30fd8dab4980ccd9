#!/bin/sh
# One-step and twenty-step errors of the models of every shipped task on trials that they have not seen,
# against true states: the task's smoother, then the automatic one, on the same recorded trials.
# usage: experiments/prediction.sh MCPILCO [FOLDER [SEED ..]]
set -eu
mcpilco=$1
runs=${2:-runs/prediction}
[ $# -lt 2 ] || shift
shift
[ $# -gt 0 ] || set -- 1
here=$(cd "$(dirname "$0")/.." && pwd)

# NAME FILE SETTING ..: records a run with the task as it is, then asks both models
compare() {
    name=$1 file=$2
    shift 2
    for seed in $seeds; do
        run=$runs/$name-$seed
        [ -d "$run/trial-03" ] ||
            "$mcpilco" learn "$here/$file" --seed "$seed" --trials 3 --out "$run" --quiet
        echo "$name, as the task has it"
        "$mcpilco" bench predict "$run"
        echo "$name, automatic"
        "$mcpilco" bench predict "$run" "$@"
    done
}

seeds=$*
compare pendulum tasks/pendulum.yaml --set smoother=auto
compare cartpole tasks/cartpole.yaml --set smoother=auto
compare cartpole-full tasks/cartpole-full.yaml --set smoother=auto
compare ballplate tasks/ballplate.yaml --set smoother=auto --set model.noise_floor=0
compare reaction-wheel examples/reaction-wheel.yaml --set smoother=auto
compare furuta tasks/furuta.yaml --set smoother=auto --set model.noise_floor=0 \
    --set 'model.features=[dth, dal, sin(th), cos(th), sin(al), cos(al), u]' \
    --set 'model.kernel.dth=pi(dal^2*sin(al), dth*dal*sin(2*al), dth, u) + se' \
    --set 'model.kernel.dal=pi(dth^2*sin(2*al), sin(al), dal, u*cos(al)) + se'
