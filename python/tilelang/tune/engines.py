"""Workers of a search on engines that are there: Ray and Dask.

    owner = …                                   tl tune FILE M=4096 --serve 0.0.0.0:7711
    engines.on_ray("FILE", ["M=4096"], "host:7711", workers=8, num_gpus=1)
    engines.on_dask(client, "FILE", ["M=4096"], "host:7711", workers=8)

Each worker is `tl tune FILE … --worker` in a process of its own on the engine's machine, where FILE must be found; it ends when the
owner has nothing left, and what it held when its machine is lost the owner gives to others."""

import subprocess
import sys


def run_worker(file, words, address, token="", options=()):
    """(exit code, what it said); what an engine's task runs."""
    import os

    env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    if token:
        env["TILELANG_TUNE_TOKEN"] = token
    p = subprocess.run([sys.executable, "-m", "tilelang", "tune", file, *words, "--worker", address, *options],
                       env=env, capture_output=True, text=True)
    return p.returncode, p.stdout + p.stderr


def _token():
    import os

    return os.environ.get("TILELANG_TUNE_TOKEN", "")


def on_ray(file, words, address, workers=1, options=(), **resources):
    """Tasks of Ray, each with these resources (num_gpus=1); [(exit code, what it said)] when all have ended."""
    import ray

    task = ray.remote(max_retries=3, **resources)(run_worker)
    return ray.get([task.remote(file, list(words), address, _token(), list(options)) for _ in range(workers)])


def on_dask(client, file, words, address, workers=1, options=(), **resources):
    """Tasks of a dask.distributed client, each with these resources (GPU=1); as on_ray."""
    futures = [client.submit(run_worker, file, list(words), address, _token(), list(options), pure=False,
                             key="tl-tune-%s-%d" % (address, i), resources=resources or None) for i in range(workers)]
    return client.gather(futures)
