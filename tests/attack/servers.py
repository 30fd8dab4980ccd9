"""servers.py MCPILCO TASK - a client that talks nonsense or nothing keeps nobody from a served plant."""
import socket
import subprocess
import sys
import time


def serve(kind):
    p = subprocess.Popen([sys.argv[1], "plant", sys.argv[2], "--" + kind, "0"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    port = int(p.stdout.readline().decode().rsplit(":", 1)[1])
    return p, ("127.0.0.1", port)


def end(p):
    p.terminate()
    assert p.wait(timeout=5) == 0, "the server does not end well"
    p.stdout.close()


HELLO = b"hello 1 rate=50 mode=step watchdog=1\n"
RESET = b"reset 1 1 0 0 0.1 0\n"


def udp():
    p, address = serve("udp")
    junk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for data in (b"junk", b"", b"\0" * 100, b"step 1 nan\n", b"x" * 60000):
        junk.sendto(data, address)
    polite = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    polite.settimeout(5)
    polite.sendto(HELLO, address)
    assert polite.recv(4096).startswith(b"hello 1"), "a junk datagram locked the server"
    # a second client that greets and goes away holds it no longer than a pause
    other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    other.settimeout(0.3)
    for _ in range(40):
        other.sendto(HELLO, address)
        try:
            if other.recv(4096).startswith(b"hello 1"):
                break
        except socket.timeout:
            pass
    else:
        raise AssertionError("an idle client keeps the server for ever")
    # during a trial nobody else is heard
    other.settimeout(5)
    other.sendto(RESET, address)
    assert other.recv(4096).startswith(b"data 1 "), "no trial"
    polite.settimeout(0.3)
    polite.sendto(b"stop 2 0\n", address)
    try:
        polite.recv(4096)
        raise AssertionError("a stranger spoke into a trial")
    except socket.timeout:
        pass
    end(p)


def tcp():
    p, address = serve("tcp")
    silent = [socket.create_connection(address) for _ in range(3)]
    began = time.monotonic()
    polite = socket.create_connection(address)
    polite.settimeout(20)
    polite.sendall(HELLO + RESET)
    answer = b""
    while answer.count(b"\n") < 2:
        more = polite.recv(4096)
        assert more, "the server hung up"
        answer += more
    assert b"data 1 " in answer, answer
    # in a trial it is not sent away, whoever knocks
    knock = socket.create_connection(address)
    polite.sendall(b"step 2 0.5\n")
    assert polite.recv(4096).startswith(b"data 2 ")
    for s in silent + [polite, knock]:
        s.close()
    end(p)
    return time.monotonic() - began


udp()
tcp()
print("ok   served plants are there for the next client")
