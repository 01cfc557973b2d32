/* func.c -- functions and kernels: C in, Python out. */
#include "target/cutedsl/cutedsl.h"

void dsl_refuse(Dsl *p, const char *what)
{
    Span at = p->func->kernels.n ? p->func->kernels.at[0]->span : NO_SPAN;

    diag_fail(p->func->ir->diag, at,
              "%s has no words in CuTe DSL, the language of target %s "
              "[unsupported-here]",
              what, p->spec->text);
}

bool dsl_is(const Dsl *p, const char *mark)
{
    return dsl_now(p)->kind == TK_MARK && !strcmp(dsl_now(p)->s, mark);
}

bool dsl_take(Dsl *p, const char *mark)
{
    const Token *t = dsl_now(p);
    bool is = (t->kind == TK_MARK || t->kind == TK_NAME) && !strcmp(t->s, mark);

    p->at += is;
    return is;
}

void dsl_want(Dsl *p, const char *mark)
{
    if (!dsl_take(p, mark))
        dsl_refuse(p, arena_printf(p->arena, "'%s' where '%s' is wanted", dsl_now(p)->s, mark));
}

/* ---- parameters ------------------------------------------------------------------------------ */

static const char *param_type(Dsl *p, DslType t)
{
    static const char *const of[][2] = {
        {"tl_i8", "Int8"},     {"tl_u8", "Uint8"},    {"tl_i16", "Int16"}, {"tl_u16", "Uint16"},
        {"tl_i32", "Int32"},   {"tl_u32", "Uint32"},  {"tl_i64", "Int64"}, {"tl_u64", "Uint64"},
        {"tl_f32", "Float32"}, {"tl_f64", "Float64"}, {"tl_b1", "Boolean"}};

    if (t.stars)
        return "cute.Pointer";
    for (int i = 0; i < COUNT(of); i++)
        if (t.word && !strcmp(of[i][0], t.word))
            return arena_printf(p->arena, "cutlass.%s", of[i][1]);
    return "tl_map";
}

/* A parameter as the body knows it. */
static void param_head(Dsl *p, DslType t, const char *name, bool kernel, bool alone, Str *head)
{
    bool class = t.word && map_has(&p->classes, t.word);

    str_indent(head, 4 * (p->indent + 1));
    if (class && !map_get(&p->classes, t.word)) {
        str_printf(head, "%s = tl_typeof(%s)\n", t.word, name);
        map_set(&p->classes, t.word, p);
        str_indent(head, 4 * (p->indent + 1));
    }
    if (kernel && t.stars)
        str_printf(head, "%s = tl_global(%s, %s%s%s)\n", name, name, t.word,
                   alone ? ", alone=True" : "", t.constant ? ", constant=True" : "");
    else if (kernel && !strcmp(param_type(p, t), "tl_map"))
        str_printf(head, "%s = %s.place()\n", name, name);
    else if (t.stars || t.structure || !t.word)
        str_puts(head, "pass\n");
    else if (map_has(&p->assigned, name))
        map_set(&p->cells, name, p), str_printf(head, "%s = tl_var(%s, %s)\n", name, t.word, name);
    else
        str_printf(head, class ? "pass\n" : "%s = %s(%s)\n", name, t.word, name);
}

static bool is_alone(const Dsl *p, int from)
{
    for (int i = from; i < p->at; i++)
        if (!strcmp(p->tokens.at[i].s, "__restrict__"))
            return true;
    return false;
}

void dsl_params(Dsl *p, bool kernel, Str *names, Str *head)
{
    while (!dsl_take(p, ")")) {
        int from = p->at;
        while (dsl_take(p, "__grid_constant__") || dsl_take(p, "const"))
            ;
        p->at = MAX(p->at - 1, from);
        while (dsl_take(p, "__grid_constant__"))
            ;
        DslType t = dsl_type(p);
        for (int i = from; i < p->at; i++)
            t.constant |= !strcmp(p->tokens.at[i].s, "const");
        const char *name = dsl_name(p, dsl_now(p)->s), *value = NULL;
        p->at++;
        if (dsl_take(p, "[")) {
            t.stars++;
            while (!dsl_take(p, "]"))
                p->at++;
        }
        if (dsl_take(p, "="))
            value = dsl_value(p, dsl_expr(p), DSL_LOOSE);
        str_printf(names, "%s%s", names->n ? ", " : "", name);
        if (kernel) {
            const char *type = param_type(p, t);
            str_printf(names, ": %s", type);
            str_printf(&p->arguments, ", %s_%d: %s", name, p->nkernel, type);
            str_printf(&p->launches, "%s_%d", name, p->nkernel);
            str_puts(&p->launches, dsl_is(p, ")") ? "" : ", ");
            if (t.stars)
                str_printf(&p->examples, ", tl_pointer(%s)", t.word);
            else
                str_printf(&p->examples, !strcmp(type, "tl_map") ? ", tl_map()" : ", %s(1)", type);
        }
        if (value)
            str_printf(names, "=%s", value);
        param_head(p, t, name, kernel, is_alone(p, from), head);
        dsl_take(p, ",");
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Is the only return the last word? */
static bool returns_late(const Dsl *p, int open, int close)
{
    int n = 0, last = -1, depth = 0;

    for (int i = open; i < close; i++) {
        const Token *t = &p->tokens.at[i];
        depth += t->kind == TK_MARK && !strcmp(t->s, "{");
        depth -= t->kind == TK_MARK && !strcmp(t->s, "}");
        if (t->kind == TK_NAME && !strcmp(t->s, "return") && depth == 1)
            n++, last = i;
        else if (t->kind == TK_NAME && !strcmp(t->s, "return"))
            n += 2;
    }
    return n > 1 ||
           (n == 1 && strcmp(p->tokens.at[last - 1].s, ";") &&
            strcmp(p->tokens.at[last - 1].s, "{") && strcmp(p->tokens.at[last - 1].s, "}"));
}

static bool has_control(const Dsl *p, int open, int close)
{
    static const char *const words[] = {"if", "for", "while"};

    for (int i = open; i < close; i++)
        for (int w = 0; w < COUNT(words); w++)
            if (p->tokens.at[i].kind == TK_NAME && !strcmp(p->tokens.at[i].s, words[w]))
                return true;
    return false;
}

/* From the name on: parameters and body. */
static void function(Dsl *p, DslType returns, const char *name, bool kernel)
{
    Str names, head;
    int open = p->at;

    str_init(&names, p->arena), str_init(&head, p->arena);
    while (strcmp(p->tokens.at[open].s, "{"))
        open++;
    int close = dsl_close_of(p, open);
    bool lambda = false; /* whose returns are its own */
    for (int i = open; i < close; i++)
        lambda |= p->tokens.at[i].kind == TK_MARK && !strcmp(p->tokens.at[i].s, "[") &&
                  !strcmp(p->tokens.at[i + 1].s, "=");
    dsl_find_cells(p, open);
    for (int i = 0; i < p->numbers.n; i++)
        str_printf(&names, "%s%s", i ? ", " : "", (const char *)p->numbers.at[i].key);
    dsl_want(p, "(");
    dsl_params(p, kernel, &names, &head);
    dsl_want(p, "{");
    p->returns = returns;
    p->result = !lambda && returns.word && returns_late(p, open, close) ? "tl_result" : NULL;
    if (kernel || has_control(p, open, close))
        dsl_line(p, kernel ? "@cute.kernel" : "@cute.jit");
    dsl_line(p, "def %s(%s):", name, names.n ? names.s : "");
    str_puts(p->out, head.n ? head.s : "    pass\n");
    p->indent++;
    if (p->result)
        dsl_line(p, "%s = tl_var(%s)", p->result, returns.word);
    dsl_block(p);
    if (p->result)
        dsl_line(p, "return %s[0]", p->result);
    p->indent--;
    str_puts(p->out, "\n\n");
}

/* [=](T x) { return …; }: a function of its own before the statement. */
const char *dsl_lambda(Dsl *p)
{
    Str body, names, head, *out = p->out;
    const char *name = arena_printf(p->arena, "tl_step_%d", p->nstep++), *result = p->result;
    DslType returns = p->returns;

    str_init(&body, p->arena), str_init(&names, p->arena), str_init(&head, p->arena);
    while (!dsl_take(p, "]"))
        p->at++;
    dsl_want(p, "(");
    Str before = p->before;
    str_init(&p->before, p->arena);
    p->out = &body;
    p->result = NULL;
    p->returns = (DslType){0};
    dsl_params(p, false, &names, &head);
    dsl_want(p, "{");
    dsl_line(p, "def %s(%s):", name, names.n ? names.s : "");
    str_puts(p->out, head.n ? head.s : "");
    p->indent++;
    dsl_block(p);
    p->indent--;
    p->out = out;
    p->result = result;
    p->returns = returns;
    p->rest = DSL_WHOLE;
    p->before = before;
    str_putn(&p->before, body.s, body.n);
    return name;
}

/* Those that device/cutedsl has itself: C in which they have no words in Python. */
static bool is_own(const char *name)
{
    static const char *const own[] = {
        "tl_update_word", "tl_update_long", "tl_update_part", "tl_settled",  "tl_shared_address",
        "tl_match_all",   "tl_warp_sum",    "tl_warp_max",    "tl_warp_min", "tl_warp_and",
        "tl_warp_or",     "tl_bits_f32",    "tl_f32_bits",    "tl_fail"};
    for (int i = 0; i < COUNT(own); i++)
        if (!strcmp(own[i], name))
            return true;
    return false;
}

static void skip_body(Dsl *p)
{
    while (!dsl_is(p, "{"))
        p->at++;
    p->at = dsl_close_of(p, p->at) + 1;
}

/* ---- the text -------------------------------------------------------------------------------- */

static void structure(Dsl *p)
{
    Str s;

    str_init(&s, p->arena);
    if (dsl_take(p, "__align__"))
        p->at += 3;
    const char *name = dsl_now(p)->s;
    p->at++;
    dsl_want(p, "{");
    while (!dsl_take(p, "}")) {
        DslType t = dsl_type(p);
        do {
            str_printf(&s, "%s%s=", s.n ? ", " : "", dsl_now(p)->s);
            p->at++;
            if (dsl_take(p, "[")) {
                str_printf(&s, "(%s, %s)", t.word, dsl_now(p)->s);
                p->at += 2;
            } else {
                str_puts(&s, t.word);
            }
        } while (dsl_take(p, ","));
        dsl_want(p, ";");
    }
    dsl_want(p, ";");
    if (!strcmp(name, "TlTensorMap"))
        return;
    map_set(&p->structures, name, p);
    dsl_line(p, "%s = tl_struct(%s)\n\n", name, s.n ? s.s : "");
}

static void template(Dsl *p)
{
    dsl_want(p, "<");
    while (!dsl_take(p, ">")) {
        bool class = dsl_take(p, "class") || dsl_take(p, "typename");
        if (!class)
            dsl_type(p);
        map_set(class ? &p->classes : &p->numbers, dsl_now(p)->s, NULL);
        p->at++;
        dsl_take(p, ",");
    }
}

/* __cluster_dims__(…) __launch_bounds__(…) name(…) { … } */
static void kernel(Dsl *p)
{
    const char *blocks = NULL, *cluster = NULL;

    for (;;) {
        bool is_cluster = dsl_take(p, "__cluster_dims__");
        if (!is_cluster && !dsl_take(p, "__launch_bounds__"))
            break;
        dsl_want(p, "(");
        const char *list = dsl_list(p, ")");
        const char *comma = strchr(list, ',');
        if (is_cluster)
            cluster = list;
        else if (comma)
            blocks = comma + 2;
    }
    const char *name = dsl_name(p, dsl_now(p)->s);
    p->at++;
    const Kernel *k = p->func->kernels.at[p->nkernel];
    str_printf(&p->launches, "    %s(", name);
    function(p, (DslType){0}, name, true);
    str_printf(&p->launches,
               ").launch(grid=(tl_x_%d, tl_y_%d, tl_z_%d), block=(%d, %d, %d), smem=%lld",
               p->nkernel, p->nkernel, p->nkernel, MAX(k->threads[0], 1) + k->extra_threads,
               MAX(k->threads[1], 1), MAX(k->threads[2], 1), (long long)k->arena_bytes);
    if (blocks)
        str_printf(&p->launches, ", min_blocks_per_mp=%s", blocks);
    if (cluster)
        str_printf(&p->launches, ", cluster=(%s)", cluster);
    str_puts(&p->launches, ")\n");
    p->nkernel++;
}

static void routine(Dsl *p, const char *space)
{
    while (dsl_take(p, "TL_DEVICE") || dsl_take(p, "static") || dsl_take(p, "__device__") ||
           dsl_take(p, "__forceinline__"))
        ;
    DslType t = dsl_type(p);
    const char *name = dsl_name(p, dsl_now(p)->s);
    p->at++;
    if (*space)
        name = arena_printf(p->arena, "%s__%s", space, name);
    if (!dsl_is(p, "("))
        dsl_refuse(p, "a variable of the whole device");
    if (p->classes.n || p->numbers.n)
        map_set(&p->templates, name, p);
    if (is_own(name))
        skip_body(p);
    else
        function(p, t, name, false);
    map_init_text(&p->classes, p->arena);
    map_init_text(&p->numbers, p->arena);
}

void cutedsl_translate(Dsl *p, const char *text)
{
    const char *space = "";

    cutedsl_lex(p->arena, text, &p->tokens);
    map_init_text(&p->structures, p->arena);
    map_init_text(&p->classes, p->arena);
    map_init_text(&p->numbers, p->arena);
    map_init_text(&p->templates, p->arena);
    str_init(&p->before, p->arena), str_init(&p->launches, p->arena);
    str_init(&p->arguments, p->arena), str_init(&p->examples, p->arena);
    while (dsl_now(p)->kind != TK_END) {
        if (dsl_now(p)->kind == TK_NOTE || dsl_now(p)->kind == TK_UNROLL) {
            if (!strcmp(dsl_now(p)->s, CUTEDSL_KERNELS))
                dsl_line(p, "# %s\n\n", CUTEDSL_KERNELS);
            p->at++;
        } else if (dsl_take(p, "typedef")) {
            while (!dsl_take(p, ";"))
                p->at++;
        } else if (dsl_take(p, "struct")) {
            structure(p);
        } else if (dsl_take(p, "template")) {
            template(p);
        } else if (dsl_take(p, "namespace")) {
            space = dsl_now(p)->s;
            p->at++;
            dsl_want(p, "{");
        } else if (dsl_take(p, "}")) {
            space = "";
        } else if (dsl_take(p, "extern")) {
            p->at++; /* "C" */
            if (dsl_take(p, "__global__"))
                dsl_want(p, "void"), kernel(p);
            else
                while (!dsl_take(p, ";")) /* printf, which device/cutedsl has */
                    p->at++;
        } else {
            routine(p, space);
        }
    }
}
