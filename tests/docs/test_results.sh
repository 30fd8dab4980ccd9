#!/usr/bin/env bash
# Every number of README.md and docs/ that scripts/results writes is that of docs/results; it notices pages
# and files that differ, takes finished runs of a study that is not finished, and says that it is not.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"; cd "$WORK"
fail() { echo "FAIL: $*"; exit 1; }
[ -x /usr/bin/python3 ] || { echo "skipped: needs python3"; exit 77; }
results() { /usr/bin/python3 "$SOURCE/scripts/results" --mcpilco "$MCPILCO" "$@"; }

results --check || fail "the pages differ from docs/results"

fresh() { rm -rf tree; mkdir -p tree; cp -r "$SOURCE/README.md" "$SOURCE/docs" tree; }
refused() { # text it must say
    if results --docs tree/docs --check > said.txt 2>&1; then fail "not noticed: $1"; fi
    grep -q "$1" said.txt || { cat said.txt; fail "expected: $1"; }
}
fresh
results --docs tree/docs --check || fail "a copy differs"
sed -i '/results: readme/,/end -->/s/\([0-9]\) of/1\1 of/' tree/README.md
refused 'README.md: its numbers'
results --docs tree/docs --pages > /dev/null
cmp tree/README.md "$SOURCE/README.md" || fail "--pages does not repair the page"
sed -i '0,/^mc-pilco4pms,/{/^mc-pilco4pms,/d}' tree/docs/results/figure2.csv
sed -i 's/^\(mc-pilco4pms,[0-9]*,3\),1,/\1,0,/' tree/docs/results/figure2.csv
refused 'docs/results.md: its numbers'
fresh
sed -i '/^# commit/d' tree/docs/results/figure2.csv
refused 'figure2.csv: its head lacks commit'
fresh
sed -i 's/^\(mc-pilco4pms\),[0-9]*,/\1,99999,/' tree/docs/results/figure2.csv
refused 'runs of other seeds'
fresh
echo '<!-- results: nothing --><!-- end -->' >> tree/docs/faq.md
refused 'no results named "nothing"'
if results nothing > said.txt 2>&1; then fail "a study that does not exist"; fi
grep -q 'there is no study nothing' said.txt || fail "no word about a study that does not exist"

# two of twenty seeds, made small: what they say is taken, with its seeds and commit
cat > small.yaml <<END
task: $SOURCE/tasks/pendulum.yaml
trials: 5
seeds: [501, 502]
evaluate: 100
final: 400
set: {optimise.particles: 16, optimise.steps: 2, optimise.steps_first: 2}
variants: {paper: {}, sines: {}}
END
"$MCPILCO" study small.yaml --out out/ladder --threads 2 --quiet > /dev/null
echo abc1234 > out/ladder/commits.txt
fresh
results --docs tree/docs --out out --table ladder > /dev/null || fail "--table"
head -5 tree/docs/results/ladder.csv > head.txt
for line in 'study: experiments/ladder.yaml' 'command: mcpilco study .*501\.\.520' 'version: [0-9]' \
    'commit: abc1234' 'seeds: 501..520'; do
    grep -q "^# $line" head.txt || { cat head.txt; fail "the head of the file lacks $line"; }
done
[ "$(grep -c '^[a-z]' tree/docs/results/ladder.csv)" = 21 ] || fail "not a row per run and trial"
grep -q "^| the paper's settings | \*\*2 of 20\*\* |.*[0-9] of 800 (" tree/docs/results.md ||
    { grep "paper's settings" tree/docs/results.md; fail "half a study passes for a whole one"; }
grep -q '^| half of the particles.*our task as it is | not run yet' tree/docs/results.md ||
    fail "a variant that was not run"
results --docs tree/docs --check || fail "what was just written differs"

# the gallery's column
rm -f tree/docs/results/double-pendulums.csv
mkdir -p out/gallery
ln -s ../ladder/paper out/gallery/stage
{ head -1 out/ladder/runs.csv; sed -n 's/^paper,/stage,/p' out/ladder/runs.csv; } > out/gallery/runs.csv
{ printf '# %s: x\n' study command version commit; echo '# seeds: 501..502'; cat out/gallery/runs.csv; } \
    > tree/docs/results/gallery.csv
results --docs tree/docs --pages > /dev/null 2>&1 || true
refused 'gallery.md: the results of stage'
gallery() {
    /usr/bin/python3 "$SOURCE/scripts/gallery" out/gallery --mcpilco "$MCPILCO" --page tree/docs/gallery.md
}
gallery
results --docs tree/docs --check || fail "a gallery that is right"
# the other study's cells stay, and so does a picture whose run folder is gone
grep -F '[acrobot](' "$SOURCE/docs/gallery.md" | grep -q ' runs; ' || fail "no cell of the acrobot to keep"
[ "$(grep -F '[acrobot](' tree/docs/gallery.md)" = "$(grep -F '[acrobot](' "$SOURCE/docs/gallery.md")" ] ||
    fail "a gallery of one study empties the other's cells"
cp tree/docs/gallery.md before.md
rm out/gallery/stage
gallery || fail "rows without run folders"
cmp before.md tree/docs/gallery.md

# what it starts: the seeds asked for, over ranks if wanted, the commit noted; shared runs are linked
mkdir -p bin start/figure2/mc-pilco4pms
printf '#!/bin/sh\necho "$0 $*" >> started.txt\n' > bin/mcpilco
printf '#!/bin/sh\necho "mpirun $*" >> started.txt\n' > bin/mpirun
chmod +x bin/mcpilco bin/mpirun
start() {
    PATH=$PWD/bin:$PATH /usr/bin/python3 "$SOURCE/scripts/results" --mcpilco bin/mcpilco --docs tree/docs \
        --out start "$@" > said.txt 2>&1 || true
}
start --seeds 5 --threads 2 ladder
asked='mcpilco study .*experiments/ladder.yaml --seeds 501..505 --out start/ladder --threads 2$'
grep -q "$asked" started.txt ||
    { cat said.txt started.txt; fail "the study is not started as asked"; }
[ "$(readlink start/ladder/defaults)" = ../figure2/mc-pilco4pms ] || fail "shared runs are not linked"
[ -s start/ladder/commits.txt ] || fail "the commit is not noted"
if grep -q -- --known started.txt; then fail "rows are taken that nobody asked to keep"; fi
# rows that are kept: of this study as it is, by its commit
here=$(git -C "$SOURCE" rev-parse --short=7 HEAD 2> /dev/null) || here=
git -C "$SOURCE" diff --quiet HEAD -- experiments tasks 2> /dev/null || here= # it is being changed
if [ -n "$here" ]; then
    sed -i "s/^# commit.*/# commit: $here/" tree/docs/results/{ladder,figure2}.csv
    start --add --seeds 5 ladder
    grep -q 'seeds 501..505 --out start/ladder --known start/ladder/known.csv$' started.txt ||
        { cat said.txt started.txt; fail "--add does not keep what docs/results has"; }
    [ "$(grep -c -E '^(paper|sines),50[12],[1-5],' start/ladder/known.csv)" = 20 ] ||
        fail "not the rows of docs/results"
    [ "$(grep -c '^defaults,501,1,' start/ladder/known.csv)" = 1 ] || fail "the rows of shared runs"
    grep -q "$here" start/ladder/commits.txt || fail "the commit of runs that are kept is lost"
    sed -i 's/^# commit.*/# commit: 0000000/' tree/docs/results/ladder.csv
    start --add --seeds 5 ladder
    grep -q 'rows of ladder.csv are run again: since 0000000 changed experiments/ladder.yaml' said.txt ||
        { cat said.txt; fail "rows of another ladder are kept"; }
    if grep -q '^sines' start/ladder/known.csv; then fail "rows of another ladder are known"; fi
fi
start --ranks 3 furuta
grep -q '^mpirun -n 3 bin/mcpilco study .*furuta.yaml --seeds 521..540 ' started.txt || fail "no ranks"
if grep -q '^mpirun.*--table' started.txt; then fail "a table is made by every rank"; fi

# the first seeds again: as on the file's machine, and the same rows digit by digit or a complaint
cat > bin/mcpilco <<'END'
#!/bin/sh
[ "$1" = study ] || exit 0
echo "$OPENBLAS_CORETYPE $MCPILCO_ISA $*" > asked.txt
while [ "$1" != --out ]; do shift; done
sed "$CHANGE" again.csv > "$2/runs.csv"
END
fresh
grep -v '^#' tree/docs/results/figure2.csv > again.csv
sed -i '/^# machine/d; /^# same at/d' tree/docs/results/figure2.csv
verify() {
    CHANGE=$1 /usr/bin/python3 "$SOURCE/scripts/results" --mcpilco bin/mcpilco --docs tree/docs --out start \
        --verify --seeds 2 figure2
}
verify '' > said.txt || fail "--verify without a machine"
grep -q 'names no machine' said.txt || { cat said.txt; fail "verified without a machine"; }
sed -i '0,/^# seeds/s/^# seeds/# machine: v3, OpenBLAS 9 Zen\n&/' tree/docs/results/figure2.csv
verify '' > said.txt || { cat said.txt; fail "--verify does not know its own rows"; }
grep -q '^figure2: 2 runs again, the same rows$' said.txt || { cat said.txt; fail "--verify says nothing"; }
grep -q '^Zen v3 study .*figure2.yaml --seeds 501..502 .*--only mc-pilco4pms$' asked.txt ||
    { cat asked.txt; fail "not run as on the file's machine"; }
grep -q '^# same at: .*, seeds 501..502$' tree/docs/results/figure2.csv || fail "--verify leaves no note"
results --docs tree/docs --pages > /dev/null
results --docs tree/docs --check || fail "a note is taken for a row"
digit='s/^\(mc-pilco4pms,502,3,[01],0,[0-9]*\)/\17/'
if verify "$digit" > said.txt; then fail "a digit more is not noticed"; fi
grep -q '^figure2: mc-pilco4pms, seed 502: not the rows' said.txt ||
    { cat said.txt; fail "which run differs"; }

results --out out --list > list.txt
grep -q "^ladder .* 4 runs finished" list.txt || fail "--list"
echo ok
