/* answer.c -- what an editor asks about a place: hover, completion, signatures, definitions,
 * hints, actions, tokens.  From the text as it is, and what the last child said of it. */
#include "lsp/lsp.h"

/* ---- the word at a place --------------------------------------------------------------------- */

/* "T.copy": name copy, base T. */
typedef struct {
    const char *base, *name; /* NULL: none */
    size_t start, end;       /* bytes of the name */
} Word;

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

static size_t word_start(const Document *d, size_t end)
{
    while (end > 0 && is_word(d->text[end - 1]))
        end--;
    return end;
}

static Word word_at(const Question *q, size_t offset)
{
    const Document *d = q->d;
    Word w = {.start = word_start(d, offset), .end = offset};

    while (w.end < d->n && is_word(d->text[w.end]))
        w.end++;
    if (w.end > w.start)
        w.name = arena_strndup(q->s->arena, d->text + w.start, w.end - w.start);
    if (w.start > 0 && d->text[w.start - 1] == '.') {
        size_t from = word_start(d, w.start - 1);
        if (from < w.start - 1)
            w.base = arena_strndup(q->s->arena, d->text + from, w.start - 1 - from);
    }
    return w;
}

static int32_t line_of(const Question *q)
{
    return (int32_t)q->at.line + 1;
}

static Outline outline_of(Question *q)
{
    return outline(q->s->arena, q->s->names, &q->src);
}

/* The row of the language that a dotted name means; NULL: none. */
static const Builtin *builtin_of(Question *q, const Outline *o, const Word *w)
{
    const Bound *b = w->base ? outline_find(o, w->base, line_of(q)) : NULL;
    const char *module = b && b->module ? b->module : "";

    if (!w->name)
        return NULL;
    if (!strcmp(module, "tilelang.language"))
        return builtin_find(w->name);
    return !strcmp(module, "tilelang")
               ? builtin_find(arena_printf(q->s->arena, "tilelang.%s", w->name)) : NULL;
}

static void put_null(Question *q)
{
    json_string(q->out, "result", NULL);
}

/* ---- hover ----------------------------------------------------------------------------------- */

static void hover_tile(Question *q, const char *name, Str *out)
{
    const JsonValue *list = json_get(q->d->facts, "tiles");

    for (const JsonValue *t = list ? list->first : NULL; t; t = t->next)
        if (!strcmp(json_get_text(t, "name", ""), name) &&
            json_get_int(t, "from", 0) <= line_of(q) && json_get_int(t, "to", 0) >= line_of(q)) {
            str_printf(out, "%s`%s`: %s\n", out->n ? "\n" : "", name, json_get_text(t, "text", ""));
            return;
        }
}

static void hover_call(Question *q, Str *out)
{
    const JsonValue *list = json_get(q->d->facts, "calls");

    for (const JsonValue *c = list ? list->first : NULL; c; c = c->next)
        if (json_get_int(c, "line", 0) == line_of(q))
            str_printf(out, "\nhere, %s: %s\n", json_get_text(c, "what", ""),
                       json_get_text(c, "text", ""));
}

static const char *params_text(Arena *a, const AstFunc *f)
{
    Str out;

    str_init(&out, a);
    for (int i = 0; i < f->nparam; i++) {
        const AstParam *p = &f->params[i];
        const char *text = span_text(a, p->span, 80, NULL);
        str_printf(&out, "%s%s", i ? ", " : "", text ? text : p->name ? p->name : "*");
    }
    return out.s;
}

void answer_hover(Question *q)
{
    Word w = word_at(q, q->offset);
    Outline o = outline_of(q);
    const Builtin *b = builtin_of(q, &o, &w);
    const Bound *bound = w.name && !w.base ? outline_find(&o, w.name, line_of(q)) : NULL;
    Str text;

    str_init(&text, q->s->arena);
    if (b) {
        str_printf(&text, "```python\n%s.%s(%s)\n```\n%s\n", w.base, w.name, b->signature, b->doc);
        if (*b->cpu)
            str_printf(&text, "\nNot here: %s.\n", b->cpu);
        hover_call(q, &text);
    } else if (bound && bound->func)
        str_printf(&text, "```python\ndef %s(%s)\n```\n", w.name,
                   params_text(q->s->arena, bound->func));
    if (w.name && !w.base)
        hover_tile(q, w.name, &text);
    if (!text.n) {
        put_null(q);
        return;
    }
    json_object(q->out, "result");
    json_object(q->out, "contents");
    json_string(q->out, "kind", "markdown");
    json_string(q->out, "value", text.s);
    json_end(q->out, '}');
    json_end(q->out, '}');
}

/* ---- completion ------------------------------------------------------------------------------ */

enum { ITEM_FUNCTION = 3, ITEM_VARIABLE = 6, ITEM_MODULE = 9, ITEM_KEYWORD = 14 };

static void put_item(Json *j, const char *label, int kind, const char *detail, const char *doc)
{
    json_object(j, NULL);
    json_string(j, "label", label);
    json_int(j, "kind", kind);
    if (detail)
        json_string(j, "detail", detail);
    if (doc)
        json_string(j, "documentation", doc);
    json_end(j, '}');
}

/* Rows of a module: plain names for the language, "tilelang." and the name for tilelang. */
static void complete_module(Question *q, const char *module)
{
    bool language = !strcmp(module, "tilelang.language");
    Arena *a = q->s->arena;

    for (int i = 0; i < builtin_count; i++) {
        const Builtin *b = &builtin_table[i];
        const char *dot = strchr(b->name, '.');
        bool own = language ? !dot : dot && !strncmp(b->name, "tilelang.", 9);
        if (own && !*b->cpu)
            put_item(q->out, dot ? dot + 1 : b->name, ITEM_FUNCTION,
                     arena_printf(a, "(%s)", b->signature), b->doc);
    }
}

static void complete_names(Question *q, const Outline *o)
{
    static const char *const words[] = {"for",    "in",    "if",     "elif", "else",
                                        "with",   "as",    "def",    "return", "while",
                                        "import", "from",  "True",   "False", "None"};
    Map told;

    map_init_text(&told, q->s->arena);
    for (int i = 0; i < o->n; i++) {
        const Bound *b = &o->at[i];
        if (line_of(q) < b->from || line_of(q) > b->to || map_has(&told, b->name))
            continue;
        map_set(&told, b->name, b);
        int kind = b->func ? ITEM_FUNCTION : b->module ? ITEM_MODULE : ITEM_VARIABLE;
        put_item(q->out, b->name, kind, b->kind, NULL);
    }
    for (int i = 0; i < COUNT(words); i++)
        put_item(q->out, words[i], ITEM_KEYWORD, NULL, NULL);
}

/* The word before the cursor is a prefix, which the client filters by. */
void answer_completion(Question *q)
{
    Word w = word_at(q, q->offset);
    Outline o = outline_of(q);
    const Bound *b = w.base ? outline_find(&o, w.base, line_of(q)) : NULL;

    json_array(q->out, "result");
    if (b && b->module)
        complete_module(q, b->module);
    else if (!w.base)
        complete_names(q, &o);
    json_end(q->out, ']');
}

/* ---- signatures ------------------------------------------------------------------------------ */

/* The call around a place: its '(' and how many commas stand between; false: none. */
static bool find_call(const Document *d, size_t offset, size_t *open, int *ncomma)
{
    int depth = 0;

    *ncomma = 0;
    for (size_t i = offset; i-- > 0 && offset - i < 4000;) {
        char c = d->text[i];
        if (c == ')' || c == ']' || c == '}')
            depth++;
        else if (c == '(' || c == '[' || c == '{') {
            if (depth == 0 && (c != '(' || i == 0 || !is_word(d->text[i - 1])))
                *ncomma = 0; /* a tuple or index is one argument of what is around it */
            else if (depth == 0) {
                *open = i;
                return true;
            }
            depth -= depth > 0;
        } else if (c == ',' && depth == 0)
            ++*ncomma;
    }
    return false;
}

/* Parameters of "src, dst, *, width=None", a piece at a time; returns how many. */
static int split_params(Arena *a, const char *signature, const char **out, int most)
{
    int n = 0, depth = 0;
    const char *start = signature;

    for (const char *p = signature;; p++) {
        depth += *p == '(' || *p == '[' ? 1 : *p == ')' || *p == ']' ? -1 : 0;
        if (*p && !(*p == ',' && depth == 0))
            continue;
        while (*start == ' ')
            start++;
        if (p > start && n < most)
            out[n++] = arena_strndup(a, start, (size_t)(p - start));
        start = p + 1;
        if (!*p)
            return n;
    }
}

void answer_signature(Question *q)
{
    const char *params[64], *signature = NULL;
    Outline o = outline_of(q);
    size_t open;
    int ncomma;

    Word w = {0};
    if (find_call(q->d, q->offset, &open, &ncomma))
        w = word_at(q, open);
    const Builtin *b = builtin_of(q, &o, &w);
    const Bound *bound = w.name && !w.base ? outline_find(&o, w.name, line_of(q)) : NULL;
    if (b)
        signature = b->signature;
    else if (bound && bound->func)
        signature = params_text(q->s->arena, bound->func);
    if (!signature) {
        put_null(q);
        return;
    }
    int n = split_params(q->s->arena, signature, params, COUNT(params));
    json_object(q->out, "result");
    json_array(q->out, "signatures");
    json_object(q->out, NULL);
    json_string(q->out, "label", arena_printf(q->s->arena, "%s(%s)", w.name, signature));
    if (b)
        json_string(q->out, "documentation", b->doc);
    json_array(q->out, "parameters");
    for (int i = 0; i < n; i++) {
        json_object(q->out, NULL);
        json_string(q->out, "label", params[i]);
        json_end(q->out, '}');
    }
    json_end(q->out, ']');
    json_end(q->out, '}');
    json_end(q->out, ']');
    json_int(q->out, "activeSignature", 0);
    json_int(q->out, "activeParameter", MIN(ncomma, MAX(n - 1, 0)));
    json_end(q->out, '}');
}

/* ---- definitions, symbols -------------------------------------------------------------------- */

static void put_span(Question *q, const char *key, Span at)
{
    put_range(q->out, key, q->s->utf8, q->d->text, q->d->n, at);
}

void answer_definition(Question *q)
{
    Word w = word_at(q, q->offset);
    Outline o = outline_of(q);
    const Bound *b = w.name && !w.base ? outline_find(&o, w.name, line_of(q)) : NULL;

    if (!b) {
        put_null(q);
        return;
    }
    json_object(q->out, "result");
    json_string(q->out, "uri", q->d->uri);
    put_span(q, "range", b->span);
    json_end(q->out, '}');
}

void answer_symbols(Question *q)
{
    enum { SYMBOL_FUNCTION = 12 };
    Outline o = outline_of(q);

    json_array(q->out, "result");
    for (int i = 0; i < o.n; i++) {
        const Bound *b = &o.at[i];
        if (!b->func)
            continue;
        Span whole = {&q->src, b->func->span.line, b->func->span.col,
                      func_last_line(b->func) + 1, 1};
        json_object(q->out, NULL);
        json_string(q->out, "name", b->name);
        json_int(q->out, "kind", SYMBOL_FUNCTION);
        put_span(q, "range", whole);
        put_span(q, "selectionRange", b->span);
        json_end(q->out, '}');
    }
    json_end(q->out, ']');
}

/* ---- hints ----------------------------------------------------------------------------------- */

static int32_t line_length(const Question *q, int64_t line)
{
    const char *p = q->d->text;

    for (; line > 1 && p; line--) {
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    return p ? (int32_t)strcspn(p, "\r\n") : 0;
}

static const char *mechanism(Arena *a, const JsonValue *call)
{
    const char *text = json_get_text(call, "text", ""), *by = strstr(text, " by ");
    size_t n = strcspn(text, ",");

    return arena_strndup(a, text, by && (size_t)(by - text) < n ? (size_t)(by - text) : n);
}

/* At the end of a line what its operators became, as "bulk, cube". */
static void put_hint(Question *q, const JsonValue *first, int64_t line)
{
    Str label, tip;

    str_init(&label, q->s->arena);
    str_init(&tip, q->s->arena);
    for (const JsonValue *c = first; c; c = c->next)
        if (json_get_int(c, "line", 0) == line) {
            str_printf(&label, "%s%s", label.n ? ", " : "", mechanism(q->s->arena, c));
            str_printf(&tip, "%s%s: %s", tip.n ? "\n" : "", json_get_text(c, "what", ""),
                       json_get_text(c, "text", ""));
        }
    json_object(q->out, NULL);
    put_place(q->out, "position", place_of(q->s->utf8, q->d->text, q->d->n, (int32_t)line,
                                           line_length(q, line) + 1));
    json_string(q->out, "label", label.s);
    json_string(q->out, "tooltip", tip.s);
    json_bool(q->out, "paddingLeft", true);
    json_end(q->out, '}');
}

static bool line_before(const JsonValue *list, const JsonValue *call)
{
    for (const JsonValue *c = list->first; c != call; c = c->next)
        if (json_get_int(c, "line", 0) == json_get_int(call, "line", 0))
            return true;
    return false;
}

void answer_hints(Question *q)
{
    const JsonValue *list = json_get(q->d->facts, "calls");
    int64_t from = json_get_int(q->params, "range.start.line", 0) + 1;
    int64_t to = json_get_int(q->params, "range.end.line", INT32_MAX - 1) + 1;

    json_array(q->out, "result");
    for (const JsonValue *c = list ? list->first : NULL; c; c = c->next) {
        int64_t line = json_get_int(c, "line", 0);
        if (line >= from && line <= MIN(to, INT32_MAX) && !line_before(list, c))
            put_hint(q, c, line);
    }
    json_end(q->out, ']');
}

/* ---- actions --------------------------------------------------------------------------------- */

void put_json(Json *j, const char *key, const JsonValue *v)
{
    switch (v->kind) {
    case JSON_NULL: json_string(j, key, NULL); return;
    case JSON_BOOL: json_bool(j, key, v->b); return;
    case JSON_NUMBER:
        if (v->number == (double)json_get_int(v, "", 0))
            json_int(j, key, json_get_int(v, "", 0));
        else
            json_double(j, key, v->number);
        return;
    case JSON_TEXT: json_string(j, key, v->text); return;
    default: break;
    }
    bool object = v->kind == JSON_OBJECT;
    object ? json_object(j, key) : json_array(j, key);
    for (const JsonValue *kid = v->first; kid; kid = kid->next)
        put_json(j, object ? kid->key : NULL, kid);
    json_end(j, object ? '}' : ']');
}

/* "…'flaot32' … did you mean 'float32'?": what to replace, by what.  False: it says nothing of
 * the kind. */
static bool read_meant(Arena *a, const char *text, const char **wrong, const char **right)
{
    const char *mean = strstr(text, "did you mean "), *quote = strchr(text, '\'');

    if (!mean || !quote || quote > mean)
        return false;
    *wrong = arena_strndup(a, quote + 1, strcspn(quote + 1, "'"));
    mean += strlen("did you mean ");
    mean += *mean == '\'';
    const char *word = arena_strndup(a, mean, strcspn(mean, "'?"));
    const char *dot = strrchr(word, '.');
    *right = dot ? dot + 1 : word;
    return **wrong && **right;
}

/* The last place of `word` in the range, as a whole word; the name may stand behind "T.". */
static bool find_word(const Question *q, const JsonValue *range, const char *word, size_t *at)
{
    size_t from = place_offset(q->s, q->d, place_read(json_get(range, "start")));
    size_t to = place_offset(q->s, q->d, place_read(json_get(range, "end"))), n = strlen(word);
    bool found = false;

    for (size_t i = from; i + n <= q->d->n && i < MAX(to, from + 1); i++)
        if (!memcmp(q->d->text + i, word, n) && (i == 0 || !is_word(q->d->text[i - 1])) &&
            !is_word(q->d->text[i + n])) {
            *at = i;
            found = true;
        }
    return found;
}

static Place offset_place(const Question *q, size_t offset)
{
    int32_t line = 1;
    size_t start = 0;

    for (size_t i = 0; i < offset; i++)
        if (q->d->text[i] == '\n') {
            line++;
            start = i + 1;
        }
    return place_of(q->s->utf8, q->d->text, q->d->n, line, (int32_t)(offset - start) + 1);
}

static void put_fix(Question *q, const JsonValue *diagnostic)
{
    const char *wrong, *right;
    size_t at;
    Json *j = q->out;

    if (!read_meant(q->s->arena, json_get_text(diagnostic, "message", ""), &wrong, &right) ||
        !find_word(q, json_get(diagnostic, "range"), wrong, &at))
        return;
    json_object(j, NULL);
    json_string(j, "title", arena_printf(q->s->arena, "change '%s' to '%s'", wrong, right));
    json_string(j, "kind", "quickfix");
    json_array(j, "diagnostics");
    put_json(j, NULL, diagnostic);
    json_end(j, ']');
    json_object(j, "edit");
    json_object(j, "changes");
    json_array(j, q->d->uri);
    json_object(j, NULL);
    json_object(j, "range");
    put_place(j, "start", offset_place(q, at));
    put_place(j, "end", offset_place(q, at + strlen(wrong)));
    json_end(j, '}');
    json_string(j, "newText", right);
    json_end(j, '}');
    json_end(j, ']');
    json_end(j, '}');
    json_end(j, '}');
    json_end(j, '}');
}

void answer_actions(Question *q)
{
    const JsonValue *list = json_get(q->params, "context.diagnostics");

    json_array(q->out, "result");
    for (const JsonValue *d = list ? list->first : NULL; d; d = d->next)
        put_fix(q, d);
    json_end(q->out, ']');
}

/* ---- tokens ---------------------------------------------------------------------------------- */

const char *const token_types[] = {"keyword", "string", "number", "namespace", "function",
                                   "parameter", "variable", NULL};

static int type_named(const char *name)
{
    int i = 0;

    while (strcmp(token_types[i], name))
        i++;
    return i;
}

static bool is_keyword(const Token *t)
{
    return t->kind >= TK_AND && t->kind <= TK_IS_NOT;
}

/* -1: no colour of ours. */
static int token_type(const Outline *o, const Token *t, bool after_dot, bool calls)
{
    if (t->kind == TK_STRING || t->kind == TK_FSTRING_TEXT)
        return type_named("string");
    if (t->kind == TK_INT || t->kind == TK_FLOAT || t->kind == TK_IMAGINARY)
        return type_named("number");
    if (is_keyword(t))
        return type_named("keyword");
    if (t->kind != TK_NAME)
        return -1;
    if (after_dot)
        return calls ? type_named("function") : -1;
    const Bound *b = outline_find(o, t->text, t->span.line);
    return b ? type_named(b->kind) : calls ? type_named("function") : -1;
}

/* The token before, and the line that was reached: tokens come in their order. */
typedef struct {
    int64_t line, col;
    int32_t at_line;
    const char *text; /* of that line */
} Before;

static void put_token(Question *q, const Token *t, int type, Before *b)
{
    const char *end = q->d->text + q->d->n;

    if (t->span.end_line != t->span.line || t->span.line < b->at_line)
        return;
    for (; b->at_line < t->span.line; b->at_line++) {
        const char *next = memchr(b->text, '\n', (size_t)(end - b->text));
        if (!next)
            return;
        b->text = next + 1;
    }
    Place from = place_of(q->s->utf8, b->text, (size_t)(end - b->text), 1, t->span.col);
    Place to = place_of(q->s->utf8, b->text, (size_t)(end - b->text), 1, t->span.end_col);
    int64_t lines = t->span.line - 1 - b->line;
    if (to.col <= from.col)
        return;
    json_int(q->out, NULL, lines);
    json_int(q->out, NULL, lines ? from.col : from.col - b->col);
    json_int(q->out, NULL, to.col - from.col);
    json_int(q->out, NULL, type);
    json_int(q->out, NULL, 0);
    b->line = t->span.line - 1;
    b->col = from.col;
}

void answer_tokens(Question *q)
{
    Outline o = outline_of(q);
    Before before = {.at_line = 1, .text = q->d->text};
    Diag diag;
    Recover r;
    Token *t = NULL;
    volatile int n = 0;

    diag_init(&diag, q->s->arena);
    if (recover_open(&r) == 0) {
        int count;
        t = lex(q->s->arena, q->s->names, &diag, &q->src, &count);
        n = count;
        recover_close(&r);
    }
    json_object(q->out, "result");
    json_array(q->out, "data");
    for (int i = 0; i < n; i++) {
        bool after_dot = i > 0 && t[i - 1].kind == TK_DOT;
        int type = token_type(&o, &t[i], after_dot, i + 1 < n && t[i + 1].kind == TK_LPAREN);
        if (type >= 0)
            put_token(q, &t[i], type, &before);
    }
    json_end(q->out, ']');
    json_end(q->out, '}');
}
