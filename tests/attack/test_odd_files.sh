#!/usr/bin/env bash
# Pipes, devices, files without end and links where a run folder has files: a sentence, no wait, and nothing
# outside of the folder is written. A folder belongs to one process even when its lock file was removed.
# labels: asan
set -eu
. "$SOURCE/tests/plant/common.sh"
spring 0.6 '{ode: {v: u - 4*q - 0.1*v}}' > spring.yaml
echo 'optimise: {particles: 16, steps_first: 4, steps: 4}' >> spring.yaml
mcp() { timeout 300 "$MCPILCO" "$@" < /dev/null; } # a wait without end is a failure
run() { # folder, trials, more
    local folder=$1 trials=$2; shift 2
    mcp learn spring.yaml --out "$folder" --trials "$trials" --seed 1 --threads 1 --quiet "$@"
}
refused() { # words of the sentence, command: it ends with 1 and these words
    local words=$1 code=0; shift
    "$@" > refused.out 2>&1 || code=$?
    [ $code -eq 1 ] && grep -q "$words" refused.out || fail "$*: exit code $code, $(cat refused.out)"
}
fresh() { rm -rf run && cp -r calm run; }
run calm 2

for file in run.json task.yaml trial-01/trial.csv trial-01/policy.json trial-02/result.json; do
    for odd in pipe device endless; do
        fresh
        rm "run/$file"
        case $odd in
            pipe) mkfifo "run/$file"; words='a pipe or a device' ;;
            device) ln -s /dev/zero "run/$file"; words='a pipe or a device' ;;
            endless) truncate -s 4G "run/$file"; words='more than 1024 MB' ;;
        esac
        refused "$file: .*$words" run run 3 --resume
        mcp show run > show.out 2>&1 || grep -q "$words" show.out || fail "show: $(cat show.out)"
    done
done
fresh
rm run/report.html
mkfifo run/report.html
refused 'cannot write it' mcp report run
rm run/report.html
ln -s /dev/full run/report.html # written straight it would be an error
mcp report run > /dev/null
[ -s run/report.html ] && [ ! -L run/report.html ] || fail "a page went through a link"
"$MCPILCO" next spring.yaml --run away -o away-next > /dev/null
mkfifo data.csv
refused 'a pipe or a device' mcp add away data.csv
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "c%d,", i; print "c" }' > wide.csv
refused 'has 200001 columns' mcp add away wide.csv
"$MCPILCO" report calm -o /proc/self/fd/1 > page.html || fail "a page to standard output"
"$MCPILCO" report calm -o /dev/stdout | cmp - <(sed 's#^/proc/self/fd/1$#/dev/stdout#' page.html) ||
    fail "a page into a pipe differs"
"$MCPILCO" check /dev/stdin --brief < spring.yaml > /dev/null || fail "a task from a pipe"
writers=
for i in 1 2 3 4 5 6 7 8; do
    mcp report calm -o same.html > "writer-$i.out" 2>&1 &
    writers="$writers $!"
done
for writer in $writers; do wait "$writer" || fail "one of several writers: $(cat writer-*.out)"; done
cmp same.html <(sed '$d' page.html) || fail "several writers of one file mixed it"
echo "ok   pipes, devices and files without end are sentences"

echo precious > victim
fresh
ln -sf ../victim run/lock
refused 'run/lock' run run 3 --resume
fresh
ln -f victim run/lock
refused 'run/lock: it is not a plain file' run run 3 --resume
fresh
mkdir run/trial-03
for file in trial-03/trial.csv trial-03/result.json run.json recommend.json; do
    ln -s "$PWD/victim" "run/$file.partial"
done
ln victim run/trial-03/policy.json.partial
mkfifo run/trial-03/model.json.partial
run run 3 --resume > partial.out 2>&1 || fail "links in the way: $(cat partial.out)"
[ "$(cat victim)" = precious ] || fail "a link in a run folder led to another file"
run again 3 > again.out 2>&1
cmp again/trial-03/trial.csv run/trial-03/trial.csv || fail "the trial differs from an undisturbed one"
fresh
mkdir elsewhere
ln -s ../elsewhere run/trial-03
refused 'trial-03: cannot make this folder' run run 3 --resume
[ -z "$(ls elsewhere)" ] || fail "a trial was written into another folder"
echo "ok   links lead nowhere"

cp "$SOURCE/tests/plant/logging_rig.py" .
spring 2 "{exec: [$PYTHON, logging_rig.py, rig.log]}" > rig.yaml
"$MCPILCO" learn rig.yaml --out busy --trials 1 --seed 1 --yes --set optimise.particles=16 \
    --set optimise.steps_first=4 > busy.out 2>&1 &
learner=$!
for _ in $(seq 3000); do
    grep -q '^step 20$' rig.log 2> /dev/null && break
    sleep 0.01
done
rm busy/lock
refused 'is working in this run folder' mcp learn rig.yaml --out busy --trials 1 --seed 1 --yes --resume
wait $learner || fail "the first run did not end well: $(cat busy.out)"
echo "ok   a removed lock file lets nobody in"

before=$(find calm -type f ! -name lock | sort | xargs sha256sum)
refused 'is the folder of the new run itself' run calm 1 --from calm --force
[ "$before" = "$(find calm -type f ! -name lock | sort | xargs sha256sum)" ] && [ ! -e calm.old-1 ] ||
    fail "--force moved the run that was to be begun from"
echo "ok   --from and --out of one run move nothing"
