/* layout.h -- where the elements of a tile live.
 *
 * A Layout is a function from the coordinates of a tile to coordinates of its storage:
 *
 *     (i, j) -> (j // 8, i, j % 8)          storage row-major over the output extents
 *
 * Tile shapes are static, so every question (bijection? how wide may an access be? which banks
 * conflict? do two agree?) is answered exactly by evaluating all points; the index expressions
 * are for emitting short code.  A Fragment is a Layout that also says which thread holds the
 * element, and `rep` replicas of it:
 *
 *     thread(i, j, r),  slot(i, j)          r in [0, rep)
 *
 * Placeholders: layout_axis(ir, d) is the d-th input coordinate, layout_rep(ir) is r; they are the
 * same Vars in every Layout of an Ir, so equal maps are equal pointers after simplification.
 *
 * Laws (test/law runs them on random layouts):
 *     compose(g, f)(x) = g(f(x))             inverse(f)(f(x)) = x
 *     linear(f)(x) = sum f(x)[d] * stride[d]  is_equal(f, g) <=> f(x) = g(x) for all x */
#ifndef TL_LAYOUT_LAYOUT_H
#define TL_LAYOUT_LAYOUT_H

#include "arith/arith.h"

/* What was found out about a layout once; shared by those that differ in name only. */
typedef struct {
    int injective;                     /* 1 yes, -1 no, 0 not asked */
    bool apart;                        /* replicas are as far from each other everywhere */
    int width[RANK_MOST];              /* widest aligned run along each dimension, 0 not asked */
    const Layout *reduced[RANK_MOST];  /* fragment_reduce */
    /* fragment_inverse: 1 known, -1 there is none, 0 not asked */
    int inverted;
    const Expr *inverse[RANK_MOST + 1], *inverse_guard;
    Arena *arena;
    int nlookup;                       /* points evaluated one by one: after some, by table */
    const int32_t *slot_of, *thread_of;
} LayoutFacts;

struct Layout {
    int rank;                  /* of the tile */
    int64_t extent[RANK_MOST];
    int nout;                  /* storage dimensions */
    const Expr *out[RANK_MOST];     /* over layout_axis / (fragments) never over layout_rep */
    int64_t out_extent[RANK_MOST];  /* bounding box, computed */
    const Expr *thread;        /* NULL for a plain layout */
    int64_t rep;               /* 1 unless a fragment is replicated */
    int64_t nthread;           /* fragments: threads it is spread over */
    const char *name;          /* "row-major", "mma.m16n8k16 C", for messages; may be NULL */
    const ExprCode *code;      /* out and thread, prepared for evaluation */
    int64_t asked;             /* nthread as it was asked for, 0: found */
    LayoutFacts *facts;
};

/* ---- layout.c */
Var *layout_axis(Ir *ir, int d);
Var *layout_rep(Ir *ir);
/* NULL if an output can be negative. */
const Layout *layout_new(Ir *ir, int rank, const int64_t *extent, int nout, const Expr *const *out);
/* From rank, extent, nout, out, thread, rep, nthread (0: find it) and name; fills the rest. */
const Layout *layout_make(Ir *ir, const Layout *want);
/* Equal as they are written: the same expressions, whatever their names. */
bool layout_is_same(const Layout *a, const Layout *b);
const Layout *layout_row_major(Ir *ir, int rank, const int64_t *extent);
const Layout *layout_padded(Ir *ir, int rank, const int64_t *extent, int64_t pad);
void layout_apply(Ir *ir, const Layout *l, const Expr *const *at, const Expr **out);
/* The element offset, as an expression and as a number. */
const Expr *layout_offset(Ir *ir, const Layout *l, const Expr *const *at);
int64_t layout_eval(const Layout *l, const int64_t *at);
/* Threads of all points by number, once enough of them were asked for; else NULL. */
const int32_t *layout_threads_table(const Layout *l);
int64_t layout_size(const Layout *l);   /* elements of storage (product of out_extent) */
const Layout *layout_inverse(Ir *ir, const Layout *l); /* NULL if not a bijection onto its box */
bool layout_is_injective(Ir *ir, const Layout *l);
bool layout_is_equal(Ir *ir, const Layout *a, const Layout *b); /* by enumeration */
const Layout *layout_reshape(Ir *ir, const Layout *l, int rank, const int64_t *extent);
/* Of the same bytes, elements of `bits` seen as elements of `to`; NULL: those of the view are not
 * in one piece, or of several threads. */
const Layout *layout_view(Ir *ir, const Layout *l, int bits, int rank, const int64_t *extent,
                          int to);
const Layout *layout_expand(Ir *ir, const Layout *l, int64_t lead); /* a leading axis of stages */
const Layout *layout_named(Ir *ir, const Layout *l, const char *name);
bool layout_fits(const Layout *l, const Buffer *b); /* it is of the buffer's shape */
int64_t layout_points(const Layout *l); /* elements of the tile */
/* The next coordinate in row-major order; false after the last. */
bool layout_next(const Layout *l, int64_t *at);
Facts *layout_facts(Ir *ir, const Layout *l); /* ranges of the placeholders */

/* ---- fragment.c: nthread is the largest thread + 1 unless said otherwise */
static inline bool layout_is_fragment(const Layout *l) { return l->thread != NULL; }
const Layout *fragment_new(Ir *ir, int rank, const int64_t *extent, const Expr *thread, int64_t rep,
                           int nout, const Expr *const *slot);
/* Row-major flat, vectors of `width` round-robin to threads (T.Parallel's own rule). */
const Layout *fragment_linear(Ir *ir, int rank, const int64_t *extent, int64_t nthread,
                              int64_t width);
const Layout *fragment_replicated(Ir *ir, int rank, const int64_t *extent, int64_t nthread);
/* last_first: copies along the last dimension come one after the other; else along the first. */
const Layout *fragment_repeat(Ir *ir, const Layout *l, const int64_t *times, bool on_thread,
                              bool last_first);
const Layout *fragment_replicate(Ir *ir, const Layout *l, int64_t times);
/* The same threads at the same slots, with as few replicas as are found. */
const Layout *fragment_condense(Ir *ir, const Layout *l);
/* Of the tile without `dim`: whoever held a part of the sum holds the result. */
const Layout *fragment_reduce(Ir *ir, const Layout *l, int dim);
/* Replicas as one more, innermost coordinate: (element, holder) -> thread and slot. */
const Layout *fragment_holders(Ir *ir, const Layout *l);
int64_t fragment_slots(const Layout *l); /* registers per thread, in elements */
int64_t fragment_eval_thread(const Layout *l, const int64_t *at, int64_t r);
/* The same element is at the same slot of the same threads (replicas in any order). */
bool fragment_is_equal(Ir *ir, const Layout *a, const Layout *b);

/* ---- inverse.c */
/* Each row (all but the last coordinate) to a group of `lanes` threads, vectors of `width`
 * round-robin within it, rows round-robin to groups.  The other picks lanes and width (at most the
 * one given). */
const Layout *fragment_rows(Ir *ir, int rank, const int64_t *extent, int64_t nthread, int64_t lanes,
                            int64_t width);
const Layout *fragment_rows_best(Ir *ir, int rank, const int64_t *extent, int64_t nthread,
                                 int64_t width, int64_t warp);
/* The same threads, slots counted from the lowest in use: of a part of a tile. */
const Layout *fragment_from_zero(Ir *ir, const Layout *l);
/* The coordinates (and last the replica, if there are several) over layout_axis 0 for the thread
 * and 1 for the slot; guard: where (thread, slot) holds anything, NULL everywhere. False: no closed
 * form is known. */
bool fragment_inverse(Ir *ir, const Layout *l, const Expr **at, const Expr **guard);

/* ---- swizzle.c, vector.c, bank.c */
/* 16-byte units xored with the row, in spans of at most 128, 64 or 32 bytes; row-major where the
 * rows fill none of these. */
const Layout *layout_swizzle(Ir *ir, int64_t rows, int64_t cols, int elem_bits, int span_bytes);
/* 128, 64 or 32 where the layout is that swizzle of its tile, else 0. */
int layout_swizzle_span(Ir *ir, const Layout *l, int elem_bits);
/* panel.c: bytes of the panels of a shared tile as planned, 0: row-major, -1: no bulk copy can fill
 * it. */
int buffer_panel_span(Kernel *k, const Buffer *b);
/* Elements in the widest aligned run along dim. */
int layout_vector_width(const Layout *l, int dim, int elem_bits, int max_bytes);
/* Wavefronts of one warp-wide access beyond those that its width needs. */
int bank_conflicts(const Machine *m, const int64_t *byte_address, int width_bytes);

/* ---- show.c */
void layout_print(Str *out, const Layout *l);              /* "(i, j) -> (i // 8, j, i % 8)" */
void layout_print(Str *out, const Layout *l);              /* one line, which layout_read reads */
const Layout *layout_read(Ir *ir, const char *text, const char **end); /* NULL if malformed */
void layout_table(Str *out, const Layout *l);              /* text grid */
void layout_svg(Str *out, const Layout *l, const char *title, const char *note); /* NULL: none */
/* What banks of shared memory make of a tile, in words; NULL: it does not lie there. */
const char *layout_banks(Arena *a, const Layout *l, const Machine *m, DType type);

#endif
