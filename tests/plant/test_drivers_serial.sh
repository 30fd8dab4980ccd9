#!/usr/bin/env bash
# Learning over a serial line gives the same files as learning on the plant in this process. The line is a
# pair of pseudo-terminals.
set -eu
. "$SOURCE/tests/plant/common.sh"
"$PYTHON" -c 'import os, pty; os.ttyname(pty.openpty()[1])' 2> /dev/null ||
    { echo "skipped: this machine gives no pseudo-terminals (is devpts mounted on /dev/pts?)"; exit 77; }

learn here "$SOURCE/tasks/cartpole.yaml"
"$PYTHON" "$SOURCE/tests/plant/null_modem.py" > cable.out &
cable=$! pid=
trap 'kill $cable $pid 2> /dev/null || true' EXIT
read -r near far <<< "$(listening cable.out)"
"$MCPILCO" plant "$SOURCE/tasks/cartpole.yaml" --serial "$far" 2> serial.err &
pid=$!
learn serial "$SOURCE/tasks/cartpole.yaml" --set "plant={serial: $near}"
same serial
