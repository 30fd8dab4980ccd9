#!/usr/bin/env bash
# The small task is learned, and the learned policy works from fresh starts.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" --seed 1 --out run | tail -20
grep -q '"success": 1' run/trial-04/result.json || { echo "FAIL the fourth trial did not succeed"; exit 1; }
"$MCPILCO" evaluate run --runs 100
ok=$("$MCPILCO" evaluate run --runs 100 --json |
    /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["plant"]["successes"])')
[ "$ok" -ge 95 ] || { echo "FAIL $ok of 100 starts succeed"; exit 1; }
echo "ok   $ok of 100 starts succeed"
