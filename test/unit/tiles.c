/* tiles.c -- tests of the tiles that are recommended for products: there always are some. */
#include "op/op.h"
#include "test.h"

static const DType types[] = {DT_F16, DT_BF16, DT_TF32, DT_I8, DT_E4M3, DT_F32};
static const int64_t sizes[] = {1, 7, 16, 63, 65, 130, 255, 257, 1000, 4096};

static bool is_tile(const GpuTiles *g, int64_t K)
{
    return g->m >= 8 && g->n >= 8 && g->k >= 8 && g->stages >= 2 && g->threads >= 128 &&
           g->split >= 1 && (g->split == 1 || g->split * g->k <= K);
}

TEST(every_shape_has_tiles)
{
    for (int t = 0; t < COUNT(types); t++)
        for (int i = 0; i < COUNT(sizes); i++)
            for (int j = 0; j < COUNT(sizes); j++)
                for (int k = 0; k < COUNT(sizes); k++)
                    for (int way = 0; way < 4; way++) {
                        GpuTiles g = tiles_for_gpu(sizes[i], sizes[j], sizes[k], types[t], way & 1,
                                                   way & 2 ? 90 : 80);
                        CHECK(is_tile(&g, sizes[k]));
                    }
}
