#!/usr/bin/env bash
# labels: e2e
# Every command and every task of README.md and docs/ runs as it stands there, made small (see run_pages.py).
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"
python=/usr/bin/python3
[ -x $python ] || { echo "skipped: needs python3"; exit 77; }
exec $python "$SOURCE/tests/docs/run_pages.py" "$SOURCE" "$MCPILCO" "$WORK/tree"
