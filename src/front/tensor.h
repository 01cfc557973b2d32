/* tensor.h -- tensor programs in the evaluator: values that are nodes of a graph.
 *
 *   tensor_value.c    operators, attributes, subscripts    tensor_program.c  a function into a Func
 *   builtin_tensor*.c what tl.NAME does */
#ifndef TL_FRONT_TENSOR_H
#define TL_FRONT_TENSOR_H

#include "front/builtin.h"
#include "front/eval.h"
#include "tensor/tensor.h"

Value node_value(Node *n);
/* The graph that is being made; [tensor-outside] when there is none. */
Graph *tensor_graph(Eval *ev, Span at, const char *what);
/* Tensors and numbers; a number takes the type of `like` if there is one. */
Node *to_node(Eval *ev, Span at, const Value *v, const Node *like, const char *what);
int to_axis(Eval *ev, Span at, const Value *v, int rank, const char *what);
/* None: all axes. */
void to_axes(Eval *ev, Span at, const Value *v, int rank, bool *axes, const char *what);
/* An integer, or what is made of extents that stay open. */
int64_t to_extent(Eval *ev, Span at, const Value *v, const char *what);
int to_extents(Eval *ev, Span at, const Value *v, int64_t *out, const char *what);

Node *arg_node(const BuiltinCall *c, int i);
Graph *call_graph(const BuiltinCall *c);

#endif
