# What Python does at compile time: numbers, text, lists, dicts, comprehensions, classes.
import math
import functools
import itertools
from dataclasses import dataclass
from enum import Enum
import tilelang
import tilelang.language as T


@dataclass
class Config:
    block: int
    stages: int = 2
    names: tuple = ("a", "b")

    @property
    def total(self):
        return self.block * self.stages

    @staticmethod
    def twice(x):
        return 2 * x


class Base:
    kind = "base"

    def __init__(self, n):
        self.n = n

    def size(self):
        return self.n + 1


class Derived(Base):
    def __init__(self, n, m=1):
        super().__init__(n)
        self.m = m

    def size(self):
        return super().size() * self.m


class Mode(Enum):
    FAST = 1
    SLOW = 2


def fill(values, **options):
    out = list(values)
    for key, value in sorted(options.items()):
        out.append(value)
    out += [len(key) for key in options]
    return out


@tilelang.jit
def factory(cfg=Config(16), dtype="float32"):
    values = []
    values += [7 // 2, -7 // 2, -7 % 3, 7 % -3, 2 ** 10, 1 << 4, 0xFF & 0x0F, 6 ^ 3, ~5, 10 // 4 * 4]
    values += [int(3.9), int("12"), round(2.5), round(3.5), abs(-4), min(3, 1, 2), max([4, 9, 2]), sum(range(5))]
    values += [len("abc"), len({1, 2, 2}), len({"a": 1}), divmod(17, 5)[0], pow(2, 5), int(math.sqrt(81))]
    values += [math.ceil(4.2), math.floor(-4.2), math.gcd(12, 18), math.prod([2, 3, 4]), int(math.log2(1024))]
    values += [cfg.total, Config.twice(4), cfg.block if cfg.stages > 1 else 0, Derived(4, 3).size()]
    values += [x * y for x in range(3) for y in (1, 10) if x != 1]
    values += [a + b for a, b in zip([1, 2], (3, 4))] + [i * v for i, v in enumerate([5, 6], 1)]
    values += [functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]), len(list(itertools.product([1, 2], "ab")))]
    values += list(map(lambda x: x + 1, filter(lambda x: x > 1, [1, 2, 3]))) + sorted([3, 1, 2], reverse=True)
    values += fill([1], b=2, a=3) + [*range(2), *reversed([1, 2, 3])]
    values += [int("abc".startswith("a")), "a-b-c".split("-").index("c"), [1, 2, 3][-1], (1, 2, 3)[::-1][0]]
    d = {"x": 1, **{"y": 2}}
    d["z"] = 3
    values += [d.get("q", 9), d.pop("x"), *d.values(), int("x" in d), Mode.FAST.value, int(Mode.SLOW is Mode.FAST)]
    text = f"{cfg.block:>5}|{3.14159:.2f}|{'q'!r}|{255:#x}|{1000000:,}|{True}|{[1, 'a']}"
    name = "{}_{k}".format("main", k=1).upper().lower()
    assert text == "   16|3.14|'q'|0xff|1,000,000|True|[1, 'a']", text
    assert name == "main_1" and "%d/%s" % (3, "x") == "3/x"
    assert isinstance(3, int) and not isinstance("a", (int, float)) and hasattr(cfg, "block")
    assert dtype == T.float32 and T.float16 == "float16" and T.float16.bits == 16
    first, *rest = values
    (p, q), r = (1, 2), 3
    while len(rest) > 100:
        rest.pop()

    @T.prim_func
    def main(A: T.Tensor((len(values),), dtype)):
        with T.Kernel(1, threads=32) as bx:
            A[0] = first + p + q + r
            A[1] = sum(values)
            A[2] = len(rest)
            A[3] = values[3]

    return main

# >>> ir
# func main:
#     param A: float32[69] global is_param
#     launch main_kernel:
#         grid bx: int32 = 1
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         body:
#             A[0] = 9.0
#             A[1] = 1397.0
#             A[2] = 68.0
#             A[3] = -2.0
# <<<
