#!/usr/bin/env bash
# A run's page in a real browser: whole, without console errors, moving, small; damaged folders still give a
# page.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"; cd "$WORK"
fail() { echo "FAIL: $*"; exit 1; }
tiny="--set optimise.particles=32 --set optimise.steps=40 --set optimise.steps_first=40 --quiet"
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" --seed 1 --trials 5 --out run $tiny
"$MCPILCO" report run > name.txt
[ "$(cat name.txt)" = run/report.html ] || fail "the page's name was not told"
[ "$(wc -c < run/report.html)" -lt 750000 ] || fail "the page of five trials is 750 kB or more"
grep -qE '(src|href)=.?https?:' run/report.html && fail "the page refers to the network"
for id in animation diagnosis trials forecast model observer settings; do
    grep -q "<section id='$id'" run/report.html || fail "section $id is missing"
done
sed '/^<script>$/,/^<\/script>/d' run/report.html > words.html
! grep -qiE '>-?nan<|[^a-z]nan[^a-z]|infinity' words.html || fail "NaN or infinity on the page"

for figure in trajectory inputs cost model observer runs trials; do
    "$MCPILCO" plot run --figure $figure -o $figure.svg > /dev/null
    grep -q '</svg>' $figure.svg || fail "figure $figure"
done
[ "$(grep -o 'runs on the plant' runs.svg | wc -l)" = 4 ] ||
    fail "figure runs: a panel a state, and its name for readers, are missing"
"$MCPILCO" plot run --figure plane 2> e.txt && fail "a plane of one measured state"
grep -q "two measured states" e.txt || fail "the message does not say what a plane needs"
"$MCPILCO" learn "$SOURCE/tasks/cartpole.yaml" --seed 1 --trials 1 --out cart --set optimise.particles=8 \
    --set optimise.steps_first=2 --quiet
"$MCPILCO" plot cart --figure plane -o plane.svg > /dev/null
[ "$(grep -o '<circle' plane.svg | wc -l)" = 20 ] || fail "figure plane: ten starts and ten ends are missing"
if command -v rsvg-convert > /dev/null; then
    "$MCPILCO" plot run --figure trajectory -o t.pdf > /dev/null && [ "$(head -c 4 t.pdf)" = %PDF ] ||
        fail "no PDF"
    "$MCPILCO" plot run --figure trajectory -o t.png > /dev/null &&
        [ "$(head -c 4 t.png | tail -c 3)" = PNG ] || fail "no PNG"
fi
(PATH=/nowhere "$MCPILCO" plot run --figure cost -o t2.pdf) 2> e.txt && fail "a PDF without a converter"
grep -q librsvg2-bin e.txt || fail "the message does not name the converter's package"
if command -v rsvg-convert > /dev/null && command -v ffmpeg > /dev/null; then
    "$MCPILCO" plot cart --figure animation -o film.gif > /dev/null &&
        [ "$(head -c 3 film.gif)" = GIF ] || fail "no GIF"
    "$MCPILCO" plot cart --figure animation --format mp4 > /dev/null && [ -s animation.mp4 ] || fail "no MP4"
fi
(PATH=/nowhere "$MCPILCO" plot run --figure animation) 2> e.txt && fail "a film without a converter"
grep -q librsvg2-bin e.txt || fail "the message does not name what draws the frames"
"$MCPILCO" plot run --figure nothing 2> e.txt && fail "an unknown figure was drawn"
grep -q trajectory e.txt || fail "the message does not name the known figures"

# damaged: a missing history, a broken last trial, no forecast
cp -r run hurt
rm hurt/trial-05/history.csv hurt/trial-04/forecast.json
"$MCPILCO" report hurt > /dev/null || fail "a folder with missing files gives no page"
grep -q 'trial-04: forecast.json is missing' hurt/report.html ||
    fail "the page does not say that a forecast is missing"
grep -qi 'history.csv' hurt/report.html || fail "the page does not say that the history is missing"
echo garbage > hurt/trial-05/trial.csv
"$MCPILCO" report hurt > /dev/null || fail "a folder with a damaged trial gives no page"
grep -q 'could not be read' hurt/report.html || fail "the page does not say that a trial is damaged"
"$MCPILCO" report nowhere 2> e.txt && fail "a page of nothing"
grep -q nowhere e.txt || fail "the message does not name the folder"

browser=$(command -v chromium || true)
[ -n "$browser" ] || { echo "no chromium: the browser part is left out"; exit 0; }
show() { # out.png milliseconds width height
    timeout 90 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$WORK/profile" \
        --enable-logging=stderr --v=0 \
        --virtual-time-budget="$2" --window-size="$3,$4" --screenshot="$1" "file://$WORK/run/report.html" \
        2>> log.txt > /dev/null
}
: > log.txt
show a.png 300 1200 900
show b.png 1500 1200 900
show phone.png 300 390 800
! grep -q 'CONSOLE' log.txt || { grep CONSOLE log.txt; fail "the page writes to the console"; }
[ -s a.png ] && [ -s b.png ] && [ -s phone.png ] || fail "no screenshot"
! cmp -s a.png b.png || fail "the animation does not move"

# under a real pointer, with a second run to compare
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" --seed 2 --trials 2 --out other $tiny \
    --set optimise.particles=24
"$MCPILCO" report run other -o compare.html > /dev/null
grep -q 'optimise.particles' compare.html || fail "the setting that differs is not on the page"
python3 "$SOURCE/tests/report/pages_in_browser.py" "$browser" "$WORK" || fail "the pages in a browser"
echo ok
