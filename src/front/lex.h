/* lex.h -- what lex.c and lex_string.c share. */
#ifndef TL_FRONT_LEX_H
#define TL_FRONT_LEX_H

#include "front/ast.h"

enum { INDENT_MOST = 101, SOURCE_MOST = 1 << 28 };

typedef struct {
    char what;         /* '(' '[' '{'; 'f' the text of an f-string; ':' of a format spec */
    char quote;        /* of the f-string around, for 'f', ':' and fields */
    bool triple, raw;  /* likewise */
    bool field;        /* this '{' opens a replacement field */
    bool quiet;        /* if it is never closed, an error inside has said why */
    Span span;
} Open;

typedef struct {
    Arena *arena;
    Names *names;
    Diag *diag;
    const Source *src;
    bool one_expression;
    const char *p, *end, *line_start;
    int32_t line;
    const char *start; /* of the token being read, with its place */
    int32_t start_line, start_col;
    int nwarning;
    VEC(Token) out;
    VEC(Open) open;
    int indent[INDENT_MOST], indent_alt[INDENT_MOST], nindent;
    uint8_t first_operator[128], first_keyword[128]; /* by first character */
} Lexer;

/* lex.c */
void lex_mark(Lexer *L);            /* a token starts here */
Span lex_span(const Lexer *L);      /* from the mark to here */
Token *lex_emit(Lexer *L, TokenKind kind);
void lex_line_end(Lexer *L);
void lex_open(Lexer *L, Open o);
void lex_drop_line(Lexer *L);

/* lex_string.c */
/* A string whose n characters of prefix start at `prefix`, the quote at L->p.  False, and nothing
 * taken, if that is no prefix. */
bool lex_prefixed(Lexer *L, const char *prefix, size_t n);
/* The text of an f-string or format spec, up to and with the mark that ends it. */
void lex_text(Lexer *L);

#endif
