"""The model of machines without warps that are known: from the tile form alone, fitted to nothing.

A block's time is that of what it waits for longest, softened where two are near each other; blocks
take turns in waves; the whole is no faster than memory."""

import math

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
