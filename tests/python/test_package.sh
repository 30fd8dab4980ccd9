#!/usr/bin/env bash
# The Python package on the library of this build, with the system's Python.
set -eu
PYTHON=/usr/bin/python3
command -v "$PYTHON" > /dev/null || PYTHON=$(command -v python3)
"$PYTHON" -c 'import numpy' 2> /dev/null || { echo "skipped: needs python3-numpy"; exit 77; }
case $(ldd "$BUILD/libmcpilco.so") in
  *libasan* | *libtsan*) echo "skipped: not under sanitizers"; exit 77 ;;
esac
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
export MCPILCO_LIBRARY=$BUILD/libmcpilco.so PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$SOURCE/python:$SOURCE/tests/python
"$PYTHON" "$SOURCE/tests/python/package_tests.py" "$@"
