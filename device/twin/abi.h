/* abi.h -- between a text that was compiled for the host and who runs it, for both sides: C for
 * src/twin, C++ at the head of every text.  No header of the C library: a text brings its own
 * names. */
#ifndef TL_TWIN_ABI_H
#define TL_TWIN_ABI_H

/* Of the thread that runs. */
typedef struct TlThread {
    struct {
        unsigned x, y, z;
    } thread, block, nthread, nblock;
    unsigned char *shared; /* of its block */
    int fenced;   /* since threads of its block met */
    int hasty;    /* there was none before its last atomic */
    int looked;   /* it waited for another's word, and there was no fence since */
    int acted;    /* it changed a word that others may wait for, since it looked last */
} TlThread;

typedef struct TlHost {
    /* An instruction of the dialect: its row, its name and where its operands are. */
    void (*op)(int row, const char *name, void *const *at, int n);
    /* Lanes of the warp meet, each with a word; those of all of them, and who came. */
    const unsigned long long *(*lanes)(unsigned long long mask, unsigned long long mine,
                                       unsigned long long *came);
    /* Threads of the block meet; the sum of what they brought, and how many they were. */
    unsigned (*meet)(unsigned mine, unsigned *came);
    void (*look_again)(void); /* others run: it waits by looking again and again */
    void (*pass)(void);       /* others run, in a loop that looks at what they write */
    unsigned long long (*alive)(void); /* lanes of the warp that have not left */
    unsigned long long (*special)(const char *name); /* a register that is only read */
    void (*fail)(void); /* the kernel gives up */
    unsigned (*shared_address)(const void *p);
    void (*global)(const void *p); /* it is an address of a tensor */
    unsigned long long (*clock)(void);
} TlHost;

typedef struct TlKernel {
    void (*run)(void **param); /* one thread */
    int cluster[3];
    int threads_most;
    int says; /* its language has a word for clusters */
} TlKernel;

#endif
