"""drivers.py NAME COMMAND... - does a driver stop its motor when nobody speaks, and when the wire breaks?

The driver writes "motor VALUE" to standard error whenever it sets its motor. A trial is begun and the motor
set; then the learner falls silent (it was stopped, its machine lost power) or is gone (killed).
"""
import os
import subprocess
import sys
import time


def trial(command, silent):
    out_r, err_w = os.pipe()
    p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err_w,
                         env=dict(os.environ, RIG_TRACE="1"))
    os.close(err_w)
    os.set_blocking(out_r, False)

    def ask(line):
        p.stdin.write(line.encode() + b"\n")
        p.stdin.flush()
        return p.stdout.readline().decode()

    assert ask("hello 1 rate=20 mode=step watchdog=0.3 inputs=u measured=theta").startswith("hello 1 ")
    assert ask("reset 1 1 0 0 0 0").startswith("data 1 ")
    for k in range(2, 6):
        assert ask("step %d 1.5" % k).startswith("data %d " % k), k
    time.sleep(0.05)
    before = os.read(out_r, 65536).decode().split()
    assert float(before[-1]) != 0.0, "the motor does not run"
    if not silent:
        p.stdin.close()
        p.wait(timeout=10)
    motor, until = before[-1], time.monotonic() + 10
    while float(motor) != 0.0 and time.monotonic() < until:
        time.sleep(0.02)
        try:
            motor = (os.read(out_r, 65536).decode().split() or [motor])[-1]
        except BlockingIOError:
            pass
    assert float(motor) == 0.0, "the motor still runs"
    if silent:
        assert "no trial is running" in ask("step 6 1.5"), "it goes on as if nothing had happened"
        p.stdin.close()
        p.wait(timeout=10)
    p.stdout.close()
    os.close(out_r)


def main():
    name, command = sys.argv[1], sys.argv[2:]
    trial(command, True)
    if "Arduino" not in name:  # a board does not see that its cable was pulled: that is silence
        trial(command, False)
    print("ok   %s stops its motor by itself" % name)


main()
