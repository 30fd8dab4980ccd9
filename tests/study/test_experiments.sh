#!/usr/bin/env bash
# labels: e2e
# Every study of experiments/ runs, made small: tasks and settings of all variants are right.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"; cd "$WORK"
fail() { echo "FAIL: $*"; exit 1; }
cp -r "$SOURCE/tasks" "$SOURCE/experiments" .
mkdir -p examples; cp "$SOURCE"/examples/*.yaml examples
less='optimise.particles: 8, optimise.evaluate_particles: 8, optimise.steps_first: 1, optimise.evaluations: 2,
      optimise.generations: 1, optimise.candidates: 0'
for file in experiments/*.yaml experiments/paper/*.yaml; do
    grep -q '^variants:' "$file" || continue # a task
    sed -i -e 's/^trials:.*/trials: 1/; s/^evaluate:.*/evaluate: 1/; s/^final:.*/final: 1/; /^seeds:/d' \
        -e 's/, trials: 10//; s/optimise.particles: [0-9]*/optimise.particles: 8/' "$file"
    if grep -q '^set: {' "$file"; then sed -i "s/^set: {/&SMALL, /" "$file"
    else sed -i "s/^variants:/set: {SMALL}\n&/" "$file"; fi
    sed -i "s/SMALL/$(tr -d '\n' <<< "$less")/" "$file"
    "$MCPILCO" study "$file" --seeds 1..1 --out "out/$file" --quiet > said.txt 2>&1 ||
        { cat said.txt; fail "$file"; }
    echo "$file: $(tail -n +2 "out/$file/runs.csv" | wc -l) runs"
done
[ "$(tail -n +2 out/experiments/ladder.yaml/runs.csv | wc -l)" -ge 14 ] || fail "a ladder of few rungs"

# the ladder's rungs end at our task: what its last step changes is what that step says
/usr/bin/python3 - out/experiments/ladder.yaml <<'END' || fail "the ladder does not lead to the task"
import json
import sys
def flat(x, path=""):
    if isinstance(x, dict):
        return {k: v for name in x for k, v in flat(x[name], f"{path}.{name}").items()}
    return {path: sorted(map(str, x)) if isinstance(x, list) else x}
rest, ours = (flat(json.load(open(f"{sys.argv[1]}/{v}/seed-0001/run.json"))["settings"])
              for v in ("rest", "defaults"))
differ = {k for k in rest.keys() | ours.keys() if rest.get(k) != ours.get(k)}
words = {".name", ".title", ".policy", ".policy.u"}
print(*sorted(differ - words))
sys.exit(differ - words != {".optimise.start_particles"} or rest[".policy"] != ours[".policy.u"])
END
echo ok
