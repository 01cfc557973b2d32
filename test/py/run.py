"""run.py -- every test_* function of the files beside it, without pytest and without torch.

Usage: run.py [FILE or part of a test's name]...   PYTHONPATH names the package's folder."""

import importlib.util
import os
import sys
import time
import traceback

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
            try:
                fn()
                passed += 1
            except Exception:
                failed += 1
                print("FAIL", name)
                traceback.print_exc(file=sys.stdout)
            if time.time() - start > 10:
                print("slow: %s took %.1f s" % (name, time.time() - start))
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


sys.exit(main(sys.argv[1:]))
