/* lsp.h -- `tl lsp`: the compiler behind an editor, by the Language Server Protocol over stdio.
 *
 *   server.c    messages in and out; which method is whose; children that look at documents
 *   document.c  open texts, places in them, edits
 *   analyse.c   the child: compiles every kernel of a text; messages, what copies and tiles became
 *   outline.c   what a text binds where, without running it
 *   answer.c    hover, completion, signatures, definitions, hints, actions, tokens
 *
 * A text is compiled in a child, which may take its time, hang or break; the server answers from
 * the text as it is and from what the last child said, so that nobody who types waits. */
#ifndef TL_LSP_LSP_H
#define TL_LSP_LSP_H

#include <sys/types.h>
#include "api/api.h"
#include "lsp/serve.h"

/* As the protocol counts: from 0, columns in the client's units. */
typedef struct {
    int64_t line, col;
} Place;

typedef struct Document Document;
struct Document {
    Document *next;
    char *uri, *text; /* of malloc */
    size_t n;
    int64_t version;
    double due;       /* when a child is to look at it; 0: it has been */
    pid_t child;      /* 0: none */
    int from;         /* its output */
    char *got;        /* what it said so far, of malloc */
    size_t ngot;
    Arena *arena;     /* of facts */
    const JsonValue *facts; /* of the last child that ended well; NULL: none has */
};

typedef struct {
    Arena *arena; /* of the message at hand */
    Names *names;
    Document *docs;
    char *target; /* of malloc */
    bool utf8;    /* columns are bytes; else units of UTF-16 */
    bool begun, shut;
    const JsonValue *asked; /* the id of the request at hand; NULL: none, or it is answered */
} Server;


/* ---- document.c ------------------------------------------------------------------------------ */

Document *document_find(Server *s, const char *uri);
Document *document_open(Server *s, const char *uri);
void document_close(Server *s, Document *d);
void document_set(Document *d, const char *text, size_t n);
/* One change of textDocument/didChange. */
void document_change(const Server *s, Document *d, const JsonValue *change);
size_t place_offset(const Server *s, const Document *d, Place p); /* of the nearest there is */
/* Of a line and a byte of it, both from 1, as spans count. */
Place place_of(bool utf8, const char *text, size_t n, int32_t line, int32_t col);
Place place_read(const JsonValue *v);
void put_place(Json *j, const char *key, Place p);
void put_range(Json *j, const char *key, bool utf8, const char *text, size_t n, Span at);
const char *uri_path(Arena *a, const char *uri); /* of a file; else the uri itself */

/* ---- analyse.c ------------------------------------------------------------------------------- */

/* In a child: look at a text.  Writes the bytes of a JSON array and the array, the diagnostics of
 * textDocument/publishDiagnostics; then an object of facts:
 *   tiles  {name, from, to, text}: by name, for the lines of a function
 *   calls  {line, what, text}: what an operator became */
void analyse(const Document *d, bool utf8, const char *target, Str *out);

/* ---- outline.c ------------------------------------------------------------------------------- */

/* A name and where it is bound; seen on lines from..to. */
typedef struct {
    const char *name, *kind; /* "function", "parameter", "variable", "namespace" */
    const char *module;      /* namespaces: "tilelang.language" */
    const AstFunc *func;     /* functions */
    Span span;
    int32_t from, to;
} Bound;
typedef struct {
    Bound *at;
    int n, cap;
    Map by_name; /* text -> Places: where in `at`, in the order of the text */
} Outline;

Outline outline(Arena *a, Names *names, const Source *src);
/* The binding that a use on this line means; NULL: none. */
const Bound *outline_find(const Outline *o, const char *name, int32_t line);
int32_t func_last_line(const AstFunc *f);

/* ---- answer.c: each writes the result of one request, or null -------------------------------- */

typedef struct {
    Server *s;
    Document *d;
    const JsonValue *params;
    Source src;
    Json *out;
    Place at;
    size_t offset; /* of `at` */
} Question;
typedef void AnswerFn(Question *q);
AnswerFn answer_hover, answer_completion, answer_signature, answer_definition, answer_hints,
    answer_actions, answer_tokens, answer_symbols;
extern const char *const token_types[]; /* ends in NULL */
void put_json(Json *j, const char *key, const JsonValue *v);

#endif
