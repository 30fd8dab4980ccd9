#!/usr/bin/env bash
# A BLAS that takes its oldest kernels is noticed: the program starts itself again with a better environment,
# once, and warns when that did not help. A preloaded library plays the part of such a BLAS.
set -eu
[ "$(uname -m)" = x86_64 ] || { echo "skipped: x86-64 only"; exit 77; }
"$MCPILCO" machine --json | grep -qE '"isa_cpu": "v[34]"' || { echo "skipped: needs AVX2"; exit 77; }
# a preloaded library must not come before these
case $(ldd "$MCPILCO") in *libasan*|*libtsan*) echo "skipped: with sanitizers"; exit 77 ;; esac
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"

cat > fake.c <<'END'
#include <stdio.h>
#include <stdlib.h>
char *openblas_get_corename(void)
{
    FILE *f = fopen(getenv("FAKE_LOG"), "a"); /* one line per question */
    fputs("asked\n", f);
    fclose(f);
    return getenv("OPENBLAS_CORETYPE") && !getenv("FAKE_STUBBORN") ? "Haswell" : "Prescott";
}
END
${CC:-cc} -shared -fPIC -o fake.so fake.c
unset OPENBLAS_CORETYPE
export FAKE_LOG=$PWD/log

fail() { echo "FAIL $*"; exit 1; }

out=$(LD_PRELOAD=$PWD/fake.so "$MCPILCO" machine --json 2> err)
case $out in *Haswell*'"blas_slow": 0'*'"blas_threads": 1'*) ;; *) fail "not cured: $out" ;; esac
[ ! -s err ] || fail "warned although cured: $(cat err)"
echo "ok   slow kernels are cured by one restart"

: > log
out=$(FAKE_STUBBORN=1 LD_PRELOAD=$PWD/fake.so timeout 20 "$MCPILCO" machine --json 2> err) ||
    fail "stubborn BLAS: exit $?"
case $out in *Prescott*'"blas_slow": 1'*) ;; *) fail "stubborn BLAS: $out" ;; esac
grep -q 'OPENBLAS_CORETYPE' err || fail "no warning: $(cat err)"
[ "$(wc -l < log)" -le 4 ] || fail "restarted more than once: $(wc -l < log) questions"
echo "ok   a BLAS that stays slow is restarted once and named in a warning"

: > log
out=$(OPENBLAS_CORETYPE=Prescott FAKE_STUBBORN=1 LD_PRELOAD=$PWD/fake.so "$MCPILCO" machine --json 2> err)
[ "$(wc -l < log)" -eq 2 ] || fail "restarted against the user's own choice"
echo "ok   the user's own choice of core type is respected"
