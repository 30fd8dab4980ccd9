#!/usr/bin/env bash
# The installed package is enough: an example outside the tree is built against it by pkg-config and by
# find_package and run, after the installed tree has been moved.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
case $(ldd "$BUILD/libmcpilco.so") in
  *libasan* | *libtsan*) echo "skipped: sanitizers are not installed with the library"; exit 77 ;;
esac

cmake --install "$BUILD" --prefix "$WORK/first" > install.log ||
    fail "cmake --install: $(tail -n 5 install.log)"
mv first prefix
lib=$(dirname "$(find prefix -name libmcpilco.so)")
lib=$(realpath "$lib")
prefix/bin/mcpilco --version | grep -q '^mcpilco [0-9]' || fail "the installed command does not run"
for header in "$SOURCE"/include/mcpilco/*.h; do
  [ -f "prefix/include/mcpilco/$(basename "$header")" ] || fail "$(basename "$header") is not installed"
done
echo "ok   the command and all headers are installed"

for page in prefix/share/mcpilco/*.md prefix/share/mcpilco/docs/*.md; do
  while read -r link; do
    case $link in http*|mailto:*|'#'*) continue ;; esac
    [ -e "$(dirname "$page")/${link%%#*}" ] || fail "$page: link to $link, which is not installed"
  done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//; s/ .*//')
  ! grep -n 'build/mcpilco' "$page" || fail "$page names the build folder"
done
for file in bash-completion/completions/mcpilco zsh/site-functions/_mcpilco \
    fish/vendor_completions.d/mcpilco.fish mcpilco/task.schema.json \
    mcpilco/examples/drivers/mcpilco_plant.py mcpilco/tasks/cartpole.yaml man/man1/mcpilco.1; do
  [ -s "prefix/share/$file" ] || fail "share/$file is not installed"
done
prefix/bin/mcpilco check prefix/share/mcpilco/tasks/pendulum.yaml --brief > check.log ||
    fail "$(cat check.log)"
echo "ok   pages, tasks, examples and completions are installed and find each other"

for file in "$lib/libmcpilco.so" prefix/bin/mcpilco; do
  ! grep -q MCPILCO_FAIL_ALLOC "$file" || fail "$file was installed with the hook of the tests"
done
echo "ok   what is installed has no hook of the tests"

outside=$(ldd "$lib/libmcpilco.so" | grep 'not found' || true)
[ -z "$outside" ] || fail "libmcpilco.so needs: $outside"
strange=$(nm -D --defined-only "$lib/libmcpilco.so" |
    awk '$3 !~ /^(mcp_|__bss_start$|_edata$|_end$)/ {print $3}')
[ -z "$strange" ] || fail "libmcpilco.so exports names that are not its own: $strange"
echo "ok   the library exports only names that start with mcp_"

cp -r "$SOURCE/examples/gp_fit" by-pkg-config
rm -f by-pkg-config/gp_fit
(cd by-pkg-config && PKG_CONFIG_PATH=$lib/pkgconfig make -s CFLAGS="-Wall -Wextra -Werror") ||
    fail "pkg-config build"
LD_LIBRARY_PATH=$lib by-pkg-config/gp_fit > one.txt || fail "the example built by pkg-config does not run"
echo "ok   the example builds by pkg-config and runs"

cp -r "$SOURCE/examples/gp_fit" by-cmake
cmake -S by-cmake -B by-cmake/build -DCMAKE_PREFIX_PATH="$WORK/prefix" > cmake.log 2>&1 ||
    fail "find_package: $(tail -n 5 cmake.log)"
cmake --build by-cmake/build > cmake.log 2>&1 || fail "find_package build: $(tail -n 5 cmake.log)"
by-cmake/build/gp_fit > two.txt || fail "the example built by find_package does not run"
cmp one.txt two.txt || fail "the two builds print different numbers"
echo "ok   the example builds by find_package and runs"

# "f(1.3) =  0.964 +- 0.021    sine:  0.964": inside the data the prediction is near the sine
awk '/^f\(/ { n++; d = $3 - $7; if ($1 < "f(6") if (d > 0.1 || d < -0.1) bad++ }
     END { exit !(n == 7 && !bad) }' one.txt ||
  fail "the prediction is off: $(cat one.txt)"
echo "ok   its prediction follows the sine"
