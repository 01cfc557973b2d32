/* body_uses.h -- what the body of a kernel does with one buffer, by its root. */
#ifndef TL_PASS_BODY_USES_H
#define TL_PASS_BODY_USES_H

#include "op/op.h"

typedef struct BodyPath BodyPath;
struct BodyPath {
    const Stmt *stmt;
    const BodyPath *parent; /* NULL: it is the body */
    int depth, index;       /* index: of its parent's statements it is that one */
};
typedef struct {
    int uses;               /* loads, stores, regions: as stmt_uses counts them */
    int writes, addresses;
    const Stmt *reader[2];  /* the first, and the first that was not made of the same; or NULL */
    const Stmt *writer[2];
    const BodyPath *all;    /* the innermost statement that holds all uses */
    VEC(const Stmt *) by;   /* the statements that do, in their order */
    VEC(const BodyPath *) path; /* of each of them */
    bool viewed;            /* some buffer is a view of it */
} BufferUses;
const BufferUses *buffer_uses(Kernel *k, const Buffer *b);
/* Where the body has a tile operator, by its id; NULL: not. */
const BodyPath *body_path(Kernel *k, int tile_id);
/* The loop whose iterations do it directly, or in a list; NULL: there is none. */
const BodyPath *path_loop(const BodyPath *p);
bool body_writes_by_pointer(Kernel *k); /* into tensors of T.make_tensor */
bool others_touch(const Stmt *const two[2], const Stmt *but);     /* of reader or writer above */
int stmt_uses(const Stmt *s, const Buffer *b); /* how often it mentions b or a view of it */

#endif
