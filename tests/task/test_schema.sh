#!/usr/bin/env bash
# The JSON schema takes every task file we have and refuses what the tables refuse, as far as it can tell.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$SOURCE"
python3 -c 'import jsonschema, yaml' 2> /dev/null ||
  { echo "skipped: needs python3-jsonschema and python3-yaml"; exit 77; }
"$MCPILCO" help task --schema > "$WORK/schema.json"
python3 tests/task/schema_check.py "$WORK/schema.json" tasks/*.yaml tasks/paper/*.yaml examples/*.yaml \
  examples/*/*.yaml tests/data/broken/*.yaml
! "$MCPILCO" help task --scheme 2> "$WORK/wrong.txt" || { echo "FAIL: --scheme is taken"; exit 1; }
grep -q 'help task \[--schema\]' "$WORK/wrong.txt"
