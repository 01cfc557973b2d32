/* ascend.h -- what the files of the Ascend target share: memories, pipes, the program of a kernel.
 *
 * A kernel is one thread that issues instructions to pipes, each of which runs its own in order and
 * beside the others; on the 910B a block is a cube core and a vector core with a program each.
 * The emitter makes a tree of nodes from the lowered kernel (emit.c, vector.c, cube.c); pipe.c
 * finds where flags and barriers are needed, and prints it core by core. */
#ifndef TL_TARGET_ASCEND_H
#define TL_TARGET_ASCEND_H

#include "isa/isa.h"
#include "target/print.h"
#include "target/uses.h"

typedef enum {
#define PIPE(id) P_##id,
#include "target/ascend/pipe.def"
#undef PIPE
    P_COUNT,
    P_NONE = -1 /* names and numbers: no memory is touched */
} Pipe;

typedef enum {
#define SPACE(id, position, bytes) IN_##id,
#include "target/ascend/space.def"
#undef SPACE
    IN_COUNT,
    IN_GM = IN_COUNT
} Space;
typedef struct {
    const char *name, *position;
    int64_t bytes;
} SpaceInfo;
extern const SpaceInfo ascend_space[IN_COUNT];

enum { CUBE = 1, VECTOR = 2 }; /* cores */
enum { BLOCK_BYTES = 32, ROW_16 = 16, CORE_FLAGS = 11 };

/* Where a tile, a tensor or a temporary lies: what pipes may get in each other's way at. */
typedef struct {
    const Buffer *buf; /* NULL: a temporary */
    const char *name;
    Space space;
    int64_t bytes, offset;
    DType type;
    bool queued; /* two buffers in turn, which a queue hands from pipe to pipe */
    bool used;
    int writers;    /* nodes that write it */
    unsigned views; /* of a temporary: types that it is used as, by bit */
} Place;

typedef struct {
    int place;
    bool writes, again;
} PlaceTouch; /* again: a loop may write the same bytes */

typedef enum { NODE_OP, NODE_LOOP, NODE_IF } NodeKind;
typedef struct Node Node;
typedef VEC(Node *) NodeVec;
struct Node {
    NodeKind kind;
    int cores; /* that have work in it; 0: names alone, wherever what is around is */
    Pipe pipe;
    const char *text; /* whole lines; of a loop or condition its head */
    VEC(PlaceTouch) touch;
    NodeVec body, orelse;
    bool leaves; /* it breaks out of a loop, or of an iteration */
    bool continues; /* of an iteration */
    bool once;   /* a loop: it surely runs */
};

typedef struct {
    Emit e; /* first: the printer takes it */
    Uses u;
    Kernel *k;
    VEC(Place) places;
    Map place_of; /* root Buffer -> index + 1 */
    NodeVec *to;  /* where nodes are added */
    NodeVec program;
    VEC(Var *) loops; /* around */
    Map tainted;      /* names for what only the vector core knows */
    bool grew;        /* that set, in one round */
    bool mixed;       /* both cores have work */
    bool slot;        /* helpers need a block of UB */
    int nflag;        /* handed out, between the cores */
    int nscalar;      /* names for scalars */
    VEC(int) free_temps;
    NodeVec first, last; /* flags between the cores, before and behind all */
    int64_t l0[2];       /* bytes of a buffer of L0A and L0B */
} Ascend;
static inline Ascend *ascend_of(Emit *e)
{
    return (Ascend *)e;
}

/* target.c, mech.c */
extern const Mech *const ascend_mechs[];

/* pipe.c */
Node *node_add(Ascend *a, NodeKind kind, int cores, Pipe pipe, const char *text);
void node_touch(Ascend *a, Node *n, int place, bool writes);
int place_find(Ascend *a, const Buffer *b); /* -1: none */
int place_add(Ascend *a, const Place *p);
void pipes_queue(Ascend *a);                     /* tiles of loops become queues */
void pipes_print(Ascend *a, int core, Str *out); /* with flags and barriers */

/* vector.c */
bool vector_loop(Ascend *a, const Stmt *loop); /* false: nothing was added */
const char *ascend_text(Ascend *a, const Expr *x, bool index);
const char *ascend_type(DType t); /* NULL: the machine has none */
const char *temp_name(Ascend *a, int place, char view);
int temp_take(Ascend *a, int64_t bytes);
void temp_give(Ascend *a, int place);
bool ascend_aligned(Ascend *a, const Expr *at, DType t);

/* cube.c */
bool cube_is_operand(Kernel *k, const Buffer *b); /* filled by copies and read by GEMMs alone */
bool cube_is_result(Kernel *k, const Buffer *b);  /* cleared, added to and stored alone */
void cube_instr(Ascend *a, const Stmt *s);
bool cube_clears(Ascend *a,
                 const Stmt *loop); /* it makes an accumulator zero; false: it does not */

/* emit.c */
bool ascend_needs_slot(const Expr *x, void *arg); /* a function that the vector unit computes */
void ascend_build(Ascend *a, const Stmt *s);
NORETURN void ascend_refuse(Ascend *a, Span at, const char *what);
void ascend_emit(Func *f, const TargetSpec *spec, Str *out);
void ascend_bundle(const TargetBundle *b);

#endif
