/* subgroups_of.c -- a libwgpu_native.so in front of the real one, whose subgroups have as many threads as a text asks for.
 *
 * Software adapters have subgroups of 4, 8 or 16 threads.  So that a text for another number runs all the same, what it calls of subgroups is
 * made of workgroup memory here: each thread puts a word, all meet, each takes what it asks for.  That is right where all threads of a workgroup come
 * by, which is what such texts promise (in a loop that some leave it would hang: the test has a time limit).  Everything
 * else is the real library, which this one is linked with. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *data;
    size_t n;
} Text;

typedef struct Chain {
    struct Chain *next;
    uint32_t type;
} Chain;

typedef struct {
    Chain chain;
    Text code;
} Wgsl;

typedef struct {
    Chain *next;
    Text label;
} Named;

static const char head[] = "\n//able subgroups; // of "; /* the runtime makes a comment of the line */
static const char mine[] = ", @builtin(subgroup_invocation_id) tl_own_lane: u32, @builtin(subgroup_size) tl_size: u32) {\n";
static const char theirs[] =
    ", @builtin(local_invocation_index) own_index: u32) {\n"
    "    own_thread = own_index; let tl_own_lane = own_index %% %uu; let tl_size = %uu; own_threads = %luu;\n";
static const char words[] =
    "\nconst own_size = %uu;\n"
    "var<workgroup> own_word: array<u32, %lu>;\n"
    "var<private> own_thread: u32;\n"
    "var<private> own_threads: u32;\n"
    "fn own_first() -> u32 { return own_thread / own_size * own_size; }\n"
    "fn own_count() -> u32 { return min(own_size, own_threads - own_first()); }\n"
    "fn own_shuffle_u32(x: u32, lane: u32) -> u32 {\n"
    "    let at = own_first() + lane;\n"
    "    own_word[own_thread] = x;\n"
    "    workgroupBarrier();\n"
    "    let r = own_word[select(own_thread, at, lane < own_count())];\n"
    "    workgroupBarrier();\n"
    "    return r;\n"
    "}\n"
    "fn own_shuffle_i32(x: i32, lane: u32) -> i32 { return bitcast<i32>(own_shuffle_u32(bitcast<u32>(x), lane)); }\n"
    "fn own_shuffle_f32(x: f32, lane: u32) -> f32 { return bitcast<f32>(own_shuffle_u32(bitcast<u32>(x), lane)); }\n"
    "fn own_shuffle_64(x: vec2<u32>, lane: u32) -> vec2<u32> {\n"
    "    let low = own_shuffle_u32(x.x, lane);\n"
    "    return vec2<u32>(low, own_shuffle_u32(x.y, lane));\n"
    "}\n"
    "fn subgroupBallot(x: bool) -> vec4<u32> {\n"
    "    own_word[own_thread] = select(0u, 1u, x);\n"
    "    workgroupBarrier();\n"
    "    var r = vec4<u32>(0u);\n"
    "    for (var i = 0u; i < own_count(); i++) { r[i / 32u] = r[i / 32u] | (own_word[own_first() + i] << (i %% 32u)); }\n"
    "    workgroupBarrier();\n"
    "    return r;\n"
    "}\n"
    "fn subgroupAny(x: bool) -> bool { return any(subgroupBallot(x) != vec4<u32>(0u)); }\n"
    "fn subgroupAll(x: bool) -> bool { return !subgroupAny(!x); }\n";
static const char fold[] =
    "fn own_%s_%s(x: %s) -> %s {\n"
    "    own_word[own_thread] = bitcast<u32>(x);\n"
    "    workgroupBarrier();\n"
    "    var r = bitcast<%s>(own_word[own_first()]);\n"
    "    for (var i = 1u; i < own_count(); i++) { let y = bitcast<%s>(own_word[own_first() + i]); r = %s; }\n"
    "    workgroupBarrier();\n"
    "    return r;\n"
    "}\n";

static const struct {
    const char *call, *name, *how;
    int of_floats;
} folds[] = {
    {"subgroupAdd(", "add", "r + y", 1}, {"subgroupMax(", "max", "max(r, y)", 1}, {"subgroupMin(", "min", "min(r, y)", 1},
    {"subgroupAnd(", "and", "r & y", 0}, {"subgroupOr(", "or", "r | y", 0},
};

/* The type of what a line declares or stores: after its name, here or where that was declared. */
static const char *type_of(const char *text, const char *line)
{
    static const char *const types[] = {"i32", "f32", "vec2<u32>"};
    static const char *const ends[] = {"i32", "f32", "64"};
    const char *colon = line + strcspn(line, ":=\n");
    char name[128], want[140];

    if (*colon == '=') { /* stored: look for its declaration */
        const char *from = line + strspn(line, " ");
        size_t n = strspn(from, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        snprintf(name, sizeof name, "%.*s", (int)n, from);
        snprintf(want, sizeof want, "var %s: ", name);
        const char *at = strstr(text, want);
        colon = at ? at + strlen(want) - 2 : colon;
    }
    colon += *colon == ':';
    colon += strspn(colon, " ");
    for (int i = 0; i < 3; i++)
        if (!strncmp(colon, types[i], strlen(types[i])))
            return ends[i];
    return "u32";
}

/* What is called at p, by another name; NULL: it has none. */
static const char *renamed(const char *text, const char *line, const char *p, size_t *taken, char *name, size_t size)
{
    static const char shuffle[] = "subgroupShuffle(";

    if (!strncmp(p, shuffle, strlen(shuffle))) {
        const char *end = p + strcspn(p, "\n");
        const char *as_bool = memmem(p, (size_t)(end - p), ")) != 0u;", 9);
        *taken = strlen(shuffle);
        snprintf(name, size, "own_shuffle_%s(", as_bool ? "u32" : type_of(text, line));
        return name;
    }
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        if (!strncmp(p, folds[i].call, strlen(folds[i].call))) {
            *taken = strlen(folds[i].call);
            snprintf(name, size, "own_%s_%s(", folds[i].name, type_of(text, line));
            return name;
        }
    return NULL;
}

static void put_words(FILE *out, unsigned lanes, unsigned long most)
{
    static const char *const types[] = {"u32", "i32", "f32"};

    fprintf(out, words, lanes, most);
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        for (int k = 0; k < 2 + folds[i].of_floats; k++)
            fprintf(out, fold, folds[i].name, types[k], types[k], types[k], types[k], types[k], folds[i].how);
}

static char *written_anew(const char *text, unsigned lanes)
{
    static const char size[] = "@workgroup_size(";
    unsigned long x = 1, y = 1, z = 1, most = 1;
    const char *line = text;
    char *made = NULL, name[64];
    size_t n, taken;
    FILE *out = open_memstream(&made, &n);

    for (const char *p = text; (p = strstr(p, size)); p++)
        if (sscanf(p + strlen(size), "%lu, %lu, %lu", &x, &y, &z) == 3 && x * y * z > most)
            most = x * y * z;
    for (const char *p = text; *p;) {
        if (p == text || p[-1] == '\n')
            line = p;
        if (!strncmp(p, size, strlen(size)))
            sscanf(p + strlen(size), "%lu, %lu, %lu", &x, &y, &z);
        if (!strncmp(p, mine, strlen(mine))) {
            fprintf(out, theirs, lanes, lanes, x * y * z);
            p += strlen(mine);
        } else if (renamed(text, line, p, &taken, name, sizeof name)) {
            fputs(name, out);
            p += taken;
        } else {
            fputc(*p++, out);
        }
    }
    put_words(out, lanes, most);
    fclose(out);
    return made;
}

void *wgpuDeviceCreateShaderModule(void *device, const Named *wish)
{
    void *(*real)(void *, const Named *) = (void *(*)(void *, const Named *))dlsym(RTLD_NEXT, "wgpuDeviceCreateShaderModule");
    const Wgsl *wgsl = (const Wgsl *)wish->next;
    const char *at = strstr(wgsl->code.data, head);

    if (!at)
        return real(device, wish);
    Wgsl other = *wgsl;
    Named mended = *wish;
    char *made = written_anew(wgsl->code.data, (unsigned)atoi(at + strlen(head)));
    other.code.data = made;
    other.code.n = strlen(made);
    mended.next = &other.chain;
    if (getenv("SHOW_SUBGROUPS"))
        fputs(made, stderr);
    void *module = real(device, &mended);
    free(made);
    return module;
}
