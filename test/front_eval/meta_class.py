# Trace-time objects with state in alloc_vars.
import tilelang.language as T


@T.meta_class
class Counter:
    def __init__(self, limit):
        self.limit = limit
        self.now = T.alloc_var("int32", 0)

    @T.inline
    def step(self, A):
        self.now += 1
        A[self.now] = self.limit

    def store(self, A):
        for i in range(2):
            A[i] = self.now

    def valid(self):
        return self.now < self.limit


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        c = Counter(5)
        while c.valid():
            c.step(A)
        c.store(A)

# >>> ir
# func main:
#     param A: int32[64] global is_param
#     launch main_kernel:
#         grid bx: int32 = 1
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         buffer now: int32[] var
#         body:
#             now[] = 0
#             while now[] < 5:
#                 now[] = now[] + 1
#                 A[now[]] = 5
#             for i in serial(0, 2):
#                 A[i] = now[]
# <<<
