/* python.h -- shared by python*.c: Python's own functions, methods and modules. */
#ifndef TL_FRONT_PYTHON_H
#define TL_FRONT_PYTHON_H

#include "front/eval.h"

void sort_values(Eval *ev, Span at, Value *v, int n, const Value *by, bool reverse);
void set_insert(Eval *ev, const Value *set, const Value *v);

#endif
