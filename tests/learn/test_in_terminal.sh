#!/usr/bin/env bash
# Progress in terminals of 60 to 120 columns and without one.
set -eu
command -v python3 > /dev/null || { echo "skipped: needs python3"; exit 77; }
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
python3 "$SOURCE/tests/learn/in_terminal.py" "$MCPILCO" "$SOURCE/tasks/pendulum.yaml" "$WORK"
