# What kernels seldom use, but the code around them does.
class Config(Base, metaclass=Meta, **options):
    """Doc."""
    size: int = 3

    @property
    def area(self) -> "int": return self.size ** 2

    async def wait(self):
        async for x in stream:
            yield x
        async with lock as held, other:
            await x

def outer(a, b=2, /, c=3, *args: int, d, e=5, **kw):
    n = 0
    def inner():
        nonlocal n
        global counter
        n += 1
        return lambda *a, k=1: (a, k)
    return inner

try:
    import fast
except (ImportError, OSError) as why:
    raise RuntimeError("no") from why
except:
    pass
else:
    del fast, table[0], (a.b, c)
finally:
    assert x, f"{x}"

while (n := next(it, None)) is not None:
    if not n: continue
    elif n == 1: break
    else: x, *rest = y = {**d, "k": [i for i in range(3) if i % 2 if i]}
else:
    x @= y

with (open("a") as a, open("b") as b): pass
print(*xs, sep="", **kw)
m = {k: v for k, v in z.items()}, {i for i in s}, (g for g in h for _ in g)
x[1:2, ::3, :, None] = x[...] = ~-+1 << 2 >> 3 & 4 | 5 ^ 6 // 7 % 8 @ 9
b = b"\x00\xff" rb"\x" + 'a\tb\u00e9' "\"" + r"\n"
match x:
    case [1, *_] | {"k": v} if v: pass
    case _: pass
type Pair[T] = tuple[T, T]
def generic[T: int, *Ts, **P](x: T) -> T: ...
# >>> ast
# (class Config Base (= metaclass Meta) (** options))
#   (expr "Doc.")
#   (: size int 3)
#   (@ property)
#   (def area (self) "int")
#     (return (** (. self size) 2))
#   (async-def wait (self))
#     (async-for x stream)
#       (expr (yield x))
#     (async-with (lock held) (other))
#       (expr (await x))
# (def outer (a b=2 / c=3 *args:int d e=5 **kw))
#   (= n 0)
#   (def inner ())
#     (nonlocal n)
#     (global counter)
#     (+= n 1)
#     (return (lambda (*a k=1) (tuple a k)))
#   (return inner)
# (try)
#   (import fast)
# (except (tuple ImportError OSError) why)
#   (raise (call RuntimeError "no") why)
# (except)
#   (pass)
# (else)
#   (del fast (index table 0) (tuple (. a b) c))
# (finally)
#   (assert x (fstring (format x)))
# (while (compare (:= n (call next it None)) is not None))
#   (if (not n))
#     (continue)
#   (else)
#     (if (compare n == 1))
#       (break)
#     (else)
#       (= (tuple x (* rest)) y (dict (** d) ("k" (list-of i (for i (call range 3) (% i 2) i)))))
# (else)
#   (@= x y)
# (with ((call open "a") a) ((call open "b") b))
#   (pass)
# (expr (call print (* xs) (= sep "") (** kw)))
# (= m (tuple (dict-of k v (for (tuple k v) (call (. z items)))) (set-of i (for i s)) (gen-of g (for g h) (for _ g))))
# (= (index x (tuple (slice 1 2 _) (slice _ _ 3) (slice _ _ _) None)) (index x ...) (| (& (>> (<< (~ (- (+ 1))) 2) 3) 4) (^ 5 (@ (% (// 6 7) 8) 9))))
# (= b (+ (+ b"\x00\xff\\x" "a\x09bé\"") "\\n"))
# (match)
# (type Pair (index tuple (tuple T T)))
# (def generic (x:T) T)
#   (expr ...)
# <<<
