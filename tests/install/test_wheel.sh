#!/usr/bin/env bash
# The wheel, with the library of this build: it is named for this machine, carries what the library needs and
# runs from where it was unpacked.
set -eu
PYTHON=/usr/bin/python3
"$PYTHON" -c 'import numpy, setuptools, wheel, pip' 2> /dev/null && command -v patchelf > /dev/null ||
  { echo "skipped: needs Python's numpy, pip, setuptools and wheel, and patchelf"; exit 77; }
rm -rf "$WORK" && mkdir -p "$WORK/source" && cd "$WORK"
fail() { echo "FAIL $*"; exit 1; }
cmake --install "$BUILD" --prefix "$WORK/prefix" --strip > install.log || fail "$(tail -n 5 install.log)"
cp /bin/true prefix/bin/mcpilco # the build's own may bring MPI's libraries
cp -r "$SOURCE"/{setup.py,pyproject.toml,README.md,LICENSE,include,python,tasks} source
rm -rf source/python/mcpilco/{lib,bin,tasks,__pycache__}
MCPILCO_PREFIX=$WORK/prefix MCPILCO_WHEEL_BUILD=$WORK/wheel-build "$PYTHON" -m pip -q wheel ./source \
  --no-build-isolation --no-deps --no-index --wheel-dir . > wheel.log 2>&1 || fail "$(tail -n 20 wheel.log)"
wheel=$(ls ./*.whl)
[[ $wheel =~ -py3-none-manylinux_2_[0-9]+_$(uname -m)\.whl$ ]] || fail "the wheel is called $wheel"
echo "ok   $(basename "$wheel")"

"$PYTHON" -m pip -q install --no-index --no-deps --target there "$wheel" 2> pip.log || fail "$(cat pip.log)"
rm -rf prefix source wheel-build
ls there/mcpilco/lib/libopenblas-*.so.0 there/mcpilco/licences/* there/mcpilco/tasks/cartpole.yaml > /dev/null
env -u MCPILCO_LIBRARY PYTHONPATH="$WORK/there" "$PYTHON" -c '
import mcpilco, numpy as np
x = np.linspace(0, 6, 40)[:, None]
gp = mcpilco.GP("se").fit(x, np.sin(x[:, 0]))
assert abs(gp.predict(np.array([[1.0]]))[0] - np.sin(1)) < 0.01
assert mcpilco.Task(mcpilco.find("cartpole.yaml")).states[0] == "p"
paths = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
for name in ("mcpilco", "nlopt", "fyaml", "jansson", "openblas"):
    found = [p for p in paths if "/lib" + name in p]
    assert any("/there/mcpilco/lib/" in p for p in found), (name, found)
    assert all("/there/mcpilco/lib/" in p for p in found) or name == "openblas", (name, found)
' || fail "the unpacked wheel"
echo "ok   it runs from where it was unpacked, on the libraries it carries"
