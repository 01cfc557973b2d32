/* tiles.c -- tests of the tiles that are recommended for products: there always are some. */
#include "target/target.h"
#include "test.h"

static const DType types[] = {DT_F16, DT_BF16, DT_TF32, DT_I8, DT_E4M3, DT_F32};
static const int64_t sizes[] = {1, 7, 16, 63, 65, 130, 255, 257, 1000, 4096};

static bool is_tile(const TileChoice *g, int64_t K)
{
    return g->m >= 8 && g->n >= 8 && g->k >= 8 && g->stages >= 2 && g->threads >= 128 &&
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
