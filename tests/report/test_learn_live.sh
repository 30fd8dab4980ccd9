#!/usr/bin/env bash
# learn --live: a browser's view of a run while it goes, and no effect on its numbers.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"; cd "$WORK"
fail() { echo "FAIL: $*"; exit 1; }
tiny="--set optimise.particles=32 --set optimise.steps=40 --set optimise.steps_first=40 --trials 2 --seed 1"
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" $tiny --out plain --quiet
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" $tiny --out none --live 0.0.0.0:0 2> e.txt &&
    fail "an open address was taken"
grep -q loopback e.txt || fail "no word about the loopback"
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" $tiny --out live --live 0 > out.txt 2> log.txt &
pid=$!
for _ in $(seq 1500); do grep -q 'watch it at' log.txt && break; sleep 0.02; done
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\).*/\1/p' log.txt | head -1)
exec 3<> "/dev/tcp/127.0.0.1/$port" &&
    printf 'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3 &&
    timeout 60 cat <&3 > events.txt || true
wait $pid
grep -q '"type": *"step"' events.txt || fail "no step was told"
grep -q '"type": *"fan"' events.txt || fail "no forecast was told"
grep -q '"type": *"trial"' events.txt || fail "no trial was told"
grep -q '"type": *"done"' events.txt || fail "the end was not told"
cmp plain/trial-02/policy.json live/trial-02/policy.json || fail "watching changed the result"

# few files to open, many connections that ask for nothing: the run has its own
(ulimit -n 40; exec "$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" $tiny --out low --live 0 \
    > low.txt 2> lowlog.txt) &
pid=$!
for _ in $(seq 1500); do grep -q 'watch it at' lowlog.txt && break; sleep 0.02; done
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\).*/\1/p' lowlog.txt | head -1)
python3 - "$port" <<'END' || true
import socket, sys, time
held = []
for _ in range(60):
    try: held.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=1))
    except OSError: break
time.sleep(1)
END
wait $pid || { cat lowlog.txt; fail "connections took the run's files"; }
cmp plain/trial-02/policy.json low/trial-02/policy.json || fail "few files changed the result"

# the stop button: kept what was finished, and resume goes on
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" $tiny --set optimise.steps=4000 \
    --set optimise.steps_first=4000 \
    --out stopped --live 0 > stop.txt 2> stoplog.txt &
pid=$!
for _ in $(seq 1500); do grep -q 'watch it at' stoplog.txt && break; sleep 0.02; done
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\).*/\1/p' stoplog.txt | head -1)
exec 4<> "/dev/tcp/127.0.0.1/$port"
printf 'POST /stop HTTP/1.1\r\nHost: localhost\r\nX-Mcpilco: stop\r\nContent-Length: 0\r\n\r\n' >&4
grep -q -m 1 '202' <&4 || fail "the stop button was refused"
code=0; wait $pid || code=$?
[ $code = 130 ] || { cat stoplog.txt; fail "stopped by the page: exit code $code"; }

browser=$(command -v chromium || true)
[ -n "$browser" ] || { echo "no chromium: the browser part is left out"; exit 0; }
python3 "$SOURCE/tests/report/live_in_browser.py" "$browser" "$MCPILCO" \
    "$SOURCE/tasks/pendulum.yaml" "$WORK" ||
    fail "the live page in a browser"
echo ok
