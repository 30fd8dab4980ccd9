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
printf '\n| another | table |\n|---|---|\n| keeps | its form |\n' >> page.md
tail -3 page.md > another.txt
for again in 1 2; do
    /usr/bin/python3 "$SOURCE/scripts/gallery" study --mcpilco "$MCPILCO" --page page.md
    grep -q '^|.*\[stage\].*| [0-9] of 2 runs; [0-8] of 8 starts.*of computing, .* of motion |$' page.md ||
        { cat page.md; fail "no results"; }
    [ "$(grep -c '^All together: of 2 runs, [0-2] ' page.md)" = 1 ] || { cat page.md; fail "no sum"; }
    [ "$(grep -c '^|' page.md)" = "$(($(grep -c '^|' "$SOURCE/docs/gallery.md") + 3))" ] ||
        fail "rows were lost"
    [ "$(grep '^|.*(\.\./tasks/' page.md | tr -cd '|\n' | sort -u)" = '|||||||' ] ||
        fail "rows differ in their cells"
    tail -3 page.md | cmp - another.txt || fail "another table of the page was changed"
done
# a recommended policy that does worse than an earlier one of its run is counted
sed 's/^final: 4/final: 8/; s/^trials: 1/trials: 2/' g.yaml > h.yaml
"$MCPILCO" study h.yaml --out worse --threads 1 --quiet > table.txt
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; print; next }
    { $c["recommended"] = $3 == 2; $c["plant_success"] = 4
      $c["final_runs"] = $3 == 2 ? 8 : 0; $c["final_success"] = $3 == 2 ? 6 + $2 : 0; print }' \
    worse/runs.csv > planted.csv
mv planted.csv worse/runs.csv
cp page.md planted.md
/usr/bin/python3 "$SOURCE/scripts/gallery" worse --mcpilco "$MCPILCO" --page planted.md
grep -q '| 1 of 2 runs; 15 of 16 starts; 1 worse than an earlier policy;' planted.md ||
    { grep stage planted.md; fail "the worse policy is not counted"; }
grep -q '1 recommend one that does worse' planted.md || fail "the worse policy is not in the sum"
grep -q 'results |' page.md || fail "no heading"
if grep -q 'not here yet' page.md; then fail "the page still says that there are no results"; fi
grep -q '</svg>' images/gallery/stage.svg || fail "no picture"
# two studies fill one page, and the sum is the first one's
other="{pendubot: {task: $SOURCE/tasks/pendubot.yaml}}"
sed "s|{stage: .*|$other|; s/seeds: .*/seeds: [1, 1]/" g.yaml > two.yaml
"$MCPILCO" study two.yaml --out second --threads 1 --quiet > table.txt
/usr/bin/python3 "$SOURCE/scripts/gallery" study second --mcpilco "$MCPILCO" --page page.md
grep -q '\[stage\].*| [0-9] of 2 runs; ' page.md && grep -q '\[pendubot\].*| [01] of 1 runs; ' page.md ||
    fail "not both studies are on the page"
grep -q '^All together: of 2 runs, ' page.md || fail "the sum is not the first study's"
# every task of the gallery is on the page and in a study
for task in "$SOURCE"/tasks/*.yaml; do
    name=$(basename "$task" .yaml)
    grep -q "\[$name\](../tasks/$name.yaml)" "$SOURCE/docs/gallery.md" || fail "$name is not on the page"
    [ "$name" = mujoco-cartpole ] ||
        grep -q "^  $name: " "$SOURCE"/experiments/{gallery,double-pendulums}.yaml ||
        fail "$name is not in the study"
done
