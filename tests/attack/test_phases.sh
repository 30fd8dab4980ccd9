#!/usr/bin/env bash
# SIGTERM in every phase: training, optimisation, check, evaluate, rig, next, study. make attack sends the
# other signals too.
set -eu
. "$SOURCE/tests/plant/common.sh"
"$PYTHON" "$SOURCE/tests/attack/phases.py" "$MCPILCO" "$SOURCE" "$WORK" --slice
