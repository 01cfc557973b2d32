/* bundle_check.c -- a bundle on the machine where it is to run: is it whole, and what of it runs.
 *
 * What a part needs is told by the bundle itself: its library has NAME_check(), which asks the
 * driver or the CPU as the first call would.  Nothing of it is loaded before its hashes are right.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include "api/bundle.h"

typedef int CheckFn(char *text, size_t n);

static const JsonValue *read_manifest(Arena *a, const char *dir)
{
    char *text;
    size_t n;
    const char *why = "";

    if (file_read(a, path_join(a, dir, "manifest.json"), &text, &n, &why) != STATUS_OK)
        recover_throw(STATUS_USER, "%s is no bundle: %s [bundle-manifest]", dir, why);
    const JsonValue *m = json_read(a, text, n, &why);
    if (!m || !json_get_text(m, "name", NULL))
        recover_throw(STATUS_USER, "%s/manifest.json is not one of a bundle: %s [bundle-manifest]",
                      dir, m ? "there is no name in it" : why);
    int64_t format = json_get_int(m, "format", 1);
    if (format > BUNDLE_FORMAT)
        recover_throw(STATUS_USER,
                      "%s has format %lld, of a later release; this one reads up to %d: "
                      "its library runs without this check [bundle-format]",
                      dir, (long long)format, BUNDLE_FORMAT);
    return m;
}

static void check_file(Arena *a, const char *dir, const JsonValue *f)
{
    const char *name = json_get_text(f, "name", NULL), *hash = json_get_text(f, "xxh3_128", NULL),
               *why = "";
    char *data, hex[33];
    size_t n;

    if (!name || !hash || strchr(name, '/'))
        recover_throw(STATUS_USER, "%s/manifest.json names a file that none has [bundle-manifest]",
                      dir);
    if (file_read(a, path_join(a, dir, name), &data, &n, &why) != STATUS_OK)
        recover_throw(STATUS_USER, "%s is not whole: %s [bundle-changed]", dir, why);
    hash_hex(data, n, hex);
    if (strcmp(hex, hash) != 0)
        recover_throw(STATUS_USER,
                      "%s: '%s' is not the file that was built; build the bundle again, "
                      "or copy it again [bundle-changed]",
                      dir, name);
}

/* The library, which must be for this machine; NULL: *why. */
static void *open_library(Arena *a, const char *dir, const char *file, const char **why)
{
    char *real = realpath(path_join(a, dir, file), arena_alloc(a, PATH_MAX));
    void *h = real ? dlopen(real, RTLD_NOW | RTLD_LOCAL) : NULL;

    if (!h)
        *why = real ? arena_strdup(a, dlerror()) : "its library is not there";
    return h;
}

/* Lines of NAME_check, one for each part; true: one without a condition runs. */
static bool ask_library(Arena *a, void *h, const JsonValue *m, Str *out)
{
    const char *name = json_get_text(m, "name", NULL);
    void *at = dlsym(h, arena_printf(a, "%s_check", name));
    const JsonValue *parts = json_get(m, "parts"), *p = parts ? parts->first : NULL;
    char *text = arena_alloc(a, 1 << 16);
    CheckFn *check;
    bool any = false;

    if (!at) {
        str_printf(out,
                   "%s: of format 1, which an older release made; its library loads, and does not "
                   "tell more: build it again to know\n",
                   name);
        return dlsym(h, name) != NULL;
    }
    memcpy(&check, &at, sizeof at);
    check(text, 1 << 16);
    str_puts(out, text);
    for (char *line = text; *line && p; p = p->next) {
        size_t n = strcspn(line, "\n");
        const char *end = " runs here";
        bool fine = n > strlen(end) && !strncmp(line + n - strlen(end), end, strlen(end));
        any |= fine && !json_get_text(p, "where", NULL);
        line += n + (line[n] == '\n');
    }
    return any;
}

/* Of a bundle without a library: the runtime of its target says whether there is a device. */
static bool ask_runtime(Arena *a, const JsonValue *m, Str *out)
{
    const char *target = json_get_text(m, "target", NULL), *why = "";
    const Runtime *rt = target ? runtime_find(target) : NULL;
    Gpu *g = NULL;

    if (!rt || !rt->open || rt->bundle) {
        str_printf(out,
                   "%s: does not run here: it was made where there was no C compiler; compile %s.c "
                   "as its first lines say\n",
                   json_get_text(m, "name", NULL), json_get_text(m, "name", NULL));
        return false;
    }
    if (rt->open(a, &g, &why) != STATUS_OK) {
        str_printf(out, "%s: does not run here: %s\n", target, why);
        return false;
    }
    str_printf(out, "%s: runs here, on %s\n", target, gpu_name(g));
    return true;
}

bool bundle_check(Arena *a, const char *dir, Str *out)
{
    const JsonValue *m = read_manifest(a, dir), *files = json_get(m, "files");
    const char *library = json_get_text(m, "library", NULL), *why = "";
    int nfile = 0;

    for (const JsonValue *f = files ? files->first : NULL; f; f = f->next, nfile++)
        check_file(a, dir, f);
    if (json_get_int(m, "format", 1) == 1)
        library = arena_printf(a, "lib%s.so", json_get_text(m, "name", NULL));
    str_printf(out, "%s: %s, format %lld, %s, %d files as they were built\n", dir,
               json_get_text(m, "name", NULL), (long long)json_get_int(m, "format", 1),
               json_get_text(m, "made_by", NULL) ? json_get_text(m, "made_by", NULL)
                                                 : "of an older release",
               nfile);
    if (!library)
        return ask_runtime(a, m, out);
    void *h = open_library(a, dir, library, &why);
    if (!h) {
        str_printf(out, "%s: does not run here: %s\n", library, why);
        return false;
    }
    return ask_library(a, h, m, out);
}
