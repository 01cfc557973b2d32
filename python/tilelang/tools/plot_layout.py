"""Pictures of layouts and fragments: a cell for each element, coloured by where it is kept."""

import itertools
import math
import os

from .. import _core
from .._recipe import Recipe
from .._target import kind_now
from .canvas import Canvas

_CELL, _EDGE = 34, 30
# Ends of a few of matplotlib's maps of colours; others look like the first.
_MAPS = {
    "RdPu": ((255, 247, 243), (214, 78, 151)),
    "Spectral": ((158, 188, 218), (253, 174, 97)),
    "Blues": ((247, 251, 255), (66, 146, 198)),
    "Greens": ((247, 252, 245), (65, 171, 93)),
    "Greys": ((255, 255, 255), (150, 150, 150)),
    "viridis": ((253, 231, 37), (49, 104, 142)),
}


def _formats(formats):
    if isinstance(formats, (list, tuple)):
        formats = ",".join(formats)
    if not isinstance(formats, str):
        raise TypeError("formats is a string such as 'png', 'svg,pdf' or 'all', not %s"
                        % type(formats).__name__)
    words = [w.strip().lower() for w in formats.split(",") if w.strip()]
    if words == ["all"]:
        words = ["txt", "pdf", "png", "svg"]
    for w in words:
        if w not in ("txt", "pdf", "png", "svg"):
            raise ValueError("layouts are drawn as pdf, png, svg or txt, not %r" % w)
    return words


def _color(i, n, colormap):
    low, high = _MAPS.get(colormap, _MAPS["RdPu"])
    t = i / max(n - 1, 1)
    return tuple(round(a + (b - a) * t) for a, b in zip(low, high))


def _flat(index, shape):
    at = 0
    for i, n in zip(index, shape):
        at = at * n + i
    return at


def _grid(shape, grid_shape=None):
    """Rows and columns of the page: the last dimension, and all others."""
    if grid_shape is not None:
        rows, columns = grid_shape
        if rows * columns != math.prod(shape):
            raise ValueError("a grid of %d by %d has not the %d elements of the layout"
                             % (rows, columns, math.prod(shape)))
        return rows, columns
    columns = shape[-1] if shape else 1
    return math.prod(shape) // max(columns, 1), columns


def _is_fragment(layout):
    try:
        return int(layout.get_thread_size()) > 0
    except Exception:
        return False


def _draw(rows, columns, cells, colormap, title):
    """cells: {(row, column): (lines of text, place of its colour)}"""
    page = Canvas(columns * _CELL + _EDGE + 10, rows * _CELL + _EDGE + 34)
    page.word(page.width / 2, 12, 11, title)
    colors = 1 + max((c for _, c in cells.values()), default=0)
    for j in range(columns):
        page.word(_EDGE + (j + 0.5) * _CELL, 32, 8, j)
    for i in range(rows):
        page.word(_EDGE / 2, 42 + (i + 0.5) * _CELL, 8, i)
    for (i, j), (lines, color) in cells.items():
        x, y = _EDGE + j * _CELL, 42 + i * _CELL
        page.box(x, y, _CELL, _CELL, _color(color, colors, colormap))
        for k, text in enumerate(lines):
            size = min(10, (_CELL - 4) / 0.62 / max(len(text), 1))
            page.word(x + _CELL / 2, y + _CELL * (k + 1) / (len(lines) + 1), size, text)
    return page


def _made_once(work, layout, *rest):
    """work(layout, …), where a layout of outside a kernel is not made again for each question."""
    if not isinstance(layout, Recipe) or _core.tracing():
        return work(layout, *rest)
    kept = []

    def ask(made):
        kept.append(work(made, *rest))
        return 0

    _core.evaluate(Recipe("call", ask, (layout,), {}), kind_now())
    return kept[0]


def _holders(fragment, at):
    """The threads that have an element, and the slot they have it in."""
    index, rep = list(at), int(fragment.replicate_size)
    if rep > 1:
        threads = sorted({int(fragment.map_forward_thread([r] + index)) for r in range(rep)})
    else:
        threads = [int(fragment.map_forward_thread(index))]
    local = [int(n) for n in fragment.map_forward_index(index)]
    return threads, _flat(local, [int(n) for n in fragment.get_output_shape()])


def _numbers(threads):
    if len(threads) > 2 and threads[-1] - threads[0] == len(threads) - 1:
        return "%d-%d" % (threads[0], threads[-1])
    return ",".join(map(str, threads[:2])) + (".." if len(threads) > 2 else "")


def _fragment_cells(layout, shape, columns):
    cells, rows = {}, []
    for at in itertools.product(*map(range, shape)):
        threads, slot = _holders(layout, at)
        words = _numbers(threads)
        cells[divmod(_flat(at, shape), columns)] = (["T" + words, "L%d" % slot], threads[0])
        rows.append("%s -> thread %s, slot %d" % (at, ",".join(map(str, threads)), slot))
    return cells, rows


def _layout_cells(layout, shape, columns, view):
    cells, rows = {}, []
    out = [int(n) for n in layout.get_output_shape()]
    wide = out[-1] if out else 1
    for at in itertools.product(*map(range, shape)):
        to = [int(n) for n in layout.map_forward_index(list(at))]
        here, there = _flat(at, shape), _flat(to, out)
        rows.append("%s -> %s" % (at, tuple(to)))
        if view == "output":
            cells[divmod(there, wide)] = ([str(here)], here)
        else:
            cells[divmod(here, columns)] = ([str(there)], there)
    return cells, rows, (math.prod(out) // max(wide, 1), wide)


def _write(page, text, folder, name, kinds, verbose):
    os.makedirs(folder, exist_ok=True)
    for kind in kinds:
        path = os.path.join(folder, "%s.%s" % (name, kind))
        if kind == "txt":
            with open(path, "w") as f:
                f.write("\n".join(text) + "\n")
        else:
            page.save(path)
        if verbose:
            print("wrote", path)


def plot_layout(layout, save_directory="./tmp", name="layout", colormap=None, verbose=False,
                formats="pdf", view="input", grid_shape=None):
    """Draw a Layout or Fragment into SAVE_DIRECTORY/NAME.pdf (or .png, .svg, .txt; "all").

    view="input": cells are elements, with the place each is stored at; "output": cells are places,
    with the element that is there.  Cells of a fragment have its thread (T) and slot (L)."""
    shape = getattr(layout, "get_input_shape", None)
    if shape is None or not callable(shape):
        raise TypeError("plot_layout draws a T.Layout or T.Fragment, not %s"
                        % type(layout).__name__)
    kinds = _formats(formats)
    word = {"in": "input", "src": "input", "out": "output", "dst": "output"}.get(view, view)
    if word not in ("input", "output"):
        raise ValueError("view is 'input' or 'output', not %r" % (view,))
    shape = [int(n) for n in shape()]
    rows, columns = _grid(shape, grid_shape)
    if _is_fragment(layout):
        cells, text = _made_once(_fragment_cells, layout, shape, columns)
    else:
        cells, text, out = _made_once(_layout_cells, layout, shape, columns, word)
        rows, columns = out if word == "output" else (rows, columns)
    title = "%s  [%s]" % (name, ", ".join(map(str, shape)))
    page = _draw(rows, columns, cells, colormap, title)
    _write(page, text, save_directory, name, kinds, verbose)


def _slot_cells(fragment, shape):
    cells = {}
    for at in itertools.product(*map(range, shape)):
        threads, slot = _holders(fragment, at)
        for t in threads:
            cells[t, slot] = ([",".join(map(str, at))], _flat(at, shape))
    return cells


def plot_fragment_tv(fragment, save_directory="./tmp", name="fragment_tv", colormap=None,
                     verbose=False, formats="pdf"):
    """Threads as rows, slots as columns, and in the cells the elements that are there."""
    shape = [int(n) for n in fragment.get_input_shape()]
    slots = math.prod(int(n) for n in fragment.get_output_shape())
    cells = _made_once(_slot_cells, fragment, shape)
    text = ["thread %d, slot %d: %s" % (*where, c[0][0]) for where, c in sorted(cells.items())]
    page = _draw(int(fragment.get_thread_size()), slots, cells, colormap, name)
    _write(page, text, save_directory, name, _formats(formats), verbose)
