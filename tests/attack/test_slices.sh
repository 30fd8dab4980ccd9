#!/usr/bin/env bash
# A slice of each attack of scripts/attack: damaged folders, hostile plants, SIGKILL and resume, failing
# system calls, a decimal comma.
# labels: asan
set -eu
. "$SOURCE/tests/plant/common.sh"
attack() { # what, how many, more options
    "$PYTHON" "$SOURCE/tests/attack/attack.py" "$1" "$MCPILCO" "$WORK/$1" --count "$2" --seed 1 "${@:3}"
}
attack folders 12
attack plants 4
attack kills 10
attack locale 1
# the library to preload and the sanitizers do not go together
if [ -e "$BUILD/tests/faults.so" ] && ! grep -q 'MCP_ASAN:BOOL=ON' "$BUILD/CMakeCache.txt"; then
    attack faults 6 --faults "$BUILD/tests/faults.so"
fi
