"""null_modem.py - two serial lines joined by a cable: prints the names of their ends, then carries bytes
until it is ended."""
import os
import pty
import select
import tty

ends = [pty.openpty() for _ in range(2)]
for master, slave in ends:
    tty.setraw(slave)
print("listening on", *(os.ttyname(slave) for _, slave in ends), flush=True)
masters = [master for master, _ in ends]
while True:
    for m in select.select(masters, [], [])[0]:
        os.write(masters[1 - masters.index(m)], os.read(m, 4096))
