"""Searches by workers on loopback: killed at random, of another version, without the word; and started by Dask, Ray, MPI
and Slurm, which `make test-full` installs (TEST_ENGINES=1): a test that starts daemons is not of what happens to be there."""

import contextlib
import importlib.util
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

from tilelang.tune import Library, cli, engines, work

ENGINES = os.environ.get("TEST_ENGINES")

FILE = '''
import tilelang
import tilelang.language as T
from tilelang.tune import Space

space = Space(block=[16, 32, 64, 128], unroll=[1, 2])


@tilelang.jit(out_idx=[-1], target="cpu")
def add(N, block=64, unroll=1):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=64) as bx:
            for i in T.Parallel(block):
                if bx * block + i < N:
                    B[bx * block + i] = A[bx * block + i] + %s

    return main
'''


@contextlib.contextmanager
def owner(limit=60):
    """(folder, owner, HOST:PORT, thread that runs it)"""
    with tempfile.TemporaryDirectory(prefix="work") as folder:
        file = os.path.join(folder, "add.py")
        with open(file, "w") as f:
            f.write(FILE % "1.0")
        impl, space = cli._load(file)
        with Library(os.path.join(folder, "tune.db")) as library:
            search = work.Owner(impl, {"N": 256}, space, library, "cpu", limit=limit)
            address = "%s:%d" % search.listen("127.0.0.1", 0)
            thread = threading.Thread(target=search.run, daemon=True)
            thread.start()
            try:
                yield folder, search, address, thread
            except BaseException:
                search.stopped = "the test failed"  # or it would wait for workers that never come
                raise
            finally:
                thread.join()


def start(folder, address, size="N=256", **env):
    words = [sys.executable, "-m", "tilelang", "tune", os.path.join(folder, "add.py"), size, "--target", "cpu",
             "--worker", address]
    return subprocess.Popen(words, env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p), **env),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def rows_are_whole(search):
    """One row a point in the first round, and none of a round twice."""
    trials = search.library.trials(search.problem)
    seen = {}
    for t in trials:
        seen.setdefault(work.canonical(t["config"]), []).append(len(t["samples"]))
    assert sorted(seen) == sorted(p.key for p in search.points)
    for runs in seen.values():
        assert len(set(runs)) == len(runs), runs
    assert search.best is not None and not search.leases.lent and not search.leases.todo


def test_workers_killed_at_random():
    draw = random.Random(5)
    with owner() as (folder, search, address, thread):
        workers, killed = [start(folder, address) for _ in range(2)], 0
        while thread.is_alive():
            thread.join(0.3)
            # When one is at work; the last one is let live.
            if killed < 4 and search.leases.lent and draw.random() < 0.5:
                victim = draw.randrange(len(workers))
                os.killpg(workers[victim].pid, signal.SIGKILL)
                workers[victim].wait()
                workers[victim] = start(folder, address)
                killed += 1
            workers = [w if w.poll() is None or not thread.is_alive() else start(folder, address) for w in workers]
        for w in workers:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(w.pid, signal.SIGKILL)
            w.communicate()
        rows_are_whole(search)


def test_a_point_that_costs_workers_is_a_row():
    leases = work.Leases(60)
    points = [type("P", (), {"key": str(i)})() for i in range(2)]
    leases.begin(points, 3)
    for _ in range(work.LOSSES):
        number, point, _ = leases.take("w")
        while point is not points[0]:
            assert leases.finish(number, "w", lambda p: None)
            number, point, _ = leases.take("w")
        leases.lose("w")
        assert not leases.finish(number, "w", lambda p: None)  # too late: it is another's
    assert list(leases.settled(lambda: False)) == [points[0]]


def test_an_overdue_lease_is_given_to_another():
    leases = work.Leases(0)
    point = type("P", (), {"key": "0"})()
    leases.begin([point], 3)
    first = leases.take("slow")[0]
    time.sleep(0.01)
    second = leases.take("other")[0]
    assert not leases.finish(first, "slow", lambda p: 1 / 0)
    assert leases.finish(second, "other", lambda p: None) and leases.returned == 1


def test_who_may_not_work():
    os.environ.pop("TILELANG_TUNE_TOKEN", None)
    try:
        work.token_for("0.0.0.0")
    except ValueError as why:
        assert "TILELANG_TUNE_TOKEN" in str(why)
    else:
        raise AssertionError("anybody may work")
    with owner() as (folder, search, address, thread):
        with open(os.path.join(folder, "add.py"), "w") as f:
            f.write(FILE % "2.0")  # another version of the kernel
        other = start(folder, address)
        assert "does not take this worker: its text is" in other.communicate()[0]
        with open(os.path.join(folder, "add.py"), "w") as f:
            f.write(FILE % "1.0")
        other = start(folder, address, size="N=512")  # its times are of another shape
        assert 'its args is {"N":512}, the owner\'s is {"N":256}' in other.communicate()[0]
        search.token = "word"
        assert "TILELANG_TUNE_TOKEN is not the owner's" in start(folder, address).communicate()[0]
        fine = start(folder, address, TILELANG_TUNE_TOKEN="word")
        assert fine.communicate()[0].splitlines()[-1].endswith(" trials") and fine.returncode == 0
        thread.join()
        rows_are_whole(search)


def by(run):
    """run(file, words, address, options) gives what two workers ended with."""
    with owner() as (folder, search, address, thread):
        said = run(os.path.join(folder, "add.py"), ["N=256"], address, ["--target", "cpu"])
        assert [code for code, _ in said] == [0] * len(said), said
        assert sum(int(text.splitlines()[-1].split()[0]) for _, text in said) == search.rows
        thread.join()
        rows_are_whole(search)


def test_what_engines_run():
    by(lambda file, words, address, options: [engines.run_worker(file, words, address, options=options)])


def test_dask():
    if not ENGINES or importlib.util.find_spec("distributed") is None:
        return
    from distributed import Client

    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as client:
        by(lambda file, words, address, options: engines.on_dask(client, file, words, address, 2, options))


def test_ray():
    if not ENGINES or importlib.util.find_spec("ray") is None:
        return
    os.environ.update(RAY_AUTH_MODE="disabled")  # it is of this test alone
    import ray

    try:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    except Exception as why:  # containers in which its daemons do not start
        print("test_ray: Ray does not start here: %s" % why)
        return
    by(lambda file, words, address, options: engines.on_ray(file, words, address, 2, options, num_cpus=1))
    ray.shutdown()


def launched(launcher, env=None):
    """Two workers as tasks of a launcher, which prints what both say."""
    with owner() as (folder, search, address, thread):
        words = [*launcher, sys.executable, "-m", "tilelang", "tune", os.path.join(folder, "add.py"), "N=256", "--target", "cpu",
                 "--worker", address]
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p), **(env or {}))
        p = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)
        assert p.returncode == 0, p.stdout + p.stderr
        counts = [int(line.split()[0]) for line in p.stdout.splitlines() if line.endswith(" trials")]
        assert len(counts) == 2 and sum(counts) == search.measured, p.stdout
        thread.join()
        rows_are_whole(search)


def test_mpirun():
    if ENGINES and shutil.which("mpirun"):
        launched(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"])


SLURM = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SlurmctldPort={port}
SlurmdPort={port2}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdSpoolDir={folder}/spool
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
"""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


@contextlib.contextmanager
def slurm():
    """The environment of a cluster of this machine alone."""
    with tempfile.TemporaryDirectory(prefix="slurm") as folder:
        for name in ("spool", "state"):
            os.mkdir(os.path.join(folder, name))
        conf = os.path.join(folder, "slurm.conf")
        port, port2 = free_ports(2)
        with open(conf, "w") as f:
            f.write(SLURM.format(host=socket.gethostname().split(".")[0], folder=folder, port=port, port2=port2))
        env = {"SLURM_CONF": conf}
        daemons = [subprocess.Popen([name, "-D"], env=dict(os.environ, **env), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for name in ("slurmctld", "slurmd")]
        try:
            end = time.time() + 60
            while time.time() < end and "idle" not in subprocess.run(
                    ["sinfo", "-h"], env=dict(os.environ, **env), capture_output=True, text=True).stdout:
                time.sleep(0.5)
            yield env
        finally:
            for daemon in reversed(daemons):
                daemon.terminate()
                daemon.wait()


def test_slurm():
    if not ENGINES or os.geteuid() != 0 or not all(shutil.which(n) for n in ("slurmctld", "slurmd", "srun", "munged")):
        return
    if not os.path.exists("/run/munge/munge.socket.2"):
        os.makedirs("/run/munge", exist_ok=True)
        shutil.chown("/run/munge", "munge")
        subprocess.run(["su", "-s", "/bin/sh", "munge", "-c", "munged"], check=True)
    with slurm() as env:
        launched(["srun", "-n", "2"], env)
