/* tiles.c -- tests of the tiles that are recommended for products: there always are some, and they
 * are hardly slower than the best of those that were timed (test/tiles/h200.txt). */
#include <math.h>

#include "target/target.h"
#include "test.h"

static const DType types[] = {DT_F16, DT_BF16, DT_TF32, DT_I8, DT_E4M3, DT_F32};
static const int64_t sizes[] = {1, 7, 16, 63, 65, 130, 255, 257, 1000, 4096};

static bool is_tile(const TileChoice *g, int64_t K)
{
    return g->m >= 8 && g->n >= 8 && g->k >= 8 && g->stages >= 1 && g->threads >= 128 &&
           g->split >= 1 && (g->split == 1 || g->split * g->k <= K);
}

TEST(every_shape_has_tiles)
{
    TargetSpec spec[2];
    const char *why;

    Arena *a = arena_new();
    CHECK(target_parse(a, "cuda -arch=sm_80", &spec[0], &why));
    CHECK(target_parse(a, "cuda -arch=sm_90a", &spec[1], &why));
    for (int t = 0; t < COUNT(types); t++)
        for (int i = 0; i < COUNT(sizes); i++)
            for (int j = 0; j < COUNT(sizes); j++)
                for (int k = 0; k < COUNT(sizes); k++)
                    for (int way = 0; way < 4; way++) {
                        const Machine *m = &spec[way / 2].machine;
                        int64_t size[3] = {sizes[i], sizes[j], sizes[k]};
                        TileChoice g = m->tiles_gemm(m, size, types[t], way & 1, 0);
                        CHECK(is_tile(&g, sizes[k]));
                    }
}

/* ---- against times of an H200 ---------------------------------------------------------------- */

typedef struct {
    const Machine *m;
    TileChoice now;          /* for the shape at hand */
    double best, taken;      /* of its tiles; 0: not seen */
    double lost, most;       /* logarithms: the sum of what was lost, and the most */
    int shapes, missing;
} Regret;

static void end_shape(Regret *r)
{
    if (!r->best)
        return;
    r->shapes++;
    if (!r->taken) {
        r->missing++;
        return;
    }
    double lost = log(r->taken / r->best);
    r->lost += lost;
    r->most = MAX(r->most, lost);
}

static void read_line(Regret *r, const char *line)
{
    long long size[3];
    int tile[6];
    char order[3];
    double us;

    if (sscanf(line, "shape %lld %lld %lld %2s", &size[0], &size[1], &size[2], order) == 4) {
        int64_t mnk[3] = {size[0], size[1], size[2]};
        end_shape(r);
        r->best = r->taken = 0;
        r->now = r->m->tiles_gemm(r->m, mnk, DT_BF16, strcmp(order, "NT") ? 0 : GEMM_NT, 0);
    } else if (sscanf(line, "%d %d %d %d %d %d %lf", &tile[0], &tile[1], &tile[2], &tile[3],
                      &tile[4], &tile[5], &us) == 7) {
        const TileChoice *g = &r->now;
        if (tile[0] == g->m && tile[1] == g->n && tile[2] == g->k && tile[3] == g->split &&
            tile[4] == g->swap && tile[5] == g->widen)
            r->taken = us;
        r->best = r->best && r->best < us ? r->best : us;
    }
}

TEST(tiles_are_near_the_best_that_were_timed)
{
    TargetSpec spec;
    const char *why;
    char *text;
    size_t len;
    Arena *a = arena_new();

    CHECK(target_parse(a, "cuda -arch=sm_90a", &spec, &why));
    CHECK(file_read(a, "test/tiles/h200.txt", &text, &len, &why) == STATUS_OK);
    Regret r = {.m = &spec.machine};
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        read_line(&r, line);
    end_shape(&r);
    CHECK(r.shapes == 377);
    CHECK(r.missing <= 2);
    CHECK(exp(r.lost / r.shapes) < 1.05);
    CHECK(exp(r.most) < 1.5);
    arena_free(a);
}
