/* thread_group.h -- which threads run a statement. */
#ifndef TL_PASS_THREAD_GROUP_H
#define TL_PASS_THREAD_GROUP_H

#include "op/op.h"

typedef struct GroupVary {
    Vary v;
    struct GroupVary *next;
} GroupVary;

typedef const Stmt *GroupMapFn(Ir *ir, ThreadGroup who, const Stmt *s, void *arg);
typedef bool GroupVisitFn(const Stmt *s, ThreadGroup who, void *arg);
typedef struct {
    Kernel *k;
    GroupVary *vary; /* of the thread groups asked about; use group_vary */
    Map lets;        /* that vary, in terms of the thread */
    ThreadGroup who; /* come by the statement at hand */
    GroupMapFn *fn;
    GroupMapFn *loop; /* gets a loop once its body is done; NULL: loops stay */
    void *arg;
} GroupWalk;
bool is_of_thread(const Kernel *k, const Expr *e); /* of its indices and constants alone */
int thread_vars(const Kernel *k, Var *vars[3]);
void thread_point(const Kernel *k, int t, int64_t at[3]); /* their values for thread t */
void group_walk_init(GroupWalk *w, Kernel *k);
void group_see_let(GroupWalk *w, const Stmt *s);
/* What differs between the threads that come by. */
Vary *group_vary(GroupWalk *w);
/* The thread groups of both sides; known: they are those of w->who that come by.  False: the
 * condition does not depend on the thread. */
bool group_of_branch(GroupWalk *w, const Expr *cond, ThreadGroup *then, ThreadGroup *orelse,
                     bool known[2]);
/* Is it made of thread indices alone, and the same for all that come by? */
bool group_agrees(GroupWalk *w, const Expr *e);
/* Parts of it that are so are given their values. */
const Expr *group_fold_expr(GroupWalk *w, const Expr *e);
/* Puts their values into what threads do together, so that nothing there speaks of the thread. */
void group_fold_agreed(Kernel *k);
/* Of a condition that differs between threads: does a vote of each warp decide it alone? */
bool group_votes(GroupWalk *w, const Expr *cond);
/* A chain of branches, `if 128 <= tx < 160: ... elif tx < 128: ...`, whose arms are for ranges that
 * have no thread in common: the arms in the order of their threads.  0: it is not such a chain. */
enum { ARMS_MOST = 16 };
typedef struct {
    const Stmt *branch; /* its arm is the one of those for whom the condition holds */
    ThreadGroup threads;
    bool pure; /* the condition speaks of threads alone */
} GroupArm;
int group_arms(GroupWalk *w, const Stmt *s, GroupArm arm[ARMS_MOST]);
/* fn gets every statement that is not a block, a role, a branch or a loop (a T.Parallel nest as
 * one), and the threads that come by. */
const Stmt *group_map_stmt(GroupWalk *w, const Stmt *s);
const Stmt *group_map(Kernel *k, const Stmt *s, GroupMapFn *fn, void *arg);
void group_visit(Kernel *k, GroupVisitFn *fn, void *arg);
void group_check_fragments(Kernel *k); /* refuses those that two thread groups use */
bool group_together(const Stmt *s);    /* an operator or a nest, done by its threads together */
ThreadGroup group_owner(const Map *fragments, const Stmt *s);
/* Buffer -> ThreadGroup *, of the fragments. */
void group_fragments(Kernel *k, Map *group);
ThreadGroup group_of_nest(ThreadGroup all, const Map *fragments, const LoopNest *p);
/* liveness.c: do some threads wait for others at barriers in memory? */
bool groups_sync_by_hand(Kernel *k, GroupWalk *w);

/* opt_warpgroup_stores.c: a barrier of each warpgroup for itself, about such tiles. */
const Stmt *sync_warpgroup(Kernel *k, Span at);

#endif
