#!/usr/bin/env bash
# scripts/gallery fills the page's results and pictures from a study, and nothing else of it.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"; cd "$WORK"
fail() { echo "FAIL: $*"; exit 1; }
[ -x /usr/bin/python3 ] || { echo "skipped: needs python3"; exit 77; }
cat > g.yaml <<END
trials: 1
seeds: [1, 2]
evaluate: 4
final: 4
set: {optimise.particles: 16, optimise.steps: 3, optimise.steps_first: 3}
variants: {stage: {task: $SOURCE/tasks/stage.yaml}}
END
"$MCPILCO" study g.yaml --out study --threads 1 --quiet > table.txt
cp "$SOURCE/docs/gallery.md" page.md
for again in 1 2; do
    /usr/bin/python3 "$SOURCE/scripts/gallery" study --mcpilco "$MCPILCO" --page page.md
    grep -q '^|.*\[stage\].*| [0-9] of 2 runs; [0-8] of 8 starts.* |$' page.md ||
        { cat page.md; fail "no results"; }
    [ "$(grep -c '^|' page.md)" = "$(grep -c '^|' "$SOURCE/docs/gallery.md")" ] || fail "rows were lost"
    [ "$(grep '^|' page.md | tr -cd '|\n' | sort -u)" = '|||||||' ] || fail "rows differ in their cells"
done
grep -q 'results |' page.md || fail "no heading"
if grep -q 'not here yet' page.md; then fail "the page still says that there are no results"; fi
grep -q '</svg>' images/gallery/stage.svg || fail "no picture"
# every task of the gallery is on the page and in the study
for task in "$SOURCE"/tasks/*.yaml; do
    name=$(basename "$task" .yaml)
    grep -q "\[$name\](../tasks/$name.yaml)" "$SOURCE/docs/gallery.md" || fail "$name is not on the page"
    [ "$name" = mujoco-cartpole ] || grep -q "^  $name: " "$SOURCE/experiments/gallery.yaml" ||
        fail "$name is not in the study"
done
