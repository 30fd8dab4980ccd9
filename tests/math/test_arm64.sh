#!/usr/bin/env bash
# labels: e2e
# The portable path: memory, threads, random numbers, vector functions and products compiled for arm64 and run
# in emulation.
set -eu
cc=aarch64-linux-gnu-gcc
command -v $cc > /dev/null && command -v qemu-aarch64 > /dev/null ||
    { echo "skipped: needs $cc and qemu-aarch64"; exit 77; }
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
flags="-std=gnu11 -O2 -Wall -Wextra -Wshadow -Werror -fno-math-errno -D_GNU_SOURCE -DMCP_TESTING
       -DMCP_ISA=base
       -I$SOURCE/src -I$SOURCE/include -I$SOURCE/tests"
library=
for name in error number stats arena isa pool rng rng.isa gemm gemm.isa vecmath vecmath.isa; do
  $cc $flags -fopenmp-simd -ffp-contract=fast -c "$SOURCE/src/math/$name.c" -o $name.o
  library="$library $name.o"
done
failed=0
for test in arena pool rng gemm vecmath; do
  $cc $flags -static "$SOURCE/tests/math/test_$test.c" $library -o $test -lpthread -lm
  qemu-aarch64 ./$test || { echo "FAIL $test"; failed=1; }
done
exit $failed
