/* async_copy.h -- copies in flight: by nests, bulk copies, multi-buffering and order=. */
#ifndef TL_PASS_ASYNC_COPY_H
#define TL_PASS_ASYNC_COPY_H

#include "op/op.h"

/* async_nest.c: T.Parallel nests that give each element of a buffer once. */
typedef struct {
    LoopNest nest;
    Buffer *dst;
    int axis[RANK_MOST]; /* by dimension of dst: the loop along it */
    const Expr *value;   /* lets put into it */
} NestFill;
bool nest_is_fill(Ir *ir, const Stmt *nest, NestFill *f);
/* Those that only fill a shared tile from global memory. */
typedef struct {
    LoopNest nest;
    Buffer *dst;
    int axis[RANK_MOST]; /* by dimension of dst: the loop along it */
    const Expr *load; /* lets put into it */
    const Expr *cond; /* zero where it fails; NULL: never */
} NestCopy;
bool nest_is_copy(Ir *ir, const Stmt *nest, NestCopy *c);
/* A nest that copies and whose groups the kernel closes and waits for itself, its store landing
 * later; NULL: it is none. */
const Stmt *nest_by_hand(Ir *ir, const Stmt *nest);
/* Bytes that a thread moves at a time by a mechanism; 0: it cannot do this nest. */
int nest_async_bytes(Kernel *k, const Mech *how, const NestCopy *c);

/* async_gather.c: indices of such a nest that another tensor gives, held in registers. */
enum { INDICES_MOST = 4 };
typedef struct {
    const Expr *load;
    int n, axis[RANK_MOST]; /* loops of the nest that it depends on */
    Buffer *buf;            /* over these */
    const Layout *layout;
} Index;
typedef struct {
    int n;
    Index at[INDICES_MOST];
} Gather;
/* False: there are none, or they cannot be held.  Else their buffers are the kernel's. */
bool gather_find(Kernel *k, const NestCopy *c, Gather *g);
const Expr *gather_use(Ir *ir, const Gather *g, const LoopNest *p, const Expr *e);
const Stmt *gather_fetch(Kernel *k, const Gather *g, const LoopNest *p);

/* copy_how.c: what plan passes find out about a copy, and what it is made by therefore. */
void copy_piped(Kernel *k, const Stmt *copy, int pipe);
void copy_unpiped(Kernel *k, const Stmt *copy, bool staged, const char *why);
bool copy_may_run_ahead(Kernel *k, const Stmt *copy);
void copy_ahead(Kernel *k, const Stmt *copy, const Mech *how, int ahead, const char *why);
void copy_in_place(Kernel *k, const Stmt *copy, const char *why);
void copy_settle(Kernel *k, const Stmt *copy); /* one that is left alone */
void copy_by_threads(Kernel *k, const Stmt *copy, const char *why);

/* lower_async_bulk.c: part of lower_async: bulk copies that no producer makes. */
void lower_bulk_alone(Kernel *k);

/* multibuffer.c: multi-buffering of shared tiles, for pipelines. */
Buffer *buffer_staged(Kernel *k, Buffer *b, int n); /* takes the place of b in the kernel */
Region region_stage(Ir *ir, const Region *r, Buffer *to, const Expr *stage);
/* Uses of `from` in s become uses of stage `stage` of `to`. */
const Stmt *stmt_use_stage(Kernel *k, const Stmt *s, const Buffer *from, Buffer *to,
                           const Expr *stage);

enum { AHEAD_MOST = 16 }; /* iterations that a copy of a pipelined loop may run ahead */

/* plan_pipeline.c: which statements of a pipelined body order= and stage= count, found by how many
 * they give; -1: none of the ways to count fits. */
int pipeline_counting(const Stmt *body, int n);
bool pipeline_counts(const Stmt *s, int way); /* whether order= and stage= have an entry for it */

#endif
