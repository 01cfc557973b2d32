/* html.c -- the report of `make demo`: one HTML file with its pictures inside.
 *
 * Colors are CSS variables, so that the same SVG serves light and dark.  Nothing is loaded. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Units of the pictures; the page scales them to its width. */
enum { WIDTH = 920, LABEL = 250, ROW = 34, BAR = 16, TOP = 26, NUMBER = 150 };

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>TileLang demo</title>\n<style>\n"
    ":root{--page:#fcfcfb;--ink:#1a1c1f;--soft:#63676e;--line:#e3e3df;--track:#efefec;"
    "--main:#2a5bd7;--slow:#c8752d;--p0:#b9c7ea;--p1:#8fa6e0;--p2:#5f81d9;--p3:#2a5bd7;"
    "--p4:#1b3f9c;--p5:#12275f;--bad:#b3261e}\n"
    "@media (prefers-color-scheme:dark){:root{--page:#131518;--ink:#e8e8e6;--soft:#9a9fa8;"
    "--line:#2b2f35;--track:#1f2227;--main:#7da2ff;--slow:#e0964f;--p0:#2b3a66;--p1:#3d559b;"
    "--p2:#5474cf;--p3:#7da2ff;--p4:#a9c1ff;--p5:#d6e1ff;--bad:#ff8a80}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 ui-sans-serif,system-ui,"
    "-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"
    "font-variant-numeric:tabular-nums}\n"
    "main{max-width:60rem;margin:0 auto;padding:3.5rem 1.5rem 5rem}\n"
    "h1{font-size:2rem;line-height:1.15;letter-spacing:-.02em;font-weight:650;margin:0 0 .6rem}\n"
    "h2{font-size:1.15rem;letter-spacing:-.01em;font-weight:650;margin:3.2rem 0 .2rem}\n"
    "p{margin:.2rem 0 1rem;color:var(--soft);max-width:44rem}\n"
    "ul{margin:1rem 0 0;padding-left:1.1rem;color:var(--soft);font-size:.88rem}\n"
    ".busy{margin-top:1.4rem;border-left:3px solid var(--slow);padding-left:.8rem}\n"
    ".lead{color:var(--ink);font-size:1.1rem}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;margin:1.6rem 0 0;"
    "font-size:.9rem}\ndt{color:var(--soft)}dd{margin:0}\n"
    "svg{display:block;width:100%;min-width:42rem;height:auto;margin-top:.8rem;overflow:visible}\n"
    "svg text{font:13px ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',"
    "Arial,sans-serif;font-variant-numeric:tabular-nums;fill:var(--ink)}\n"
    "svg .s{fill:var(--soft);font-size:12px}svg .b{font-weight:600}svg .e{text-anchor:end}"
    "svg .m{text-anchor:middle}\n"
    ".track{fill:var(--track)}.main{fill:var(--main)}.slow{fill:var(--slow)}"
    ".rule{stroke:var(--line);stroke-width:1}.one{stroke:var(--ink);stroke-width:1.2}\n"
    ".p0{fill:var(--p0)}.p1{fill:var(--p1)}.p2{fill:var(--p2)}.p3{fill:var(--p3)}"
    ".p4{fill:var(--p4)}.p5{fill:var(--p5)}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.85rem;"
    "margin-top:.8rem;white-space:nowrap}\n"
    "th{font-weight:500;color:var(--soft);text-align:left;border-bottom:1px solid var(--line)}"
    "th,td{padding:.42rem .9rem .42rem 0}th:last-child,td:last-child{padding-right:0}"
    "td{border-bottom:1px solid var(--line)}"
    ".n{text-align:right}.bad{color:var(--bad)}\n"
    "footer{margin-top:3.5rem;color:var(--soft);font-size:.85rem}\n"
    "@media print{main{padding-top:0}}\n</style>\n<main>\n";

/* ---- text and marks -------------------------------------------------------------------------- */

static void escape(FILE *f, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '&': fputs("&amp;", f); break;
        default: putc(*s, f);
        }
}

static void label(FILE *f, double x, double y, const char *kind, const char *format, ...)
{
    char text[256];
    va_list a;
    va_start(a, format);
    vsnprintf(text, sizeof text, format, a);
    va_end(a);
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, kind);
    escape(f, text);
    fputs("</text>\n", f);
}

static void bar(FILE *f, double x, double y, double width, const char *kind)
{
    fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\" class=\"%s\"/>\n",
            x, y, fmax(width, 0.5), BAR, kind);
}

static void rule(FILE *f, double x, double top, double bottom, const char *kind)
{
    fprintf(f, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x, x, top,
            bottom, kind);
}

static void picture(FILE *f, double height, const char *title)
{
    fprintf(f, "<div class=\"wide\"><svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"%s\">\n",
            WIDTH, height, title);
}

/* 1x8x2048x64 as people write it. */
static void spaced(const char *shape, char out[2 * MOST_TEXT])
{
    int n = 0;
    for (; *shape && n < 2 * MOST_TEXT - 8; shape++) {
        if (*shape == 'x')
            n += sprintf(out + n, " \xc3\x97 ");
        else
            out[n++] = *shape;
    }
    out[n] = 0;
}

static void case_label(FILE *f, double y, const Result *r)
{
    char shape[2 * MOST_TEXT];
    spaced(r->shape, shape);
    label(f, 0, y + 5, "b", "%s", r->family->title);
    label(f, 0, y + 20, "s", "%s, %d thread%s", shape, r->threads, r->threads == 1 ? "" : "s");
}

static int count_ok(const Result *r, int n)
{
    int ok = 0;
    for (int i = 0; i < n; i++)
        ok += r[i].ok;
    return ok;
}

/* ---- share of the machine -------------------------------------------------------------------- */

static void draw_share(FILE *f, const Result *r, int n)
{
    const double left = LABEL, right = WIDTH - NUMBER, height = TOP + (ROW + 8) * count_ok(r, n);
    double y = TOP;

    picture(f, height, "Share of the machine's limit");
    for (int i = 0; i <= 100; i += 25) {
        double x = left + (right - left) * i / 100;
        label(f, x, 10, "s m", "%d%%", i);
        rule(f, x, 18, height - 10, "rule");
    }
    for (int i = 0; i < n; i++) {
        if (!r[i].ok)
            continue;
        double share = r[i].rate / r[i].roof;
        case_label(f, y + 4, &r[i]);
        bar(f, left, y + 4, right - left, "track");
        bar(f, left, y + 4, (right - left) * fmin(share, 1), "main");
        label(f, right + 14, y + 17, "b", "%.0f%%", 100 * share);
        label(f, WIDTH, y + 17, "s e", "%.*f %s", r[i].rate < 100, r[i].rate,
              r[i].family->unit);
        y += ROW + 8;
    }
    fputs("</svg></div>\n", f);
}

/* ---- against peers --------------------------------------------------------------------------- */

enum { RATIO_ROW = 22 };

static int peer_rows(const Result *r)
{
    int rows = 0;
    for (int i = 0; r->ok && i < NPEER; i++)
        rows += r->peer_ms[i] > 0;
    return rows;
}

static double group_height(int rows)
{
    return rows ? (rows < 2 ? 2 : rows) * RATIO_ROW + 12 : 0;
}

/* The axis is logarithmic: twice as fast is as far from the middle as half as fast. */
static double reach(const Result *r, int n)
{
    double most = 1;
    for (int i = 0; i < n; i++)
        for (int p = 0; r[i].ok && p < NPEER; p++)
            if (r[i].peer_ms[p] > 0)
                most = fmax(most, fabs(log2(r[i].peer_ms[p] / r[i].ms)));
    return ceil(most - 0.05);
}

static void draw_ratio(FILE *f, double y, double middle, double unit, const Result *r, int peer)
{
    double ratio = r->peer_ms[peer] / r->ms, width = unit * log2(ratio);
    label(f, LABEL, y + 12.5, "s", "%s", peer_titles[peer]);
    bar(f, width < 0 ? middle + width : middle, y, fabs(width), width < 0 ? "slow" : "main");
    label(f, WIDTH - NUMBER + 14, y + 12.5, "b", "%.2f\xc3\x97", ratio);
    label(f, WIDTH, y + 12.5, "s e", "%.2f ms", r->peer_ms[peer]);
}

static void draw_peers(FILE *f, const Result *r, int n)
{
    const double left = LABEL + 80, right = WIDTH - NUMBER, middle = (left + right) / 2;
    double height = TOP, y = TOP, most = reach(r, n), unit = (right - left) / 2 / most;

    for (int i = 0; i < n; i++)
        height += group_height(peer_rows(&r[i]));
    picture(f, height, "Time of peers over ours");
    int step = most > 4 ? 2 : 1;
    for (int e = -(int)most / step * step; e <= (int)most; e += step) {
        label(f, middle + e * unit, 10, "s m", e < 0 ? "1/%g\xc3\x97" : "%g\xc3\x97", exp2(abs(e)));
        if (e)
            rule(f, middle + e * unit, 18, height - 8, "rule");
    }
    for (int i = 0; i < n; i++) {
        int row = 0;
        if (!peer_rows(&r[i]))
            continue;
        case_label(f, y + 7, &r[i]);
        for (int p = 0; p < NPEER; p++)
            if (r[i].peer_ms[p] > 0)
                draw_ratio(f, y + 3 + RATIO_ROW * row++, middle, unit, &r[i], p);
        y += group_height(row);
    }
    rule(f, middle, 18, height - 8, "one");
    fputs("</svg></div>\n", f);
}

/* ---- compile time ---------------------------------------------------------------------------- */

enum { TRACE, CHECK, PLAN, LOWER, OPTIMIZE, EMIT, NKIND };
static const char *const kind_names[NKIND] = {"read and trace", "check",    "plan",
                                              "lower",          "optimize", "emit C"};
static const char *const kind_prefix[NKIND] = {"read", "check", "plan", "lower", "opt", "emit"};

/* Milliseconds of each kind; returns those of the C compiler, which is not ours. */
static double phase_sums(const Result *r, double sum[NKIND])
{
    double cc = 0;
    memset(sum, 0, sizeof(double) * NKIND);
    for (int i = 0; i < r->nphase; i++) {
        if (!strncmp(r->phase[i].name, "C compiler", 10))
            cc += r->phase[i].ms;
        for (int k = 0; k < NKIND; k++)
            if (!strncmp(r->phase[i].name, kind_prefix[k], strlen(kind_prefix[k])))
                sum[k] += r->phase[i].ms;
    }
    return cc;
}

static double total_of(const double sum[NKIND])
{
    double total = 0;
    for (int k = 0; k < NKIND; k++)
        total += sum[k];
    return total;
}

/* One compilation for each family is enough. */
static bool shown_before(const Result *r, int i)
{
    for (int j = 0; j < i; j++)
        if (r[j].family == r[i].family && r[j].nphase)
            return true;
    return !r[i].nphase;
}

static void draw_legend(FILE *f)
{
    double x = LABEL;
    for (int k = 0; k < NKIND; k++) {
        fprintf(f, "<rect x=\"%.1f\" y=\"1\" width=\"11\" height=\"11\" rx=\"2\" class=\"p%d\"/>\n",
                x, k);
        label(f, x + 16, 11, "s", "%s", kind_names[k]);
        x += 38 + 6.6 * (double)strlen(kind_names[k]);
    }
}

static void draw_compile(FILE *f, const Result *r, int n)
{
    const double left = LABEL, right = WIDTH - NUMBER - 60;
    double most = 0, sum[NKIND], y = TOP + 4;
    int rows = 0;

    for (int i = 0; i < n; i++)
        if (!shown_before(r, i)) {
            phase_sums(&r[i], sum);
            most = fmax(most, total_of(sum));
            rows++;
        }
    picture(f, TOP + 4 + RATIO_ROW * 1.3 * rows, "Compile time by phase");
    draw_legend(f);
    for (int i = 0; i < n; i++) {
        if (shown_before(r, i))
            continue;
        double x = left, cc = phase_sums(&r[i], sum);
        char kind[8];
        label(f, 0, y + 12.5, "b", "%s", r[i].family->title);
        for (int k = 0; k < NKIND; k++) {
            double width = (right - left) * sum[k] / most;
            snprintf(kind, sizeof kind, "p%d", k);
            if (width >= 0.5)
                bar(f, x, y, width, kind);
            x += width;
        }
        label(f, right + 14, y + 12.5, "b", "%.1f ms", total_of(sum));
        label(f, WIDTH, y + 12.5, "s e", "then cc: %.2f s", cc * 1e-3);
        y += RATIO_ROW * 1.3;
    }
    fputs("</svg></div>\n", f);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void table_row(FILE *f, const Result *r)
{
    char shape[2 * MOST_TEXT];
    PeerId id = result_strongest(r);

    spaced(r->shape, shape);
    fprintf(f, "<tr><td>%s<td>%s<td class=\"n\">%d", r->family->title, shape, r->threads);
    if (!r->ok) {
        fputs("<td colspan=\"6\" class=\"bad\">", f);
        escape(f, r->why);
        fputs("\n", f);
        return;
    }
    fprintf(f, "<td class=\"n\">%.2f ms<td class=\"n\">%.1f %s<td class=\"n\">%.0f%%", r->ms,
            r->rate, r->family->unit, 100 * r->rate / r->roof);
    if (id == NPEER)
        fputs("<td>\xe2\x80\x93<td>", f);
    else
        fprintf(f, "<td>%s<td class=\"n\">%.2f\xc3\x97", peer_titles[id], r->peer_ms[id] / r->ms);
    fprintf(f, "<td class=\"n\">%d<td>yes\n", r->rounds);
}

static void write_table(FILE *f, const Result *r, int n)
{
    fputs("<div class=\"wide\"><table>\n<tr><th>Kernel<th>Shape<th class=\"n\">Threads"
          "<th class=\"n\">Time<th class=\"n\">Rate<th class=\"n\">Of limit<th>Fastest peer<th class=\"n\">Ratio"
          "<th class=\"n\">Rounds<th>Verified\n",
          f);
    for (int i = 0; i < n; i++)
        table_row(f, &r[i]);
    fputs("</table></div>\n", f);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void fact(FILE *f, const char *name, const char *value)
{
    fprintf(f, "<dt>%s<dd>", name);
    escape(f, value);
    putc('\n', f);
}

static void write_header(FILE *f, const Machine *m, const Peers *peers, const Result *r, int n)
{
    char text[64];

    fputs(head, f);
    fputs("<h1>TileLang on this machine</h1>\n", f);
    fprintf(f,
            "<p class=\"lead\">Kernels written as tiles in Python, compiled to C, built, checked "
            "and measured here. %d of %d results are right.</p>\n<dl>\n",
            count_ok(r, n), n);
    fact(f, "Processor", m->cpu);
    fact(f, "Target", m->target);
    fact(f, "C compiler", m->compiler);
    for (int i = 0; i < MEMCPY; i++)
        fact(f, peer_titles[i], peers->has[i] ? peers->about[i] : "not installed");
    snprintf(text, sizeof text, "%.0f s for everything below", m->seconds);
    fact(f, "This run", text);
    fputs("</dl>\n", f);
    if (*m->busy) {
        fputs("<p class=\"busy\">", f);
        escape(f, m->busy);
        fputs("</p>\n", f);
    }
}

static void write_notes(FILE *f)
{
    fputs("<ul>\n", f);
    for (int i = 0; i < nfamily; i++)
        if (families[i].note)
            fprintf(f, "<li>%s: %s.\n", families[i].title, families[i].note);
    fputs("</ul>\n", f);
}

bool html_write(const char *file, const Machine *m, const Peers *peers, const Result *r, int n)
{
    FILE *f = fopen(file, "w");
    if (!f)
        return false;
    write_header(f, m, peers, r, n);
    fputs(
        "<h2>How much of the machine</h2>\n<p>Achieved rate as a share of what this processor was "
        "measured to do: a loop of fused multiply-adds in registers, or a stream of reads and "
        "writes through memory for softmax and RMSNorm.</p>\n",
        f);
    draw_share(f, r, n);
    fputs("<h2>Against peers</h2>\n<p>Time of the peer over ours with the same number of threads; "
          "to the right ours is faster. The axis is logarithmic.</p>\n", f);
    draw_peers(f, r, n);
    write_notes(f);
    fputs("<h2>Compile time</h2>\n<p>From Python source to C text, by phase. The C compiler then "
          "builds it once; later runs load it from the cache.</p>\n", f);
    draw_compile(f, r, n);
    fputs("<h2>Numbers</h2>\n<p>Medians over rounds in which ours and the peers took turns. Every "
          "result was checked against a computation in double precision and against the peers "
          "before it was timed.</p>\n", f);
    write_table(f, r, n);
    fputs("<footer>Made by <code>make demo</code>, tilelang ", f);
    fputs(tl_version(), f);
    fputs("</footer>\n</main>\n</html>\n", f);
    return !fclose(f);
}
