#!/usr/bin/env bash
# A plant of C functions, with the public headers and the shared library alone.
set -eu
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"
case $(ldd "$BUILD/libmcpilco.so") in
    *libasan* | *libtsan*) echo "skipped: the example is built without sanitizers"; exit 77 ;;
esac
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -I "$SOURCE/include" "$SOURCE/examples/own_plant/own_plant.c" \
    -L "$BUILD" -lmcpilco -lm -o own_plant
LD_LIBRARY_PATH=$BUILD ./own_plant 1 > out.txt ||
    { cat out.txt; echo "FAIL the example does not run"; exit 1; }
grep -q '^exploration 1: 51 samples$' out.txt || { cat out.txt; echo "FAIL no exploration"; exit 1; }
grep -q '^trial 1: cost' out.txt || { cat out.txt; echo "FAIL no trial"; exit 1; }
echo "ok   learning on a plant of C functions"
