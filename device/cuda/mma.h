/* mma.h -- moves of matrices between shared memory and a warp; which lane holds what: src/isa/mma.c.
 * The products themselves are printed from the rows of src/target/cuda/isa/matrix.def. */

TL_DEVICE void tl_ldmatrix_x1(uint32_t *d, uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(d[0])
                 : "r"(row) : "memory");
}

TL_DEVICE void tl_ldmatrix_x1_trans(uint32_t *d, uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(d[0])
                 : "r"(row) : "memory");
}

TL_DEVICE void tl_ldmatrix_x2(uint32_t *d, uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(row) : "memory");
}

TL_DEVICE void tl_ldmatrix_x2_trans(uint32_t *d, uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(row) : "memory");
}

TL_DEVICE void tl_ldmatrix_x4(uint32_t *d, uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(row) : "memory");
}

TL_DEVICE void tl_ldmatrix_x4_trans(uint32_t *d, uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(row) : "memory");
}

TL_DEVICE void tl_stmatrix_x4(uint32_t row, const uint32_t *d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 : : "r"(row), "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3])
                 : "memory");
}
