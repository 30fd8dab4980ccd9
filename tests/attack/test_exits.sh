#!/usr/bin/env bash
# A slice of every way out of a trial x every kind of plant: the last command that the plant saw is the safe
# input. make attack runs them all.
set -eu
. "$SOURCE/tests/plant/common.sh"
"$PYTHON" "$SOURCE/tests/attack/exits.py" "$MCPILCO" "$WORK" --slice
