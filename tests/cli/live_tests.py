"""Tests of the live view (trapeze run --serve): protocol, security, what a page may do, and the page in a browser.

    live_tests.py TRAPEZE

Prints TAP; exits 1 if a case failed. It is run in an empty folder."""

import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

TRAPEZE = sys.argv[1]
count = failed = 0


def check(what, good, seen=""):
    global count, failed
    count += 1
    failed += not good
    print(("ok" if good else "not ok"), count, "-", what, flush=True)
    if not good and seen != "":
        print("# seen:", str(seen)[:2000])


def skip(what, why):
    global count
    count += 1
    print("ok", count, "-", what, "# SKIP", why, flush=True)


class Run:
    """A run with a live view, and a client of it."""

    def __init__(self, script, folder, *options):
        self.folder = folder
        self.process = subprocess.Popen([TRAPEZE, "run", script, "--out", folder, "-q", *options], stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        assert line.startswith("live view: http://"), line
        self.url = line.split()[-1]
        self.host = self.url.split("/")[2]
        self.port = int(self.host.split(":")[1])
        self.token = self.url.split("token=")[1]

    def request(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": self.host, **headers}.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            connection.close()

    def get(self, path):
        return self.request("GET", path, X_Trapeze_Token=self.token)

    def do(self, **command):
        return self.request("POST", "/do", json.dumps(command).encode(), X_Trapeze_Token=self.token,
                            Content_Type="application/json")[0]

    def state(self):
        return json.loads(self.get("/state")[1])

    def wait(self, holds, seconds=60.0):
        """The first state for which something holds."""
        end = time.monotonic() + seconds
        while True:
            state = self.state()
            if holds(state):
                return state
            if time.monotonic() > end:
                return {"timeout": state}
            time.sleep(0.02)

    def answered(self, **command):
        """Send a command and wait for its message."""
        before = max([m["number"] for m in self.state().get("messages", [])], default=0)
        self.do(**command)
        state = self.wait(lambda s: any(m["number"] > before for m in s.get("messages", [])))
        return state["messages"][-1] if "messages" in state else {"text": state, "bad": True}

    def end(self, by=None):
        if by:
            self.process.send_signal(by)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        return self.process.returncode, self.process.stderr.read()

    def record(self):
        with open(self.folder + "/run.json") as file:
            return json.load(file)


class Browser:
    """Chromium without a window, by its debugging protocol: a WebSocket with JSON."""

    def __init__(self, program, url):
        self.process = subprocess.Popen([program, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=browser", "--remote-debugging-port=0",
                                         "--window-size=1200,1000", "about:blank"], stderr=subprocess.PIPE, text=True)
        line = ""
        while "DevTools listening" not in line:
            line = self.process.stderr.readline()
            assert line, "chromium does not start"
        host = line.split("ws://")[1].split("/")[0]
        pages = http.client.HTTPConnection(host, timeout=20)
        pages.request("GET", "/json/list")
        path = [page for page in json.loads(pages.getresponse().read()) if page["type"] == "page"][0]["webSocketDebuggerUrl"].split(host)[1]
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=20)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode())
        self.stream = self.socket.makefile("rb")
        while self.stream.readline() != b"\r\n":
            pass
        self.number = 0
        self.call("Page.navigate", url=url)

    def call(self, method, **params):
        self.number += 1
        data = json.dumps({"id": self.number, "method": method, "params": params}).encode()
        size = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + len(data).to_bytes(2, "big")
        self.socket.sendall(b"\x81" + size + b"\0\0\0\0" + data)  # the mask is 0
        while True:
            length = self.stream.read(2)[1]
            length = int.from_bytes(self.stream.read({126: 2, 127: 8}[length]), "big") if length > 125 else length
            answer = json.loads(self.stream.read(length))
            if answer.get("id") == self.number:
                return answer.get("result", answer)

    def ask(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait(self, expression, seconds=60.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.ask(expression)
            if value:
                return value
            time.sleep(0.05)
        return None

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def key(self, key, code):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key, code=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code)

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=20)


def write(name, text):
    with open(name, "w") as file:
        file.write(text)


def outputs(folder):
    """The frames, arrays and tables of a run, as hashes."""
    return {name: hashlib.sha256(open(f"{folder}/{name}", "rb").read()).hexdigest()
            for name in sorted(os.listdir(folder)) if name.endswith((".png", ".npy", ".csv"))}


write("life.lua", """local tz = require "trapeze"
local sim = tz.simulation { plugin = "life", grid = { 96, 64 }, boundary = "periodic", height = 8,
                            fields = { alive = tz.random { seed = 1, density = 0.3 } } }
sim:every(50, tz.png("alive", { caption = "generation {step}" }))
sim:every(10, tz.table { "step", "population" })
sim:run(tonumber(tz.args.steps) or 400)
sim:write(tz.npy("alive"))
""")
write("heat.lua", """local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 64, 48 }, params = { ambient_k = 318.15 },
                            fields = { temperature = 323.15, power = tz.random { seed = 7, range = { 0, 0.001 } } } }
sim:every(20, tz.table { "step", "max(temperature)" })
sim:run(tonumber(tz.args.steps) or 100000000)
""")


# ---- Whoever asks --------------------------------------------------------------------------------
def protocol():
    run = Run("life.lua", "protocol", "--serve-paused", "--serve-view")
    look = run.process.stderr.readline().split("token=")[1].split("&")[0]
    token = {"X_Trapeze_Token": run.token}
    post = {"X_Trapeze_Token": run.token, "Content_Type": "application/json"}
    pause = b'{"do":"pause"}'
    status, page, headers = run.request("GET", "/?token=" + run.token)
    check("the page", status == 200 and page.startswith(b"<!DOCTYPE html>") and b"@BASICS@" not in page, status)
    check("the page asks for nothing from elsewhere", b"http://" not in page.replace(b"http://www.w3.org/2000/svg", b"") and b"https://" not in page)
    check("the page's policy", "default-src 'none'" in headers["Content-Security-Policy"] and headers["Cache-Control"] == "no-store")
    for what, expected, method, path, body, given in [
        ("the state", 200, "GET", "/state", None, token),
        ("the tables", 200, "GET", "/tables", None, token),
        ("the page to look only", 200, "GET", "/?token=" + look + "&looks", None, {}),
        ("looking only", 200, "GET", "/state", None, {"X_Trapeze_Token": look}),
        ("a command of who may only look", 403, "POST", "/do", pause, {**post, "X_Trapeze_Token": look}),
        ("no token", 403, "GET", "/state", None, {}),
        ("no token for the page", 403, "GET", "/", None, {}),
        ("a wrong token", 403, "GET", "/state", None, {"X_Trapeze_Token": "0" * 32}),
        ("a part of the token", 403, "GET", "/state", None, {"X_Trapeze_Token": run.token[:-1]}),
        ("the token in the address alone", 403, "GET", "/state?token=" + run.token, None, {}),
        ("a wrong token for the page", 403, "GET", "/?token=" + "f" * 32, None, {}),
        ("another Host", 403, "GET", "/state", None, {**token, "Host": "evil.example"}),
        ("another Host with the port", 403, "GET", "/state", None, {**token, "Host": f"evil.example:{run.port}"}),
        ("a Host that begins well", 403, "GET", "/state", None, {**token, "Host": "127.0.0.1.evil.example"}),
        ("a Host with words for a port", 403, "GET", "/state", None, {**token, "Host": "127.0.0.1:evil"}),
        ("an address that is not this one", 403, "GET", "/state", None, {**token, "Host": f"10.0.0.1:{run.port}"}),
        ("a long Host", 403, "GET", "/state", None, {**token, "Host": "a" * 3000}),
        ("localhost", 200, "GET", "/state", None, {**token, "Host": f"localhost:{run.port}"}),
        ("another Origin", 403, "GET", "/state", None, {**token, "Origin": "http://evil.example"}),
        ("an Origin null", 403, "POST", "/do", pause, {**post, "Origin": "null"}),
        ("an Origin of another port", 403, "POST", "/do", pause, {**post, "Origin": "http://127.0.0.1:1"}),
        ("its own Origin", 202, "POST", "/do", pause, {**post, "Origin": "http://" + run.host}),
        ("GET for a command", 405, "GET", "/do", None, token),
        ("POST for the state", 405, "POST", "/state", b"{}", post),
        ("PUT", 405, "PUT", "/do", b"{}", post),
        ("DELETE", 405, "DELETE", "/state", None, token),
        ("OPTIONS", 405, "OPTIONS", "/do", None, token),
        ("a form", 415, "POST", "/do", b"do=pause", {**token, "Content_Type": "application/x-www-form-urlencoded"}),
        ("no JSON", 400, "POST", "/do", b"{", post),
        ("no object", 400, "POST", "/do", b"[1]", post),
        ("nothing", 400, "POST", "/do", b"", post),
        ("deep JSON", 400, "POST", "/do", b"[" * 60000, post),
        ("a large command", 413, "POST", "/do", b" " * 70000, post),
        ("a file of the run", 404, "GET", "/run.json", None, token),
        ("a path upwards", 404, "GET", "/../../../../etc/passwd", None, token),
        ("an encoded path", 404, "GET", "/%2e%2e/%2e%2e/etc/passwd", None, token),
        ("a path without a token", 403, "GET", "/etc/passwd", None, {}),
    ]:
        status = run.request(method, path, body, **given)[0]
        check(f"{what}: {expected}", status == expected, status)
    no_host = socket.create_connection(("127.0.0.1", run.port), timeout=10)
    no_host.sendall(f"GET /state HTTP/1.0\r\nX-Trapeze-Token: {run.token}\r\n\r\n".encode())
    check("no Host: 403", b" 403 " in no_host.recv(100))
    no_host.close()
    two_hosts = socket.create_connection(("127.0.0.1", run.port), timeout=10)
    two_hosts.sendall(f"GET /state HTTP/1.1\r\nHost: {run.host}\r\nHost: evil.example\r\nX-Trapeze-Token: {run.token}\r\n\r\n".encode())
    check("two Hosts: 400", b" 400 " in two_hosts.recv(100))
    two_hosts.close()
    for name, data in [("noise", os.urandom(4000)), ("a long line", b"GET /" + b"a" * 100000), ("many headers", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000),
                       ("nothing at all", b""), ("a length that lies", b"POST /do HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"),
                       ("chunks", f"POST /do HTTP/1.1\r\nHost: {run.host}\r\nX-Trapeze-Token: {run.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
                        + b"4000\r\n" + b" " * 0x4000 + b"\r\n" + b"ffffffffffffffffff\r\n")]:
        with socket.create_connection(("127.0.0.1", run.port), timeout=10) as noise:
            try:
                noise.sendall(data)
            except OSError:
                pass
        check(f"{name}: the view goes on", run.get("/state")[0] == 200)
    slow = []
    for i in range(20):
        connection = socket.create_connection(("127.0.0.1", run.port), timeout=10)
        connection.sendall(b"GET /state HTTP/1.1\r\nHost:")
        slow.append(connection)
    check("slow clients: others are served", run.get("/state")[0] == 200)
    for i in range(60):
        try:
            slow.append(socket.create_connection(("127.0.0.1", run.port), timeout=0.2))
        except OSError:
            break
    # Each sends a byte now and then, and none has the token.
    served = 0
    for i in range(30):
        for connection in slow:
            try:
                connection.sendall(b"x")
            except OSError:
                pass
        served += run.get("/state")[0] == 200
    check("many slow clients without the token: those with it have places", served == 30, served)
    for connection in slow:
        connection.close()
    time.sleep(0.1)
    check("many connections: the view is there after them", run.get("/state")[0] == 200)
    code, text = run.end(signal.SIGINT)
    check("Ctrl-C ends a paused run", code == 130, (code, text))
    check("the token is in no file", all(run.token.encode() not in open(f"protocol/{name}", "rb").read() for name in os.listdir("protocol")))
    check("and the record says interrupted", run.record()["status"] == "interrupted")


# ---- What a page may do --------------------------------------------------------------------------
def bits():
    subprocess.run([TRAPEZE, "run", "life.lua", "--out", "plain", "-q"], check=True)
    run = Run("life.lua", "watched", "--serve-paused")
    seen = run.wait(lambda s: s.get("frame", 0) > 0)
    check("a paused run begins at step 0", seen.get("step") == 0 and seen.get("status") == "paused", seen)
    run.do(do="run")
    steps = set()
    while run.process.poll() is None:
        try:
            state = run.state()
        except OSError:
            break
        steps.add(state.get("step"))
        if state["status"] == "done":
            break
    check("a page that looks gets the end", state["status"] == "done", state)
    check("looking changes no bit", run.end()[0] == 0 and outputs("plain") == outputs("watched"))
    run = Run("life.lua", "stepped", "--serve-paused")
    for step in [1, 4, 10, 11]:
        run.do(do="step", steps=step - run.state().get("step", 0))
        seen = run.wait(lambda s: s.get("step") == step)
        check(f"a step to {step}", seen.get("step") == step and seen["status"] == "paused", seen)
    time.sleep(0.5)
    run.wait(lambda s: True)
    time.sleep(0.1)
    tables = json.loads(run.get("/tables")[1])
    check("rows of the table", tables and tables[0]["text"].startswith("step,population\n0,") and "\n10," in tables[0]["text"], tables)
    run.do(do="run")
    check("steps change no bit", run.end()[0] == 0 and outputs("plain") == outputs("stepped"))
    notes = run.record()["interventions"]
    check("they are noted", [n["what"] for n in notes] == ["step"] * 4 + ["go on"] and notes[0] == {"step": 0, "simulation": 0, "what": "step", "steps": 1}, notes)
    check("a run without interventions notes none", "interventions" not in json.load(open("plain/run.json")))


def kept():
    run = Run("life.lua", "kept", "--serve-paused", "--checkpoint", "1h")
    run.wait(lambda s: s.get("frame", 0) > 0)
    end = time.monotonic() + 60
    while not os.path.exists("kept/checkpoint/1") and time.monotonic() < end:
        time.sleep(0.05)
    check("a paused run with checkpoints has one", os.path.exists("kept/checkpoint/1"))
    run.end(signal.SIGKILL)
    done = subprocess.run([TRAPEZE, "resume", "kept", "-q"], capture_output=True, text=True)
    check("it goes on after kill -9", done.returncode == 0, done.stderr)
    check("with the same bits", outputs("plain") == outputs("kept"))


def paint():
    run = Run("life.lua", "painted", "--serve-paused")
    run.do(do="paint", field="alive", value=0, boxes=[[0, 0, 96, 64]])
    run.do(do="paint", field="alive", value=1, boxes=[[10, 5, 13, 6]])
    run.do(do="snapshot")
    seen = run.wait(lambda s: any("snapshot" in m["text"] for m in s.get("messages", [])))
    check("a snapshot", seen.get("messages", [{}])[-1].get("text") == "snapshot: snapshot-000000.png and snapshot-000000.npy", seen)
    data = open("painted/snapshot-000000.npy", "rb").read()[-96 * 64:]
    check("the cells that were painted", sum(data) == 3 and [i for i, c in enumerate(data) if c] == [5 * 96 + x for x in (10, 11, 12)])
    status, png, headers = run.get("/frame")
    check("the frame", status == 200 and png.startswith(b"\x89PNG") and headers["X-Cells"] == "96 64" , headers)
    for what, boxes, value, field in [("outside", [[0, 0, 97, 1]], 1, "alive"), ("negative", [[-1, 0, 1, 1]], 1, "alive"), ("empty", [[3, 3, 3, 4]], 1, "alive"),
                                      ("no numbers", [["a", 0, 1, 1]], 1, "alive"), ("three numbers", [[0, 0, 1]], 1, "alive"), ("no boxes", [], 1, "alive"),
                                      ("a value that is no bit", [[0, 0, 1, 1]], 0.5, "alive"), ("another field", [[0, 0, 1, 1]], 1, "power")]:
        answer = run.answered(do="paint", field=field, value=value, boxes=boxes)
        check(f"paint {what} is refused", answer["bad"] and answer["text"].startswith("paint: "), answer)
    check("an unknown command is refused", run.answered(do="format")["text"] == "'format' is no command")
    check("no such picture", run.answered(do="picture", picture=7)["bad"])
    check("no such steps", run.answered(do="step", steps=-1)["bad"])
    run.do(do="run")
    check("a blinker stays", run.end()[0] == 0 and sum(open("painted/alive-000400.npy", "rb").read()[-96 * 64:]) == 3)
    record = run.record()
    notes = [n for n in record["interventions"] if n["what"] == "paint"]
    check("painting is noted", notes[1] == {"step": 0, "simulation": 0, "what": "paint", "field": "alive", "value": 1, "boxes": [[10, 5, 13, 6]]}, notes)
    check("the snapshot is listed", "snapshot-000000.npy" in record["files"], record["files"])


def parameters():
    run = Run("heat.lua", "heat", "--serve-paused")
    seen = run.wait(lambda s: "simulations" in s and s.get("frame", 0) > 0)
    names = seen.get("changeable", {})
    check("what can change", names.get("ambient_k") == "number" and names.get("allow_unstable") == "flag", names)
    answer = run.answered(do="set", name="ambient_k", value="300.5")
    check("a parameter", not answer["bad"] and answer["text"] == "ambient_k = 300.5 from step 0 on", answer)
    check("it is set", run.wait(lambda s: s["simulations"][0]["params"]["ambient_k"]["value"] == 300.5).get("step") == 0)
    for name, value in [("ambient_k", "nan"), ("ambient_k", "warm"), ("ambient_k", ""), ("ambient_k", "1e999"), ("nothing", "1"), ("dt", "1")]:
        answer = run.answered(do="set", name=name, value=value)
        check(f"{name} = {value} is refused", answer["bad"], answer)
    run.do(do="run")
    time.sleep(0.3)
    moving = run.state()
    check("the run goes on", run.wait(lambda s: s.get("step", 0) > moving.get("step", 0)).get("status") == "running")
    run.do(do="pause")
    paused = run.wait(lambda s: s.get("status") == "paused")
    time.sleep(0.2)
    check("a pause", run.state().get("step") == paused.get("step"), paused)
    code, text = run.end(signal.SIGTERM)
    check("SIGTERM ends it", code == 143, (code, text))
    notes = run.record()["interventions"]
    check("the parameter is noted", notes[0] == {"step": 0, "simulation": 0, "what": "parameter", "name": "ambient_k", "value": "300.5"}, notes)


def wrong_use():
    def refused(*options):
        done = subprocess.run([TRAPEZE, "run", "life.lua", *options], capture_output=True, text=True)
        return done.returncode, done.stderr
    for options, code, words in [(["--serve=0"], 2, "port from 1 to 65535"), (["--serve=70000"], 2, "port"), (["--serve=x"], 2, "port"),
                                 (["--serve-address", "example.org"], 2, "IPv4 address"), (["--serve", "--check"], 2, "--check"),
                                 (["--serve-address", "192.0.2.1", "--out", "elsewhere"], 1, "cannot listen at 192.0.2.1")]:
        seen = refused(*options)
        check(f"{' '.join(options)} is refused", seen[0] == code and words in seen[1], seen)
    busy = socket.socket()
    busy.bind(("127.0.0.1", 0))
    busy.listen()
    seen = refused(f"--serve={busy.getsockname()[1]}", "--out", "busy")
    check("a busy port is said", seen[0] == 1 and "give another port" in seen[1] and not os.path.exists("busy"), seen)
    busy.close()


def browser():
    chromium = shutil.which("chromium")
    if not chromium:
        skip("a browser", "no chromium")
        return
    run = Run("life.lua", "browsed", "--serve-paused")
    page = Browser(chromium, run.url)
    try:
        check("the page shows a paused run", page.wait("document.getElementById('status').textContent === 'Paused' && !document.getElementById('frame').hidden"))
        facts = page.ask("document.body.innerText") or ""
        for word in ["life on 96", "Snapshot", "rule", "diamond", "height 8"]:
            check(f"the page has {word}", word in facts, facts)
        run.do(do="paint", field="alive", value=0, boxes=[[0, 0, 96, 64]])
        page.ask("document.getElementById('paint').click()")
        # The middle of cell (20, 30), on the screen.
        middle = page.wait("""(() => { const f = document.getElementById('frame'), b = f.getBoundingClientRect(), [l, t, w, h] = place.picture;
            const s = b.width / f.naturalWidth; return [b.left + s * (l + 20.5 / 96 * w), b.top + s * (t + 30.5 / 64 * h), s * w / 96]; })()""")
        page.mouse("mousePressed", middle[0], middle[1])
        page.mouse("mouseMoved", middle[0] + 2 * middle[2], middle[1])
        page.mouse("mouseReleased", middle[0] + 2 * middle[2], middle[1])
        time.sleep(0.3)
        page.ask("document.getElementById('snapshot').click()")
        check("a snapshot from the page", page.wait("document.getElementById('messages').textContent.includes('snapshot-000000.png')"))
        data = open("browsed/snapshot-000000.npy", "rb").read()[-96 * 64:]
        check("the mouse paints the cells under it", [i for i, c in enumerate(data) if c] == [30 * 96 + x for x in (20, 21, 22)],
              [divmod(i, 96)[::-1] for i, c in enumerate(data) if c])
        page.key("s", "KeyS")
        check("the key s steps", run.wait(lambda s: s.get("step") == 1).get("step") == 1)
        page.ask("document.querySelector('[id=\"param rule\"]').value = 'B36/S23'; document.querySelector('#params form').requestSubmit()")
        check("a parameter from the page", page.wait("document.getElementById('messages').textContent.includes('rule = B36/S23')"), page.ask("document.body.innerText"))
        page.key(" ", "Space")
        check("the key space goes on, and the page sees the end", page.wait("document.getElementById('status').textContent === 'Finished'"), page.ask("document.body.innerText"))
        check("the plot is drawn", page.wait("document.querySelectorAll('#tables svg path').length > 0"))
        page.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        check("nothing is wider than a phone", page.ask("document.documentElement.scrollWidth") == 390, page.ask("document.documentElement.scrollWidth"))
    finally:
        page.end()
    code, text = run.end()
    check("the run ends well", code == 0, (code, text))
    check("all of it is noted", [n["what"] for n in run.record()["interventions"]] == ["paint", "paint", "snapshot", "step", "parameter", "go on"] or
          [n["what"] for n in run.record()["interventions"]] == ["paint", "paint", "paint", "snapshot", "step", "parameter", "go on"], run.record()["interventions"])


if subprocess.run([TRAPEZE, "doctor", "--verbose"], capture_output=True, text=True).stdout.find("libmicrohttpd is missing") >= 0:
    done = subprocess.run([TRAPEZE, "run", "life.lua", "--serve", "--out", "none"], capture_output=True, text=True)
    check("without libmicrohttpd it says so", done.returncode == 1 and "apt-get install libmicrohttpd12" in done.stderr, done.stderr)
    skip("the live view", "no libmicrohttpd")
else:
    protocol()
    bits()
    kept()
    paint()
    parameters()
    wrong_use()
    browser()
print(f"1..{count}")
sys.exit(failed > 0)
