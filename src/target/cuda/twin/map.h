/* map.h -- a tensor map as this machine's copies read it: the 128 bytes that a kernel is given. */
#ifndef TL_CUDA_TWIN_MAP_H
#define TL_CUDA_TWIN_MAP_H

#include "twin/machine.h"

enum { MAP_MARK = 0x7d3a };

typedef struct {
    uint64_t at;
    uint64_t stride[4]; /* bytes, from dimension 1 on */
    uint32_t most[5];   /* the last index of each dimension */
    uint16_t box[5];    /* of pixels: channels, pixels */
    int16_t lower[2], upper[2];
    uint16_t mark;
    uint8_t rank, size, swizzle, pixels, step; /* size: bytes of an element */
    uint8_t gaps; /* 16 elements of 4 bits in the first 8 of 16 bytes */
} TwinMap;

int map_encode_tiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dim,
                     const uint64_t *stride, const uint32_t *box, const uint32_t *step,
                     int interleave, int swizzle, int promotion, int fill);
int map_encode_im2col(void *map, int type, uint32_t rank, void *address, const uint64_t *dim,
                      const uint64_t *stride, const int *lower, const int *upper,
                      uint32_t channels, uint32_t pixels, const uint32_t *step, int interleave,
                      int swizzle, int promotion, int fill);
/* The box at these coordinates between the tensor and shared memory; its bytes. */
uint32_t map_bytes(const TwinMap *m);
void map_load(const TwinMap *m, const int32_t *at, const uint16_t *offset, unsigned char *shared,
              uint32_t address);
void map_store(const TwinMap *m, const int32_t *at, const unsigned char *shared, uint32_t address);

#endif
