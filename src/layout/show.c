/* show.c -- layouts for people: one line, a table, a picture.
 *
 *     layout[64, 32] (i, j) -> (i // 8, j, i % 8) "row-major"
 *     fragment[64, 32] threads 128 rep 2 (i, j, r) -> thread i // 2 + r * 64, slot (j) "linear"
 *
 * The line is read back by layout_read.  Tables and pictures show the last dimension across and
 * the others, flattened, down; a cell is the storage offset, or thread:slot of a fragment. */
#include "layout/layout.h"

static const char *const axis_name[RANK_MOST] = {"i", "j", "k", "l", "m", "n", "o", "p"};

void layout_print(Str *out, const Layout *l)
{
    bool fragment = layout_is_fragment(l);
    str_puts(out, fragment ? "fragment[" : "layout[");
    for (int d = 0; d < l->rank; d++)
        str_printf(out, "%s%lld", d ? ", " : "", (long long)l->extent[d]);
    str_puts(out, "]");
    if (fragment)
        str_printf(out, " threads %lld", (long long)l->nthread);
    if (fragment && l->rep > 1)
        str_printf(out, " rep %lld", (long long)l->rep);
    str_puts(out, " (");
    for (int d = 0; d < l->rank; d++)
        str_printf(out, "%s%s", d ? ", " : "", axis_name[d]);
    if (l->rep > 1)
        str_puts(out, l->rank ? ", r" : "r");
    str_puts(out, ") -> ");
    if (fragment) {
        str_puts(out, "thread ");
        print_expr(out, l->thread);
        str_puts(out, ", slot ");
    }
    str_puts(out, "(");
    for (int d = 0; d < l->nout; d++) {
        str_puts(out, d ? ", " : "");
        print_expr(out, l->out[d]);
    }
    str_puts(out, ")");
    if (l->name)
        str_printf(out, " \"%s\"", l->name);
}

/* ---- the grid -------------------------------------------------------------------------------- */

enum { TABLE_ROWS = 64, TABLE_COLS = 64, PICTURE_ROWS = 128, PICTURE_COLS = 128 };

typedef struct {
    const Layout *l;
    int64_t rows, cols;       /* of the tile */
    int64_t nrow, ncol;       /* shown */
} Grid;

static Grid grid_of(const Layout *l, int rows_most, int cols_most)
{
    Grid g = {.l = l, .rows = 1, .cols = l->rank ? l->extent[l->rank - 1] : 1};
    for (int d = 0; d + 1 < l->rank; d++)
        g.rows *= l->extent[d];
    g.nrow = MIN(g.rows, rows_most);
    g.ncol = MIN(g.cols, cols_most);
    return g;
}

static void grid_point(const Grid *g, int64_t row, int64_t col, int64_t *at)
{
    if (g->l->rank)
        at[g->l->rank - 1] = col;
    for (int d = g->l->rank - 2; d >= 0; d--) {
        at[d] = row % g->l->extent[d];
        row /= g->l->extent[d];
    }
}

static void cell_text(Str *out, const Layout *l, const int64_t *at)
{
    if (!layout_is_fragment(l)) {
        str_printf(out, "%lld", (long long)layout_eval(l, at));
        return;
    }
    str_printf(out, "%lld", (long long)fragment_eval_thread(l, at, 0));
    if (l->rep > 1)
        str_puts(out, "+");
    str_printf(out, ":%lld", (long long)layout_eval(l, at));
}

void layout_table(Str *out, const Layout *l)
{
    Grid g = grid_of(l, TABLE_ROWS, TABLE_COLS);
    int64_t at[RANK_MOST] = {0};
    size_t width = 3;
    Str cell;
    str_init(&cell, out->arena);
    for (int64_t r = 0; r < g.nrow; r++) {
        for (int64_t c = 0; c < g.ncol; c++) {
            size_t start = cell.n;
            grid_point(&g, r, c, at);
            cell_text(&cell, l, at);
            width = MAX(width, cell.n - start);
        }
    }
    layout_print(out, l);
    str_puts(out, "\n      ");
    for (int64_t c = 0; c < g.ncol; c++)
        str_printf(out, " %*lld", (int)width, (long long)c);
    str_puts(out, g.ncol < g.cols ? " …\n" : "\n");
    for (int64_t r = 0; r < g.nrow; r++) {
        str_printf(out, "%5lld ", (long long)r);
        for (int64_t c = 0; c < g.ncol; c++) {
            str_init(&cell, out->arena);
            grid_point(&g, r, c, at);
            cell_text(&cell, l, at);
            str_printf(out, " %*s", (int)width, cell.s);
        }
        str_puts(out, g.ncol < g.cols ? " …\n" : "\n");
    }
    if (g.nrow < g.rows)
        str_puts(out, "    …\n");
    if (layout_is_fragment(l) && l->rep > 1)
        str_printf(out, "thread:slot of replica 0 of %lld\n", (long long)l->rep);
}

/* ---- the picture ----------------------------------------------------------------------------- */

enum { CELL_W = 46, CELL_H = 26, LEFT = 52, TOP = 74 };
enum { LEGEND_COLS = 16, SWATCH_W = 46, LEGEND_MOST = 128 };

static int ramp(int h) /* one channel of a hue in [0, 1536) */
{
    h = (h % 1536 + 1536) % 1536;
    if (h < 256)
        return h;
    if (h < 768)
        return 255;
    return h < 1024 ? 1023 - h : 0;
}

/* Neighbours in the count are far apart in hue; every eighth step changes lightness. */
static void color_of(int64_t n, char text[8])
{
    int hue = (int)(n * 949 % 1536), base = 140 + (int)(n / 8 % 3) * 22;
    int channel[3] = {ramp(hue + 512), ramp(hue), ramp(hue - 512)};
    for (int i = 0; i < 3; i++)
        channel[i] = base + channel[i] * (255 - base) / 255;
    snprintf(text, 8, "#%02x%02x%02x", (unsigned)channel[0] & 255, (unsigned)channel[1] & 255,
             (unsigned)channel[2] & 255);
}

static void put_escaped(Str *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '<')
            str_puts(out, "&lt;");
        else if (*s == '>')
            str_puts(out, "&gt;");
        else if (*s == '&')
            str_puts(out, "&amp;");
        else
            str_putc(out, *s);
    }
}

/* The coordinate of storage before the last: rows of a plain tile, units of a swizzled one. */
static int64_t storage_group(const Layout *l, int64_t offset)
{
    if (l->nout < 2)
        return offset / 8;
    return offset / l->out_extent[l->nout - 1] % l->out_extent[l->nout - 2];
}

static void put_cell(Str *out, const Grid *g, int64_t row, int64_t col)
{
    int64_t at[RANK_MOST] = {0};
    char color[8];
    const Layout *l = g->l;
    int x = LEFT + (int)col * CELL_W, y = TOP + (int)row * CELL_H;
    grid_point(g, row, col, at);
    int64_t offset = layout_eval(l, at);
    int64_t key = layout_is_fragment(l) ? fragment_eval_thread(l, at, 0) : storage_group(l, offset);
    color_of(key, color);
    str_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" "
               "stroke=\"#fff\" stroke-width=\"0.6\"/>", x, y, CELL_W, CELL_H, color);
    str_printf(out, "<text x=\"%d\" y=\"%d\">", x + CELL_W / 2, y + CELL_H / 2 + 4);
    cell_text(out, l, at);
    str_puts(out, "</text>\n");
}

static void put_rulers(Str *out, const Grid *g)
{
    str_puts(out, "<g fill=\"#667\" font-size=\"10\">\n");
    for (int64_t c = 0; c < g->ncol; c++)
        str_printf(out, "<text x=\"%d\" y=\"%d\">%lld</text>\n",
                   LEFT + (int)c * CELL_W + CELL_W / 2, TOP - 6, (long long)c);
    for (int64_t r = 0; r < g->nrow; r++)
        str_printf(out, "<text x=\"%d\" y=\"%d\">%lld</text>\n", LEFT - 16,
                   TOP + (int)r * CELL_H + CELL_H / 2 + 4, (long long)r);
    str_puts(out, "</g>\n");
}

static int legend_rows(const Layout *l)
{
    int64_t n = layout_is_fragment(l) ? MIN(l->nthread, LEGEND_MOST) : 0;
    return (int)((n + LEGEND_COLS - 1) / LEGEND_COLS);
}

static void put_legend(Str *out, const Layout *l, int y)
{
    char color[8];
    if (!layout_is_fragment(l)) {
        str_printf(out,
                   "<text x=\"%d\" y=\"%d\" text-anchor=\"start\">a cell is the storage offset; "
                   "a colour is a value of its coordinate before the last</text>\n",
                   LEFT, y + 14);
        return;
    }
    str_printf(out,
               "<text x=\"%d\" y=\"%d\" text-anchor=\"start\">a cell is thread:slot%s; a colour "
               "is a thread:</text>\n",
               LEFT, y + 14, l->rep > 1 ? " (+ marks replicas)" : "");
    for (int64_t t = 0; t < MIN(l->nthread, LEGEND_MOST); t++) {
        int x = LEFT + (int)(t % LEGEND_COLS) * SWATCH_W;
        int top = y + 24 + (int)(t / LEGEND_COLS) * 20;
        color_of(t, color);
        str_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"18\" fill=\"%s\"/>"
                   "<text x=\"%d\" y=\"%d\">%lld</text>\n", x, top, SWATCH_W - 2, color,
                   x + SWATCH_W / 2 - 1, top + 13, (long long)t);
    }
}

static void put_facts(Str *out, const Layout *l)
{
    for (int d = 0; d < l->rank; d++)
        str_printf(out, "%s%lld", d ? " × " : "", (long long)l->extent[d]);
    if (layout_is_fragment(l)) {
        str_printf(out, " over %lld threads, %lld slots each", (long long)l->nthread,
                   (long long)fragment_slots(l));
        if (l->rep > 1)
            str_printf(out, ", %lld replicas", (long long)l->rep);
    } else {
        str_printf(out, " in %lld elements of storage", (long long)layout_size(l));
    }
}

/* Extra wavefronts of a warp whose lanes touch `bytes` each: along a row, or each its own row. */
static int turns(const Layout *l, const Machine *m, int bits, bool rows, int bytes)
{
    int64_t address[64];
    Grid g = grid_of(l, INT32_MAX, INT32_MAX);

    for (int lane = 0; lane < m->lanes; lane++) {
        int64_t at[RANK_MOST] = {0};
        bool here = lane < (rows ? g.rows : g.cols);
        if (here)
            grid_point(&g, rows ? lane : 0, rows ? 0 : lane, at);
        address[lane] = here ? layout_eval(l, at) * bits / 8 : -1;
    }
    return bank_conflicts(m, address, bytes);
}

const char *layout_banks(Arena *a, const Layout *l, const Machine *m, DType type)
{
    int bits = dtype_bits(type), each = MAX(bits / 8, 1);

    if (layout_is_fragment(l) || m->banks < 1 || m->lanes > 64 || l->rank < 1)
        return NULL;
    const char *wide = l->extent[l->rank - 1] * bits < 128 ? "" :
        arena_printf(a, ", 16 bytes of each row: %d", turns(l, m, bits, true, 16));
    return arena_printf(a, "bank conflicts when the lanes of a warp touch a row: %d, a column: "
                        "%d%s", turns(l, m, bits, false, each), turns(l, m, bits, true, each),
                        wide);
}

void layout_svg(Str *out, const Layout *l, const char *title, const char *note)
{
    Grid g = grid_of(l, PICTURE_ROWS, PICTURE_COLS);
    bool cut = g.nrow < g.rows || g.ncol < g.cols;
    int across = MAX((int)g.ncol * CELL_W, LEGEND_COLS * SWATCH_W);
    int bottom = TOP + (int)g.nrow * CELL_H + (cut ? 24 : 8);
    int height = bottom + 34 + legend_rows(l) * 20, width = LEFT + across + 20;
    Str line;
    str_init(&line, out->arena);
    layout_print(&line, l);
    str_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
               "viewBox=\"0 0 %d %d\" font-family=\"DejaVu Sans Mono, monospace\" font-size=\"11\" "
               "text-anchor=\"middle\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
               width, height, width, height);
    str_puts(out, "<g text-anchor=\"start\"><text x=\"12\" y=\"22\" font-size=\"15\" "
                  "font-weight=\"bold\">");
    put_escaped(out, title ? title : l->name ? l->name : "layout");
    str_puts(out, "</text>\n<text x=\"12\" y=\"38\" fill=\"#445\">");
    put_facts(out, l);
    if (note)
        str_printf(out, "; %s", note);
    str_puts(out, "</text>\n<text x=\"12\" y=\"52\" fill=\"#667\" font-size=\"9\">");
    put_escaped(out, line.s);
    str_puts(out, "</text></g>\n");
    put_rulers(out, &g);
    str_puts(out, "<g>\n");
    for (int64_t r = 0; r < g.nrow; r++) {
        for (int64_t c = 0; c < g.ncol; c++)
            put_cell(out, &g, r, c);
    }
    str_puts(out, "</g>\n");
    if (cut)
        str_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"start\">… the first %lld × %lld of "
                   "%lld × %lld</text>\n", LEFT, bottom - 8, (long long)g.nrow, (long long)g.ncol,
                   (long long)g.rows, (long long)g.cols);
    put_legend(out, l, bottom);
    str_puts(out, "</svg>\n");
}
