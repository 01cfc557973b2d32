/* ptx.c -- assembly statements of CUDA C as calls of the functions of ptx.def.
 *
 *     asm volatile("TEMPLATE" : outputs : inputs : clobbers)
 *
 * becomes one statement: inputs are copied in the width that their letter says, the instructions of
 * the template follow one by one, each with the addresses of its operands.  So the wiring of a
 * wrapper is run too, not only its name. */
#include <ctype.h>
#include "target/cuda/twin/ptx.h"

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *pattern;
    PtxMeaning *meaning;
} rows[] = {
#define PTX(pattern, meaning) {pattern, ptx_##meaning},
#include "target/cuda/twin/ptx.def"
#undef PTX
};

static bool fits(const char *p, const char *s)
{
    for (; *p; p++) {
        if (*p != '#' && *p != '$') {
            if (*p != *s++)
                return false;
            continue;
        }
        const char *from = s;
        while (*p == '#' ? isdigit((unsigned char)*s) : isalnum((unsigned char)*s) || *s == '_')
            s++;
        if (s == from)
            return false;
    }
    return *s == 0;
}

int ptx_row(const char *name)
{
    for (int i = 0; i < COUNT(rows); i++)
        if (fits(rows[i].pattern, name))
            return i;
    return -1;
}

void ptx_op(int row, const char *name, void *const *at, int n)
{
    if (machine.self)
        ptx_thread(machine.self)->nop++;
    rows[row].meaning(name, at, n);
}

bool ptx_type(const char *word, size_t n, DType *t)
{
    static const struct {
        const char *word;
        DType type;
    } types[] = {
        {"f16", DT_F16},   {"bf16", DT_BF16}, {"tf32", DT_TF32}, {"f32", DT_F32}, {"f64", DT_F64},
        {"e4m3", DT_E4M3}, {"e5m2", DT_E5M2}, {"s8", DT_I8},     {"u8", DT_U8},   {"s4", DT_I4},
        {"u4", DT_U4},     {"s32", DT_I32},
    };

    for (int i = 0; i < COUNT(types); i++)
        if (strlen(types[i].word) == n && !strncmp(types[i].word, word, n)) {
            *t = types[i].type;
            return true;
        }
    return false;
}

/* ---- reading the statement ------------------------------------------------------------------- */

typedef struct {
    Arena *a;
    const char *at;
    Str *out;
    Str code;       /* the template */
    int noperand;
    int nconstant;
    const char *why;
} Reader;

static void skip_space(Reader *r)
{
    r->at += strspn(r->at, " \t\n");
}

static bool take(Reader *r, char c)
{
    skip_space(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool complain(Reader *r, const char *what)
{
    if (!r->why)
        r->why = what;
    return false;
}

/* String literals one after the other, as one text. */
static bool read_string(Reader *r, Str *to)
{
    skip_space(r);
    if (*r->at != '"')
        return complain(r, "a string is missing in an assembly statement");
    while (take(r, '"')) {
        for (; *r->at && *r->at != '"'; r->at++) {
            char c = *r->at;
            if (c == '\\') {
                c = *++r->at;
                c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
            }
            str_putc(to, c);
        }
        r->at += *r->at == '"';
    }
    return true;
}

/* What is between parentheses. */
static const char *read_expression(Reader *r)
{
    if (!take(r, '('))
        return NULL;
    const char *from = r->at;
    int depth = 1;
    for (; *r->at && depth; r->at++)
        depth += (*r->at == '(') - (*r->at == ')');
    return depth ? NULL : arena_strndup(r->a, from, (size_t)(r->at - 1 - from));
}

static const char *letter_type(char c)
{
    switch (c) {
    case 'r': return "unsigned";
    case 'l': return "unsigned long long";
    case 'h': return "unsigned short";
    case 'f': return "float";
    case 'd': return "double";
    case 'n': return "int";
    default: return NULL;
    }
}

/* "=r"(x), "+f"(c[0]): its address; "r"(e): that of a copy.  Of an MMA that works while its
 * thread goes on it is the register itself, where there is one. */
static bool read_operand(Reader *r, bool outputs)
{
    Str letters;

    str_init(&letters, r->a);
    if (!read_string(r, &letters))
        return false;
    const char *x = read_expression(r);
    const char *type = letter_type(letters.s[outputs ? 1 : 0]);
    if (!x || !type || (outputs && letters.s[0] != '=' && letters.s[0] != '+'))
        return complain(r, "an operand of an assembly statement cannot be read");
    int i = r->noperand++;
    if (outputs)
        str_printf(r->out, "static_assert(sizeof(%s) == sizeof(%s), \"operand\"); "
                           "void *const tl_a%d = (void *)&(%s); ", x, type, i, x);
    else if (strstr(r->code.s, ".mma_async"))
        str_printf(r->out, "%s tl_i%d = (%s)(%s); void *const tl_a%d = tl_place(%s, &tl_i%d); ",
                   type, i, type, x, i, x, i);
    else
        str_printf(r->out, "%s tl_i%d = (%s)(%s); void *const tl_a%d = &tl_i%d; ", type, i, type, x,
                   i, i);
    return true;
}

static bool read_operands(Reader *r, bool outputs)
{
    skip_space(r);
    while (*r->at == '"') {
        if (!read_operand(r, outputs))
            return false;
        if (!take(r, ','))
            break;
        skip_space(r);
    }
    return true;
}

static bool read_clobbers(Reader *r)
{
    Str ignored;

    str_init(&ignored, r->a);
    skip_space(r);
    while (*r->at == '"') {
        if (!read_string(r, &ignored))
            return false;
        if (!take(r, ','))
            break;
    }
    return true;
}

/* ---- writing its instructions ---------------------------------------------------------------- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':';
}

/* One operand of the list; *s behind it. */
static bool put_operand(Reader *r, const char **s, Str *list)
{
    const char *from = *s;

    if (**s == '%' && (*s)[1] == '%') { /* a register that is only read */
        for (*s += 2; is_word(**s); (*s)++)
            ;
        str_printf(r->out, "unsigned long long tl_k%d = tl_host->special(\"%.*s\"); ", r->nconstant,
                   (int)(*s - from - 2), from + 2);
        str_printf(list, "&tl_k%d, ", r->nconstant++);
        return true;
    }
    if (**s == '%') {
        int i = 0;
        for ((*s)++; isdigit((unsigned char)**s); (*s)++)
            i = i * 10 + **s - '0';
        str_printf(list, "tl_a%d, ", i);
        return i < r->noperand || complain(r, "an assembly statement names an operand it has not");
    }
    while (is_word(**s))
        (*s)++;
    int n = (int)(*s - from);
    if (n == 0)
        return complain(r, arena_printf(r->a, "'%c' in an assembly statement", **s));
    if (n == 1 && *from == '_') {
        str_puts(list, "0, ");
    } else if (isdigit((unsigned char)*from)) {
        bool whole = !memchr(from, '.', (size_t)n);
        str_printf(r->out, "%s tl_k%d = %.*s; ", whole ? "int" : "double", r->nconstant, n, from);
        str_printf(list, "&tl_k%d, ", r->nconstant++);
    } else {
        str_printf(list, "&tl_v_%.*s, ", n, from);
    }
    return true;
}

/* ".reg .b32 there" */
static bool put_register(Reader *r, const char *s)
{
    s += strcspn(s, " \t");
    s += strspn(s, " \t");
    bool wide = !strncmp(s, ".b128", 5);
    s += strcspn(s, " \t");
    s += strspn(s, " \t");
    str_printf(r->out, "unsigned long long tl_v_%.*s%s = {0}; ", (int)strcspn(s, " \t\n;"), s,
               wide ? "[2]" : "");
    return true;
}

/* One instruction without its semicolon. */
static bool put_instruction(Reader *r, const char *s)
{
    Str list;
    int n = 0;

    if (!strncmp(s, ".reg", 4))
        return put_register(r, s);
    str_init(&list, r->a);
    if (*s == '@') {
        bool not = s[1] == '!';
        size_t len = strcspn(s += 1 + not, " \t");
        str_printf(r->out, "if (%s(unsigned)tl_v_%.*s) ", not ? "!" : "", (int)len, s);
        s += len + strspn(s + len, " \t\n");
    }
    size_t len = strcspn(s, " \t\n");
    char *name = arena_strndup(r->a, s, len);
    const char *first = strchr(s, ']');
    if (!strncmp(name, "tcgen05.mma", 11) && first && !strncmp(first, "], [", 4)) /* A is one too */
        name = arena_printf(r->a, "%s.ts", name);
    int row = ptx_row(name);
    if (row < 0)
        return complain(r, arena_printf(r->a, "the instruction %s", name));
    str_puts(r->out, "{ ");
    for (s += len;;) {
        s += strspn(s, " \t\n[]{},|");
        if (!*s)
            break;
        if (!put_operand(r, &s, &list))
            return false;
        n++;
    }
    str_printf(r->out, "void *const tl_r[] = {%s0}; tl_host->op(%d, \"%s\", tl_r, %d); } ", list.s,
               row, name, n);
    return true;
}

/* A "{" or "}" where an instruction could start is one of C++ too. */
static bool put_template(Reader *r)
{
    if (r->code.n == 0 && r->noperand) {
        str_printf(r->out, "void *const tl_r[] = {");
        for (int i = 0; i < r->noperand; i++)
            str_printf(r->out, "tl_a%d, ", i);
        str_printf(r->out, "0}; tl_host->op(%d, \"changed\", tl_r, %d); ", ptx_row("changed"),
                   r->noperand);
    }
    for (char *s = r->code.s;;) {
        s += strspn(s, " \t\n;");
        if (!*s)
            return true;
        if (*s == '{' || *s == '}') {
            str_printf(r->out, "%c ", *s++);
            continue;
        }
        size_t n = strcspn(s, ";");
        if (!put_instruction(r, arena_strndup(r->a, s, n)))
            return false;
        s += n;
    }
}

bool ptx_assembly(Arena *a, const char **at, Str *out, const char **why)
{
    Reader r = {.a = a, .at = *at, .out = out};

    str_init(&r.code, a);
    skip_space(&r);
    if (!strncmp(r.at, "volatile", 8))
        r.at += 8;
    str_puts(out, "do { ");
    bool ok = take(&r, '(') && read_string(&r, &r.code);
    if (ok && take(&r, ':'))
        ok = read_operands(&r, true);
    if (ok && take(&r, ':'))
        ok = read_operands(&r, false);
    if (ok && take(&r, ':'))
        ok = read_clobbers(&r);
    ok = ok && (take(&r, ')') || complain(&r, "an assembly statement does not end"));
    ok = ok && put_template(&r);
    str_puts(out, "} while (0)");
    *at = r.at;
    *why = r.why ? r.why : "an assembly statement cannot be read";
    return ok;
}
