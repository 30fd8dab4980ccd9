#!/usr/bin/env bash
# Exported controllers on emulated microcontrollers: float on a Cortex-M4F, double on a Cortex-M7. They
# reproduce the recorded trial, and what they cost is measured: flash, RAM, stack, instructions a step.
set -eu
for tool in arm-none-eabi-gcc arm-none-eabi-size qemu-system-arm make; do
    command -v $tool > /dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
printf '#include <math.h>\nint main(void) { return 0; }\n' |
    arm-none-eabi-gcc -fsyntax-only -x c - 2> /dev/null ||
    { echo "skipped: no C library for arm-none-eabi-gcc"; exit 77; }
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
tiny="--seed 1 --trials 1 --quiet --set optimise.particles=24 --set optimise.steps_first=15"
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" --out pendulum $tiny --set optimise.candidates=0
"$MCPILCO" learn "$SOURCE/tasks/cartpole.yaml" --out cartpole $tiny

one() { # run, core, --float or --double, largest difference that is allowed
    local run=$1 cpu=$2 kind=$3 allowed=$4 dir=$WORK/$1-$2 off
    "$MCPILCO" export "$run" $kind --prefix ctl -o "$dir" > "$dir.txt"
    make -s -C "$SOURCE/examples/cortex-m" check CTL="$dir" PREFIX=ctl CPU="$cpu" > "$dir.out" 2>&1 ||
        { cat "$dir.out"; fail "$run on $cpu"; }
    off=$(sed -n 's/.*largest difference \([^ ]*\) of the limit: ok/\1/p' "$dir.out")
    [ -n "$off" ] || { cat "$dir.out"; fail "$run on $cpu: the self-test did not say ok"; }
    awk -v a="$off" -v b="$allowed" 'BEGIN { exit !(a + 0 <= b + 0) }' ||
        fail "$run on $cpu: largest difference $off, allowed $allowed"
    grep -qE 'counted as (19960|20000|20040)\)' "$dir.out" ||
        { cat "$dir.out"; fail "$run on $cpu: instructions are not counted right"; }
    [ -z "$(sed -n 's/.*stack \([0-9]*\) bytes.*/\1/p' "$dir.out" | awk '$1 > 2048')" ] ||
        { cat "$dir.out"; fail "$run on $cpu: a step needs too much stack"; }
    ! grep -q dynamic "$dir"/*.su || fail "$run on $cpu: a function's stack is not fixed: $(cat "$dir"/*.su)"
    ! arm-none-eabi-nm "$dir/firmware.elf" | grep -qwE 'malloc|_malloc_r|_sbrk|printf' ||
        fail "$run on $cpu: the firmware allocates"
    largest=$(sed -n 's/.*\(largest difference.*\): ok/\1/p' "$dir.out")
    echo "$run on Cortex-$cpu: $largest; $(grep 'a step:' "$dir.out")"
    arm-none-eabi-size "$dir/ctl-$cpu.o" "$dir/firmware.elf" |
        awk 'NR > 1 { n = split($6, p, "/")
                      printf "    %s: flash %d bytes, RAM %d bytes\n", p[n], $1 + $2, $2 + $3 }'
}
one pendulum m4 --float 1e-4
one pendulum m7 --double 1e-12
one cartpole m4 --float 1e-4
one cartpole m7 --double 1e-12

# The self-test can fail there too: a changed weight comes back as QEMU's exit code.
sed -i 's/_net1_weight\(.*\) = {/_net1_weight\1 = { 1.5 +/' pendulum-m7/ctl.c
rm -f pendulum-m7/*.o pendulum-m7/*.elf
make -s -C "$SOURCE/examples/cortex-m" check CTL="$WORK/pendulum-m7" PREFIX=ctl CPU=m7 > changed.out 2>&1 &&
    fail "a changed weight is not noticed"
grep -q FAILED changed.out ||
    { cat changed.out; fail "a changed weight is not noticed for the right reason"; }

# and on this machine, as strict, with both compilers
for cc in gcc clang; do
    command -v $cc > /dev/null || continue
    for dir in pendulum-m4 cartpole-m7; do
        make -s -C $dir clean check CC=$cc CFLAGS="-O2 -Werror" > host.out 2>&1 ||
            { cat host.out; fail "$dir with $cc"; }
    done
done
echo "ok   cortex"
