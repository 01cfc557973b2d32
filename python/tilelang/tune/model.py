"""What a configuration should take, from its lowered form alone: no GPU, no device compiler.

kernel_work_of (src/api/work.c) walks what one block does, by the unit that does it.  Units work side
by side: a multiprocessor's blocks together are no faster than the unit that has most to do, one
block alone no faster than the waits of its threads one after the other; both go together as a sum
of high powers.  So do these and memory.  The figures are in COEFFICIENTS, in clocks and bytes;
calibrate() fits them to times of a library or of bench/tune/measure.py.  The model ranks; measuring
decides."""

import math

from . import rough

# Of an H200; other machines take them with their own clocks, units and rates.
COEFFICIENTS = {
    "mma": 1.15,         # of the matrix units' peak at the base clock, for MMAs of warp groups
    "warp_mma": 0.6,     # and of single warps
    "cache": 3.22,       # times the memory's bandwidth that the second cache gives
    "shared": 107.0,     # bytes per clock of shared memory
    "sectors": 4.0,      # of memory that a multiprocessor's own cache answers in a clock
    "issue": 5.2,        # instructions of warps in a clock
    "special": 1.6,      # clocks of a warp's exp2, quotient, …
    "spill": 13.7,       # bytes per clock to and from registers that do not last
    "gap": 2.2,          # clocks from one instruction of a warp to its next
    "flight": 780.0,     # clocks of a load from memory
    "reads": 39.0,       # of one from shared memory
    "hops": 20.0,        # of an exchange between lanes
    "barrier": 46.0,
    "latency": 820.0,    # of a copy in flight, from a free stage to a full one
    "settled": 50.0,     # to wait for MMAs
    "block": 700.0,      # to start and end a block
    "launch": 4000.0,
    "memory": 0.85,      # of the memory's bandwidth
    "tail": 0.3,         # of a block's time, in which memory is not kept busy at the end
    "apart": 15.6,       # bytes that each piece of memory costs beside its own
    "lasts": 0.75,       # of the second cache: what is read again from more than that comes from memory
    "ahead": 16.0,       # loads of a thread in flight in a loop whose steps overlap
    "hold": 1.06,        # of their bytes, in registers
    "rest": 0.6,         # of a thread's arrays that live long, beside the largest
    "ghost": 0.14,       # of its other arrays
    "other": 24.0,       # registers beside
}
SHARED_RESERVED = 1024   # bytes of shared memory that each block takes beside its own
BLOCKS_MOST, THREADS_MOST, REGISTERS_MOST = 32, 2048, 255
REGISTERS_PRODUCER = 24
WHOLE = 48               # registers too many, from which on an MMA's results are stored and loaded each time
POWER = 4


def _together(*values, power=POWER):
    """A sum of high powers: the greatest counts, near ones a little."""
    return sum(v ** power for v in values) ** (1 / power)


def _registers(launch, machine, c):
    """(registers that a thread asks for, those that it cannot have)"""
    w, threads, extra = launch["work"], launch["threads"], launch["extra"]
    flying = c["hold"] * min(w["step_bytes"], c["ahead"] * 16) / 4
    kept = (w["widest"] + c["rest"] * (w["live"] - w["widest"]) + c["ghost"] * (w["held"] - w["live"])) / 4 + c["other"]
    room = (machine["registers"] - REGISTERS_PRODUCER * extra) // max(threads - extra, machine["lanes"])
    most = min(REGISTERS_MOST, room)
    return kept + flying, max(kept - most, 0), most


def occupancy(launch, machine, coefficients=None):
    """(blocks of a launch that a multiprocessor holds, registers that a thread asks for).  How many
    registers a thread gets is a guess, so that blocks are no whole number where they decide; waves
    of MMAs are few, and counted."""
    c = {**COEFFICIENTS, **(coefficients or {})}
    threads = max(launch["threads"], machine["lanes"])
    asked, _, most = _registers(launch, machine, c)
    by_registers = machine["registers"] / max(min(asked, most) * threads, 1)
    if launch["work"]["products"]:
        by_registers = math.floor(by_registers)
    fits = min((machine["shared_block"] + SHARED_RESERVED) // (launch["shared"] + SHARED_RESERVED), THREADS_MOST // threads,
               by_registers, BLOCKS_MOST)
    return max(fits, 1), asked


def _units(launch, machine, c):
    """Clocks of one block by the unit that does it."""
    w, holders = launch["work"], max(launch["threads"] - launch["extra"], machine["lanes"])
    _, over, _ = _registers(launch, machine, c)
    if over and w["products"]:
        spilled = 2 * w["widest"] * min(1, over / WHOLE) * holders * max(w["settled"], w["waits"], 1)
    else:
        spilled = 8 * over * holders * max(1, w["rounds"] + w["steps"])
    shared_out = max(machine["clock_ghz"] * machine["units"], 1)  # what a multiprocessor has of the second cache
    cache = c["cache"] * (machine["memory_gbs"] or shared_out) / shared_out
    rate = machine["mma_rate"] * (c["warp_mma"] if w["mmas"] else c["mma"])
    return {
        "mma": w["products"] / (rate or 128),
        "cache": (w["loaded"] + w["bulk"] + 32 * w["stored"]) / cache,
        "shared": (w["wavefronts"] * 128 + w["operands"]) / c["shared"],
        "sectors": w["sectors"] / c["sectors"],
        "spill": spilled / c["spill"],
        "issue": (w["operations"] + w["requests"] + w["special"]) / c["issue"],
        "special": w["special"] * c["special"],
    }


def _waits(launch, machine, c):
    """Clocks that a block's threads wait for what they wait for one after the other."""
    w, holders = launch["work"], max(launch["threads"] - launch["extra"], machine["lanes"])
    rounds = w["rounds"] + min(w["steps"], w["step_loads"] / c["ahead"])
    instructions = w["operations"] + w["requests"] + w["special"]
    return (instructions / (holders / machine["lanes"]) * c["gap"] + rounds * c["flight"] + w["reads"] * c["reads"]
            + w["hops"] * c["hops"] + w["barriers"] * c["barrier"] + w["settled"] * c["settled"] + c["block"])


def _launch(launch, machine, least_bytes, c):
    """(clocks of one launch, clocks by unit, waits, waves, blocks side by side)"""
    w, units = launch["work"], max(machine["units"], 1)
    blocks = max(w["blocks"], 1)
    fits, _ = occupancy(launch, machine, c)
    by, waits = _units(launch, machine, c), _waits(launch, machine, c)
    turns = math.ceil(blocks / units)
    active = min(fits, turns)
    waves = math.ceil(turns / active) if w["products"] else max(1, turns / active)
    busy = _together(*by.values())
    alone = waits + busy
    if w["waits"]:  # a stage is filled again once the step that had it has ended
        alone = _together(alone, (w["waits"] * c["latency"] + busy) / max(launch["stages"] - 1, 1))
    memory = 0
    if machine["memory_gbs"] > 0:
        again = active * units * w["again"]
        missed = w["again"] * blocks * max(0, 1 - c["lasts"] * machine["cache_bytes"] / again) if again else 0
        touched = max((w["loaded"] + 32 * w["stored"]) * blocks, 1)
        taken = (least_bytes + missed) * (1 + c["apart"] * w["pieces"] * blocks / touched)
        memory = taken / (machine["memory_gbs"] * c["memory"]) * machine["clock_ghz"] + c["tail"] * alone
    blocks_take = _together(turns * busy, waves * alone, power=2 * POWER)  # what one waits for another does
    return _together(blocks_take, memory) + c["launch"], by, waits, waves, active


def _main(facts):
    return max(facts["launches"], key=lambda row: row["blocks"] * row["threads"])


def parts(facts, machine, coefficients=None):
    """Of the largest launch: clocks of one block by the unit that does it, of its waits, waves, blocks
    side by side, registers that a thread asks for."""
    if machine["lanes"] <= 1:
        by, waits, waves, active, registers, _, _ = rough.parts(facts, machine)
        return by, waits, waves, active, registers
    launch = _main(facts)
    c = {**COEFFICIENTS, **(coefficients or {})}
    _, by, waits, waves, active = _launch(launch, machine, facts.get("least_bytes", 0), c)
    return by, waits, waves, active, _registers(launch, machine, c)[0]


def clocks(facts, machine, coefficients=None):
    if machine["lanes"] <= 1:
        return rough.clocks(facts, machine)
    c = {**COEFFICIENTS, **(coefficients or {})}
    main = _main(facts)
    return sum(_launch(one, machine, facts.get("least_bytes", 0) if one is main else 0, c)[0] for one in facts["launches"])


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
    """How bad the ranking is, all groups alike, bad ones more; then how far times are off."""
    total = 0.0
    for rows in groups:
        rho, lost = judge(rows, machine, coefficients)
        off = sorted(math.log(milliseconds(f, machine, coefficients) / ms) for f, ms in rows)
        middle = off[len(off) // 2]
        wide = sum(min(abs(x - middle), 2) for x in off) / len(off)
        total += (1 - rho) ** 2 + min(lost - 1, 1) * 0.5 + 0.3 * wide ** 2 + 0.02 * middle ** 2
    return total / max(len(groups), 1)


def calibrate(groups, machine, start=None, rounds=8, near=0.0015):
    """Coefficients that rank the groups, lists of (facts, ms), best: one at a time, by factors that
    get smaller; what a group says little of stays near where it was.  (coefficients, loss)"""
    first = dict(COEFFICIENTS, **(start or {}))

    def loss(c):
        return _loss(groups, machine, c) + near * sum(math.log2(c[n] / first[n]) ** 2 for n in first)

    c, best = dict(first), loss(first)
    for turn in range(rounds):
        factor = 2.0 ** (1.0 / (1 + 0.7 * turn))
        for name in c:
            for by in (factor, 1 / factor):
                tried = dict(c, **{name: c[name] * by})
                found = loss(tried)
                if found < best - 1e-9:
                    c, best = tried, found
    return c, best
