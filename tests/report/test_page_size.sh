#!/usr/bin/env bash
# labels: e2e
# The page of ten trials of a cart-pole stays below 1.5 MB.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
"$MCPILCO" learn "$SOURCE/tasks/cartpole.yaml" --seed 1 --trials 10 --out run --quiet --no-finish \
  --set optimise.particles=8 --set optimise.steps_first=400 --set optimise.steps=100 \
  --set optimise.patience=400
"$MCPILCO" report run > /dev/null
size=$(wc -c < run/report.html)
[ "$(grep -c "<details" run/report.html)" -ge 10 ] && [ "$size" -lt 1500000 ] ||
  { echo "FAIL the page has $size bytes"; exit 1; }
echo "ok   $size bytes"
