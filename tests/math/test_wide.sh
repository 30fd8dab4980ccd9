#!/usr/bin/env bash
# labels: e2e
# The code of the widest level (vectors of 8, panels of 12 rows) on a CPU that lacks its instructions: the
# compiler splits the vectors. What the wide instructions themselves do can only be tested on a CPU that has
# them.
set -eu
[ "$(uname -m)" = x86_64 ] || { echo "skipped: x86-64 only"; exit 77; }
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
flags="-std=gnu11 -O1 -Wall -Wextra -Wno-psabi -fno-math-errno -D_GNU_SOURCE -DMCP_TESTING -DMCP_WIDE
       -I$SOURCE/src -I$SOURCE/include -I$SOURCE/tests"
cc=${CC:-cc} library=
for name in error number stats arena isa rng gemm vecmath; do
  $cc $flags -c "$SOURCE/src/math/$name.c" -o $name.o
  library="$library $name.o"
done
for level in base v2 v3 v4; do # every level is the wide one
  for name in rng gemm vecmath; do
    $cc $flags -DMCP_ISA=$level -ffp-contract=fast -c "$SOURCE/src/math/$name.isa.c" -o $name.$level.o
    library="$library $name.$level.o"
  done
done
failed=0
for test in rng gemm vecmath; do
  $cc $flags "$SOURCE/tests/math/test_$test.c" $library -o $test -lm
  ./$test || { echo "FAIL $test"; failed=1; }
done
exit $failed
