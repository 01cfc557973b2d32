"""schedule.py -- run the parts that all.sh lists, two at a time, and add up what they say.

Usage: schedule.py QUEUE [--done DIR] [--only GROUP] [--limit SECONDS]

QUEUE is "kind, name, words of a command, nothing" for each part, every field ended by a NUL:

    wide    keeps both cores busy by itself: it runs alone
    part    takes one core: two of them run side by side; so that no core is idle, one goes ahead of wide ones
    alone   runs alone, and nothing that follows goes ahead of it
    group   what follows belongs to the group of this name

A part prints "N passed, M failed" last; one that prints no count is one test.  Its output is kept
whole and shown if something failed.  With --done each green part is noted in DIR and not run again,
so a run that was stopped goes on where it was; groups are summed up at the end.  With --limit a part
that takes longer is ended and has failed.

TMPDIR of a part is a folder of its own; what it leaves there is told, and removed."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CORES = 2
TELL_S = 60  # how often a part that takes long says how far it is
COUNT = re.compile(r"^(?:[a-z]+: )?(\d+) passed, (\d+) failed$", re.M)


class Part:
    def __init__(self, kind, name, group, words):
        self.kind, self.name, self.group, self.words = kind, name, group, words
        self.result = None  # passed, failed, seconds, seconds of CPU

    def start(self):
        self.log = tempfile.TemporaryFile("w+", errors="replace")
        self.began = self.told = time.time()
        self.folder = tempfile.mkdtemp(prefix="tl-part-")
        os.chmod(self.folder, 0o1777)  # as /tmp is: some tests are other users
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
                                        start_new_session=True, env=dict(os.environ, TMPDIR=self.folder))

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def has_ended(self, limit):
        late = limit and time.time() - self.began > limit
        if late:
            print("  %s: ended at its limit of %d s" % (self.name, limit), flush=True)
            self.stop()
        pid, status, usage = os.wait4(self.process.pid, 0 if late else os.WNOHANG)
        if pid == 0:
            if time.time() - self.told > TELL_S:
                self.told = time.time()
                last = self.text().rstrip().rpartition("\n")[2]
                print("  %s: %d s, %s" % (self.name, self.told - self.began, last[:90]), flush=True)
            return False
        self.process.returncode = os.waitstatus_to_exitcode(status)  # Popen must not wait for it again
        counts = COUNT.findall(self.text())
        bad = self.process.returncode != 0
        passed, failed = map(int, counts[-1]) if counts else (int(not bad), int(bad))
        self.result = (passed, failed or int(bad), time.time() - self.began, usage.ru_utime + usage.ru_stime)
        return True

    def report(self):
        if self.result[1]:
            sys.stdout.write(COUNT.sub("", self.text()))
        print("%s: %d passed, %d failed, %.0f s (%.0f s of CPU)" % ((self.name,) + self.result), flush=True)

    def clean(self):
        """what it left running, and in its folder"""
        self.stop()
        left = sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else []
        if left:
            print("  %s left behind: %s" % (self.name, " ".join(left[:9] + ["…"] * (len(left) > 9))), flush=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def read_queue(path):
    with open(path) as f:
        fields = f.read().split("\0")[:-1]
    parts, group, at = [], "", 0
    while at < len(fields):
        end = fields.index("", at)
        kind, name, words = fields[at], fields[at + 1], fields[at + 2:end]
        at = end + 1
        if kind == "group":
            group = name
        else:
            parts.append(Part(kind, name, group, words))
    return parts


def note_of(folder, part):
    return os.path.join(folder, re.sub(r"[^A-Za-z0-9_.-]+", "-", part.name))


def read_notes(folder, parts):
    for part in parts:
        try:
            with open(note_of(folder, part)) as f:
                fields = f.read().split()
            part.result = (int(fields[0]), 0, float(fields[1]), float(fields[2]))
        except (OSError, IndexError, ValueError):
            continue


def write_note(folder, part):
    if folder and not part.result[1]:
        with open(note_of(folder, part), "w") as f:
            f.write("%d %.1f %.1f\n" % (part.result[0], part.result[2], part.result[3]))


def next_of(waiting, running):
    """which of those that wait may start now, or None"""
    if not running:
        return 0 if waiting else None
    if len(running) == CORES or any(p.kind != "part" for p in running):
        return None
    for i, p in enumerate(waiting):
        if p.kind == "alone" or p.group != waiting[0].group:
            return None
        if p.kind == "part":
            return i
    return None


def run(parts, folder, limit):
    waiting, running = [p for p in parts if not p.result], []
    try:
        while waiting or running:
            while (i := next_of(waiting, running)) is not None:
                running.append(waiting.pop(i))
                running[-1].start()
            for part in [p for p in running if p.has_ended(limit)]:
                running.remove(part)
                part.clean()
                part.report()
                write_note(folder, part)
            time.sleep(0.05)
    finally:
        for part in running:
            part.clean()


def sum_up_groups(parts):
    for group in dict.fromkeys(p.group for p in parts):
        own = [p for p in parts if p.group == group]
        done = [p for p in own if p.result]
        red = sum(p.result[1] for p in done)
        state = "red" if red else "green" if len(done) == len(own) else "%d of %d done" % (len(done), len(own))
        print("part %s: %s, %.0f min (%.0f min of CPU)"
              % (group, state, sum(p.result[2] / (CORES if p.kind == "part" else 1) for p in done) / 60,
                 sum(p.result[3] for p in done) / 60))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("queue")
    p.add_argument("--done", help="a folder of notes about what is green")
    p.add_argument("--only", help="the group to run")
    p.add_argument("--limit", type=float, help="seconds that a part may take")
    o = p.parse_args()
    parts = read_queue(o.queue)
    if o.only and not any(part.group.split()[0] == o.only for part in parts):
        sys.exit("no part %s; there are:\n%s" % (o.only, "\n".join(dict.fromkeys(part.group for part in parts))))
    if o.done:
        os.makedirs(o.done, exist_ok=True)
        read_notes(o.done, parts)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        run([part for part in parts if not o.only or part.group.split()[0] == o.only], o.done, o.limit)
    except KeyboardInterrupt:
        sys.exit(130)
    if o.done:
        sum_up_groups(parts)
    done = [part.result for part in parts if part.result]
    failed = sum(r[1] for r in done)
    print("%d passed, %d failed" % (sum(r[0] for r in done), failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
