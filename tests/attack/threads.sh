#!/usr/bin/env bash
# threads.sh MCPILCO SOURCE FOLDER - learn with a watched live page, then evaluate, four threads each, by a
# program built with the thread sanitizer. The last line counts its reports; exits with 1 if there is one.
set -eu
mcpilco=$1 source=$2 out=$3
export TSAN_OPTIONS="exitcode=0 log_path=$out/race"
tiny="--set optimise.particles=64 --set optimise.budget=20 --trials 2 --seed 1 --threads 4"
# shellcheck disable=SC2086
"$mcpilco" learn "$source/tasks/pendulum.yaml" $tiny --out "$out/run" --live 0 \
    > "$out/learn.txt" 2> "$out/log.txt" &
pid=$!
for _ in $(seq 1500); do grep -q 'watch it at' "$out/log.txt" && break; sleep 0.02; done
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\).*/\1/p' "$out/log.txt" | head -n 1)
exec 3<> "/dev/tcp/127.0.0.1/$port" && printf 'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3 &&
    timeout 300 cat <&3 > "$out/events.txt" || true
wait $pid
grep -q '"type": *"done"' "$out/events.txt" || { echo "the live page did not tell the end"; exit 1; }
"$mcpilco" evaluate "$out/run" --runs 40 --threads 4 > "$out/evaluate.txt"
reports=$(cat "$out"/race.* 2> /dev/null | grep -c 'WARNING: ThreadSanitizer' || true)
echo "thread sanitizer over learn, live page and evaluate: $reports reports"
[ "$reports" = 0 ]
