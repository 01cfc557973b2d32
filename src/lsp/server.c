/* server.c -- messages in and out, children that look at documents. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lsp/lsp.h"

enum { MESSAGE_MOST = 64 << 20, CHILD_SECONDS = 20, CHILD_BYTES_MOST = 16 << 20 };
static const double quiet_seconds = 0.15; /* after the last key, before a child is started */

/* ---- out ------------------------------------------------------------------------------------- */

static void send_text(const char *text, size_t n)
{
    printf("Content-Length: %zu\r\n\r\n", n);
    fwrite(text, 1, n, stdout);
    fflush(stdout);
}

static void open_message(Server *s, Json *j, Str *out)
{
    str_init(out, s->arena);
    json_open(j, out);
    json_object(j, NULL);
    json_string(j, "jsonrpc", "2.0");
}

static void send_error(Server *s, const JsonValue *id, int code, const char *text)
{
    Json j;
    Str out;

    open_message(s, &j, &out);
    if (id)
        put_json(&j, "id", id);
    else
        json_string(&j, "id", NULL);
    json_object(&j, "error");
    json_int(&j, "code", code);
    json_string(&j, "message", text);
    json_end(&j, '}');
    json_end(&j, '}');
    send_text(out.s, out.n);
}

static void publish(Server *s, const Document *d, const char *diagnostics, size_t n)
{
    Json j;
    Str head, out;

    str_init(&head, s->arena);
    json_open(&j, &head);
    json_string(&j, NULL, d->uri);
    str_init(&out, s->arena);
    str_printf(&out, "{\"jsonrpc\": \"2.0\", \"method\": \"textDocument/publishDiagnostics\", "
               "\"params\": {\"uri\": %s, \"version\": %lld, \"diagnostics\": ",
               head.s, (long long)d->version);
    str_putn(&out, diagnostics, n);
    str_puts(&out, "}}");
    send_text(out.s, out.n);
}

/* ---- children -------------------------------------------------------------------------------- */

static void stop_child(Document *d)
{
    if (d->child <= 0)
        return;
    kill(d->child, SIGKILL);
    waitpid(d->child, NULL, 0);
    close(d->from);
    d->child = 0;
}

NORETURN static void be_child(const Server *s, const Document *d, int to)
{
    struct rlimit seconds = {CHILD_SECONDS, CHILD_SECONDS}, bytes = {4ull << 30, 4ull << 30};
    Arena *a = arena_new();
    Recover r;
    Str out;

    setrlimit(RLIMIT_CPU, &seconds);
#ifndef __SANITIZE_ADDRESS__ /* whose shadow takes more than any limit */
    setrlimit(RLIMIT_AS, &bytes);
#else
    (void)bytes;
#endif
    if (a && recover_open(&r) == 0) {
        str_init(&out, a);
        analyse(d, s->utf8, s->target, &out);
        for (size_t done = 0; done < out.n;) {
            ssize_t n = write(to, out.s + done, out.n - done);
            if (n <= 0)
                break;
            done += (size_t)n;
        }
    }
    _exit(0);
}

static void start_child(Server *s, Document *d)
{
    int ends[2];

    stop_child(d);
    d->due = 0;
    d->ngot = 0;
    if (pipe(ends) != 0)
        return;
    fflush(stdout);
    d->child = fork();
    if (d->child == 0) {
        close(ends[0]);
        be_child(s, d, ends[1]);
    }
    close(ends[1]);
    d->from = ends[0];
    if (d->child < 0)
        close(ends[0]);
}

/* What the child said is whole only when it ended. */
static void child_ended(Server *s, Document *d)
{
    char *rest = NULL;
    size_t n = d->ngot ? strtoull(d->got, &rest, 10) : 0;
    const char *why;

    stop_child(d);
    if (!rest || *rest != '\n' || n > d->ngot - (size_t)(rest + 1 - d->got)) {
        static const char text[] =
            "[{\"range\": {\"start\": {\"line\": 0, \"character\": 0}, \"end\": {\"line\": 0, "
            "\"character\": 1}}, \"severity\": 2, \"source\": \"tl\", "
            "\"message\": \"the compiler "
            "did not finish with this file within 20 s and 4 GiB, or broke: try tl build\"}]";
        publish(s, d, text, strlen(text));
        return;
    }
    arena_reset(d->arena, (ArenaMark){0});
    d->facts = json_read(d->arena, rest + 1 + n, d->ngot - n - (size_t)(rest + 1 - d->got), &why);
    publish(s, d, rest + 1, n);
}

static void hear_child(Server *s, Document *d)
{
    char *more = realloc(d->got, d->ngot + 65537);
    ssize_t n;

    if (!more)
        recover_throw(STATUS_MEM, "out of memory");
    d->got = more;
    n = read(d->from, d->got + d->ngot, 65536);
    d->ngot += n > 0 ? (size_t)n : 0;
    d->got[d->ngot] = 0;
    if (n <= 0 || d->ngot > CHILD_BYTES_MOST)
        child_ended(s, d);
}

/* ---- methods --------------------------------------------------------------------------------- */

static void put_legend(Json *j)
{
    json_object(j, "semanticTokensProvider");
    json_object(j, "legend");
    json_array(j, "tokenTypes");
    for (int i = 0; token_types[i]; i++)
        json_string(j, NULL, token_types[i]);
    json_end(j, ']');
    json_array(j, "tokenModifiers");
    json_end(j, ']');
    json_end(j, '}');
    json_bool(j, "full", true);
    json_end(j, '}');
}

static void put_triggers(Json *j, const char *key, const char *const *words)
{
    json_object(j, key);
    json_array(j, "triggerCharacters");
    for (; *words; words++)
        json_string(j, NULL, *words);
    json_end(j, ']');
    json_end(j, '}');
}

static void put_capabilities(const Server *s, Json *j)
{
    static const char *const dot[] = {".", NULL}, *const call[] = {"(", ",", NULL};
    static const char *const yes[] = {"hoverProvider", "definitionProvider", "inlayHintProvider",
                                      "codeActionProvider", "documentSymbolProvider"};

    json_object(j, "capabilities");
    json_string(j, "positionEncoding", s->utf8 ? "utf-8" : "utf-16");
    json_object(j, "textDocumentSync");
    json_bool(j, "openClose", true);
    json_int(j, "change", 2);
    json_bool(j, "save", true);
    json_end(j, '}');
    for (int i = 0; i < COUNT(yes); i++)
        json_bool(j, yes[i], true);
    put_triggers(j, "completionProvider", dot);
    put_triggers(j, "signatureHelpProvider", call);
    put_legend(j);
    json_end(j, '}');
}

static void initialize(Server *s, const JsonValue *params, Json *j)
{
    const JsonValue *list = json_get(params, "capabilities.general.positionEncodings");
    const char *target = json_get_text(params, "initializationOptions.target", NULL);

    for (const JsonValue *e = list ? list->first : NULL; e; e = e->next)
        s->utf8 |= e->kind == JSON_TEXT && !strcmp(e->text, "utf-8");
    if (target) {
        free(s->target);
        s->target = strdup(target);
    }
    json_object(j, "result");
    put_capabilities(s, j);
    json_object(j, "serverInfo");
    json_string(j, "name", "tl");
    json_string(j, "version", TL_VERSION);
    json_end(j, '}');
    json_end(j, '}');
}

static const struct { const char *method; AnswerFn *answer; } questions[] = {
    {"textDocument/hover", answer_hover},
    {"textDocument/completion", answer_completion},
    {"textDocument/signatureHelp", answer_signature},
    {"textDocument/definition", answer_definition},
    {"textDocument/inlayHint", answer_hints},
    {"textDocument/codeAction", answer_actions},
    {"textDocument/semanticTokens/full", answer_tokens},
    {"textDocument/documentSymbol", answer_symbols},
};

static void answer(Server *s, const JsonValue *m, AnswerFn *fn)
{
    const JsonValue *params = json_get(m, "params"), *id = json_get(m, "id");
    Document *d = document_find(s, json_get_text(params, "textDocument.uri", ""));
    Json j;
    Str out;

    open_message(s, &j, &out);
    put_json(&j, "id", id);
    if (d) {
        Question q = {.s = s, .d = d, .params = params, .out = &j,
                      .src = {uri_path(s->arena, d->uri), d->text, d->n}};
        q.at = place_read(json_get(params, "position"));
        q.offset = place_offset(s, d, q.at);
        fn(&q);
    } else
        json_string(&j, "result", NULL);
    json_end(&j, '}');
    send_text(out.s, out.n);
}

/* Why nothing is answered now; NULL: it is. */
static const char *out_of_order(const Server *s, bool begin, int *code)
{
    *code = s->begun || begin ? -32600 : -32002;
    return s->shut              ? "the server was shut down"
           : begin && s->begun  ? "the server was initialized before"
           : !begin && !s->begun ? "the server is not initialized"
                                 : NULL;
}

static void request(Server *s, const JsonValue *m, const char *method)
{
    const JsonValue *id = json_get(m, "id");
    bool begin = !strcmp(method, "initialize");
    int code;
    const char *why = out_of_order(s, begin, &code);
    Json j;
    Str out;

    if (why) {
        send_error(s, id, code, why);
        return;
    }
    for (int i = 0; i < COUNT(questions); i++)
        if (!strcmp(questions[i].method, method)) {
            answer(s, m, questions[i].answer);
            return;
        }
    if (!begin && strcmp(method, "shutdown")) {
        send_error(s, id, -32601, "no such method");
        return;
    }
    open_message(s, &j, &out);
    put_json(&j, "id", id);
    if (begin)
        initialize(s, json_get(m, "params"), &j);
    else
        json_string(&j, "result", NULL);
    s->begun = true;
    s->shut |= !begin;
    json_end(&j, '}');
    send_text(out.s, out.n);
}

static void changed(Server *s, const JsonValue *params)
{
    Document *d = document_find(s, json_get_text(params, "textDocument.uri", ""));
    const JsonValue *list = json_get(params, "contentChanges");

    if (!d)
        return;
    for (const JsonValue *c = list ? list->first : NULL; c; c = c->next)
        document_change(s, d, c);
    d->version = json_get_int(params, "textDocument.version", d->version + 1);
    d->due = now_seconds() + quiet_seconds;
}

static void opened(Server *s, const JsonValue *params)
{
    const JsonValue *text = json_get(params, "textDocument.text");
    const char *uri = json_get_text(params, "textDocument.uri", NULL);

    if (!uri || !text || text->kind != JSON_TEXT)
        return;
    Document *d = document_open(s, uri);
    document_set(d, text->text, text->len);
    d->version = json_get_int(params, "textDocument.version", 0);
    d->due = now_seconds();
}

/* True: the client said exit. */
static bool notice(Server *s, const char *method, const JsonValue *params)
{
    Document *d = document_find(s, json_get_text(params, "textDocument.uri", ""));

    if (!strcmp(method, "textDocument/didOpen"))
        opened(s, params);
    else if (!strcmp(method, "textDocument/didChange"))
        changed(s, params);
    else if (!strcmp(method, "textDocument/didSave") && d)
        d->due = now_seconds();
    else if (!strcmp(method, "textDocument/didClose") && d) {
        publish(s, d, "[]", 2);
        document_close(s, d);
    }
    return !strcmp(method, "exit");
}

static bool take_message(Server *s, const char *text, size_t n)
{
    const char *why = "", *method;
    const JsonValue *m = json_read(s->arena, text, n, &why);

    if (!m) {
        send_error(s, NULL, -32700, why);
        return false;
    }
    method = json_get_text(m, "method", NULL);
    if (!method) /* an answer, to nothing that was asked */
        return false;
    if (!json_get(m, "id"))
        return notice(s, method, json_get(m, "params"));
    s->asked = json_get(m, "id");
    request(s, m, method);
    s->asked = NULL;
    return false;
}

/* A fault of ours is one answer that is an error, not the end. */
static bool handle(Server *s, const char *text, size_t n)
{
    Recover r;
    volatile bool done = false;

    if (recover_open(&r) == 0) {
        done = take_message(s, text, n);
        recover_close(&r);
    } else {
        fprintf(stderr, "tl lsp: %s\n", r.text);
        if (s->asked && recover_open(&r) == 0) {
            send_error(s, s->asked, -32603, "a fault of the server: see what it printed");
            recover_close(&r);
        }
        s->asked = NULL;
    }
    arena_reset(s->arena, (ArenaMark){0});
    return done;
}

/* ---- in -------------------------------------------------------------------------------------- */

typedef struct {
    char *text;
    size_t n, cap;
    bool ended;
} Input;

static void input_read(Input *in)
{
    if (in->cap - in->n < 65536) {
        char *more = realloc(in->text, in->cap * 2 + 131072);
        if (!more) {
            in->ended = true;
            return;
        }
        in->text = more;
        in->cap = in->cap * 2 + 131072;
    }
    ssize_t n = read(0, in->text + in->n, in->cap - in->n - 1);
    in->ended = n == 0 || (n < 0 && errno != EINTR);
    in->n += n > 0 ? (size_t)n : 0;
    in->text[in->n] = 0;
}

/* One message out of the input; false: it is not all there. */
static bool input_next(Input *in, size_t *start, size_t *len)
{
    const char *stop = in->n ? strstr(in->text, "\r\n\r\n") : NULL;
    size_t length = 0;

    if (!stop)
        return false;
    for (const char *p = in->text; p < stop; p = strstr(p, "\r\n") + 2)
        if (!strncasecmp(p, "content-length:", 15))
            length = strtoull(p + 15, NULL, 10);
    *start = (size_t)(stop + 4 - in->text);
    *len = MIN(length, MESSAGE_MOST);
    return in->n - *start >= *len;
}

static bool take_input(Server *s, Input *in)
{
    size_t start, len;
    bool done = false;

    while (!done && input_next(in, &start, &len)) {
        char *text = strndup(in->text + start, len);
        in->n -= start + len;
        memmove(in->text, in->text + start + len, in->n + 1);
        done = text && len && handle(s, text, strlen(text));
        free(text);
    }
    return done;
}

/* ---- the loop -------------------------------------------------------------------------------- */

enum { WATCHED_MOST = 64 };

static int wait_ms(const Server *s)
{
    double due = 0;

    for (const Document *d = s->docs; d; d = d->next)
        if (d->due > 0 && (due == 0 || d->due < due))
            due = d->due;
    return due > 0 ? (int)MAX((due - now_seconds()) * 1e3 + 1, 0) : -1;
}

static void hear_children(Server *s, const struct pollfd *p, Document *const *of, int n)
{
    for (int i = 1; i < n; i++)
        if (p[i].revents && of[i]->child > 0 && of[i]->from == p[i].fd)
            hear_child(s, of[i]);
}

/* False: there is nothing more to do. */
static bool turn(Server *s, Input *in)
{
    struct pollfd p[WATCHED_MOST] = {{.fd = 0, .events = POLLIN}};
    Document *of[WATCHED_MOST] = {0};
    int n = 1;

    for (Document *d = s->docs; d && n < WATCHED_MOST; d = d->next)
        if (d->child > 0) {
            of[n] = d;
            p[n++] = (struct pollfd){.fd = d->from, .events = POLLIN};
        }
    if (poll(p, (nfds_t)n, wait_ms(s)) < 0 && errno != EINTR)
        return false;
    hear_children(s, p, of, n);
    if (p[0].revents)
        input_read(in);
    if (take_input(s, in))
        return false;
    for (Document *d = s->docs; d; d = d->next)
        if (d->due > 0 && d->due <= now_seconds())
            start_child(s, d);
    return !in->ended;
}

static void serve(Server *s)
{
    Input in = {0};

    signal(SIGPIPE, SIG_IGN);
    while (turn(s, &in))
        arena_reset(s->arena, (ArenaMark){0});
    free(in.text);
    while (s->docs)
        document_close(s, s->docs);
}

int lsp_serve(const char *target)
{
    Server s = {.arena = arena_new(), .names = names_new(), .target = strdup(target)};

    if (!s.arena || !s.names || !s.target)
        return 3;
    serve(&s);
    free(s.target);
    names_free(s.names);
    arena_free(s.arena);
    return s.shut ? 0 : 1;
}
