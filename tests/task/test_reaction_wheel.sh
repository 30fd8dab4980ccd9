#!/usr/bin/env bash
# The system of docs/your-own-robot.md, with its settings chosen by hand, is learned from its file alone.
# labels: e2e slow
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
"$MCPILCO" learn "$SOURCE/examples/reaction-wheel.yaml" --seed 3 --trials 3 --set optimise.particles=50 \
    --out run | tail -12
"$MCPILCO" show run | grep -q '^  trial [123] .*[0-9] success ' ||
    { echo "FAIL no trial of three succeeded"; exit 1; }
ok=$("$MCPILCO" evaluate run --runs 100 --json |
    /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["plant"]["successes"])')
[ "$ok" -ge 90 ] || { echo "FAIL $ok of 100 starts succeed"; exit 1; }
echo "ok   $ok of 100 starts succeed"
