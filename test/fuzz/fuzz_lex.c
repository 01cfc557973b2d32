/* fuzz_lex.c -- the lexer on any bytes: it ends, and its tokens are in order and in balance. */
#include "front/ast.h"
#include "fuzz.h"

static bool before(int32_t line, int32_t col, int32_t line2, int32_t col2)
{
    return line < line2 || (line == line2 && col <= col2);
}

static void lex_all(Fuzz *f)
{
    int n, depth = 0;
    const Token *tok = lex(f->arena, f->names, &f->diag, &f->src, &n);

    HOLD(n > 0 && tok[n - 1].kind == TK_EOF);
    for (int i = 0; i < n; i++) {
        Span s = tok[i].span;
        HOLD(tok[i].kind < TK_COUNT && (tok[i].kind != TK_EOF || i == n - 1));
        HOLD(s.line >= 1 && s.col >= 1 && before(s.line, s.col, s.end_line, s.end_col));
        bool line_start = tok[i].kind == TK_INDENT || tok[i].kind == TK_DEDENT;
        HOLD(i == 0 || line_start || tok[i].kind == TK_ERROR || tok[i - 1].kind == TK_ERROR ||
             before(tok[i - 1].span.line, tok[i - 1].span.col, s.line, s.col));
        depth += tok[i].kind == TK_INDENT;
        depth -= tok[i].kind == TK_DEDENT;
        HOLD(depth >= 0);
        HOLD(i == 0 || tok[i].kind != TK_INDENT || tok[i - 1].kind == TK_NEWLINE);
    }
    HOLD(depth == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(data, size, lex_all);
    return 0;
}
