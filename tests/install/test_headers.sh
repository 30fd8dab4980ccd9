#!/usr/bin/env bash
# Every public header compiles alone, as C11 and as C++, with warnings as errors.
set -eu
failed=0
check() { # compiler, language, standard, header
  if echo "#include <mcpilco/$4>" | $1 -x "$2" "-std=$3" \
      -Wall -Wextra -Wpedantic -Werror -I "$SOURCE/include" -fsyntax-only -
  then echo "ok   $4 as $3"
  else echo "FAIL $4 as $3"; failed=1
  fi
}
for header in "$SOURCE"/include/mcpilco/*.h; do
  check "${CC:-cc}" c c11 "$(basename "$header")"
  check "${CXX:-c++}" c++ c++11 "$(basename "$header")"
done
exit $failed
