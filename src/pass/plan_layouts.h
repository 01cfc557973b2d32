/* plan_layouts.h -- layouts of tiles and nests, and what they cost. */
#ifndef TL_PASS_PLAN_LAYOUTS_H
#define TL_PASS_PLAN_LAYOUTS_H

#include "op/op.h"

/* The pass, for a given number of threads; 0: a target without warps, nothing is spread. */
void plan_layouts_threads(Kernel *k, int64_t nthread);
/* Of a nest made by lowering. */
const Layout *plan_nest(Kernel *k, ThreadGroup who, const LoopNest *p);

/* layout_cost.c: what a choice costs: register bytes first, then the accesses it needs. */
typedef struct { int64_t bytes, accesses; } LayoutCost;
int64_t layout_cost_fragment(const Buffer *b, const Layout *l);               /* register bytes */
int64_t layout_cost_nest(const Kernel *k, const LoopNest *p, const Layout *loop); /* accesses */
int64_t layout_cost_convert(const Buffer *b, const Layout *l);
int64_t layout_cost_asking(Ir *ir, const Layout *l); /* 0: who holds what has a closed form */
int64_t layout_cost_idle(Ir *ir, const Layout *loop, int64_t nthread);
int layout_cost_compare(const Kernel *k, LayoutCost a, LayoutCost b);

#endif
