"""CuTe's algebra of layouts against what its operations mean, element by element."""

import itertools

import tilelang.language as T
from tilelang.layout import SwizzleMode, cute, make_full_bank_swizzled_layout
from check import raises

LAYOUTS = [
    cute.make_layout((4, 8)), cute.make_layout((4, 8), stride=(8, 1)), cute.make_layout(6, stride=2),
    cute.make_layout((2, (3, 2)), stride=(3, (1, 6))), cute.make_layout((4, 2, 2), stride=(2, 1, 8)),
    cute.make_layout((8, 8), stride=(8, 1)), cute.make_layout((3, 5), stride=(5, 1)),
]


def values(layout):
    return [layout(i) for i in range(cute.size(layout))]


def test_simple_things():
    a = cute.make_layout((4, (2, 3)))
    assert a.shape == (4, (2, 3)) and a.stride == (1, (4, 8)) and cute.rank(a) == 2
    assert a((1, (1, 2))) == 21 and a(3) == 3 and cute.size(a) == cute.cosize(a) == 24
    assert cute.make_row_major_layout((4, 8)) == cute.make_layout((4, 8), stride=(8, 1))
    assert cute.make_identity_layout((2, 3))(5) == (1, 2)
    assert cute.to_python(cute.from_python([2, 3]) + cute.from_python([10])) == (12, 3)
    assert cute.congruent((1, (2, 3)), (4, (5, 6))) and not cute.congruent((1, 2), (1, (2,)))
    assert cute.compatible(24, (4, (2, 3))) and cute.flatten_to_tuple((1, (2, (3,)))) == (1, 2, 3)
    with raises(ValueError):
        cute.make_layout((2, 3), stride=(1, (2, 3)))
    with raises(TypeError):
        cute.make_layout("4")


def test_coalesce_keeps_the_function():
    for a in LAYOUTS:
        assert values(cute.coalesce(a)) == values(a)
        assert values(cute.flatten(a)) == values(a)
    assert cute.coalesce(cute.make_layout((2, (4, 8)))) == cute.make_layout(64)


def test_composition():
    tried = 0
    for a, b in itertools.product(LAYOUTS, repeat=2):
        if cute.cosize(b) > cute.size(a):
            continue
        try:
            c = cute.composition(a, b)
        except ValueError:
            continue
        tried += 1
        assert values(c) == [a(x) for x in values(b)] and cute.compatible(b.shape, c.shape)
    assert tried > 10


def test_complement_and_inverses():
    for a in LAYOUTS:
        n = 2 * cute.cosize(a)
        rest = cute.complement(a, n)
        both = values(cute.make_layout([a, rest]))
        assert len(set(both)) == len(both) and cute.size(rest) * cute.size(a) >= n
        r = cute.right_inverse(a)
        assert [a(r(i)) for i in range(cute.size(r))] == list(range(cute.size(r)))
        left = cute.left_inverse(a)
        assert [left(x) for x in values(a)] == list(range(cute.size(a)))


def test_divide_and_products():
    a, tile = cute.make_layout((8, 8), stride=(8, 1)), cute.make_layout(4, stride=2)
    cut = cute.logical_divide(a, tile)
    assert values(cut[0]) == [a(x) for x in values(tile)] and sorted(values(cut)) == sorted(values(a))
    block, grid = cute.make_layout((2, 5), stride=(5, 1)), cute.make_layout((3, 4))
    for f in (cute.logical_product, cute.tiled_product, cute.blocked_product):
        made = f(block, grid)
        assert sorted(values(made)) == list(range(120))
    blocked = cute.blocked_product(block, grid)
    assert blocked.shape == ((2, 3), (5, 4))
    assert cute.restrict(cute.make_layout((4, 8)), [(1, 2), (3, 4)]) == (
        13, cute.make_layout((2, 4), stride=(1, 4)))


def test_layouts_of_tiles():
    turned = T.Layout((4, 8), lambda i, j: j * 4 + i)
    assert cute.Layout.from_tilelang(turned) == cute.make_layout((4, 8))
    assert cute.Layout.from_tilelang(T.Layout((4, 4), lambda i, j: i * 4 + (i ^ j))) is None
    back = cute.make_layout((4, 8)).to_tilelang()
    assert back.is_equal(turned)
    swizzled = cute.ComposedLayout.from_tilelang(make_full_bank_swizzled_layout(8, 64, 16))
    assert swizzled.swizzle == cute.Swizzle(3, 3, 3)
    assert swizzled.recast(16, 8).swizzle.to_swizzle_mode().value == 128
    assert swizzled((1, 0)) == 72


def test_modes():
    modes = list(SwizzleMode)
    assert [m.wgmma_layout_type() for m in modes] == [0, 3, 2, 1]
    assert [m.tcgen05_layout_type() for m in modes] == [0, 6, 4, 2]
    assert [m.smem_alignment() for m in modes] == [128, 256, 512, 1024]
    assert SwizzleMode.from_ordinal(2).is_swizzle_64b() and SwizzleMode.NONE.is_none()
    assert SwizzleMode.SWIZZLE_128B.swizzle_atom_size() == 8
