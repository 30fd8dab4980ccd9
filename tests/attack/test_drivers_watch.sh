#!/usr/bin/env bash
# Each example driver stops its motor by itself when the learner is killed, frozen or without power.
set -eu
. "$SOURCE/tests/plant/common.sh"
watch() { "$PYTHON" "$SOURCE/tests/attack/drivers.py" "$@" || fail "$1"; }
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 -DRIG_TRACE -o rig "$DRIVERS/rig.c" -lm
watch "the driver in C" ./rig
cat > traced.py <<'END'
import sys, os
sys.path.insert(0, os.environ["DRIVERS"])
from mcpilco_plant import serve
class Rig:
    rate, inputs, measured = 20, ["u"], ["theta"]
    def motor(self, u): print("motor", u[0], file=sys.stderr, flush=True)
    def reset(self, x0, seed, trial, run): return [0.0]
    def step(self, u): self.motor(u); return [0.0]
    def stop(self, u): self.motor(u)
serve(Rig(), [])
END
watch "the driver in Python" "$PYTHON" traced.py
if command -v c++ > /dev/null; then
    c++ -Wall -Wextra -Werror -O2 -I "$DRIVERS/arduino/host" -include Arduino.h -x c++ \
        "$DRIVERS/arduino/rig/rig.ino" -x none "$DRIVERS/arduino/host/host.cpp" -o board
    watch "the Arduino sketch" ./board
fi
