#!/usr/bin/env bash
# In a locale with decimal commas the command and a program that embeds the library do what they do in the C
# locale, byte for byte: learn over exec, dump, export, report, controller.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK/locales"; cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
case $(ldd "$BUILD/libmcpilco.so") in
    *libasan* | *libtsan*) echo "skipped: the program is built without sanitizers"; exit 77 ;;
esac
export LOCPATH=$WORK/locales
localedef -i de_DE -f UTF-8 "$LOCPATH/de_DE.UTF-8" > localedef.log 2>&1 ||
    { echo "skipped: localedef cannot make a locale with decimal commas"; exit 77; }
# Arabic digits' separator: two bytes, which not every number reader expects
localedef -i ps_AF -f UTF-8 "$LOCPATH/ps_AF.UTF-8" >> localedef.log 2>&1 || rm -rf "$LOCPATH/ps_AF.UTF-8"

cc -std=c99 -Wall -Wextra -Werror -D_GNU_SOURCE -I "$SOURCE/include" "$SOURCE/tests/e2e/locale_host.c" \
    -L "$BUILD" -lmcpilco -lm -o host || fail "the program does not build"
task=$SOURCE/tasks/pendulum.yaml
exec_plant="plant={exec: [$MCPILCO, plant, $task]}"
tiny="--set optimise.particles=24 --set optimise.steps_first=20 --quiet"

in_locale() { # name, decimal separator
    mkdir "$1" && cd "$1"
    export LC_ALL=$1 EXPECT="0${2}5" LD_LIBRARY_PATH=$BUILD
    code=0
    ../host "$task" "$exec_plant" hosted > host.txt || code=$?
    unset LD_LIBRARY_PATH
    [ $code != 77 ] || fail "$1 is not in force"
    [ $code = 0 ] || fail "the program fails in $1"
    "$MCPILCO" learn "$task" --seed 1 --trials 1 --yes --out run $tiny --set "$exec_plant" ||
        fail "learn in $1"
    cp -r ../C/run same 2> /dev/null || cp -r run same # one run for both: pages tell how long things took
    "$MCPILCO" report same > /dev/null || fail "report in $1"
    "$MCPILCO" export same -o ctl > export.txt || fail "export in $1"
    "$MCPILCO" plot same --figure trajectory -o trajectory.svg > /dev/null || fail "plot in $1"
    "$MCPILCO" evaluate same --runs 3 --yes --json > evaluate.json || fail "evaluate in $1"
    cd ..
}
plain() { # a file without wall times and the folder's own name
    sed -e '/_s": /d; s/\("[a-z]*_s"\): [0-9.e-]*/\1/g' "$1"
}
same() {
    while read -r file; do
        cmp -s <(plain "C/$file") <(plain "$1/$file") || fail "$file differs between C and $1: $(
            diff <(plain "C/$file") <(plain "$1/$file") | head -n 3 | cut -c1-200)"
    done < <(cd C && find . -type f ! -name lock ! -path ./run/report.html) # times; same/ has its page
    echo "ok   $1: $(find C -type f | wc -l) files, byte for byte"
}

in_locale C .
[ "$(find C -type f | wc -l)" -gt 40 ] || fail "too few files to compare"
in_locale de_DE.UTF-8 ,
same de_DE.UTF-8
if [ -d "$LOCPATH/ps_AF.UTF-8" ]; then
    in_locale ps_AF.UTF-8 $'\xd9\xab'
    same ps_AF.UTF-8
fi
