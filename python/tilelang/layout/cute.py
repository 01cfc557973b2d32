"""CuTe's algebra of layouts, in plain Python and for sizes that are known.

A layout is a function from coordinates to offsets, written shape:stride.  Both are ints or tuples of
such, alike in form; the first mode runs fastest.  Layout((4, (2, 3)), (2, (1, 8))) takes an int, or a
coordinate of the same form as its shape."""

from . import SwizzleMode
from .. import language as _T

_BITS = {0: SwizzleMode.NONE, 1: SwizzleMode.SWIZZLE_32B, 2: SwizzleMode.SWIZZLE_64B,
         3: SwizzleMode.SWIZZLE_128B}


# ---- ints and tuples ------------------------------------------------------------------------------


def from_python(value):
    """Lists as tuples."""
    if isinstance(value, IntTuple):
        return value
    return IntTuple(_plain(value))


def to_python(value):
    return value.value if isinstance(value, IntTuple) else _plain(value)


def _plain(value):
    if isinstance(value, IntTuple):
        return value.value
    if isinstance(value, (list, tuple)):
        return tuple(_plain(v) for v in value)
    if isinstance(value, ScaledBasis):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("shapes and strides are ints and tuples of them, not %r" % (value,))
    return value


class ScaledBasis:
    """value@mode: a stride that counts along one axis of several."""

    def __init__(self, value, mode):
        self.value = value
        self.mode = tuple(mode) if isinstance(mode, (list, tuple)) else (mode,)

    def __mul__(self, other):
        return ScaledBasis(self.value * other, self.mode)

    __rmul__ = __mul__

    def __eq__(self, other):
        return isinstance(other, ScaledBasis) and (self.value, self.mode) == (other.value,
                                                                              other.mode)

    def __hash__(self):
        return hash((self.value, self.mode))

    def __repr__(self):
        return "%s@%s" % (self.value, "@".join(map(str, reversed(self.mode))))


def E(mode):
    """One step along an axis."""
    return ScaledBasis(1, mode)


def _spread(x):
    """A scaled basis as a tuple with zeros before it."""
    if isinstance(x, ScaledBasis):
        v = x.value
        for m in reversed(x.mode):
            v = (0,) * m + (v,)
        return v
    return x


def _sum(a, b):
    a, b = _spread(a), _spread(b)
    if isinstance(a, tuple) or isinstance(b, tuple):
        a, b = (x if isinstance(x, tuple) else () if x == 0 else (x,) for x in (a, b))
        n = max(len(a), len(b))
        a, b = (x + (0,) * (n - len(x)) for x in (a, b))
        return tuple(_sum(x, y) for x, y in zip(a, b))
    return a + b


class IntTuple:
    """An int or nested tuple with CuTe's arithmetic: sums by place, the shorter filled with 0."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return IntTuple(_sum(self.value, _plain(other)))

    __radd__ = __add__

    def __mul__(self, other):
        def times(a, k):
            return tuple(times(x, k) for x in a) if isinstance(a, tuple) else a * k

        other = _plain(other)
        return IntTuple(times(other, self.value) if isinstance(other, tuple)
                        else times(self.value, other))

    __rmul__ = __mul__

    def __eq__(self, other):
        return self.value == to_python(other)

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return repr(self.value)


def product(shape):
    shape = to_python(shape)
    if not isinstance(shape, tuple):
        return shape
    n = 1
    for s in shape:
        n *= product(s)
    return n


def flatten_to_tuple(value):
    value = to_python(value)
    if not isinstance(value, tuple):
        return (value,)
    return tuple(x for v in value for x in flatten_to_tuple(v))


def congruent(a, b):
    """Whether they are tuples of tuples in the same places."""
    a, b = to_python(a), to_python(b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(congruent, a, b))
    return not isinstance(a, tuple) and not isinstance(b, tuple)


def compatible(a, b):
    """Whether every coordinate of a is one of b: modes of a may be split in b."""
    a, b = to_python(a), to_python(b)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(compatible, a, b))
    return a == product(b)


# ---- layouts --------------------------------------------------------------------------------------


def _offset(coord, shape, stride):
    if isinstance(shape, tuple):
        if isinstance(coord, tuple):
            if len(coord) != len(shape):
                raise ValueError("%r is no coordinate of %r" % (coord, shape))
            parts = coord
        else:
            parts = []
            for s in shape[:-1]:
                n = product(s)
                parts.append(coord % n)
                coord = coord // n
            parts.append(coord)
        total = 0
        for c, s, d in zip(parts, shape, stride):
            total = _sum(total, _offset(c, s, d))
        return total
    return coord * stride


class Layout:
    """shape:stride"""

    def __init__(self, shape, stride=None):
        self.shape = to_python(shape)
        self.stride = _packed(self.shape)[0] if stride is None else to_python(stride)
        if not congruent(self.shape, self.stride):
            raise ValueError("the stride %r is not of the form of the shape %r"
                             % (self.stride, self.shape))

    def __call__(self, coord):
        return _offset(to_python(coord) if isinstance(coord, (list, tuple, IntTuple)) else coord,
                       self.shape, self.stride)

    def __getitem__(self, i):
        if not isinstance(self.shape, tuple):
            if i in (0, -1):
                return self
            raise IndexError(i)
        return Layout(self.shape[i], self.stride[i])

    def with_shape(self, shape):
        """The same offsets under another shape of the same size."""
        return composition(self, make_layout(shape))

    def __eq__(self, other):
        return isinstance(other, Layout) and (self.shape, self.stride) == (other.shape,
                                                                           other.stride)

    def __hash__(self):
        return hash((self.shape, self.stride))

    def __repr__(self):
        return "%s:%s" % (self.shape, self.stride)

    @staticmethod
    def from_tilelang(layout):
        """The strides of a T.Layout, or None where it has none."""
        shape = [int(n) for n in layout.get_input_shape()]
        start = [0] * len(shape)
        if int(layout.get_linearized_forward_index(start)) != 0:
            return None
        stride = []
        for d, n in enumerate(shape):
            one = list(start)
            one[d] = 1 if n > 1 else 0
            stride.append(int(layout.get_linearized_forward_index(one)))
        made = Layout(tuple(shape), tuple(stride))
        for i in range(size(made)):
            at, rest = [], i
            for n in shape:
                at.append(rest % n)
                rest //= n
            if int(layout.get_linearized_forward_index(at)) != made(tuple(at)):
                return None
        return made

    def to_tilelang(self):
        """A T.Layout over the modes, which are taken as its indices."""
        shape = self.shape if isinstance(self.shape, tuple) else (self.shape,)
        stride = self.stride if isinstance(self.stride, tuple) else (self.stride,)

        def forward(*index):
            total = 0
            for i, s, d in zip(index, shape, stride):
                total = total + _offset(i, s, d)
            return total

        return _T.Layout([product(s) for s in shape], forward)


def _packed(shape, start=1):
    """Strides that fill memory, the first mode fastest, and where the next would begin."""
    if isinstance(shape, tuple):
        strides = []
        for s in shape:
            d, start = _packed(s, start)
            strides.append(d)
        return tuple(strides), start
    return start, start * shape


def make_layout(shape, stride=None):
    """Of a shape, and strides that fill memory unless given; or of layouts, one for each mode."""
    if isinstance(shape, (list, tuple)) and shape and all(isinstance(x, Layout) for x in shape):
        return Layout(tuple(x.shape for x in shape), tuple(x.stride for x in shape))
    return Layout(shape, stride)


def make_column_major_layout(shape):
    return Layout(shape)


def make_row_major_layout(shape):
    """The last mode runs fastest."""
    shape = to_python(shape)

    def packed(s, start):
        if isinstance(s, tuple):
            strides = []
            for x in reversed(s):
                d, start = packed(x, start)
                strides.append(d)
            return tuple(reversed(strides)), start
        return start, start * s

    return Layout(shape, packed(shape, 1)[0])


def make_identity_layout(shape):
    """Gives coordinates themselves."""
    def basis(s, mode):
        if isinstance(s, tuple):
            return tuple(basis(x, mode + (i,)) for i, x in enumerate(s))
        return ScaledBasis(1, mode)

    shape = to_python(shape)
    return Layout(shape, basis(shape, ()) if isinstance(shape, tuple) else 1)


def rank(layout):
    return len(layout.shape) if isinstance(layout.shape, tuple) else 1


def size(layout):
    return product(getattr(layout, "layout", layout).shape)


def _modes(layout):
    return list(zip(flatten_to_tuple(layout.shape), flatten_to_tuple(layout.stride)))


def _of_modes(modes):
    if not modes:
        return Layout(1, 0)
    if len(modes) == 1:
        return Layout(*modes[0])
    return Layout(tuple(s for s, _ in modes), tuple(d for _, d in modes))


def flatten(layout):
    return Layout(flatten_to_tuple(layout.shape), flatten_to_tuple(layout.stride)) \
        if isinstance(layout.shape, tuple) else layout


def coshape(layout):
    """One more than the largest offset, by axis."""
    top = _offset(size(layout) - 1, layout.shape, layout.stride)

    def more(x):
        return tuple(map(more, x)) if isinstance(x, tuple) else x + 1

    return more(top)


def cosize(layout):
    return product(coshape(layout)) if size(layout) else 0


def coalesce(layout, max_extent=None):
    """The same function with as few modes as there can be."""
    modes = []
    for s, d in _modes(layout):
        if s == 1:
            continue
        if modes and modes[-1][0] * modes[-1][1] == d and (
                max_extent is None or modes[-1][0] * s <= max_extent):
            modes[-1] = (modes[-1][0] * s, modes[-1][1])
        else:
            modes.append((s, d))
    return _of_modes(modes)


def filter(layout):  # noqa: A001
    """Without modes that repeat an offset."""
    return coalesce(_of_modes([(s, d) for s, d in _modes(layout) if s != 1 and d != 0]))


def _compose_mode(modes, shape, stride):
    """One mode of the right side through the modes of the left one."""
    if stride == 0 or shape == 1:
        return Layout(shape, 0)
    made, rest_shape, rest_stride = [], shape, stride
    for s, d in modes[:-1]:
        if s % rest_stride and rest_stride % s:
            raise ValueError("stride %d does not divide the extent %d, nor it the stride"
                             % (rest_stride, s))
        n = min(max(1, s // rest_stride), rest_shape)
        if rest_shape % n:
            raise ValueError("the extent %d is not divided by %d" % (rest_shape, n))
        if n != 1:
            made.append((n, rest_stride * d))
        rest_shape //= n
        rest_stride = -(-rest_stride // s)
    if rest_shape != 1 or not made:
        made.append((rest_shape, rest_stride * modes[-1][1]))
    return _of_modes(made)


def composition(lhs, rhs):
    """lhs after rhs, in the form of rhs."""
    if isinstance(rhs, (list, tuple)):
        rhs = make_layout([r if isinstance(r, Layout) else make_layout(r) for r in rhs])
    if isinstance(lhs, ComposedLayout):
        return ComposedLayout(lhs.swizzle, lhs.offset, composition(lhs.layout, rhs))
    modes = _modes(coalesce(lhs)) or [(1, 0)]

    def through(shape, stride):
        if isinstance(shape, tuple):
            return make_layout([through(s, d) for s, d in zip(shape, stride)])
        return _compose_mode(modes, shape, stride)

    return through(rhs.shape, rhs.stride)


def complement(layout, cotarget):
    """What fills the offsets up to cotarget that the layout leaves out."""
    made, current = [], 1
    for s, d in sorted(_modes(filter(layout)), key=lambda m: (m[1], m[0])):
        if s == 1 or d == 0:
            continue
        if d % current:
            raise ValueError("%r overlaps itself and has no complement" % layout)
        made.append((d // current, current))
        current = s * d
    made.append((-(-cotarget // current), current))
    return coalesce(_of_modes(made))


def right_inverse(layout):
    """The largest R with layout(R(i)) == i."""
    modes, places, before = _modes(coalesce(layout)), [], 1
    for s, d in modes:
        places.append((d, s, before))
        before *= s
    made, current = [], 1
    for d, s, at in sorted(places):
        if d == current:
            made.append((s, at))
            current *= s
    return coalesce(_of_modes(made))


def left_inverse(layout):
    """The L with L(layout(i)) == i."""
    return right_inverse(make_layout([layout, complement(layout, cosize(layout))]))


def logical_divide(layout, tiler):
    """(the tile, which tile)"""
    return composition(layout, make_layout([tiler, complement(tiler, size(layout))]))


def logical_product(block, tiler):
    """(the block, where its copies are): one for each element of tiler."""
    rest = complement(block, size(block) * cosize(tiler))
    return make_layout([block, composition(rest, tiler)])


def tiled_product(block, tiler):
    """The block, and a mode for each of the tiler's."""
    made = logical_product(block, tiler)
    return make_layout([made[0]] + [made[1][i] for i in range(rank(made[1]))])


def blocked_product(block, tiler):
    """Mode by mode the block's extent, and inside of the tiler's."""
    n = max(rank(block), rank(tiler))

    def padded(layout):
        modes = [layout[i] for i in range(rank(layout))]
        return make_layout(modes + [Layout(1, 0)] * (n - len(modes)))

    made = logical_product(padded(block), padded(tiler))
    return make_layout([make_layout([made[0][i], made[1][i]]) for i in range(n)])


def restrict(layout, region):
    """(offset of its start, layout of the rest) of ranges (start, extent), one for each mode."""
    starts = tuple(int(getattr(r, "min", None) if hasattr(r, "min") else r[0]) for r in region)
    extents = tuple(int(getattr(r, "extent", None) if hasattr(r, "extent") else r[1])
                    for r in region)
    return layout(starts), make_layout([composition(layout[i], Layout(n))
                                        for i, n in enumerate(extents)])


# ---- swizzles -------------------------------------------------------------------------------------


class Swizzle:
    """x ^ (b_bits of x from m_base + s_shift on, moved down by s_shift)"""

    def __init__(self, b_bits=0, m_base=4, s_shift=3):
        self.b_bits, self.m_base, self.s_shift = b_bits, m_base, s_shift

    def is_swizzled(self):
        return self.b_bits > 0

    def __call__(self, x):
        mask = ((1 << self.b_bits) - 1) << (self.m_base + self.s_shift)
        return x ^ ((x & mask) >> self.s_shift)

    def recast(self, old_bits, new_bits):
        """The same on addresses of elements of another width."""
        def log2(n):
            if n < 1 or n & (n - 1):
                raise ValueError("%d is no power of 2" % n)
            return n.bit_length() - 1

        base = self.m_base + log2(old_bits) - log2(new_bits)
        if base < 0:
            raise ValueError("a swizzle of parts of elements")
        return Swizzle(self.b_bits, base, self.s_shift)

    def to_swizzle_mode(self):
        """Of a swizzle of bytes."""
        if self.b_bits and (self.m_base, self.s_shift) != (4, 3) or self.b_bits not in _BITS:
            raise ValueError("%r is no mode of bulk copies" % self)
        return _BITS[self.b_bits]

    def __eq__(self, other):
        return isinstance(other, Swizzle) and vars(self) == vars(other)

    def __hash__(self):
        return hash((self.b_bits, self.m_base, self.s_shift))

    def __repr__(self):
        return "Sw<%d,%d,%d>" % (self.b_bits, self.m_base, self.s_shift)


class ComposedLayout:
    """A swizzle after an offset after a layout."""

    def __init__(self, swizzle, offset, layout):
        self.swizzle, self.offset, self.layout = swizzle, offset, layout

    def __call__(self, coord):
        return self.swizzle(self.offset + self.layout(coord))

    def recast(self, old_bits, new_bits):
        """Of elements of another width, for layouts whose rows it divides."""
        swizzle = self.swizzle.recast(old_bits, new_bits)
        if old_bits == new_bits:
            return ComposedLayout(swizzle, self.offset, self.layout)
        if old_bits > new_bits:
            k = old_bits // new_bits
            inner = make_layout([Layout(k, 1), _scaled(self.layout, k)])
            return ComposedLayout(swizzle, self.offset * k, coalesce(inner))
        k = new_bits // old_bits
        narrow = composition(self.layout, Layout(size(self.layout) // k, k))
        modes = [(s, d // k) for s, d in _modes(narrow)]
        return ComposedLayout(swizzle, self.offset // k, _of_modes(modes))

    @staticmethod
    def from_tilelang(layout, buffer=None):
        """The swizzle and the strides of a T.Layout, or None where it is no such thing.  buffer: the
        tile it is of, whose shape it must have."""
        if buffer is not None and [int(n) for n in buffer.shape] != [
                int(n) for n in layout.get_input_shape()]:
            raise ValueError("the layout is of another shape than the buffer")
        shape = [int(n) for n in layout.get_input_shape()]
        total = product(tuple(shape))

        def at(i):
            index = []
            for n in reversed(shape):
                index.append(i % n)
                i //= n
            return int(layout.get_linearized_forward_index(index[::-1]))

        found = [at(i) for i in range(total)]
        rows = make_row_major_layout(tuple(shape))
        for b in range(0, 4):
            for m in range(0, 8):
                for s in (3, 2, 4, 1):
                    sw = Swizzle(b, m, s) if b else Swizzle()
                    if all(sw(i) == f for i, f in enumerate(found)):
                        return ComposedLayout(sw, 0, rows)
                    if not b:
                        break
                if not b:
                    break
        return None

    def __repr__(self):
        return "%r o %r o %r" % (self.swizzle, self.offset, self.layout)


def _scaled(layout, k):
    def times(d):
        return tuple(map(times, d)) if isinstance(d, tuple) else d * k

    return Layout(layout.shape, times(layout.stride))
