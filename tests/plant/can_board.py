"""can_board.py - can_plant.py on a motor board of our own instead of a bus: a pendulum behind the frames that
the driver describes, with the board's own timeout. $CAN_LOG tells when the board was switched on and off."""
import math
import os
import struct
import sys
import time

sys.path.insert(0, os.environ["DRIVERS"])
import can_plant  # noqa: E402


class Board:
    def __init__(self, name):
        self.answers, self.theta, self.omega, self.command, self.enabled = [], 0.02, 0.0, 0.0, 0
        self.time, self.log, self.asked = time.monotonic(), open(os.environ["CAN_LOG"], "a", buffering=1), 0
        self.lost_after = int(os.environ.get("CAN_LOST_AFTER", 10**9))

    def move(self):
        now = time.monotonic()
        torque = self.command if self.enabled and now - self.time < 0.2 else 0.0  # its own timeout
        for _ in range(min(int((now - self.time) / 1e-3), 1000)):
            self.omega += 1e-3 * (torque - 0.02 * self.omega - 4.905 * math.sin(self.theta)) / 0.25
            self.theta += 1e-3 * self.omega
        self.time = now

    def send(self, identifier, data):
        assert identifier == 0x201 and len(data) == 8
        self.move()
        command, enabled, counter = struct.unpack("<hBB4x", data)
        self.command, self.asked = command / 1000.0, self.asked + 1
        if enabled != self.enabled:
            self.log.write(f"enable {enabled}\n")
        self.enabled = enabled
        counts = int(math.floor(self.theta / (2 * math.pi) * 4096))
        self.answers = [(0x7FF, b"\x00")]  # another node's frame
        if self.asked < self.lost_after:
            self.answers.append((0x181, struct.pack("<ihBB", counts, 0, counter, 0)))

    def receive(self, seconds):
        if self.answers:
            return self.answers.pop(0)
        time.sleep(max(seconds, 0.0))
        return 0, b""


if __name__ == "__main__":
    can_plant.main(sys.argv[1:], Board)
