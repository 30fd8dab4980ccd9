#!/usr/bin/env bash
# scripts/setup: silent when nothing is missing, installs what is, and says what to run when it may not. The
# system is played by small programs on PATH, so nothing is installed here.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK/bin" && cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
play() { printf '#!/bin/sh\n%s\n' "$2" > "bin/$1" && chmod +x "bin/$1"; }

for tool in sh env mktemp tail rm cat printf; do ln -s "$(command -v $tool)" bin/$tool; done
play dpkg-query '
for p; do :; done # prints what the format asks for
case " $ABSENT " in *" $p "*) exit 1 ;; *) s=installed ;; esac
case " ${NAMED:-} " in *" $p "*) s=not-installed ;; esac
case $3 in " "*) printf " %s" $s ;; *) printf "%s " $s ;; esac'
play apt-get 'echo "$@" >> "$APT_LOG"; [ -z "${APT_FAILS:-}" ]'
play apt-cache 'case " ${UNKNOWN:-} " in *" $2 "*) exit 1 ;; esac'
play id 'echo "$USER_ID"'
setup() {
    env -i PATH="$WORK/bin" APT_LOG="$WORK/apt.log" "$@" sh "$SOURCE/scripts/setup" build test \
        > out 2> err < /dev/null
}

setup USER_ID=0 ABSENT= || fail "complete system: exit $?"
[ ! -s out ] && [ ! -s err ] && [ ! -e apt.log ] || fail "complete system: it printed or installed something"
echo "ok   silent when all is there"

setup USER_ID=0 ABSENT="cmake clang libmujoco-dev" || fail "as root: $(cat err)"
grep -q 'update' apt.log && grep -q 'install .*cmake clang' apt.log &&
    grep -q 'install .*libmujoco-dev' apt.log || fail "as root: $(cat apt.log)"
echo "ok   installs what is missing as root"

rm -f apt.log
setup USER_ID=0 ABSENT= NAMED=locales || fail "a package only named: $(cat err)"
grep -qs 'install .*locales' apt.log || fail "a package that is only named by another counts as installed"
echo "ok   a package that is only named by another is missing"

rm -f apt.log
setup USER_ID=1000 ABSENT="cmake clang" && fail "without rights it must not succeed"
grep -q 'apt-get install --no-install-recommends cmake clang' err || fail "without rights: $(cat err)"
[ ! -e apt.log ] || fail "without rights it called apt-get"
echo "ok   says what to run when it may not install"

setup USER_ID=1000 ABSENT="libopenmpi-dev" || fail "an optional package must not stop it"
grep -q 'libopenmpi-dev' err || fail "an optional package goes unmentioned"
setup USER_ID=0 ABSENT="libmujoco-dev" UNKNOWN="libmujoco-dev" ||
    fail "an unknown optional package must not stop it"
echo "ok   optional packages are optional"

setup USER_ID=0 ABSENT="cmake" APT_FAILS=1 && fail "a failed installation must not succeed"
echo "ok   a failed installation is a failure"
