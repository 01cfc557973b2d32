"""run.py -- every test_* function of the files beside it, without pytest and without torch.

Usage: run.py [FILE or part of a test's name]...   PYTHONPATH names the package's folder.

A test that takes longer than TEST_SECONDS (600) ends the run with the stack of every thread; a thread that a test
leaves behind is a failure, and nobody waits for it.  Temporary files are in a folder of the run, removed at its end."""

import faulthandler
import importlib.util
import os
import shutil
import sys
import tempfile
import threading
import time
import traceback

LIMIT_S = int(os.environ.get("TEST_SECONDS", 600))

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)


def tests(path):
    name = os.path.basename(path)[:-3]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    for key, fn in vars(module).items():
        if key.startswith("test_") and callable(fn):
            yield "%s:%s" % (name, key), fn


def main(wanted):
    passed, failed = 0, 0
    for file in sorted(os.listdir(here)):
        if not (file.startswith("test_") and file.endswith(".py")):
            continue
        try:
            found = list(tests(os.path.join(here, file)))
        except Exception:
            traceback.print_exc()
            failed += 1
            continue
        for name, fn in found:
            if wanted and not any(w in name + ".py" for w in wanted):
                continue
            start = time.time()
            faulthandler.dump_traceback_later(LIMIT_S, exit=True, file=sys.__stdout__)
            try:
                fn()
                passed += 1
            except Exception:
                failed += 1
                print("FAIL", name)
                traceback.print_exc(file=sys.stdout)
            faulthandler.cancel_dump_traceback_later()
            if time.time() - start > 10:
                print("slow: %s took %.1f s" % (name, time.time() - start))
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            failed += 1
            print("FAIL a thread was left behind:", thread.name)
            traceback.print_stack(sys._current_frames().get(thread.ident), file=sys.stdout)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="tl-py-")
try:
    code = main(sys.argv[1:])
finally:
    shutil.rmtree(tempfile.tempdir, ignore_errors=True)
sys.stdout.flush()
if code:
    os._exit(code)  # whatever still runs
