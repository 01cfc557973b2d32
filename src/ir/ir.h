/* ir.h -- the tile IR: Expr, Stmt, Buffer, Region, Kernel, Func.
 *
 * What it means
 *   Integers wrap at the width of their type.  `//` and `%` floor, as in Python.  Floating
 *   arithmetic rounds each result to its type, ties to even.  Expressions are pure: their only
 *   window to memory is EX_LOAD, and two equal loads are one value only if no store, barrier or
 *   wait stands between their uses.  Evaluation order inside an expression does not matter,
 *   except that EX_IF, EX_AND and EX_OR do not evaluate what they do not need.
 *   Statements run in order.  One Kernel is one launch: every block runs the body; in tile form
 *   the body is what the block does as a whole; in thread form (FORM_THREADS) what each thread
 * does.
 *
 * Interning: an Expr is unique within its Ir, so `a == b` is structural equality.  Stmts are
 * immutable and not interned: "changed?" is a pointer test.  Both live in ir->arena. */
#ifndef TL_IR_IR_H
#define TL_IR_IR_H

#include "base/base.h"
#include "ir/machine.h"

typedef struct Ir Ir;
typedef struct Var Var;
typedef struct Expr Expr;
typedef struct Stmt Stmt;
typedef struct Buffer Buffer;
typedef struct Kernel Kernel;
typedef struct BodyUses BodyUses;
typedef struct Func Func;
typedef struct Layout Layout;   /* layout/layout.h */
typedef struct TileOp TileOp;   /* ir/tile.h */
typedef struct Isa Isa;         /* isa/isa.h */
typedef struct Target Target;   /* target/target.h */
typedef struct Mech Mech;       /* ir/mech.h */

/* ---- dtype.c ------------------------------------------------------------------------------- */

typedef enum {
#define DTYPE(id, name, bits, kind, e, m, c) DT_##id,
#include "ir/dtype.def"
#undef DTYPE
    DT_COUNT,
    DT_NONE = 255
} DType;

typedef struct {
    const char *name;
    int bits;
    char kind; /* 'B' 'I' 'U' 'F' 'H' */
    int ebits, mbits;
    const char *ctype;
} DTypeInfo;

extern const DTypeInfo dtype_table[DT_COUNT];
const char *dtype_name(DType t);
/* "float16", also the aliases of language.md 1.9: half, float, int, long, e4m3…; "float16x2" gives
 * lanes 2.  False if unknown. */
bool dtype_parse(const char *text, DType *t, int *lanes);
int dtype_bits(DType t);
int64_t dtype_bytes(DType t, int64_t nelems); /* packed, rounded up */
static inline bool dtype_is_float(DType t) { return dtype_table[t].kind == 'F'; }
static inline bool dtype_is_int(DType t)
{
    return dtype_table[t].kind == 'I' || dtype_table[t].kind == 'U';
}
static inline bool dtype_is_unsigned(DType t) { return dtype_table[t].kind == 'U'; }
bool dtype_has_inf(DType t);
double dtype_max(DType t); /* largest finite; ints as double */
double dtype_min(DType t); /* most negative finite */
int64_t dtype_int_max(DType t); /* as bits for uint64 */
int64_t dtype_int_min(DType t);
/* The type of a op b under the language's promotion: wider int, float over int, wider float. */
DType dtype_join(DType a, DType b);

/* numeric.c: exact conversions.  A float of any type is carried as a double, an int of any type
 * as an int64 (uint64 as its bits). */
/* Nearest-even; fp8, fp6 and fp4 saturate (infinity too), others overflow to infinity. */
double num_round(DType t, double v);
double num_cut(double v); /* a float32 as a tfloat32, what is too much dropped */
int64_t num_wrap(DType t, int64_t v);      /* to the width of t */
uint64_t num_encode(DType t, double v);    /* float value to its bits (rounds first) */
double num_decode(DType t, uint64_t bits);
int64_t num_from_float(DType t, double v); /* truncate toward zero, saturate, NaN gives 0 */
double num_from_int(DType from, int64_t v, DType to); /* rounds */
double num_largest(DType t); /* largest finite of a float type */
/* The double nearest to a decimal literal ("1_000.5e-3"), in any locale. */
double num_parse(const char *text, size_t n);
/* Element i of packed storage; f for float types, n for the others.  Little-endian. */
void num_load(DType t, const void *base, int64_t i, double *f, int64_t *n);
void num_store(DType t, void *base, int64_t i, double f, int64_t n);

/* ---- expr.c ---------------------------------------------------------------------------------- */

typedef enum {
#define EXPR(id, text, arity) EX_##id,
#include "ir/expr.def"
#undef EXPR
    EX_COUNT
} ExprOp;
/* Of integers, in type t, as doc/numerics.md says: by 0 it gives 0, shifts may be by anything.  Of
 * a comparison 0 or 1. */
int64_t num_binary(ExprOp op, DType t, int64_t x, int64_t y);

typedef enum {
#define MATH(id, name, arity) MATH_##id,
#include "ir/math.def"
#undef MATH
    MATH_COUNT
} MathFn;

typedef struct { const char *text; int arity; } ExprInfo;
typedef struct { const char *name; int arity; } MathInfo;
extern const ExprInfo expr_table[EX_COUNT];
extern const MathInfo math_table[MATH_COUNT];

/* Identity with a name hint: two variables called i are two Vars.  In text the second becomes
 * i.1. */
struct Var {
    const char *name;
    int id;        /* unique in its Ir */
    DType type;
    Span span;
    int order;     /* of the terms of a sum: as made, or as a dump says it was */
    bool open;     /* made by T.int32() or T.Var: T.let may give it its value */
    bool data;     /* a let or call gave it something out of memory: any number of its type */
    bool parts;    /* which threads do what stands between barriers that all come to */
};

struct Expr {
    uint8_t op;     /* ExprOp */
    uint8_t type;   /* DType */
    uint16_t lanes; /* 1 for scalars */
    bool guarded;   /* EX_LOAD: the last two kids are guard and fill */
    uint16_t depth;
    uint32_t size;  /* nodes when written out as a tree; at most EXPR_SIZE_MOST */
    int nkid;
    uint32_t hash;
    union {
        int64_t i;
        double f;
        const char *text; /* interned */
        Var *var;
        Buffer *buf;
        MathFn fn;
    } u;
    const Expr *kid[];
};

enum { EXPR_SIZE_MOST = 1 << 20 };

/* Things of the folders above have their text form there: who makes an Ir says where. */
typedef struct {
    const TileOp *(*op_find)(const char *name); /* NULL if unknown */
    const char *(*isa_name)(const Isa *isa);
    const Isa *(*isa_find)(const char *name);
    void (*layout_print)(Str *out, const Layout *l);
    const Layout *(*layout_read)(struct Ir *ir, const char *text, const char **end);
} IrWords;

/* Where expressions of one function live.  A Func and its Kernels share one. */
struct Ir {
    Arena *arena;
    Names *names;
    Diag *diag;
    const IrWords *words;
    const Expr **slot; /* intern table */
    int nslot, nexpr;
    int nvar, nbuf, ntile; /* next ids */
    struct ExprMemo *memo; /* walk.c: tables not in use */
    void *rules;           /* arith/rules.c: its table read into patterns, made on first use */
    void *axes;            /* layout/layout.c: the placeholder Vars */
    Span at;               /* what is traced or lowered: an expression has no place itself */
    const Mech *const *mechs; /* of the target that text is read for; NULL: none but the neutral */
};

Ir *ir_new(Arena *a, Names *names, Diag *d, const IrWords *words);
const char *ir_name(Ir *ir, const char *s);
Var *var_new(Ir *ir, const char *name, DType t, Span at);

/* Constructors check, fold constants and intern.  They do no algebra: that is arith/simplify. */
const Expr *expr_int(Ir *ir, int64_t v);               /* int32, or int64 if it does not fit */
const Expr *expr_const(Ir *ir, DType t, int64_t v);    /* bool, int */
const Expr *expr_float(Ir *ir, DType t, double v);
const Expr *expr_bool(Ir *ir, bool v);
const Expr *expr_zero(Ir *ir, DType t);                /* of any type */
const Expr *expr_str(Ir *ir, const char *s);
const Expr *expr_var(Ir *ir, Var *v);
/* Binary operators promote the operands to their common type (a literal takes the other's type)
 * and fold.  expr_make makes any operator with its operands as they are. */
const Expr *expr_make(Ir *ir, ExprOp op, DType t, int lanes, int n, const Expr *const *kid);
const Expr *expr_binary(Ir *ir, ExprOp op, const Expr *a, const Expr *b);
const Expr *expr_unary(Ir *ir, ExprOp op, const Expr *a);
const Expr *expr_cast(Ir *ir, DType t, const Expr *a);   /* itself when the type agrees */
const Expr *expr_bitcast(Ir *ir, DType t, int lanes, const Expr *a);
const Expr *expr_select(Ir *ir, const Expr *c, const Expr *a, const Expr *b);
const Expr *expr_if(Ir *ir, const Expr *c, const Expr *a, const Expr *b);
const Expr *expr_load(Ir *ir, Buffer *b, const Expr *const *at, int n);
const Expr *expr_load_guarded(Ir *ir, Buffer *b, const Expr *const *at, int n, const Expr *guard,
                              const Expr *fill);
const Expr *expr_math(Ir *ir, MathFn fn, const Expr *const *arg, int n);
const Expr *expr_extern(Ir *ir, DType t, const char *name, const Expr *const *arg, int n);
const Expr *expr_addr(Ir *ir, Buffer *b, const Expr *const *at, int n);
const Expr *expr_ramp(Ir *ir, const Expr *base, const Expr *stride, int lanes);
const Expr *expr_broadcast(Ir *ir, const Expr *a, int lanes);
const Expr *expr_lane(Ir *ir, const Expr *v, int i);
const Expr *expr_vector(Ir *ir, const Expr *const *lane, int n);
/* Same operator and payload as e, other kids: made anew through the constructor, so it folds. */
const Expr *expr_with_kids(Ir *ir, const Expr *e, const Expr *const *kid);

static inline const Expr *expr_add(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_binary(ir, EX_ADD, a, b);
}
static inline const Expr *expr_sub(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_binary(ir, EX_SUB, a, b);
}
static inline const Expr *expr_mul(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_binary(ir, EX_MUL, a, b);
}
static inline const Expr *expr_min(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_binary(ir, EX_MIN, a, b);
}
static inline const Expr *expr_max(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_binary(ir, EX_MAX, a, b);
}
static inline const Expr *expr_lt(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_binary(ir, EX_LT, a, b);
}
static inline const Expr *expr_and(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_binary(ir, EX_AND, a, b);
}
static inline const Expr *expr_both(Ir *ir, const Expr *a, const Expr *b) /* NULL: always */
{
    return !a ? b : !b ? a : expr_and(ir, a, b);
}
const Expr *expr_floordiv(Ir *ir, const Expr *a, const Expr *b);
const Expr *expr_floormod(Ir *ir, const Expr *a, const Expr *b);
const Expr *expr_ceildiv(Ir *ir, const Expr *a, const Expr *b);

bool expr_is_int(const Expr *e, int64_t *v);   /* an EX_INT of int or bool type */
bool expr_is_float(const Expr *e, double *v);
bool expr_is_const(const Expr *e);
bool expr_is_zero(const Expr *e);
bool expr_uses_var(const Expr *e, const Var *v);
bool expr_has_load(const Expr *e);
int expr_nindex(const Expr *e); /* EX_LOAD: indices without guard and fill */

bool expr_is_splat(const Expr *e, int64_t *v); /* an EX_INT, or a broadcast of one */

/* ---- buffer.c -------------------------------------------------------------------------------- */

typedef enum {
    MEM_GLOBAL,
    MEM_SHARED,
    MEM_FRAGMENT,
    MEM_LOCAL,    /* per thread */
    MEM_VAR,      /* per thread, one mutable scalar, rank 0 */
    MEM_REDUCER,  /* T.alloc_reducer: an epoch of deferred reduction */
    MEM_BARRIER,
    MEM_CLUSTER_BARRIER,
    MEM_TMEM,
    MEM_DESCRIPTOR,
    MEM_COUNT
} MemScope;

const char *mem_name(MemScope s); /* "global", "shared", … as the text form spells it */
int mem_depth(MemScope s);        /* global 0 < shared 1 < fragment, local, var 2 */

enum { RANK_MOST = 8 };

struct Buffer {
    const char *name;
    int id; /* unique in its Ir */
    DType type;
    MemScope scope;
    int rank;
    const Expr **shape;
    const Expr **stride;  /* in elements; NULL: contiguous row-major */
    Buffer *view_of;      /* T.reshape / T.view: same memory, other shape or type; else NULL */
    const char *reducer;  /* MEM_REDUCER: "sum", "max", … */
    const Expr *const *arrive; /* MEM_BARRIER: arrival count of each */
    bool is_param;        /* a tensor of the function */
    bool is_output;       /* made by T.empty or listed in out_idx */
    bool is_workspace;    /* T.alloc_global, or a temporary between launches */
    int lanes;            /* while tracing: elements are vectors, the last dimension; 0: none are */
    bool unaligned;       /* a parameter that may start at any element's address */
    Var *pointer;         /* T.make_tensor: base address is this variable; else NULL */
    bool lent_to_read;    /* its addresses were given away with the word that nothing is written */
    bool for_all;         /* MEM_VAR: what threads found together, the same in each of them */
    Span span;
};

Buffer *buffer_new(Ir *ir, const char *name, DType t, MemScope s, int rank,
                   const Expr *const *shape, Span at);
bool buffer_static_shape(const Buffer *b, int64_t *shape); /* false if any extent is not constant */
int64_t buffer_static_size(const Buffer *b);               /* elements, -1 if not constant */
const Buffer *buffer_root(const Buffer *b);                /* through view_of */
static inline int buffer_shown_rank(const Buffer *b) { return b->rank - (b->lanes > 0); }
bool buffer_is_aligned(const Buffer *b); /* starts where the widest access may */

typedef struct {
    Buffer *buf;
    const Expr **at;     /* start, one per dimension of buf */
    const Expr **extent;
} Region;

Region region_whole(Ir *ir, Buffer *b);
bool region_is_whole(const Region *r);

/* ---- stmt.c ---------------------------------------------------------------------------------- */

typedef enum {
    ST_BLOCK,    /* n, list */
    ST_LET,      /* var = value, seen by what follows in the same block (and inside it) */
    ST_STORE,    /* buf[at] = value, if guard (NULL: always) */
    ST_FOR,      /* var from min, extent times */
    ST_WHILE,
    ST_IF,
    ST_BREAK, ST_CONTINUE,
    ST_TILE,     /* a tile operator */
    ST_ATOMIC,   /* one element; may bind the old value */
    ST_CALL,     /* an intrin.def row; may bind a value */
    ST_ASSERT,   /* cond, message */
    ST_INSTR,    /* one instruction row of isa/ on regions, after lower_tiles */
    ST_ROLE,     /* body run by a set of threads: T.ws, or made by lower_warps */
    ST_LAUNCH,   /* in a Func's body: run a Kernel */
    ST_EVAL,     /* evaluate and drop (T.evaluate, extern call made as an expression) */
    ST_COUNT
} StmtKind;

typedef enum {
    LOOP_SERIAL,
    LOOP_PARALLEL,
    LOOP_PIPELINED,
    LOOP_UNROLL,
    LOOP_VECTOR,
    LOOP_COUNT
} LoopHow;

/* What the user wrote on a loop or tile operator beyond its meaning.  value is an Expr or a
 * text. */
typedef struct {
    const char *name; /* "num_stages", "coalesced_width", "policy", … */
    const Expr *value;
    const char *text;
    const Layout *layout; /* loop_layout= */
    const int *list;      /* order=, stage= */
    int nlist;
} Hint;

typedef struct {
    const Hint *at;
    int n;
} Hints;

const Hint *hint_find(Hints h, const char *name);
int64_t hint_int(Hints h, const char *name, int64_t otherwise);

typedef enum {
    ATOMIC_ADD, ATOMIC_MAX, ATOMIC_MIN, ATOMIC_OR, ATOMIC_AND, ATOMIC_XOR,
    ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_EXCH, ATOMIC_COUNT
} AtomicOp;
const char *atomic_name(AtomicOp op);
const char *loop_name(LoopHow how); /* "serial", "parallel", "pipelined", "unroll", "vectorized" */

/* Work in flight is issued, committed to the next group of its queue, and waited for by how many
 * groups of the queue may still be open: groups end in their order. */
typedef enum {
    QUEUE_COPIES,   /* to shared memory, by each thread its own */
    QUEUE_STORES,   /* out of shared memory, in bulk */
    QUEUE_MMA,      /* of matrices */
    QUEUE_COUNT,
    QUEUE_NONE = -1
} Queue;

typedef enum {
#define INTRIN(id, name, narg, type, effects, simulate) INTRIN_##id,
#define ASYNC(id, name, word, narg, effects, commits, waits, simulate) INTRIN_##id,
#include "ir/intrin.def"
#undef INTRIN
#undef ASYNC
    INTRIN_COUNT
} Intrin;
typedef struct {
    const char *name, *word; /* in dumps; in the language, for messages */
    int narg;
    const char *type, *effects;
    Queue commits, waits; /* a group of this queue, for groups of this queue; or QUEUE_NONE */
} IntrinInfo;
extern const IntrinInfo intrin_table[INTRIN_COUNT];

/* A store that lands any time before the thread waits for its group of copies. */
typedef enum {
    ASYNC_NO,
    ASYNC_COPY,
    ASYNC_NEXT, /* into a stage of a tile that is not read between the last wait and the next */
} Async;

/* A word from one pass to another about a call. */
typedef enum {
    MARK_NONE,
    MARK_PERSISTENT, /* only persistent blocks need it: lower_grid settles that */
    MARK_GROUPS,     /* a barrier of each warpgroup for itself */
    MARK_ADDED,      /* a barrier that tracing added: lower_sugar keeps it, or takes it out */
    MARK_COUNT
} CallMark;
const char *mark_name(CallMark m); /* NULL: none */

/* Who runs the body of an ST_ROLE. */
typedef enum {
    ROLE_WS,         /* the groups of T.ws */
    ROLE_PRODUCER,   /* one thread of the group that issues copies */
    ROLE_ISSUER,     /* one thread of its second warp, which issues MMAs */
    ROLE_CONSUMER,   /* all that the kernel asked for, beside a producer */
    ROLE_COLLECTIVE, /* one thread for all that come by, as they are apart no more */
    ROLE_COUNT
} RoleKind;
extern const char *const role_name[ROLE_COUNT];

struct Stmt {
    StmtKind kind;
    Span span;
    union {
        struct { int n; const Stmt *const *list; } block;
        struct { Var *var; const Expr *value; } let;
        struct {
            Buffer *buf;
            int n;
            const Expr *const *at;
            const Expr *value;
            const Expr *guard;
            uint8_t async; /* an Async */
        } store;
        struct {
            Var *var;
            const Expr *min, *extent;
            LoopHow how;
            Hints hints;
            const Stmt *body;
        } loop;
        struct {
            const Expr *cond;
            const Stmt *then, *orelse;
        } branch; /* ST_IF; ST_WHILE uses then */
        struct {
            const TileOp *op;
            int id;            /* plans are keyed by it; copies of the statement keep it */
            int nregion;
            const Region *region;
            int narg;
            const Expr *const *arg; /* scalars in the operator's own order; NULL where not given */
            const char *text;  /* an operator's word: "sum", a message */
            Hints hints;
        } tile;
        struct { AtomicOp op; Buffer *buf; int n; const Expr *const *at; const Expr *value;
                 const char *order; Var *bind; } atomic;
        struct { Intrin which; int n; const Expr *const *arg; int nregion; const Region *region;
                 const char *text; Var *bind; CallMark mark; } call;
        struct { const Expr *cond; const char *text; } check;
        struct {
            const Isa *isa;
            int nregion;
            const Region *region;
            int narg;
            const Expr *const *arg;
            int tile;
        } instr; /* tile: id of the operator it came from */
        struct {
            RoleKind kind;
            int nthread;
            const int *thread;
            const Stmt *body;
        } role; /* thread: warp groups */
        struct { Kernel *kernel; } launch;
        const Expr *eval;
    } u;
};

const Stmt *stmt_block(Ir *ir, Span at, int n,
                       const Stmt *const *list);                        /* flattens nested blocks */
const Stmt *stmt_seq(Ir *ir, const Stmt *a, const Stmt *b);             /* either may be NULL */
const Stmt *stmt_let(Ir *ir, Span at, Var *v, const Expr *value);
const Stmt *stmt_store(Ir *ir, Span at, Buffer *b, const Expr *const *idx, int n,
                       const Expr *value);
const Stmt *stmt_store_guarded(Ir *ir, Span at, Buffer *b, const Expr *const *idx, int n,
                               const Expr *value, const Expr *guard);
/* To the same buffer as `like`, asynchronous if that is. */
const Stmt *stmt_store_as(Ir *ir, const Stmt *like, const Expr *const *idx, int n,
                          const Expr *value, const Expr *guard);
const Stmt *stmt_store_async(Ir *ir, const Stmt *store, Async how); /* the same, landing later */
const Expr *const *stmt_indices(const Stmt *s, int *n); /* of a store or atomic; NULL: it is none */
const Stmt *stmt_reindex(Ir *ir, const Stmt *s, const Expr *const *idx, int n); /* such a one */
const Stmt *stmt_for(Ir *ir, Span at, LoopHow how, Var *v, const Expr *min, const Expr *extent,
                     Hints h, const Stmt *body);
const Stmt *stmt_while(Ir *ir, Span at, const Expr *cond, const Stmt *body);
const Stmt *stmt_if(Ir *ir, Span at, const Expr *cond, const Stmt *then, const Stmt *orelse);
const Stmt *stmt_simple(Ir *ir, Span at, StmtKind k); /* ST_BREAK, ST_CONTINUE */
const Stmt *stmt_tile(Ir *ir, Span at, const TileOp *op, int nregion, const Region *region,
                      int narg, const Expr *const *arg, const char *text,
                      Hints h); /* takes a new id */
const Stmt *stmt_atomic(Ir *ir, Span at, AtomicOp op, Buffer *b, const Expr *const *idx, int n,
                        const Expr *value, const char *order, Var *bind);
const Stmt *stmt_call(Ir *ir, Span at, Intrin which, int n, const Expr *const *arg, int nregion,
                      const Region *region, const char *text, Var *bind);
const Stmt *stmt_sync(Ir *ir, Span at); /* a barrier of all threads */
const Stmt *stmt_commit(Ir *ir, Span at, Queue q);
/* Until at most `open` of the groups are; regions: what is complete then. */
const Stmt *stmt_wait(Ir *ir, Span at, Queue q, int64_t open, int nregion, const Region *region);
bool stmt_commits(const Stmt *s, Queue q);
bool stmt_waits(const Stmt *s, Queue q);
const Stmt *stmt_call_mark(Ir *ir, const Stmt *call, CallMark m); /* the same, with another mark */
const Stmt *stmt_assert(Ir *ir, Span at, const Expr *cond, const char *text);
/* By its order: what its thread did before is seen before it; what it does behind, behind it. */
bool atomic_releases(const Stmt *s);
bool atomic_acquires(const Stmt *s);
/* Has it loops that look at an atomic until another block changes it?  Who runs blocks in turn runs
 * those together, if they have at most so many threads. */
bool stmt_polls(const Stmt *body);
enum { POLL_THREADS = 1 << 14 };
/* An assertion that compilers rely on and programs need not make. */
bool stmt_is_fact(const Stmt *s);
bool store_is_read(const Stmt *store, const Expr *e); /* e loads what the store is to */
const Stmt *stmt_instr(Ir *ir, Span at, const Isa *isa, int nregion, const Region *region, int narg,
                       const Expr *const *arg, int tile);
const Stmt *stmt_role(Ir *ir, Span at, RoleKind kind, int n, const int *groups, const Stmt *body);
/* A loop over the same range, of another kind and without hints. */
const Stmt *stmt_for_as(Ir *ir, const Stmt *loop, LoopHow how, const Stmt *body);
/* The same loop, while or role around another body. */
const Stmt *stmt_with_body(Ir *ir, const Stmt *s, const Stmt *body);
const Stmt *stmt_launch(Ir *ir, Span at, Kernel *k);
const Stmt *stmt_eval(Ir *ir, Span at, const Expr *e);
bool stmt_is_empty(const Stmt *s); /* NULL or a block of nothing */

/* ---- build.c: statements in the order they are made ------------------------------------------ */

typedef struct Builder Builder;
struct Builder {
    Ir *ir;
    Builder *outer;          /* of the block around this one */
    VEC(const Stmt *) list;
};
void build_open(Builder *b, Ir *ir, Builder *outer);
void build_add(Builder *b, const Stmt *s);        /* NULL adds nothing */
const Stmt *build_close(Builder *b, Span at);     /* one block of what was added */

/* ---- walk.c ---------------------------------------------------------------------------------- */

/* Bottom-up: fn sees each statement after its children were mapped; returning the same pointer
 * keeps it, NULL removes it.  Expressions are left alone. */
typedef const Stmt *StmtMapFn(Ir *ir, const Stmt *s, void *arg);
const Stmt *stmt_map(Ir *ir, const Stmt *s, StmtMapFn *fn, void *arg);
/* Every expression directly held by every statement goes through fn (regions, bounds, guards
 * included). */
typedef const Expr *ExprMapFn(Ir *ir, const Expr *e, void *arg);
const Stmt *stmt_map_expr(Ir *ir, const Stmt *s, ExprMapFn *fn, void *arg);
/* Bottom-up over one expression, each part once, be it shared or what an operator folds to. */
const Expr *expr_map(Ir *ir, const Expr *e, ExprMapFn *fn, void *arg);
/* The statements directly inside of a block, loop, while, if or role, and s with what fn makes of
 * them (NULL: nothing); s itself where they stay. */
int stmt_nkid(const Stmt *s);
const Stmt *stmt_kid(const Stmt *s, int i);
typedef const Stmt *StmtKidFn(void *arg, const Stmt *kid);
const Stmt *stmt_map_kids(Ir *ir, const Stmt *s, StmtKidFn *fn, void *arg);
/* Pre-order.  Return false from fn to not enter the children. */
typedef bool StmtVisitFn(const Stmt *s, void *arg);
void stmt_visit(const Stmt *s, StmtVisitFn *fn, void *arg);
typedef bool ExprVisitFn(const Expr *e, void *arg);
void expr_visit(const Expr *e, ExprVisitFn *fn, void *arg);
void stmt_visit_expr(const Stmt *s, ExprVisitFn *fn,
                     void *arg); /* of s alone, not of its children */
/* Does the whole or a part of it, however deep, pass the test?  Of NULL nothing does. */
typedef bool StmtTestFn(const Stmt *s, void *arg);
bool stmt_any(const Stmt *s, StmtTestFn *test, const void *arg);
typedef bool ExprTestFn(const Expr *e, void *arg);
bool expr_any(const Expr *e, ExprTestFn *test, const void *arg);
bool stmt_any_expr(const Stmt *s, ExprTestFn *test, const void *arg);
bool stmt_holds_expr(const Stmt *s, ExprTestFn *test, const void *arg); /* of s alone */
bool stmt_uses_var(const Stmt *s, const Var *v);
bool stmt_leaves(const Stmt *s); /* by a break, a continue or a return */
bool expr_loads(const Expr *e, const Buffer *b);  /* from its memory, by any view */
void expr_vars(const Expr *e, Map *vars);         /* adds those that are used */
void stmt_vars(const Stmt *s, Map *vars);
void stmt_names(const Stmt *s, Map *vars);        /* adds those that it gives a value */
Var *stmt_binds(const Stmt *s);                   /* a let, loop, atomic or call; NULL: nothing */
Buffer *stmt_stores(const Stmt *s);               /* of a store or an atomic, else NULL */
const Region *stmt_regions(const Stmt *s, int *n); /* of an operator, call or instruction */
static inline bool stmt_is_nest(const Stmt *s) /* of T.Parallel */
{
    return s->kind == ST_FOR && s->u.loop.how == LOOP_PARALLEL;
}
static inline bool stmt_calls(const Stmt *s, Intrin which)
{
    return s->kind == ST_CALL && s->u.call.which == which;
}
/* An arrival for MMAs, at the barriers of so many blocks: this one, or its pair; 0: it is none. */
static inline int call_mma_blocks(const Stmt *s)
{
    bool lowered = stmt_calls(s, INTRIN_ARRIVE_MMA);

    if (!lowered && (!stmt_calls(s, INTRIN_ARRIVE) || !s->u.call.text))
        return 0;
    if (s->u.call.text && !strcmp(s->u.call.text, "mma_pair"))
        return 2;
    return lowered || !strcmp(s->u.call.text, "mma");
}
const Expr *expr_subst(Ir *ir, const Expr *e, const Var *v, const Expr *by);
/* The loop with a variable of its own: where others of another range had its variable too. */
const Stmt *stmt_for_own(Ir *ir, const Stmt *s);
const Stmt *stmt_subst(Ir *ir, const Stmt *s, const Var *v, const Expr *by);
/* map: Var* -> const Expr*, Buffer* -> Buffer*. */
const Stmt *stmt_subst_map(Ir *ir, const Stmt *s, const Map *vars, const Map *bufs);
const Expr *expr_subst_map(Ir *ir, const Expr *e, const Map *vars, const Map *bufs);

/* ---- kernel.c -------------------------------------------------------------------------------- */

/* Facts about a Kernel's body; a pass says which it needs, gives and breaks.  verify_forms.c is the
 * definition of each.  ORDER FORM: the text form prints them by these names. */
#define FORMS(X)                                                                                   \
    X(CHECKED)  /* names, ranks, dtypes, scopes hold */                                            \
    X(NORMAL)   /* no negative index, no view, no sugar */                                         \
    X(GRID)     /* plan: raster, persistence */                                                    \
    X(HOW)      /* plan: a mechanism for each tile operator */                                     \
    X(ROLES)    /* plan: warp roles */                                                             \
    X(STAGED)   /* plan: pipeline stages */                                                        \
    X(LAYOUTS)  /* plan: a layout for each on-chip buffer */                                       \
    X(NOGRID)   X(WARPS)                                                                           \
    X(NOPIPE)   /* no LOOP_PIPELINED */                                                            \
    X(TOKENS)   /* asynchronous operators are issue, token, wait */                                \
    X(NOEPOCH)  /* reducers are registers of threads and a reduction: no epochs */                 \
    X(LOOPS)    /* no ST_TILE */                                                                   \
    X(THREADS)  /* no LOOP_PARALLEL */                                                             \
    X(GUARDED)  /* every access is in bounds or guarded */                                         \
    X(FLAT)     /* accesses are (buffer, element offset), layouts applied */                       \
    X(PLACED)   /* plan: shared offsets */                                                         \
    X(SYNCED)                                                                                      \
    X(NOUNROLL) /* no LOOP_UNROLL with explicit=1 */                                               \
    X(WIDTHS)   /* index types chosen */                                                           \
    X(SPLIT)    /* host and device parts */                                                        \
    X(SIMPLE)   /* expressions are in normal form */
enum {
#define X(f) FORM_BIT_##f,
    FORMS(X)
#undef X
};
enum {
#define X(f) FORM_##f = 1u << FORM_BIT_##f,
    FORMS(X)
#undef X
};

typedef struct { const Mech *how; const char *why; } Lost; /* how NULL: nothing is */

/* A bulk copy that no producer issues, from plan_warps on until plan_pipeline says by what it is
 * made: once, or in a loop that overlaps copies with work. */
typedef enum { ALONE_NO, ALONE_ONCE, ALONE_STAGED } CopyAlone;

typedef struct {          /* of one ST_TILE, by its id */
    const Mech *how;      /* never NULL: mech_none */
    const char *why;      /* reason shown by --plans */
    Lost lost;            /* the best mechanism that is made for such a statement, if not had */
    const char *what;     /* "copy A, A_s (line 15)", for --plans only; not part of dumps */
    int ahead;            /* a copy: iterations of the pipelined loop that it runs ahead */
    int pipe;             /* a copy: the pipeline into which a producer issues it, from 1; 0: the
                           * threads themselves issue it */
    CopyAlone alone;      /* a copy, likewise */
    bool in_group;        /* a copy: the kernel itself waits for the group that it closes */
    bool left_open;       /* an MMA, a bulk store: in flight behind it, a later one waits for it */
    bool or_loops;        /* a bulk store: by loops where it would start before its tensor */
    int share, share_step; /* so many blocks of the cluster fill it together: their ranks differ by
                            * multiples of the step */
    const Isa *isa;       /* instruction row, when the mechanism has one */
    uint32_t staged;      /* regions the mechanism wants elsewhere, by bits: fragments in shared
                           * memory, a shared tile that it writes in registers */
    int warps[2];         /* an MMA: rows and columns of warps; 0: not split yet */
    int spread[2];        /* and tiles whose rows and columns are interleaved */
} TilePlan;

/* Threads first … first + n - 1 of the block; n 0: all that the kernel asked for. */
typedef struct { int first, n; } ThreadGroup;

typedef struct {          /* of one Buffer, by its id */
    const Layout *layout; /* on-chip buffers after LAYOUTS; NULL: row-major */
    bool pinned;          /* by T.annotate_layout */
    const Expr *safe;     /* T.annotate_safe_value */
    double l2_hit_ratio;
    int stages;           /* of a multi-buffered tile; 1: it is not */
    int groups;           /* so many warpgroups each fill and store rows of their own; 0: not so */
    bool fresh;           /* each iteration of the loop around its uses refills it first */
    ThreadGroup group;    /* fragments after LAYOUTS: whose registers hold it */
    int64_t offset;       /* bytes in the arena, after PLACED */
    int64_t nbytes;
    bool placed;
    const Layout *tiled;  /* the layout that `panel_span` was worked out for */
    int panel_span;
} BufferPlan;

typedef struct {          /* in this statement the buffer is wanted in another layout */
    Buffer *buf;
    const Layout *layout;
    const Stmt *at;
} Convert;

typedef struct {          /* which thread runs which iteration of a T.Parallel nest */
    const Var *var;       /* of the outermost loop */
    const Layout *layout; /* a fragment over the loop variables */
    int ahead;            /* iterations of the pipelined loop around it that it runs ahead */
} LoopPlan;

/* A tile operator or T.Parallel nest as written.  Statements made of it start in its span. */
typedef struct {
    Span span;
    const char *text; /* "T.copy(A, A_s)  gemm.py:15": no folder, so that it may be emitted */
} Origin;

/* Where a kernel got less than its target has: audit.c. */
typedef enum {
#define AUDIT(id, word, costly, doc) AUDIT_##id,
#include "ir/audit.def"
#undef AUDIT
} AuditKind;
typedef struct {
    AuditKind kind;
    Span at;
    const char *text;
} AuditNote;

/* What is known of an access, from the best to the worst (pass/access.c, `tl prove`). */
typedef enum {
    ACCESS_PROVED,  /* in bounds */
    ACCESS_CLIPPED, /* by the instruction that does it */
    ACCESS_GUARDED, /* by a condition that the compiler put there */
    ACCESS_ASSUMED, /* by nothing: a tile of the block whose index was not proven */
    ACCESS_WRONG    /* the same, and there are values for which it is outside */
} AccessKnown;
typedef struct {
    AccessKnown known;
    Span at;
    const Buffer *buf;
    char how;          /* 'r', 'w', 'a' for atomics */
    int count;         /* of the lowered kernel that this line became */
    const char *why;   /* the reasoning, or the guard */
    const char *point; /* where it leaves them: "bx=3, i=232"; NULL: none found; "": none, by z3 */
} AccessNote;

/* Of a loop, and of two accesses of shared memory, for the same. */
typedef enum { LOOP_OF_BLOCK, LOOP_OF_WARP, LOOP_OF_THREAD } LoopShape; /* who take it alike */
typedef struct {
    Span at;
    LoopShape how;
    const char *text;
} LoopNote;
typedef enum {
    ORDER_STAGE,   /* they are of different stages of a tile */
    ORDER_APART,   /* no thread meets an element of another */
    ORDER_THREAD,  /* one thread does both */
    ORDER_BARRIER, /* a barrier lies between them, a wait before it if need be */
    ORDER_UNKNOWN  /* nothing was found */
} OrderHow;
typedef struct {
    int32_t after, at;         /* lines of the first and the second */
    const Buffer *first, *buf; /* what they touch: one tile, or two that share bytes */
    bool wrote, writes;
    OrderHow how;
    const char *by;
} OrderNote;

typedef VEC(Buffer *) BufferVec;
typedef VEC(Var *) VarVec;

/* How a bulk tensor copy walks a global tensor; the host makes one per launch from its address.
 * Dimension 0 is the contiguous one, as the hardware counts. */
typedef struct {
    Buffer *buf;
    int rank;              /* 1 to 5 */
    const Expr *dim[5];    /* elements, over the function's run-time dimensions */
    const Expr *stride[5]; /* elements; stride[0] is 1 */
    int box[5];            /* im2col: channels, pixels */
    int swizzle;           /* bytes: 0, 32, 64, 128 */
    bool gaps;             /* 16 elements of 4 bits land in 16 bytes, the first 8 of them */
    /* Pixels of an NHWC image one after the other, each `step` from the last, over rows and images;
     * lower and upper: how far the first and the last of a row or column are from its ends. */
    bool im2col;
    int lower, upper, step;
} TensorMap;

/* One parameter of an emitted kernel, in order: what the launch hands over. */
typedef struct {
    Buffer *buf; /* a tensor or workspace of the function, or */
    Var *var;    /* a run-time dimension or scalar, as c_value_type says, or */
    const TensorMap *map; /* a tensor map, by value; none of these: the state of grid syncs */
    int slot;     /* of a tensor, where launches name places */
    bool written; /* likewise: its place is one that kernels write */
} KernelArg;

struct Kernel {
    Func *func;
    Ir *ir;
    Arena *arena, *scratch;
    Diag *diag;
    const Target *target;
    const Machine *machine; /* never NULL */
    const char *name;      /* "main_kernel", "main_kernel_1" */
    Span span;
    uint32_t form;         /* FORM_ bits that hold */
    int ngrid;
    const Expr *grid[3];
    Var *block[3];
    int threads[3];        /* product is the block size */
    Var *thread[3];
    int cluster[3];
    int extra_threads;     /* after those of `threads`: the producer's, added by lower_warps */
    const Expr *assume;    /* what its launch checked: a Variant; NULL: nothing */
    bool uses_threads;     /* thread index, T.ws, barriers, shuffles: the body is per thread */
    bool relies_apart; /* on tensors that do not overlap: what reads one moved past a store */
    bool threads_sync; /* where its threads share memory barriers were added */
    const Stmt *body;
    BufferVec buffers;     /* on-chip, in order of allocation */
    const char *prelude;   /* C text put before the kernel, or NULL */
    int swizzle_panel;     /* T.use_swizzle; 0 none */
    int persistent;        /* so many blocks take one tile after the other; 0: a block per tile */
    struct {               /* blocks in order of their length, the longest first */
        int dim, way;      /* the index that decides: 1 the longer the higher it is, -1 the
                            * lower; 0: in plain order */
        int64_t panel;     /* of the others, so many at a time; 0: all */
    } longest;
    const char *swizzle_order;
    int min_blocks;
    Hints hints;           /* annotations of the kernel as written */
    VEC(TilePlan) tiles;   /* by tile id */
    VEC(BufferPlan) plans; /* by buffer id */
    VEC(Convert) converts; /* asked for by plan_layouts, done by lower_convert */
    VEC(LoopPlan) loops;
    VEC(AuditNote) findings; /* in the order they were made; not part of dumps */
    VEC(AccessNote) accesses; /* likewise, where func->proves */
    VEC(LoopNote) loop_notes;   /* likewise */
    VEC(OrderNote) order_notes; /* likewise */
    bool order_cut;             /* not all iterations were looked at for those */
    VEC(Origin) origins;   /* operators as written: comments of the emitted text */
    struct OriginIndex *origin_index; /* of origin_find */
    Map loop_at;           /* Var -> index + 1 of its plan, of those that loop_plan_find has seen */
    int nloop_at;
    struct BodyUses *uses; /* of the body as it was last asked for (pass/body_uses.c), or NULL */
    Map truths;            /* conditions of threads that were asked for (pass/thread_group.c) */
    struct Facts *body_facts; /* of all names of facts_body, under facts_assume; or NULL */
    const Stmt *facts_body;
    const Expr *facts_assume;
    int64_t arena_bytes;   /* on-chip bytes per block after PLACED */
    int tensor_columns;    /* of tensor memory that a block asks for, likewise; 0: none */
    bool cuts_float32;     /* MMAs take the digits of tfloat32 of it; see gemm_cuts */
    struct { /* filled by the emitter of a target whose host part is ours; grid above */
        const char *symbol;
        VEC(KernelArg) args;
        int64_t shared_bytes;
        bool together;     /* all blocks must run at once: T.sync_grid */
        bool pdl;          /* it may start before its predecessor ends: T.pdl_sync waits */
    } launch;
};

typedef struct {
    const char *name;
    Buffer *buf;  /* a tensor, or */
    Var *var;     /* a scalar or pointer */
    bool out;     /* named by out_idx or made by T.empty */
    bool written; /* by a kernel; known from when it is lowered */
    bool *in_no_order; /* by parameter: it is read or written at the places where this one is
                        * written, by who runs at once (api/shifts.c); NULL: none */
    Span span;
} Param;

/* What the user wrote: parameters, host statements, one or more Kernels in order. */
struct Func {
    Ir *ir;
    Diag *diag;
    const char *name;
    const char *tiles, *explain; /* of a tensor program: its source, and what became of it */
    const char *known_as;  /* the function of the file that gives it, when that is another */
    Span span;
    VEC(Param) params;
    VarVec dims;         /* T.dynamic names: solved from shapes and strides at each call */
    const Stmt *body;    /* ST_LAUNCH, ST_LET, ST_IF, ST_ASSERT, ST_FOR in host order */
    VEC(Kernel *) kernels;
    BufferVec workspaces; /* temporaries between launches */
    int ndeclared;        /* buffers of the program have ids below it; passes made the others */
    Hints hints;          /* pass configs (config.h), compile_flags */
    Str *report;          /* what pass configs ask to see; NULL: nobody listens */
    bool proves;          /* somebody wants to know what is known of accesses */
    struct Func *unguarded; /* where `proves`: lowered without guards, to tell what they cost */
    bool may_overlap;     /* tensors of a call may share memory with one that is written */
    bool leaves_overlap;  /* such calls are left to a kernel of another text */
    struct Func *overlapping; /* lowered for such calls, in the same text; NULL: none is */
};

Func *func_new(Ir *ir, const char *name, Span at);
Kernel *kernel_new(Func *f, const char *name, Span at);
/* The same statements and plans, to be lowered apart; it is not in the list of f yet. */
Kernel *kernel_copy(Func *f, const Kernel *k);
TilePlan *tile_plan(Kernel *k, const Stmt *tile);   /* grows the table */
/* New, and among the kernel's own. */
Buffer *kernel_buffer(Kernel *k, const char *name, DType t, MemScope s, int rank,
                      const Expr *const *shape, Span at);
Buffer *kernel_barriers(Kernel *k, const char *name, int n, int arrivals, Span at);
void origins_learn(Kernel *k); /* once its body stands as it was written */
const Origin *origin_find(Kernel *k, Span at); /* the innermost; NULL: none */
BufferPlan *buffer_plan(Kernel *k, const Buffer *b);
/* Of the nest that begins with v; made if new. */
LoopPlan *loop_plan(Kernel *k, const Var *v);
LoopPlan *loop_plan_find(Kernel *k, const Var *v); /* NULL: it has none */
bool kernel_may_alias(const Kernel *k, const Buffer *b); /* T.annotate_restrict_buffers */
int kernel_block_threads(const Kernel *k);  /* that the kernel asked for: without the producer's */
int group_threads(const Kernel *k, ThreadGroup t);
int kernel_launch_threads(const Kernel *k); /* all of them, the producer's too */
static inline bool kernel_has(const Kernel *k, uint32_t what)
{
    return machine_has(k->machine, what);
}
bool kernel_on_warps(const Kernel *k); /* its blocks are threads in warps */
int kernel_warp(const Kernel *k); /* threads of a warp; the language's where there are none */
const Mech *kernel_ahead(const Kernel *k); /* copies that run ahead; NULL: it has none */
int kernel_part(const Kernel *k); /* parts of a block are multiples of so many threads */
/* Lanes that hand values to each other by the numbers that they have in their group: a power of
 * two, less than a warp where the group begins inside of one. */
int group_lanes(const Kernel *k, ThreadGroup t);
/* Roles are counted in so many threads, whatever a machine's instructions take: T.ws(1) is threads
 * 128 to 255 everywhere. */
enum { ROLE_THREADS = 128 };
static inline int role_lone(const Stmt *s) /* the one thread that runs it; -1: several do */
{
    int first = s->u.role.nthread ? s->u.role.thread[0] * ROLE_THREADS : 0;

    return s->u.role.kind == ROLE_PRODUCER ? first
           : s->u.role.kind == ROLE_ISSUER ? first + ROLE_THREADS / 4
                                           : -1;
}
int64_t kernel_access(const Kernel *k, DType t); /* elements of the widest access of a thread */
/* Who runs a role.  False: its warp groups do not follow each other. */
bool group_of_role(const Kernel *k, const Stmt *role, ThreadGroup *t);

/* ---- vary.c: what differs from thread to thread of a block ---------------------------------- */

typedef struct Vary Vary;
typedef bool VarySpreadFn(Kernel *k, const Buffer *b);
/* Who of the thread group takes a side of a branch: 1 all or none of them alike, -1 nobody, 0
 * some. */
typedef int VaryBranchFn(Vary *v, const Expr *cond, bool side);
struct Vary {
    Kernel *k;
    Map vars, bufs;       /* whose value may differ */
    Map lets;             /* varying ones, in terms of the thread; filled where there is `branch` */
    VarySpreadFn *spread; /* buffers that differ by where they live; NULL: none */
    VaryBranchFn *branch; /* NULL: every branch on the thread parts the threads asked about */
    ThreadGroup group;    /* the threads asked about; n 0: the whole block */
    const Vary *all;      /* of the whole block, which is the most that can differ; or NULL */
    bool in_nest, found;
};
void vary_learn(Vary *v, Kernel *k, VarySpreadFn *spread);
/* Between the threads of one thread group: what others do is left out.  `all` is what was learnt of
 * the whole block. */
void vary_learn_group(Vary *v, const Vary *all, ThreadGroup group, VaryBranchFn *branch);
void vary_learn_again(Vary *v); /* more was put into v->bufs */
bool vary_expr(Vary *v, const Expr *e);  /* NULL: no */
bool vary_store(Vary *v, const Stmt *s); /* its value, guard or place */
/* How many iterations a loop has, or which way a branch goes. */
bool vary_head(Vary *v, const Stmt *s);
bool vary_leaves(Vary *v, const Stmt *loop); /* do some threads leave an iteration before others? */

/* ---- print.c, read.c ------------------------------------------------------------------------ */

void print_expr(Str *out, const Expr *e);
void print_stmt(Str *out, const Ir *ir, const Stmt *s, int indent);
/* The whole function with kernels, forms and plans; func_read takes it back.  Printing what was
 * read gives the same bytes. */
void print_func(Str *out, const Func *f);
void print_kernel(Str *out, const Kernel *k);
void print_plans(Str *out, const Kernel *k); /* for people: mechanism, reason, layouts */

/* ---- audit.c: what fell back ----------------------------------------------------------------- */

/* Kept with the kernel; a costly kind is a warning [slow]. */
void audit_note(Kernel *k, AuditKind kind, Span at, const char *fmt, ...) PRINTF(4, 5);
void print_audit(Str *out, const Kernel *k); /* by line */
Func *func_read(Ir *ir, const Source *src); /* throws [ir-syntax], [ir-name], [ir-type] */
/* An expression over the given names, up to where it ends in its line (NULL: all of the text);
 * NULL if malformed.  Rules and layouts are written so; it is made by the constructors. */
const Expr *expr_parse(Ir *ir, const char *text, const char **end, Var *const *vars, int nvar);

/* Legal and unique names for printing and emission. */
typedef struct NameTable NameTable;
NameTable *names_of(Arena *a);
const char *name_for(NameTable *t, const void *thing, const char *hint); /* stable per thing */
void name_reserve(NameTable *t, const char *word);
typedef bool WordFn(Arena *a, const char *word);
void name_avoid(NameTable *t, WordFn *taken); /* names from here on are none of such words */
void name_separator(NameTable *t, char c); /* between a name and its number; '_' unless said */

#endif
