/* ast.h -- a tree of the parser as text: S-expressions. */
#ifndef TL_TEST_AST_H
#define TL_TEST_AST_H

#include "front/ast.h"

void ast_print_module(Str *out, const AstModule *m);
void ast_print(Str *out, const Ast *e);

#endif
