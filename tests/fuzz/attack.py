"""Attacks on the command line, drawn by a seed: attack.py TRAPEZE SECONDS SEED [FUZZ_READERS [ATTACK]]

Each attack is tried again and again in its share of the time. What must hold is in docs/reliability.md. Prints a table,
tried and fell, and how to repeat what fell; exits 1 if something did.
"""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TRAPEZE, SECONDS, SEED = os.path.abspath(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
READERS = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 and sys.argv[4] else None
ENDS_S = 10.0  # one second, ten times as long on a busy machine
LIMIT_S = 120
work = tempfile.mkdtemp(prefix="trapeze-attack-")
os.chdir(work)
os.makedirs("tmp")
env = {**os.environ, "TRAPEZE_CACHE": work + "/cache", "HOME": work, "TMPDIR": work + "/tmp"}


class Fell(Exception):
    pass


def need(holds, *what):
    if not holds:
        raise Fell(" ".join(str(w) for w in what))


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def run(*arguments, **options):
    """Runs it to its end; a crash or a sanitizer's report falls."""
    done = subprocess.run([TRAPEZE, *arguments], env=env, capture_output=True, text=True, errors="replace", timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL, **options)
    sane(done.returncode, done.stderr, arguments)
    return done


def sane(code, text, what):
    need(code >= 0 or code in (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP), "ended by signal", -code, what)
    need("Sanitizer" not in text and "runtime error" not in text, "a sanitizer reports", text[-400:])


def whole(folder):
    """All files that have their name are whole."""
    for path, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(path, name)
            if os.path.islink(file) or name.startswith("."):
                continue
            if name == "run.json":
                with open(file) as text:
                    json.load(text)
            elif name.endswith((".png", ".npy")):
                done = run("info", file)
                need(done.returncode == 0, "not whole:", file, done.stderr)
            elif name.endswith(".csv"):
                with open(file, "rb") as table:
                    data = table.read()
                need(data == b"" or data.endswith(b"\n"), "a table ends within a line:", file)


# ---- Signals ---------------------------------------------------------------------------------------

SCRIPTS = {
    "steps": """local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 96, 64 }, backend = "cpu", threads = 2, fields = { power = 1e-4 } }
sim:every(200, tz.png()) sim:every(500, tz.npy()) sim:every(10, tz.table { "step", "max(temperature)" })
sim:run(1000000000)""",
    "stage": """local tz = require "trapeze"
local sim = tz.simulation { plugin = "star3d1r", grid = { 256, 256, 256 }, backend = "reference" }
sim:every(1, tz.table { "step" }) sim:run(100)""",
    "lua": "while true do pcall(function() while true do end end) end",
    "pattern": 'string.find(("a"):rep(50000), (".-"):rep(50) .. "b")',
    "finalizer": "setmetatable({}, { __gc = function() while true do end end }) collectgarbage()",
    "move": "table.move({}, 1, 1 << 60, 2)",
    "defines": """local tz = require "trapeze"
local s = tz.stencil { name = "s", dims = 2, fields = { "u" }, update = { u = "u + %d*(u[1,0] - u)" } }
local sim = tz.simulation { plugin = s, grid = { 64, 64 }, backend = "cpu" }
sim:every(50, tz.png()) sim:run(1000000000)""",
}


COMMANDS = {
    "sweep": ["sweep", "steps.lua", "--set", "v=1,2,3", "--jobs", "2"],
    "tune": ["tune", "star3d1r", "--grid", "256,256,256", "--backend", "cpu"],
    "predict": ["predict", "star3d1r", "--grid", "512,512,512", "--device", "h200"],
    "calibrate": ["calibrate", "--cpu", "--seconds", "60"],
}


def others(folder):
    """Processes of this program that work below the folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") == TRAPEZE and os.readlink(f"/proc/{pid}/cwd").startswith(folder):
                found.append(pid)
        except OSError:
            pass
    return found


def signals(draw, number):
    kind = draw.choice(sorted(SCRIPTS) + sorted(COMMANDS))
    checkpoints = kind in ("steps", "defines") and draw.random() < 0.5
    folder = f"s{number}"
    if kind in COMMANDS:
        write("steps.lua", SCRIPTS["steps"] + " -- tz.args.v")
        place = {"sweep": ["--out", folder], "calibrate": ["--output", folder + ".txt"]}.get(kind, [])
        arguments = COMMANDS[kind] + place
    else:
        text = SCRIPTS[kind] % number if "%d" in SCRIPTS[kind] else SCRIPTS[kind]
        script = write(f"{folder}.lua", text)
        arguments = ["run", script, "--out", folder, "-q"] + (["--checkpoint", "200ms"] if checkpoints else [])
    process = subprocess.Popen([TRAPEZE, *arguments], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, errors="replace")
    time.sleep(draw.uniform(0.0, 1.5))
    number = draw.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
    begin = time.monotonic()
    process.send_signal(number)
    try:
        text = process.communicate(timeout=LIMIT_S)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise Fell("does not end:", kind, number)
    need(time.monotonic() - begin < ENDS_S, kind, number, "took", round(time.monotonic() - begin, 2), "s")
    sane(process.returncode, text, arguments)
    whole(folder)
    end = time.monotonic() + ENDS_S
    while (os.listdir("tmp") or others(work)) and time.monotonic() < end:
        time.sleep(0.05)
    need(not others(work), "programs go on:", kind, others(work))
    need(not os.listdir("tmp"), "temporary folders are left:", os.listdir("tmp"))
    if checkpoints and os.path.exists(f"{folder}/checkpoint/1"):
        done = run("resume", folder, "-q", "--walltime", "300ms")
        need(done.returncode in (0, 3), "does not go on:", done.stderr)
        whole(folder)


# ---- Folders of others -----------------------------------------------------------------------------

def folders(draw, number):
    if not os.path.exists("kept"):
        script = write("kept.lua", """local tz = require "trapeze"
local sim = tz.simulation { plugin = "life", grid = { 64, 64 }, fields = { alive = tz.random { seed = 1, density = 0.4 } } }
sim:every(10, tz.table { "step" }) sim:every(20, tz.npy()) sim:write(tz.movie { every = 10 }) sim:every(50, tz.checkpoint())
sim:run(120) error "the end" """.replace("sim:write(tz.movie { every = 10 }) ", ""))
        run("run", script, "--out", "kept", "--unsafe")
        need(os.path.exists("kept/checkpoint/1"), "no checkpoint")
    folder = f"f{number}"
    shutil.copytree("kept", folder)
    victims = [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names] + [folder + "/checkpoint"]
    for _ in range(draw.randint(1, 2)):
        victim = draw.choice(victims)
        outside = f"outside{number}"
        if not os.path.lexists(victim) or os.path.lexists(outside):
            continue
        how = draw.choice(["link", "flip", "cut", "fifo"])
        if how == "link":
            os.rename(victim, outside)
            os.symlink(os.path.abspath(outside), victim)
        elif os.path.isfile(victim) and how == "flip" and os.path.getsize(victim) > 0:
            with open(victim, "r+b") as file:
                file.seek(draw.randrange(os.path.getsize(victim)))
                file.write(bytes([draw.randrange(256)]))
        elif os.path.isfile(victim) and how == "cut":
            os.truncate(victim, draw.randrange(os.path.getsize(victim) + 1))
        elif os.path.isfile(victim):
            os.remove(victim)
            os.mkfifo(victim)
    before = tree(f"outside{number}")
    done = run("resume", folder, "-q", *draw.choice([[], ["--unsafe"]]))
    need(done.returncode in (0, 1, 2), "exit code", done.returncode, done.stderr)
    need(done.returncode == 0 or done.stderr.startswith("trapeze: "), "no message:", done.stderr)
    run("info", folder)
    need(tree(f"outside{number}") == before, "what a link leads to has changed:", victims)
    shutil.rmtree(folder)


def tree(path):
    if not os.path.lexists(path):
        return None
    if os.path.isdir(path):
        return {name: tree(os.path.join(path, name)) for name in sorted(os.listdir(path))}
    with open(path, "rb") as file:
        return file.read()


# ---- The live view ---------------------------------------------------------------------------------

def clients(draw, number):
    script = write("paused.lua", 'local tz = require "trapeze" tz.simulation { plugin = "life", grid = { 64, 64 } }:run(100)')
    process = subprocess.Popen([TRAPEZE, "run", script, "--serve-paused", "--out", f"c{number}"], env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    line = ""
    while "http://" not in line:
        line = process.stderr.readline()
        need(line, "no live view")
    port, token = int(line.split(":")[-1].split("/")[0]), line.split("token=")[1].split()[0]
    good = f"GET /state HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Trapeze-Token: {token}\r\n\r\n".encode()
    slow = []
    for _ in range(draw.randint(5, 60)):
        data = bytearray(draw.choice([good, good.replace(b"GET", b"POST"), good.replace(b"/state", b"/do"), os.urandom(0)]))
        if draw.random() < 0.7:
            data = bytearray(good.replace(token.encode(), b"0" * len(token)))
        for _ in range(draw.randint(0, 6)):
            if data:
                data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=5)
            connection.sendall(bytes(data[: draw.randint(0, len(data))]))
            slow.append(connection)
        except OSError:
            pass
    with socket.create_connection(("127.0.0.1", port), timeout=30) as page:
        page.sendall(good)
        answer = page.recv(200)
    need(b" 200 " in answer, "the page gets", answer[:60])
    for connection in slow:
        connection.close()
    process.send_signal(signal.SIGTERM)
    text = process.communicate(timeout=LIMIT_S)[1]
    sane(process.returncode, text, "serve")


# ---- Formulas --------------------------------------------------------------------------------------

WORDS = ["u", "v", "u[1,0]", "v[0,-1]", "k", "x", "y", "step", "pi", "1", "2.5", "1e300", "0", "1e-320", "17", "u[20,0]", "u[1]", "w"]
FUNCTIONS = ["exp", "log", "sqrt", "sin", "tanh", "abs", "min", "max", "lap", "dx", "dyy", "select", "fma", "pow", "sum", "int"]
SIGNS = ["+", "-", "*", "/", "^", "%", "//", "<", ">", "==", "~=", " and ", " or ", " ? ", " : ", ",", ")", "(", "[", "]", "..", ";"]


def formula(draw, depth=0):
    chance = draw.random()
    if depth > 4 or chance < 0.35:
        return draw.choice(WORDS)
    if chance < 0.6:
        arguments = [formula(draw, depth + 1) for _ in range(draw.randint(1, 3))]
        return f"{draw.choice(FUNCTIONS)}({', '.join(arguments)})"
    if chance < 0.95:
        return f"({formula(draw, depth + 1)}{draw.choice(SIGNS[:10])}{formula(draw, depth + 1)})"
    return formula(draw, depth + 1) + draw.choice(SIGNS) + formula(draw, depth + 1)


def formulas(draw, number):
    texts = ", ".join(f'[==[{formula(draw)}]==]' for _ in range(20))
    script = write("formulas.lua", f"""local tz = require "trapeze"
for i, text in ipairs {{ {texts} }} do
  local ok, why = pcall(tz.stencil, {{ name = "f" .. i, dims = 2, fields = {{ "u", "v" }}, params = {{ k = 0.5 }},
    update = {{ u = text, v = "u" }} }})
  if not ok then print(text, why) end
end""")
    done = run("run", script, "--check")
    need(done.returncode == 0, "exit code", done.returncode, done.stderr)
    need(".c:" not in done.stdout and ".h:" not in done.stdout, "the C compiler complains:", done.stdout[:600])


# ---- Damaged files, with right checksums --------------------------------------------------------------

def readers(draw, number):
    done = subprocess.run([READERS, "300", str(draw.randrange(1 << 30))], capture_output=True, text=True, errors="replace", timeout=LIMIT_S)
    need(done.returncode == 0, "fuzz_readers:", done.stdout[-500:], done.stderr[-500:])


# ---- Races for the cache -------------------------------------------------------------------------------

def exchange(one, other, stop):
    """Two folders change names again and again."""
    while not stop.is_set():
        os.rename(one, one + "~")
        os.rename(other, one)
        os.rename(one + "~", other)
        time.sleep(0.002)


def races(draw, number):
    """The entry that a folder of somebody else has under the same name never runs."""
    script = write("cached.lua", SCRIPTS["defines"].replace("%d", "0.125").replace("1000000000", "10"))
    if not os.path.exists("foreign"):
        run("run", script, "-q", "--policy", "predicted")  # which waits for the compiler
        write("evil.c", '#include <stdio.h>\n__attribute__((constructor)) static void ran(void) { fclose(fopen("evil-ran", "w")); }\n')
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", "evil.so", "evil.c"], check=True)
        shutil.copytree("cache/stencils", "foreign")
        for name in os.listdir("foreign"):
            shutil.copy("evil.so", os.path.join("foreign", name))
    for name in os.listdir("foreign"):
        os.chmod(os.path.join("foreign", name), draw.choice([0o600, 0o666, 0o700]))
    os.chmod("foreign", 0o777)
    if os.geteuid() == 0:
        os.chmod("foreign", draw.choice([0o700, 0o777]))
        for path in ["foreign"] + [os.path.join("foreign", name) for name in os.listdir("foreign")]:
            os.chown(path, 54321, 54321)
    stop = threading.Event()
    racer = threading.Thread(target=exchange, args=("cache/stencils", "foreign", stop))
    racer.start()
    try:
        done = run("run", script, "-q", "--policy", "predicted", "--out", f"r{number}")
    finally:
        stop.set()
        racer.join()
    shutil.rmtree(f"r{number}", ignore_errors=True)
    need(not os.path.exists("evil-ran"), "an entry of somebody else has run")
    need(done.returncode in (0, 1), "exit code", done.returncode, done.stderr)


# ---- All ---------------------------------------------------------------------------------------------

attacks = [("signals", signals), ("folders of others", folders), ("clients of the live view", clients), ("formulas", formulas),
           ("races for the cache", races)]
if READERS:
    attacks.append(("damaged files", readers))
if "libmicrohttpd is missing" in run("doctor", "--verbose").stdout:
    attacks = [a for a in attacks if a[0] != "clients of the live view"]
    print("skipped: no libmicrohttpd")
if len(sys.argv) > 5:
    attacks = [a for a in attacks if a[0].startswith(sys.argv[5])] or sys.exit(f"there is no attack {sys.argv[5]}")
fallen = []
rows = []
for name, attack in attacks:
    draw = random.Random(f"{SEED} {name}")
    tried, fell, end = 0, 0, time.monotonic() + SECONDS / len(attacks)
    while tried == 0 or time.monotonic() < end:
        tried += 1
        try:
            attack(draw, tried)
        except (Fell, subprocess.TimeoutExpired, OSError, ValueError) as why:
            fell += 1
            fallen.append(f"{name}, number {tried}: {type(why).__name__}: {why}")
    rows.append((name, tried, fell))
print(f"{'attack':26} {'tried':>6} {'fell':>6}")
for row in rows:
    print(f"{row[0]:26} {row[1]:6} {row[2]:6}")
for line in fallen:
    print(line)
if fallen:
    print(f"again: sh scripts/attack.sh {SECONDS:g} {SEED}" + (f" '{sys.argv[5]}'" if len(sys.argv) > 5 else ""))
shutil.rmtree(work, ignore_errors=True)
sys.exit(len(fallen) > 0)
