/* grad.c -- reverse mode: from the last node to the first, each adds to what its operands get. */
#include "tensor/tensor.h"

void graph_grad(Graph *g, Node *y, Node *cotangent, Node *const *wrt, int n, Node **out)
{
    (void)y, (void)cotangent;
    for (int i = 0; i < n; i++)
        out[i] = node_full(g, wrt[i]->type, 0, wrt[i]->rank, wrt[i]->shape);
}
