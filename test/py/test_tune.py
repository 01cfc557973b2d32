"""Spaces, the library and searches; what a kill, a full disk or a broken file does to them."""

import contextlib
import json
import math
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import tilelang
import tilelang.language as T
from check import raises
from tilelang.tune import Library, LibraryError, Search, Space, cli, model
from tilelang.tune.library import STEPS, VERSION, distance
from tilelang.tune.search import NoDevice

HERE = os.path.dirname(os.path.abspath(__file__))


@tilelang.jit(out_idx=[-1], target="cpu")
def add(N, block=64, broken=0):
    step = 1.0 if broken != 2 else 1.5

    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=64) as bx:
            for i in T.Parallel(block):
                if bx * block + i < N:
                    B[bx * block + i] = A[bx * block + i] + step

    if broken == 1:
        raise ValueError("no such kernel")
    return main


def folder():
    return tempfile.mkdtemp(prefix="tune")


def about(**other):
    return dict(dict(kernel="k", text="t", args={"N": 64}, dtypes=["float32"], machine="m",
                     target="cpu", driver="", compiler="1"), **other)


def test_space():
    space = Space(a=[1, 2, 4], b=range(2, 4), c="x", where=["a * b <= n", lambda a: a != 2])
    dropped = {}
    assert len(space) == 6
    assert list(space.points({"n": 6}, dropped)) == [
        {"a": 1, "b": 2, "c": "x"}, {"a": 1, "b": 3, "c": "x"}]
    assert dropped == {"a * b <= n": 2, "<lambda>": 2}
    with raises(ValueError, "neither in the space nor an argument", "n"):
        list(space)
    assert list(Space.parse(["a=1,2", "b=2..4:2", "c=True,float16"])) == [
        {"a": x, "b": y, "c": z} for x in (1, 2) for y in (2, 4) for z in (True, "float16")]
    for wrong in ("a", "a=1..x", "1=2"):
        with raises(ValueError):
            Space.parse([wrong])
    for words in (["a=1..1000000000"], ["a=1..2000", "b=1..2000"], ["a=0..99999999999999999999"]):
        with raises(ValueError, "1048576"):
            Space.parse(words)
    with raises(ValueError, "1048576"):
        Space(a=range(10 ** 12))
    with raises(ValueError, "no value for 'a'"):
        Space(a=[])
    with raises(ValueError, "no value for 'a'"):
        Space.parse(["a="])
    with raises(ValueError, "'a' twice"):
        Space.parse(["a=1", "a=2"])
    with raises(ValueError, "'a >' is no expression"):
        Space(a=1, where="a >")
    for wrong, why in (("1 // a", "ZeroDivisionError"), ("a < 'x'", "TypeError"), (lambda a: a.b, "AttributeError")):
        with raises(ValueError, "cannot be told for a=0", why):
            list(Space(a=0, where=wrong))
    assert list(space.narrowed(["b > 2"], a=1).points({"n": 6})) == [{"a": 1, "b": 3, "c": "x"}]


def test_library():
    path = os.path.join(folder(), "t.db")
    with Library(path) as lib:
        p = lib.problem(**about())
        assert lib.problem(**about()) == p != lib.problem(**about(compiler="2"))
        lib.add(p, {"b": 1}, "ok", samples=[3.0, 1.0, 2.0], model=0.5, facts={"x": 1})
        lib.add(p, {"b": 2}, "ok", samples=[1.0])
        lib.add(p, {"b": 3}, "crashed", "its process ended")
        with raises(ValueError, "a trial ends as"):
            lib.add(p, {}, "odd")
        assert [t["ms"] for t in lib.trials(p)] == [1.0, 2.0, None]
        assert lib.best(p)["config"] == {"b": 1}  # three samples are worth more than one
        data = json.loads(json.dumps(lib.export()))
    other = os.path.join(folder(), "o.db")
    with Library(other) as lib:
        assert lib.take(data) == (2, 3) and lib.take(data) == (2, 0)
        assert [t["samples"] for t in lib.trials(1)] == [[1.0], [3.0, 1.0, 2.0], []]
        one = {**about(), "trials": [{"config": {}, "state": "ok", "reason": None, "ms": 1.0, "model": None,
                                      "at": 1.0, "samples": [1.0]}]}
        for wrong in ([], {"problems": []}, {"problems": [3]}, {"problems": [{"kernel": 1}]},
                      {"problems": [one, {**one, "trials": [{}]}]},
                      {"problems": [one, {**one, "trials": [{**one["trials"][0], "samples": ["x"]}]}]},
                      {"problems": [one, {**one, "trials": [{**one["trials"][0], "ms": None}]}]}):
            if isinstance(wrong, dict) and wrong["problems"]:
                wrong["tilelang tuning library"] = VERSION
            with raises(LibraryError, "no export"):
                lib.take(wrong)
        assert len(lib.problems()) == 2  # nothing of them was taken
        with raises(LibraryError, "of version 99"):
            lib.take({"tilelang tuning library": 99, "problems": []})
    with sqlite3.connect(path) as plain:  # readable without us
        assert plain.execute("SELECT kernel, state, COUNT(*) FROM problem JOIN trial ON problem.id ="
                             " trial.problem GROUP BY state").fetchall() == [("k", "crashed", 1),
                                                                           ("k", "ok", 2)]


def test_versions_and_broken_files():
    old = os.path.join(folder(), "old.db")
    db = sqlite3.connect(old)
    db.executescript(STEPS[0] + "PRAGMA user_version=1; INSERT INTO problem VALUES (1, 'u', 'k', 't',"
                     " '{\"N\": 4}', '[]', 'm', 'cpu', '', '1'); INSERT INTO trial VALUES (1, 'v', 1,"
                     " '{\"b\": 1}', 'ok', NULL, 2.5, NULL, 1.0); INSERT INTO sample VALUES (1, 0, 2.5);")
    db.close()
    with Library(old) as lib:  # brought up to date, nothing lost
        assert lib.best(1)["ms"] == 2.5 and lib.best(1)["clocks"] is None
        assert lib.db.execute("PRAGMA user_version").fetchone()[0] == VERSION
        lib.db.execute("PRAGMA user_version=%d" % (VERSION + 1))
    other = os.path.join(folder(), "other.db")
    with contextlib.closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE customers (id INTEGER)")
    with raises(LibraryError, "a database of something else"):
        Library(other)
    with contextlib.closing(sqlite3.connect(other)) as db:
        assert [n for n, in db.execute("SELECT name FROM sqlite_master")] == ["customers"]
    with raises(LibraryError, "of version %d" % (VERSION + 1), "up to %d" % VERSION):
        Library(old)
    broken = os.path.join(folder(), "broken.db")
    with open(broken, "w") as f:
        f.write("this is no database, " * 100)
    with raises(LibraryError, "cannot be used"):
        Library(broken)
    torn = os.path.join(folder(), "torn.db")  # its first page is as it was
    with Library(torn) as lib:
        lib.add(lib.problem(**about()), {"b": 1}, "ok", samples=[1.0])
        good = os.path.join(folder(), "good.db")
        lib.db.execute("VACUUM INTO ?", [good])
    with open(torn, "r+b") as f:
        f.seek(4096)
        f.write(bytes(i * 7 & 255 for i in range(os.path.getsize(torn) - 4096)))
    file = os.path.join(folder(), "add.py")
    with open(file, "w") as f:
        f.write(FILE)
    for words in (["list"], ["show", "1"], ["export", torn + ".json"], ["merge", good], ["why", file, "N=4", "--space", "block=4"],
                  [file, "N=4", "--space", "block=4"]):
        code, said = run(*words, "--library", torn)
        assert code == 3 and "cannot be used" in said and "malformed" in said and "Traceback" not in said, (words, said)
    code, said = run("merge", torn, "--library", good)
    assert code == 3 and "malformed" in said
    with raises(LibraryError, "there is no library"):
        Library(os.path.join(folder(), "none.db"), create=False)
    with raises(LibraryError, "cannot be used"):
        Library("/proc/none/t.db")


def test_nearest():
    assert distance({"M": 4, "t": "f"}, {"M": 8, "t": "f"}) == 1.0
    assert distance({"M": 4, "t": "f"}, {"M": 4, "t": "g"}) is None
    assert distance({"M": 4}, {"N": 4}) is None
    with Library(os.path.join(folder(), "t.db")) as lib:
        for n, best in ((64, 1), (128, 1), (1024, 2)):
            p = lib.problem(**about(args={"N": n}))
            for b in (1, 2):
                lib.add(p, {"b": b}, "ok", samples=[1.0 if b == best else 1.5])
        near = lib.nearest("t", "m", {"N": 100})
        assert [p["args"]["N"] for _, p in near] == [128, 64, 1024] and 0.35 < near[0][0] < 0.36
        assert [c for c, _ in lib.trust("t", "m", {"b": 1}, but=near[0][1]["id"])] == [1.0, 1.5]
        assert not lib.nearest("t", "other", {"N": 100})
        assert not lib.nearest("t", "m", {}) and not lib.nearest("t", "m", {"N": 100, "t": 8})
        assert [far for far, _ in lib.nearest("t", "m", {}, {"N": 256, "t": 8})] == [1.0, 2.0, 2.0]
        assert lib.nearest("t", "m", {"N": 64, "t": 4}, {"t": 8})[0][0] == 0.5 ** 0.5


def writers(path, n):
    text = ("import sys; from tilelang.tune import Library\nlib = Library(%r)\n"
            "p = lib.problem(**%r)\nfor i in range(%d): lib.add(p, {'b': i, 'by': int(sys.argv[1])}, "
            "'ok', samples=[1.0 + i]); print(i, flush=True)" % (path, about(), n))
    return lambda who: subprocess.Popen([sys.executable, "-c", text, str(who)], stdout=subprocess.PIPE,
                                        text=True)


def test_killed_at_random_and_many_at_once():
    """Rows that a process said were in are in, whole; others go on."""
    path, rng = os.path.join(folder(), "t.db"), random.Random(7)
    start, said = writers(path, 80), {}
    running = [start(who) for who in range(6)]
    time.sleep(0.4)
    for p in running[:5]:
        time.sleep(rng.random() * 0.15)
        p.send_signal(signal.SIGKILL)
    running.append(start(6))
    for who, p in enumerate(running):
        said[who] = len(p.communicate(timeout=120)[0].split())
    assert said[5] == said[6] == 80 and running[5].returncode == 0
    with Library(path) as lib:
        assert lib.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        trials = lib.trials(1)
        got = {}
        for t in trials:
            assert t["samples"] == [1.0 + t["config"]["b"]]
            got[t["config"]["by"]] = got.get(t["config"]["by"], 0) + 1
        for who, n in said.items():
            assert n <= got.get(who, 0) <= n + 1, (who, n, got)


def run(*words):
    """(exit code, output) of tl tune"""
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = cli.main(list(words))
    return code, out.getvalue()


def test_search():
    path = os.path.join(folder(), "t.db")
    space = Space(block=[32, 64, 128], broken=[0, 1, 2], where="block < 128 or broken == 0")
    with Library(path) as lib:
        s = Search(add, {"N": 1000}, space, lib, jobs=1)
        best = s.run()
        assert best is not None and best.config["broken"] in (0, 2) and s.of_all == 9
        assert s.dropped == {"block < 128 or broken == 0": 2, "ValueError: no such kernel": 2}
        states = {p.key: p.state for p in s.points}
        assert sorted(states.values()) == ["ok", "ok", "ok", "wrong", "wrong"], states
        assert all(math.isfinite(p.said) for p in s.points) and best.samples
        rows = len(lib.trials(s.problem))
        again = Search(add, {"N": 1000}, space, lib, jobs=1)
        assert again.run().config["broken"] == best.config["broken"]  # which block is best, times decide
        assert again.resumed == 5 and again.failed == 0
        assert len(lib.trials(s.problem)) == rows + again.rows
        assert s.measured == 3 and s.failed == 2 and s.rows >= 5  # points, however often each was timed
        assert all(p.reason and "Wrong" in p.reason for p in s.points if p.state == "wrong")
    with raises(ValueError, "no point of the space is legal"):
        with Library(path) as lib:
            Search(add, {"N": 1000}, Space(broken=1), lib).run()
    for few, many in ((2, 0), (0, 2)):  # whichever runs first, the larger group is right
        with Library(os.path.join(folder(), "t.db")) as lib:
            s = Search(add, {"N": 1000}, [{"block": 256, "broken": few}] + [{"block": b, "broken": many} for b in (64, 32, 16)],
                       lib, jobs=1)
            best = s.run()
            assert s.points[0].config["broken"] == few, "the model's order has changed: nothing is outvoted"
            assert best.config["broken"] == many and s.agreed(), best.config
            assert [p.state for p in s.points] == ["wrong", "ok", "ok", "ok"], [p.state for p in s.points]
            assert lib.best(s.problem)["config"]["broken"] == many
            again = Search(add, {"N": 1000}, s.space, lib, jobs=1)
            assert again.run().config["broken"] == many
    with raises(ValueError, "the simulator's times say nothing"):
        with Library(path) as lib:
            Search(add, {"N": 1000}, space, lib, target="sim -arch=sm_90a").run()


def test_autotune_takes_a_space():
    space = Space(block=[32, 64, 4096], where="block <= N")
    tuned = tilelang.autotune(configs=space, warmup=1, rep=2)(add)
    assert tuned._choices((100,), {}) == [{"block": 32}, {"block": 64}]
    assert tuned(100).config["block"] in (32, 64)
    with raises(ValueError, "no point of the space meets", "block <= N (3)"):
        tuned(8)


FILE = """
import tilelang, tilelang.language as T
@tilelang.jit(out_idx=[-1], target="cpu")
def add(N, block=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=64) as bx:
            for i in T.Parallel(block):
                if bx * block + i < N:
                    B[bx * block + i] = A[bx * block + i] + 1
    return main
"""


def test_autotune_rows_are_in_the_library():
    import tilelang.autotuner

    root = folder()
    before = {n: os.environ.get(n) for n in ("TILELANG_CACHE_DIR", "TILELANG_TUNE_LIBRARY")}
    try:
        os.environ.update(TILELANG_CACHE_DIR=root, TILELANG_TUNE_LIBRARY=os.path.join(root, "own.db"))
        tuned = tilelang.autotune(configs=[{"block": 32}, {"block": 64}, {"block": 128}], warmup=1,
                                  rep=3)(add)
        tuned(N=128)
        with Library(os.path.join(root, "own.db"), create=False) as library:
            p, = library.problems()
            assert p["kernel"] == "add" and p["args"] == {"N": 128} and p["ok"] == 3
            # The same problem as tl tune has, which goes on from there.
            search = Search(add, {"N": 128}, Space(block=[32, 64]), library, target="cpu").prepare()
            assert library.problem(create=False, **search.about) == p["id"]
        os.environ["TILELANG_TUNE_LIBRARY"] = "/proc/nowhere/own.db"
        assert tuned(N=130) is not None  # a library that cannot be written is in nobody's way
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def test_commands():
    at = folder()
    file, db, page = (os.path.join(at, n) for n in ("add.py", "t.db", "page.html"))
    with open(file, "w") as f:
        f.write(FILE)
    lib = ["--library", db]
    code, said = run(file, "N=500", *lib)
    assert code == 1 and "has no space" in said
    code, said = run("list", *lib)
    assert code == 0 and "0 problems" in said
    code, said = run(file, "N=500", "--space", "block=32,64", "--where", "block < 64", "--html", page, "-j1", *lib)
    assert code == 0 and "1 dropped: block < 64" in said and "best: " in said and "block=32" in said, said
    assert "VERIFY" not in said and "TFLOPS: " in said  # one configuration has nobody to agree with
    code, said = run(file, "N=400", "--space", "block=32,64", "-j1", *lib)
    assert "VERIFY: PASS\nTFLOPS: " in said, said
    code, said = run(file, "N=400", "--space", "block=32,64", "-j1", "--json", *lib)
    assert json.loads(said)["verify"] == "PASS"
    with open(page) as f:
        text = f.read()
    assert "Where the limit lies" in text and "block &lt; 64" in text and text.count("<circle") == 0
    code, said = run(file, "N=500", "--space", "block=32", "--rank", "--json", *lib)
    assert code == 0 and json.loads(said)["points"] == 1
    assert "add" in run("list", *lib)[1] and "block=32" in run("show", "1", *lib)[1]
    code, said = run("why", file, "N=1000", "--space", "block=32", *lib)
    assert code == 0 and "was not tuned" in said and "1.00 doublings away" in said, said
    assert "was tuned: " in run("why", file, "N=500", "--space", "block=32", *lib)[1]
    out = os.path.join(at, "e.json")
    assert run("export", out, *lib)[0] == 0
    other = ["--library", os.path.join(at, "o.db")]
    assert "0 new" not in run("import", out, *other)[1] and "0 new trials" in run("merge", db, *other)[1]
    for words, code, text in ((["show", "9"], 1, "has no problem 9"), (["show"], 1, "takes the number"),
                              ([file + ":nothing"], 1, "no function 'nothing'"), (["none.py"], 1, "No such file"),
                              ([file, "M=1", "--space", "block=1"], 1, "no parameter 'M'"), ([], 1, "which FILE"),
                              ([file, "N=1", "--where", "x"], 1, "--where needs a space"),
                              (["merge", "none.db"], 3, "there is no library"), (["--nonsense"], 2, "unrecognized")):
        got, said = run(*words, *lib)
        assert got == code and text in said, (words, got, said)
    with open(out, "w") as f:
        f.write("{")
    assert run("import", out, *lib) [0] == 1
    code, said = run("export", "/proc/none/e.json", *lib)
    assert code == 3 and "cannot write /proc/none/e.json: No such file" in said, said
    with open(file, "w") as f:
        f.write("import nothing_of_the_kind\n")
    code, said = run(file, "N=1", *lib)
    assert code == 1 and "cannot be loaded: ModuleNotFoundError" in said, said


SPACED = """
from tilelang.tune import Space

def fits(block, N):
    "a block is no longer than the row"
    return block <= N

space = Space(block=[32, 64, 4096], where=fits)
"""


def test_what_a_space_is_asked():
    at = folder()
    file, lib = os.path.join(at, "add.py"), ["--library", os.path.join(at, "t.db"), "--rank"]
    with open(file, "w") as f:
        f.write(FILE.replace("block=64", "block=64, factor=2") + SPACED)
    code, said = run(file, "N=500", "--where", "block > 32", *lib)  # a function stays one beside it
    assert code == 0 and "1 dropped: a block is no longer than the row" in said and "1 dropped: block > 32" in said, said
    code, said = run(file, "N=500", "--space", "block=32,64", "--where", "block < factor * 20", *lib)
    assert code == 0 and "1 dropped: block < factor * 20" in said, said  # factor has a default
    code, said = run(file, "N=500", "block=64", *lib)  # of the space what it has
    assert code == 0 and "add(N=500) for" in said and "1 points, 1 legal" in said and "block=64" in said, said
    for option in ("--trials=0", "--trials=-3", "--jobs=0", "--limit=0", "--time=-1", "--baseline=nan"):
        code, said = run(file, "N=500", option, *lib)
        assert code == 2 and "is not above 0" in said, (option, code, said)
    code, said = run("lst")
    assert code == 1 and "nor is it one of list, show" in said, said


def test_a_machine_that_is_not_here_is_no_row():
    from tilelang import _target

    if _target.has_gpu():
        return
    db = os.path.join(folder(), "t.db")
    with Library(db) as lib:
        with raises(NoDevice, "no CUDA driver here"):
            Search(add, {"N": 700}, Space(block=[32, 64]), lib, target="cuda -arch=sm_90a", jobs=1).run()
        assert lib.problems()[0]["trials"] == 0


def test_ctrl_c_keeps_what_was_measured():
    at = folder()
    file, db = (os.path.join(at, n) for n in ("add.py", "t.db"))
    with open(file, "w") as f:
        f.write(FILE)
    words = [sys.executable, "-m", "tilelang", "tune", file, "N=4000", "--space", "block=16..2000:16", "--trials", "200",
             "--library", db, "-j", "1"]
    p = subprocess.Popen(words, stdout=subprocess.PIPE, text=True,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    until = time.monotonic() + 120
    while time.monotonic() < until:
        time.sleep(0.2)
        if os.path.exists(db) and sqlite3.connect(db).execute(
                "SELECT COUNT(*) FROM sqlite_master WHERE name='trial'").fetchone()[0] and \
                sqlite3.connect(db).execute("SELECT COUNT(*) FROM trial").fetchone()[0] >= 2:
            break
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=60)[0]
    assert p.returncode == 130 and "what was measured is kept" in said and "best: " in said, (p.returncode, said)
    with Library(db) as lib:
        assert len(lib.trials(1)) >= 2


def test_ctrl_c_is_no_stack():
    """As a terminal sends it, to all processes of tl tune: while Python starts, and while children measure."""
    tl = os.environ.get("TL")
    if not tl:
        return
    at = folder()
    file, db = (os.path.join(at, n) for n in ("add.py", "t.db"))
    with open(file, "w") as f:
        f.write(FILE)
    for n, seconds in enumerate((0.02, 0.3, 2, 4)):
        p = subprocess.Popen([os.path.abspath(tl), "tune", file, "N=%d" % (5000 + n), "--space", "block=16..2000:16", "--trials", "200",
                              "--library", db], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(seconds)
        os.killpg(p.pid, signal.SIGINT)
        said = p.communicate(timeout=120)[0]
        if "Fatal Python error: init_import_site" in said:  # a busy machine: the interpreter was not up yet
            continue
        assert p.returncode in (130, -signal.SIGINT) and "Traceback" not in said, (seconds, p.returncode, said)
    with Library(db) as lib:
        assert not [t for q in lib.problems() for t in lib.trials(q["id"]) if t["state"] == "crashed"]


HANGS = """import ctypes, os, subprocess, sys, time
from tilelang.autotuner import trial

def hang(*_):
    ctypes.PyDLL(None).pause()  # in C, with the GIL: no thread of Python runs beside it

if sys.argv[1:]:
    trial._once = hang
    trial.serve(int(sys.argv[1]), int(sys.argv[2]))
theirs, ours = os.pipe(), os.pipe()
p = subprocess.Popen([sys.executable, __file__, str(theirs[0]), str(ours[1])], pass_fds=(theirs[0], ours[1]))
os.close(theirs[0])
os.close(ours[1])
trial._send(theirs[1], {"torch": False, "inputs": None})
assert trial._message(ours[0]) == "ready"
trial._send(theirs[1], {"kernel": None, "told": None})
time.sleep(0.5)
print(p.pid, flush=True)
time.sleep(600)
"""


def test_child_that_hangs_ends_with_its_parent():
    file = os.path.join(folder(), "hangs.py")
    with open(file, "w") as f:
        f.write(HANGS)
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    p = subprocess.Popen([sys.executable, file], stdout=subprocess.PIPE, text=True, env=env)
    child = int(p.stdout.readline())
    os.kill(child, 0)  # it is there
    p.kill()
    p.wait()
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            with open("/proc/%d/stat" % child) as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
        except OSError:
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("the child outlived its parent")


def test_full_disk():
    class Full:
        def __init__(self, library):
            self.library, self.left = library, 1

        def __getattr__(self, name):
            return getattr(self.library, name)

        def add(self, *args, **keys):
            if not self.left:
                raise sqlite3.OperationalError("database or disk is full")
            self.left -= 1
            return self.library.add(*args, **keys)

    with Library(os.path.join(folder(), "t.db")) as lib:
        s = Search(add, {"N": 700}, Space(block=[32, 64]), Full(lib), jobs=1)
        assert s.run() is not None and "disk is full" in s.lost and len(lib.trials(s.problem)) == 1
        assert len(s.unwritten) == s.rows - 1
        s.library.left = 100  # there is room again: nothing is lost
        s._write()
        assert s.lost is None and len(lib.trials(s.problem)) == s.rows

    class Never(Full):  # no room for the problem itself
        def problem(self, *args, **keys):
            raise sqlite3.OperationalError("database or disk is full")

    with Library(os.path.join(folder(), "t.db")) as lib:
        s = Search(add, {"N": 700}, Space(block=[32, 64]), Never(lib), jobs=1)
        assert s.run() is not None and "disk is full" in s.lost and not lib.problems()


FULL = '''import os, sqlite3, subprocess, sys
where, rows = sys.argv[1], 0
if subprocess.call(["mount", "-t", "tmpfs", "-o", "size=160k", "none", where], stderr=subprocess.DEVNULL):
    print("no mounts here")
    sys.exit()
from tilelang.tune import Library
about = dict(kernel="k", text="t", args={}, dtypes=[], machine="m", target="cpu", driver="", compiler="1")
library = Library(os.path.join(where, "t.db"))
problem = library.problem(**about)
try:
    for rows in range(2000):
        library.add(problem, {"block": rows}, "ok", samples=[1.0, 2.0], facts={"text": "x" * 500})
except sqlite3.OperationalError as why:
    print("full after some: %s" % (rows > 20), why)
with sqlite3.connect(os.path.join(where, "t.db")) as other:
    print(other.execute("PRAGMA integrity_check").fetchone()[0], other.execute("SELECT count(*) FROM trial").fetchone()[0] == rows)
subprocess.check_call(["mount", "-o", "remount,size=1m", where])
library.add(problem, {"block": rows}, "ok", samples=[3.0])
print(len(library.trials(problem)) == rows + 1)
'''


def test_disk_that_is_full():
    """A library on a file system of 160 KiB, in a mount namespace of its own, wherever that may be had."""
    command = ["unshare", "-Urm", sys.executable, "-c", FULL, folder()]
    try:
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)), timeout=120)
    except FileNotFoundError:
        return
    if p.returncode == 1 and p.stderr.startswith("unshare:") or "no mounts here" in p.stdout:
        return
    assert p.stdout.splitlines() == ["full after some: True database or disk is full", "ok True", "True"], (p.stdout, p.stderr)


def test_bytes_are_those_that_tiles_move():
    from tilelang.tune import model

    facts = model.facts_of(copied.lowered("cuda -arch=sm_90a", n=1024))
    assert facts["bytes"] == facts["least_bytes"] == 2 * 4 * 1024 and facts["on_chip"] == 2 * 4 * 1024, facts


@tilelang.jit(out_idx=[-1])
def copied(n):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(n // 128, threads=128) as bx:
            s = T.alloc_shared((128,), "float32")
            T.copy(A[bx * 128], s)
            T.copy(s, B[bx * 128])

    return main


@tilelang.jit(out_idx=[-1])
def turned(n, staged):
    @T.prim_func
    def main(A: T.Tensor((n, n), "float32"), B: T.Tensor((n, n), "float32")):
        with T.Kernel(n // 32, n // 32, threads=128) as (bx, by):
            s = T.alloc_shared((32, 32), "float32")
            if staged:
                T.copy(A[by * 32, bx * 32], s)
                for i, j in T.Parallel(32, 32):
                    B[bx * 32 + i, by * 32 + j] = s[j, i]
            else:
                for i, j in T.Parallel(32, 32):
                    B[bx * 32 + i, by * 32 + j] = A[by * 32 + j, bx * 32 + i]

    return main


@tilelang.jit(out_idx=[-1])
def product(n, stages):
    @T.prim_func
    def main(A: T.Tensor((n, n), "float16"), B: T.Tensor((n, n), "float16"), C: T.Tensor((n, n), "float16")):
        with T.Kernel(n // 128, n // 128, threads=256) as (bx, by):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 128), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(n // 64, num_stages=stages):
                T.copy(A[by * 128, k * 64], a)
                T.copy(B[k * 64, bx * 128], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 128, bx * 128])

    return main


@tilelang.jit(out_idx=[-1])
def scaled(n, chunk):
    """Rows over their sums: they are read twice where a block does not hold them."""
    @T.prim_func
    def main(A: T.Tensor((n, n), "float32"), B: T.Tensor((n, n), "float32")):
        with T.Kernel(n, threads=128) as bx:
            x = T.alloc_fragment((1, chunk), "float32")
            part = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((1,), "float32")
            T.fill(total, 0)
            for k in T.serial(n // chunk):
                T.copy(A[bx, k * chunk], x)
                T.reduce_sum(x, part, dim=1)
                total[0] += part[0]
            for k in T.serial(n // chunk):
                T.copy(A[bx, k * chunk], x)
                for i, j in T.Parallel(1, chunk):
                    x[i, j] = x[i, j] / total[0]
                T.copy(x, B[bx, k * chunk])

    return main


def work(fn, target="cuda -arch=sm_90a", **args):
    return model.facts_of(fn.lowered(target, **args))["launches"][0]["work"]


def test_what_a_block_does():
    one = work(copied, n=1024)
    assert (one["blocks"], one["sectors"], one["loaded"], one["bulk"]) == (8, 16, 512, 512), one
    near, far = work(turned, n=64, staged=True), work(turned, n=64, staged=False)
    assert near["loaded"] == far["loaded"] == 4096 and far["pieces"] > 4 * near["pieces"], (near, far)
    for target in ("cuda -arch=sm_80", "cuda -arch=sm_90a", "hip -mcpu=gfx942"):
        w = work(product, target, n=1024, stages=2)
        assert w["products"] == 1024 * 128 * 128 and w["loaded"] + w["bulk"] >= 2 * 2 * 128 * 1024, (target, w)
        assert (w["waits"] >= 15) == target.startswith("cuda"), (target, w)
    kept, again = work(scaled, n=2048, chunk=2048), work(scaled, n=2048, chunk=256)
    assert kept["loaded"] == 8192 and kept["again"] == 0 and kept["live"] >= 64, kept
    assert again["loaded"] == 16384 and again["again"] == 8192 and again["live"] < 32, again
    assert work(scaled, "cpu", n=2048, chunk=256)["blocks"] == 2048


def test_model():
    for target in ("cuda -arch=sm_90a", "cuda -arch=sm_80", "hip -mcpu=gfx942", "webgpu", "cpu"):
        machine = model.machine_of(target)
        small, large = (model.facts_of(turned.lowered(target, n=n, staged=True)) for n in (512, 8192))
        assert 0 < model.milliseconds(small, machine) < model.milliseconds(large, machine), target
        assert len(model.parts(large, machine)) == 5
    machine = model.machine_of("cuda -arch=sm_90a")
    two, four = (model.facts_of(product.lowered("cuda -arch=sm_90a", n=4096, stages=n)) for n in (2, 4))
    assert model.milliseconds(four, machine) < 0.7 * model.milliseconds(two, machine)  # 0.49 and 0.22 ms on an H200
    assert 0.1 < model.milliseconds(four, machine) < 0.4
    assert model.occupancy(two["launches"][0], machine)[0] == 1
    assert model.spearman([1, 2, 3, 4], [10, 20, 30, 40]) == 1.0 and model.spearman([1, 2, 3], [3, 2, 1]) == -1.0
    assert abs(model.spearman([1, 2, 2, 3], [1, 2, 3, 4]) - 0.9487) < 1e-3
    rows = [(model.facts_of(copied.lowered("cuda -arch=sm_90a", n=n)), n / 1e9) for n in (1 << 14, 1 << 20, 1 << 26)]
    assert model.judge(rows, machine)[0] == 1.0
    wrong = dict(model.COEFFICIENTS, memory=1e-3, block=1e5)
    assert model.calibrate([rows], machine, wrong, rounds=1)[1] <= model._loss([rows], machine, wrong)


def test_model_ranks_what_was_timed():
    """Some of the configurations that an H200 timed; judge.py has all of them."""
    folder = os.path.join(HERE, "../../bench/tune")
    sys.path.insert(0, folder)
    try:
        import judge
        import kernels
    finally:
        sys.path.remove(folder)
    machine = model.machine_of(judge.TARGET)
    for name, least in (("gemm", 0.75), ("transpose", 0.85), ("swiglu", 0.7)):
        rows = [r for r in judge.rows_of(os.path.join(folder, "h200.txt")) if r["kernel"] == name and r["which"] == "judge"][::6]
        fn = kernels.KERNELS[name][0]
        said = [(model.facts_of(fn.lowered(judge.TARGET, **r["args"], **r["config"])), r["ms"]) for r in rows]
        assert len(rows) == 17 and model.judge(said, machine)[0] >= least, (name, model.judge(said, machine))
