"""browser.py - drive a real Chromium for tests: pages, pointer, downloads, dialogs. Standard library only:
the debugging protocol is JSON over a WebSocket, of which a client needs little."""
import base64, json, os, socket, struct, subprocess, time, urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-port=0"]


class Browser:
    def __init__(self, program, profile, size=(1200, 1000)):
        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}",
             "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = os.path.join(profile, "DevToolsActivePort")
        for _ in range(600):
            if os.path.exists(port_file) and open(port_file).read().count("\n"):
                break
            time.sleep(0.1)
        self.port = int(open(port_file).read().split()[0])

    def page(self, url):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?{url}", method="PUT")
        info = json.load(urllib.request.urlopen(request, timeout=30))
        return Page(info["webSocketDebuggerUrl"])

    def close(self):
        self.process.terminate()
        self.process.wait(30)


class Page:
    def __init__(self, address):
        host, path = address[len("ws://"):].split("/", 1)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /{path} HTTP/1.1\r\nHost: {host}\r\n"
                             f"Upgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.socket.recv(4096)
        self.buffer = self.buffer.split(b"\r\n\r\n", 1)[1]
        self.count, self.console, self.dialogs = 0, [], []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.requests = []

    def bytes(self, n):
        while len(self.buffer) < n:
            piece = self.socket.recv(65536)
            if not piece:
                raise EOFError("the browser closed the connection")
            self.buffer += piece
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def receive(self):
        text = b""
        while True:
            first, second = self.bytes(2)
            n = second & 127
            if n == 126:
                n = struct.unpack(">H", self.bytes(2))[0]
            elif n == 127:
                n = struct.unpack(">Q", self.bytes(8))[0]
            text += self.bytes(n)
            if first & 128:
                return json.loads(text)

    def call(self, method, **params):
        self.count += 1
        data = json.dumps({"id": self.count, "method": method, "params": params}).encode()
        mask = os.urandom(4)
        head = bytes([129]) + (bytes([128 | len(data)]) if len(data) < 126 else
                               bytes([254]) + struct.pack(">H", len(data)) if len(data) < 65536 else
                               bytes([255]) + struct.pack(">Q", len(data)))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))
        mine = self.count
        while True:
            m = self.receive()
            if m.get("id") == mine:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            self.event(m)

    def event(self, m):
        kind, p = m.get("method"), m.get("params", {})
        if kind in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.console.append(json.dumps(p)[:300])
        elif kind == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])
        elif kind == "Page.javascriptDialogOpening":
            self.dialogs.append(p["message"])
            self.count += 1
            data = json.dumps({"id": self.count, "method": "Page.handleJavaScriptDialog",
                               "params": {"accept": True}}).encode()
            mask = os.urandom(4)
            self.socket.sendall(bytes([129, 128 | len(data)]) + mask +
                                bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def run(self, script):
        r = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(json.dumps(r["exceptionDetails"])[:400])
        return r["result"].get("value")

    def wait(self, script, seconds=30):
        """Until the expression is true; an error means that the page is not there yet."""
        for _ in range(int(seconds * 10)):
            try:
                if self.run(script):
                    return True
            except RuntimeError:
                pass
            time.sleep(0.1)
        return False

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x0, x1, y):
        self.mouse("mouseMoved", x0, y)
        self.mouse("mousePressed", x0, y, button="left", clickCount=1)
        for i in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / 5, y, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y, button="left", clickCount=1)
