"""What a configuration should take, from its lowered form alone: no GPU, no device compiler.

A block's time is that of what it waits for longest, softened where two are near each other: matrix
units, the second cache, shared memory, operations of threads; to that come starts and ends of tile
operators, which stages and blocks side by side hide.  Blocks take turns in waves; the whole is no
faster than memory.  The figures are in COEFFICIENTS, in clocks and bytes; calibrate() fits them to
times of a library or of bench/tune/measure.py.  The model ranks; measuring decides."""

import math

# Of an H200; other machines take them with their own clocks, units and rates.
COEFFICIENTS = {
    "mma": 0.75,         # of the matrix units' peak that a wide tile reaches
    "narrow": 0.45,      # of that, tiles of few rows or columns
    "cache": 48.0,       # bytes per clock that a multiprocessor gets from the second cache
    "memory": 0.85,      # of the memory's bandwidth
    "shared": 110.0,     # bytes per clock of shared memory
    "lane": 0.55,        # operations per clock and lane
    "step": 350.0,       # clocks that a tile operator takes to start and end
    "latency": 900.0,    # clocks of a load from memory
    "block": 1200.0,     # clocks to start and end a block
    "spill": 3.0,        # times slower where registers do not last
    "flight": 32.0,      # bytes that a thread keeps in flight
    "launch": 4000.0,    # clocks
}
SHARED_RESERVED = 1024   # bytes of shared memory that each block takes beside its own
BLOCKS_MOST, THREADS_MOST = 32, 2048
REGISTERS_OTHER = 40     # of a thread, beside its tiles


def occupancy(launch, machine):
    """(blocks of a launch that a multiprocessor holds, registers that a thread asks for)"""
    threads = max(launch["threads"], 32)
    holders = max(threads - launch.get("extra", 0), 32)  # a producer's threads hold no tiles
    registers = launch["fragments"] / 4 / holders + REGISTERS_OTHER
    held = min(registers, 255)
    shared = machine["shared_block"] + SHARED_RESERVED
    fits = min(shared // (launch["shared"] + SHARED_RESERVED), THREADS_MOST // threads,
               machine["registers"] // max(int(held * threads), 1), BLOCKS_MOST)
    return max(int(fits), 1), registers


def _mma_rate(machine, bits):
    """Products per clock of one multiprocessor."""
    return machine["mma_rate"] * 16 / max(bits, 4) if machine["mma_rate"] else 0


def parts(facts, machine, c=None):
    """Clocks of one block by what limits it, waves, and the least that memory takes."""
    c = {**COEFFICIENTS, **(c or {})}
    launch = max(facts["launches"], key=lambda row: row["blocks"] * row["threads"])
    blocks = max(launch["blocks"], 1.0)
    beside, registers = occupancy(launch, machine)
    units, threads = max(machine["units"], 1), launch["threads"]
    active = min(beside, max(1, math.ceil(blocks / units)))
    each = {name: facts[name] / blocks for name in ("flops", "bytes", "on_chip", "operations",
                                                    "steps")}
    rate = _mma_rate(machine, 16)
    area = facts.get("area", 1.0)
    by = {
        "mma": each["flops"] / 2 / (rate * c["mma"] * area) if launch["mma"] and rate else
               each["flops"] / 2 / (128 * c["lane"]),
        "cache": each["bytes"] / c["cache"],
        "shared": each["on_chip"] / c["shared"],
        "lanes": each["operations"] / (min(128, threads) * c["lane"]),
    }
    # What is in flight bounds what arrives: bytes of threads or of stages, by the latency.
    flight = active * (threads * c["flight"] if launch["stages"] <= 1 else
                       launch["stages"] * launch["shared"] / (launch["stages"] + 1))
    by["flight"] = active * each["bytes"] / max(flight, 1) * c["latency"]
    waits = each["steps"] * c["step"] / (1 + 0.5 * (active - 1)) / max(1, launch["stages"] - 1) ** 0.5
    waves = math.ceil(blocks / (units * active))
    return by, waits, waves, active, registers, launch, c


def clocks(facts, machine, coefficients=None):
    by, waits, waves, active, registers, _, c = parts(facts, machine, coefficients)
    # A sum of high powers: the greatest counts, near ones a little.
    power = 4
    busy = sum(v ** power for v in by.values()) ** (1 / power)
    if registers > 255:
        busy *= c["spill"] * registers / 255
    total = waves * (active * busy + waits + c["block"])
    ghz, memory = machine["clock_ghz"] or 1.0, 0.0
    if machine["memory_gbs"] > 0:
        memory = facts.get("least_bytes", 0) / (machine["memory_gbs"] * c["memory"]) * ghz
    return max(total, memory) + 0.1 * min(total, memory) + c["launch"]


def milliseconds(facts, machine, coefficients=None):
    return clocks(facts, machine, coefficients) / (machine["clock_ghz"] or 1.0) / 1e6


def facts_of(kernel):
    """What the model asks of a kernel, built or not; None where its sizes are not all fixed."""
    if any(None in p.shape or any(isinstance(n, str) for n in p.shape)
           for p in kernel.params if p.shape):
        return None
    facts = kernel._core.facts()
    facts["least_bytes"] = sum(_bytes(p) for p in kernel.params if not p.is_scalar())
    return facts


def _bytes(p):
    return math.prod(p.shape) * p.dtype.bits / 8


def machine_of(target):
    """Of a target's text: clocks, units and sizes."""
    from .. import _core, _target

    return _core.target(_target.told(target))


# ---- calibrating ----------------------------------------------------------------------------------


def ranks(values):
    """1 for the least; equal ones share theirs."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    out, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            out[order[k]] = (i + j) / 2 + 1
        i = j + 1
    return out


def spearman(a, b):
    """The correlation of ranks."""
    if len(a) < 2:
        return 1.0
    x, y = ranks(a), ranks(b)
    mx, my = sum(x) / len(x), sum(y) / len(y)
    top = sum((p - mx) * (q - my) for p, q in zip(x, y))
    low = math.sqrt(sum((p - mx) ** 2 for p in x) * sum((q - my) ** 2 for q in y))
    return top / low if low else 0.0


def judge(rows, machine, coefficients=None, first=8):
    """rows: [(facts, ms)] of one kernel and shape -> (Spearman, best of the model's first over best
    of all)."""
    said = [clocks(f, machine, coefficients) for f, _ in rows]
    times = [ms for _, ms in rows]
    order = sorted(range(len(rows)), key=lambda i: said[i])[:first]
    return spearman(said, times), min(times[i] for i in order) / min(times)


def _loss(groups, machine, coefficients):
    """How bad the ranking is, all groups alike, bad ones more."""
    total = 0.0
    for rows in groups:
        rho, lost = judge(rows, machine, coefficients)
        total += (1 - rho) ** 2 + min(lost - 1, 1) * 0.5
    return total / max(len(groups), 1)


def calibrate(groups, machine, start=None, rounds=6):
    """Coefficients that rank the groups, lists of (facts, ms), best: one at a time, by factors that
    get smaller.  (coefficients, loss)"""
    c = dict(COEFFICIENTS, **(start or {}))
    best = _loss(groups, machine, c)
    for turn in range(rounds):
        factor = 2.0 ** (1.0 / (1 + turn // 2))
        for name in c:
            for by in (factor, 1 / factor):
                tried = dict(c, **{name: c[name] * by})
                loss = _loss(groups, machine, tried)
                if loss < best - 1e-9:
                    c, best = tried, loss
    return c, best
