#!/usr/bin/env bash
# A folder or file that may not be written: the message names it and the true cause, and exits with 1.
set -eu
fail() { echo "FAIL $*"; exit 1; }
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
place=$(mktemp -d) # where another user may look
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
cp "$SOURCE/tasks/pendulum.yaml" "$place"
as=
if [ "$(id -u)" = 0 ]; then # root may write anywhere
  as='setpriv --reuid=65534 --regid=65534 --clear-groups'
  $as "$MCPILCO" --version > /dev/null 2>&1 ||
    { echo "skipped: another user cannot run the command"; exit 77; }
fi
"$MCPILCO" learn "$place/pendulum.yaml" --out "$place/run" --trials 1 --quiet --no-finish --threads 1 \
  --set optimise.particles=8 --set optimise.steps_first=2 > /dev/null || fail "learn"
touch "$place/file"
mkdir "$place/shut"
chmod -R a-w "$place"

refuses() { # message, command...
  local message=$1 code=0
  shift
  $as "$@" > out.txt 2> err.txt || code=$?
  [ $code = 1 ] && grep -q -- "$message" err.txt && [ "$(wc -l < err.txt)" = 1 ] ||
    fail "$*: exit $code, $(cat err.txt), expected: $message"
  echo "ok   $(sed "s#$place/##g" err.txt)"
}
task=$place/pendulum.yaml
refuses "$place/new: cannot make this folder: Permission denied" "$MCPILCO" learn "$task" --out "$place/new"
refuses "$place/a: cannot make this folder: Permission denied" "$MCPILCO" learn "$task" --out "$place/a/b"
refuses "$place/file: cannot make this folder: Not a directory" "$MCPILCO" learn "$task" --out "$place/file/b"
refuses "$place/shut/lock: .*Permission denied" "$MCPILCO" learn "$task" --out "$place/shut"
refuses "$place/run/lock: .*Permission denied" "$MCPILCO" learn --resume "$place/run" --trials 2
refuses "report.html: .*Permission denied" "$MCPILCO" report "$place/run"
refuses "$place/c: cannot make this folder: Permission denied" "$MCPILCO" export "$place/run" -o "$place/c"
chmod -R u+w "$place"
