#!/usr/bin/env bash
# A host program outside the tree, against an installed prefix: as C by pkg-config, as C++ by find_package,
# and as C with an older header whose structs end earlier. It prints the same numbers each time. The JSON of
# an exported controller is enough to run it.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
case $(ldd "$BUILD/libmcpilco.so") in
  *libasan*|*libtsan*) echo "skipped: sanitizers are not installed with the library"; exit 77 ;;
esac
cmake --install "$BUILD" --prefix "$WORK/prefix" > install.log || fail "install: $(tail -n 5 install.log)"
lib=$(realpath "$(dirname "$(find prefix -name libmcpilco.so)")")
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib OPENBLAS_NUM_THREADS=1
cp "$SOURCE/tests/install/test_embedder.c" host.c
strict="-O1 -Wall -Wextra -Wpedantic -Werror"

# shellcheck disable=SC2046,SC2086
${CC:-cc} -std=c11 $strict host.c -o host-c $(pkg-config --cflags --libs mcpilco) -lm ||
  fail "as C by pkg-config"
./host-c run-c > c.txt || fail "as C: $(cat c.txt)"
echo "ok   as C by pkg-config: $(head -n 1 c.txt)"

mkdir cpp && cp host.c cpp/host.cpp
cat > cpp/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(host LANGUAGES CXX)
find_package(mcpilco REQUIRED)
add_executable(host host.cpp)
target_compile_options(host PRIVATE -std=c++11 -Wall -Wextra -Wpedantic -Werror)
target_link_libraries(host mcpilco::mcpilco)
EOF
cmake -S cpp -B cpp/build -DCMAKE_PREFIX_PATH="$WORK/prefix" > cmake.log 2>&1 ||
  fail "find_package: $(tail cmake.log)"
cmake --build cpp/build > cmake.log 2>&1 || fail "as C++ by find_package: $(tail -n 15 cmake.log)"
cpp/build/host run-cpp > cpp.txt || fail "as C++: $(cat cpp.txt)"
cmp c.txt cpp.txt || fail "C and C++ print different numbers"
echo "ok   as C++ by find_package"

# An older header: the last member of these structs is not there yet. The library of today fills and reads
# only what such a program has.
cp -r prefix/include old
for type in mcp_learn_settings mcp_gp_settings mcp_recorded_trial mcp_learn_info mcp_learn_progress \
            mcp_gp_info; do
  file=$(grep -l "^} $type;" old/mcpilco/*.h)
  before=$(wc -l < "$file")
  awk -v end="} $type;" '$0 == end { held = 0; print; next } held { print line } { line = $0; held = 1 }
       END { if (held) print line }' "$file" > cut.h
  [ "$(wc -l < cut.h)" -eq $((before - 1)) ] || fail "$type: its last member was not cut"
  mv cut.h "$file"
done
# shellcheck disable=SC2046,SC2086
${CC:-cc} -std=c11 $strict -I old host.c -o host-old $(pkg-config --libs mcpilco) -lm ||
  fail "with the older header"
./host-old run-old > old.txt || fail "with the older header: $(cat old.txt)"
cmp c.txt old.txt || fail "the older header changes the numbers"
echo "ok   compiled against an older header"

prefix/bin/mcpilco learn "$SOURCE/tasks/pendulum.yaml" --out run --trials 1 --seed 1 --quiet \
  --set optimise.particles=24 --set optimise.steps_first=10 --set inputs.u.slew=20 > learn.log 2>&1 ||
  fail "learn: $(tail -n 3 learn.log)"
prefix/bin/mcpilco export run -o exported > export.log 2>&1 || fail "export: $(cat export.log)"
json=$(ls exported/*.json)
./host-c json "$json" run || fail "the exported JSON gives other commands"
sed 's/"format": 2/"format": 1/' "$json" > older.json
./host-c json older.json run > older.txt 2>&1 && fail "a JSON without the task was taken"
grep -q 'mcpilco export' older.txt || fail "a JSON without the task: $(cat older.txt)"
echo "ok   a controller from its exported JSON alone"
