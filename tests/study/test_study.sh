#!/usr/bin/env bash
# Studies: the same files from one process, two threads and two ranks; killed and failed runs are finished or
# named.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"; cd "$WORK"
fail() { echo "FAIL: $*"; exit 1; }
cat > s.yaml <<END
name: small
about: a study for tests
task: $SOURCE/tasks/pendulum.yaml
trials: 2
seeds: [1, 2]
evaluate: 5
final: 8
set: {optimise.particles: 32, optimise.steps: 30, optimise.steps_first: 30}
variants:
  a: {algorithm: mc-pilco4pms, paper: [10, 90]}
  b: {algorithm: mc-pilco}
END
"$MCPILCO" study s.yaml --out one --threads 1 --quiet > one.txt
"$MCPILCO" study s.yaml --out two --threads 2 --quiet > two.txt
for f in summary.csv runs.csv; do cmp one/$f two/$f || fail "$f differs between 1 and 2 threads"; done
[ "$(wc -l < one/runs.csv)" = 9 ] || fail "runs.csv has not one row per run and trial"
[ "$(wc -l < one/summary.csv)" = 5 ] || fail "summary.csv has not one row per variant and trial"
grep -q 'a: 2 of 2 seeds finished' one.txt || fail "the table is wrong"
# each run has one recommended policy: that of recommend.json, with the final runs and those on the model
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
         { if ($c["plant_runs"] != 5) exit 1
           best[$1 $2] += $c["recommended"]
           if ($c["recommended"]) { file = "one/" $1 "/" sprintf("seed-%04d", $2) "/recommend.json"
             getline line < file; getline line < file
             found[$1 $2] = line ~ "\"policy\": " $3 "," }
           n = $c["recommended"] ? 8 : 0
           if ($c["final_runs"] != n || $c["model_runs"] != n || $c["final_success"] > n) exit 1 }
         END { for (r in best) if (best[r] != 1 || !found[r]) exit 1 }' one/runs.csv ||
    { cat one/runs.csv one/*/seed-0001/recommend.json; fail "the recommended policies"; }
grep -q 'recommended policies: [0-9]* of 16 plant runs' one.txt || fail "no recommended policies in the table"
grep -q '95 % interval' one.txt || fail "no interval in the table"

# variants may have a task and a number of trials of their own
sed "s|^  b: .*|  b: {task: $SOURCE/tasks/stage.yaml, trials: 1}|; s/^seeds.*/seeds: [1, 1]/" \
    s.yaml > own.yaml
"$MCPILCO" study own.yaml --out own --threads 1 --quiet > own.txt
[ "$(cut -d, -f1,2,3 own/runs.csv | tail -n +2 | tr '\n' ' ')" = "a,1,1 a,1,2 b,1,1 " ] ||
    { cat own/runs.csv; fail "each variant has its own number of trials"; }
[ "$(wc -l < own/summary.csv)" = 4 ] || fail "summary.csv has rows for trials that were not asked for"
"$MCPILCO" study own.yaml --out own --threads 1 --quiet > again.txt
cmp own.txt again.txt || fail "a study of unequal variants is not finished"

# one variant alone, then the rest
"$MCPILCO" study own.yaml --out only --only b --threads 1 --quiet > only.txt ||
    fail "--only b is not finished"
[ "$(cut -d, -f1,2,3 only/runs.csv | tail -n +2 | tr '\n' ' ')" = "b,1,1 " ] || fail "--only ran others too"
"$MCPILCO" study own.yaml --out only --only c --threads 1 2> e.txt && fail "--only c passed"
grep -q 'has no such variant; it has a, b' e.txt || { cat e.txt; fail "no word about the variants"; }
"$MCPILCO" study own.yaml --out only --threads 1 --quiet > only.txt
cmp only/runs.csv own/runs.csv || fail "in two parts the numbers differ"

# the metric at the end of a trial (a sum of angles would be larger); an exploration that met a limit is
# counted
cat > end.yaml <<END
task: $SOURCE/tasks/pendulum.yaml
trials: 1
seeds: [1, 1]
evaluate: 4
final: 4
robust: 0.5
set: {optimise.particles: 32, optimise.steps_first: 5, metric: abs(theta), metric_at: end,
      limits: '{far: abs(theta) > 0.1}'}
variants: {a: {}}
END
"$MCPILCO" study end.yaml --out end --threads 1 --quiet > end.txt
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
         { mean = $c["plant_metric_mean"]; most = $c["plant_metric_max"]; mid = $c["plant_metric_median"]
           if (!(mean > 0 && mean <= most && mid <= most && most < 2)) exit 1
           if ($c["explore_limits"] != 1 || $c["robust"] != 0) exit 1 }' end/runs.csv ||
    { cat end/runs.csv; fail "the metric at the end, or the limits"; }
grep -q 'limits met: in 1 explorations' end.txt || fail "limits are not in the table"
grep -q 'metric there: mean' end.txt || fail "the metric of the plant runs is not in the table"

# until the first robust policy: with nothing asked of the plant runs but success of the trial itself, a run
# may end early, and never has a trial after a robust one
sed 's/^final: 8/final: 5\nrobust: 0\nuntil_robust: yes/
     s/optimise.steps: 30/optimise.steps: 60, success: theta < 100/' s.yaml > until.yaml
"$MCPILCO" study until.yaml --out until --threads 2 --quiet > until.txt
[ "$(wc -l < until/runs.csv)" = 5 ] || { cat until/runs.csv; fail "a run went on after a robust policy"; }
grep -q 'robust policy .* by 2 of 2 seeds; median: in trial 1' until.txt ||
    fail "the first robust policies are not in the table"
"$MCPILCO" study until.yaml --out until --threads 2 --quiet > again.txt
cmp until.txt again.txt || fail "a study of early ends is not finished"

# a study that was changed does not go on in its old folder
changed() { # what is done to the file, what must be said
    sed "$1" s.yaml > changed.yaml
    "$MCPILCO" study changed.yaml --out one --threads 1 --quiet > changed.txt 2>&1 && fail "it went on: $1"
    grep -q "one/.*/seed-0001: this run was made with $2" changed.txt ||
        { cat changed.txt; fail "expected: $2"; }
}
changed 's/optimise.steps: 30/optimise.steps: 31/' \
    'optimise.steps = 30, the study has 31 for variant a; name another folder by --out'
changed 's/  b: .*/  b: {algorithm: mc-pilco4pms}/' 'algorithm = mc-pilco, the study has mc-pilco4pms'
sed 's/^about:.*/about: other words/; s/paper: .10, 90./paper: [20, 90]/' s.yaml > words.yaml
"$MCPILCO" study words.yaml --out one --threads 1 --quiet > words.txt || fail "other words are other settings"

# more seeds later: finished runs are not repeated
touch -d '2001-01-01' one/a/seed-0001/evaluation.json
"$MCPILCO" study s.yaml --out one --seeds 1..3 --threads 2 --quiet > /dev/null
[ "$(date -r one/a/seed-0001/evaluation.json +%Y)" = 2001 ] || fail "a finished run was repeated"
[ "$(wc -l < one/runs.csv)" = 13 ] || fail "the third seed is missing"

# rows of an earlier part stand for their runs, whose folders are gone; the tables are the same
{ echo '# commit: abc1234'; grep -E '^variant|,1,[12],' two/runs.csv; echo 'other,1,1,'; } > part.csv
sed -i '$s/$/,,,,,,,,,,,,,,,,,,,,,,,,,,,,/' part.csv
"$MCPILCO" study s.yaml --out known --known part.csv --threads 2 --quiet > known.txt || fail "--known"
for f in summary.csv runs.csv; do
    cmp two/$f known/$f || fail "$f differs where runs are known"
done
[ ! -e known/a/seed-0001 ] && [ -e known/a/seed-0002 ] ||
    fail "a known run was repeated, or an unknown left out"
"$MCPILCO" study s.yaml --out known --threads 2 --quiet > again.txt ||
    fail "the folder forgets what it was told"
cmp known.txt again.txt || fail "the second table differs"
[ ! -e known/a/seed-0001 ] || fail "a known run was repeated by the second command"
for of in known two; do "$MCPILCO" plot $of --figure bars -o $of.svg > /dev/null; done
cmp known.svg two.svg || fail "a figure without the known runs"
unknown() { # what is done to the rows, what must be said
    sed "$1" part.csv > bad.csv
    "$MCPILCO" study s.yaml --out bad --known bad.csv --table > bad.txt 2>&1 && fail "taken: $1"
    grep -q "$2" bad.txt || { cat bad.txt; fail "expected: $2"; }
}
unknown '2s/variant/run/' 'bad.csv:2: .*runs.csv of a study'
unknown '2s/,steps,/,stairs,/' 'no column steps'
unknown '0,/^a,1,1,/s//a,1,1.5,/' 'trial is not a whole number'
unknown '/^a,1,1,/d' 'out of order'
unknown '0,/^a,1,2,/s//a,1,1,/' 'out of order'
unknown '3s/,[^,]*$//' 'bad.csv:3'
"$MCPILCO" study s.yaml --out bad --known nowhere.csv --table > bad.txt 2>&1 && fail "no rows, no word"
grep -q 'nowhere.csv' bad.txt || fail "no word about the file that is not there"

# killed in the middle, then the same command again
"$MCPILCO" study s.yaml --out killed --threads 2 --quiet > /dev/null 2>&1 & pid=$!
for _ in $(seq 1500); do ls killed/*/seed-*/trial-01/policy.json > /dev/null 2>&1 && break; sleep 0.02; done
kill -9 $pid 2> /dev/null || true
wait $pid 2> /dev/null || true
"$MCPILCO" study s.yaml --out killed --threads 2 --quiet > /dev/null
cmp two/summary.csv killed/summary.csv || fail "a killed study ends with other numbers"

# a run that cannot work is named and does not stop the others
sed 's/b: {algorithm: mc-pilco}/b: {algorithm: mc-pilco, task: nowhere.yaml}/' s.yaml > broken.yaml
if "$MCPILCO" study broken.yaml --out broken --threads 2 --quiet > broken.txt 2> broken.err; then
    fail "a failed run went unnoticed"
fi
grep -q 'b, seed 2: .*nowhere.yaml' broken.txt || fail "the failed run is not listed"
grep -q 'a: 2 of 2 seeds finished' broken.txt || fail "the other variant was not run"

# cumulative: each variant adds to the one before; one with a task of its own begins anew
cat > steps.yaml <<END
task: $SOURCE/tasks/pendulum.yaml
trials: 1
seeds: [1, 1]
evaluate: 1
final: 1
set: {optimise.particles: 16, optimise.steps_first: 2, optimise.candidates: 0}
cumulative: yes
variants:
  first: {}
  second: {set: {optimise.dropout: 0.5}}
  third: {set: {optimise.steps_first: 3}}
  new: {task: $SOURCE/tasks/pendulum.yaml, set: {optimise.beta1: 0.5}}
END
"$MCPILCO" study steps.yaml --out steps --threads 2 --quiet > steps.txt
[ "$(cut -d, -f1,12 steps/runs.csv | tail -n +2 | tr '\n' ' ')" = "first,2 second,2 third,3 new,2 " ] ||
    { cat steps/runs.csv; fail "settings do not add up"; }
for name in second third; do
    "$MCPILCO" show steps/$name/seed-0001 > /dev/null || fail "show $name"
    grep -rqE 'dropout[^0-9]*0\.5' steps/$name/seed-0001/*.* || fail "$name lost the setting before it"
done
for name in first new; do
    if grep -rqE 'dropout[^0-9]*0\.5' steps/$name/seed-0001/*.*; then fail "$name has a later setting"; fi
done

# mistakes in the file
wrong() {
    printf '%s\n' "$1" > w.yaml
    "$MCPILCO" study w.yaml 2> w.err && fail "taken: $1"
    grep -q "$2" w.err || { cat w.err; fail "expected: $2"; }
}
wrong '' 'empty'
wrong '# nothing but words' 'only comments'
wrong "$(cat "$SOURCE/tasks/pendulum.yaml")" 'this is a task file.*mcpilco learn'
wrong 'name: x' 'variants'
wrong 'varants: {a: {}}' 'variants'
wrong 'variants: {a: {}}' 'has no task'
wrong 'trials: many' 'number'
wrong 'robust: 2' 'number'
wrong 'until_robust: maybe' 'yes or no'
wrong 'cumulative: maybe' 'yes or no'
wrong "variants: {'a/b': {task: x}}" 'folder'
wrong 'seeds: 3' 'first, last'
"$MCPILCO" study s.yaml --seeds 5..2 2> w.err && fail "seeds backwards"
grep -q 'FIRST..LAST' w.err || fail "no word about seeds"

"$MCPILCO" report two > /dev/null
grep -q '<section id=.figures' two/report.html || fail "no page of the study"
for f in success cost first bars; do
    "$MCPILCO" plot two --figure $f -o $f.svg > /dev/null
    grep -q '</svg>' $f.svg || fail "figure $f"
done

if command -v mpirun > /dev/null && "$MCPILCO" machine | grep -qi 'mpi.*yes'; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    run="mpirun --oversubscribe --bind-to none -n 2"
    $run "$MCPILCO" study s.yaml --out ranks --quiet > ranks.txt
    for f in summary.csv runs.csv; do cmp two/$f ranks/$f || fail "$f differs between threads and ranks"; done
    $run "$MCPILCO" study s.yaml --out hurt --quiet > /dev/null 2>&1 & pid=$!
    for _ in $(seq 1500); do ls hurt/*/seed-*/trial-01/policy.json > /dev/null 2>&1 && break; sleep 0.02; done
    pkill -9 -n -f "study s.yaml --out hurt" || true
    wait $pid 2> /dev/null || true
    $run "$MCPILCO" study s.yaml --out hurt --quiet > /dev/null
    cmp two/summary.csv hurt/summary.csv || fail "a study that lost a rank ends with other numbers"
else
    echo "no MPI: that part is left out"
fi
"$MCPILCO" study s.yaml --out none --table > none.txt 2>&1 || true
grep -q '^a, seeds 1 to 2: not finished$' none.txt ||
    fail "runs that wait are not told in one line: $(cat none.txt)"
echo ok
