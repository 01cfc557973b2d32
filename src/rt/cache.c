/* cache.c -- compiled kernels on disk, named by the hash of everything that made them.
 *
 *     ROOT/kernels/<hash>/  key.txt kernel.c kernel.so manifest      complete, or not there
 *     ROOT/tmp/<pid>.<n>    being built; swept when an hour old
 *
 * An entry appears by the rename of its folder.  The manifest, written last, has the size and hash
 * of the other files: what a full disk, a power cut or a hand has damaged is found and built again.
 * The whole key is compared on a hit, so that equal hashes cannot load a wrong kernel.  An entry
 * that somebody else could have made or changed is not loaded (base/trust.c).
 *
 * Below the user's own cache may lie others that are only read, such as a folder of root's or a
 * layer of an image: TILELANG_SHARED_CACHE has their roots, by colons, the first found first. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "rt/rt.h"

#define CACHE_FORMAT "tilelang cache 1"
enum { STALE_SECONDS = 3600, MACHINE_BYTES = 16 << 10 };

/* ---- keys ------------------------------------------------------------------------------------ */

/* The name and feature list of the first core: two machines that agree run each other's code. */
static const char *cache_machine(Arena *a)
{
    char *text = NEWN(a, char, MACHINE_BYTES + 1);
    FILE *f = fopen("/proc/cpuinfo", "re");
    size_t n = f ? fread(text, 1, MACHINE_BYTES, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;

    const char *name = strstr(text, "model name"), *flags = strstr(text, "\nflags");
    if (!flags)
        flags = strstr(text, "\nFeatures");
    char hex[33] = "unknown";
    if (flags)
        hash_hex(flags + 1, strcspn(flags + 1, "\n"), hex);
    const char *colon = name ? strchr(name, ':') : NULL;
    const char *model = colon ? arena_strndup(a, colon + 2, strcspn(colon + 2, "\n")) : "unknown";
    return arena_printf(a, "%s %s", model, hex);
}

/* What a comment says (where the kernel was written) becomes no code; that it takes a line is in
 * the line numbers of the code. */
static void put_code_lines(Str *t, const char *s, const char *end)
{
    while (s < end) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        stop = stop ? stop + 1 : end;
        const char *word = s;
        while (word < stop && *word == ' ')
            word++;
        bool comment = stop - word > 1 && word[0] == '/' && word[1] == '/';
        comment ? str_puts(t, "//\n") : str_putn(t, s, (size_t)(stop - s));
        s = stop;
    }
}

CacheKey cache_key(Arena *a, const Compiler *c, const ModuleSpec *s, const char *const *flags,
                   int nflag)
{
    Str t;
    CacheKey k;
    bool native = strcmp(s->spec->arch, "native") == 0;

    str_init(&t, a);
    str_printf(&t, "kernel: %s\nformat: %s\n", s->name, CACHE_FORMAT);
    str_printf(&t, "target: %s\nmachine: %s\n", s->spec->text, native ? cache_machine(a) : "any");
    str_printf(&t, "compiler: %s%s%s\nversion: %s\nflags:", c->path,
               c->words && *c->words ? " " : "", c->words ? c->words : "", c->version);
    for (int i = 0; i < nflag; i++)
        str_printf(&t, " %s", flags[i]);
    str_puts(&t, "\nsource:\n");
    if (s->only_ours)
        put_code_lines(&t, s->source, s->source + s->nsource);
    else
        str_putn(&t, s->source, s->nsource);
    k.text = t.s;
    k.n = t.n;
    hash_hex(t.s, t.n, k.name);
    return k;
}

/* ---- folders --------------------------------------------------------------------------------- */

static char *kernels_dir(Arena *a)
{
    return path_join(a, cache_root(a), "kernels");
}

/* The next of the caches that are only read, or NULL; *rest is getenv's at first. */
static char *next_shared(Arena *a, const char **rest)
{
    while (*rest && **rest) {
        size_t n = strcspn(*rest, ":");
        char *root = arena_strndup(a, *rest, n);
        *rest += n + ((*rest)[n] == ':');
        if (n)
            return root;
    }
    return NULL;
}

static const char *shared_caches(void)
{
    return getenv("TILELANG_SHARED_CACHE");
}

static char *temp_dir(Arena *a)
{
    return path_join(a, cache_root(a), "tmp");
}

static void sweep_temp(Arena *a)
{
    char **names;
    int n = 0;
    const char *why;
    struct stat st;
    char *dir = temp_dir(a);

    if (dir_list(a, dir, &names, &n, &why) != STATUS_OK)
        return;
    for (int i = 0; i < n; i++) {
        char *path = path_join(a, dir, names[i]);
        if (stat(path, &st) == 0 && time(NULL) - st.st_mtime > STALE_SECONDS)
            tree_remove(path);
    }
}

static bool private_dir(Arena *a, const char *base, char **dir)
{
    char *t = path_join(a, base, "tilelang-XXXXXX");
    if (!mkdtemp(t))
        return false;
    *dir = t;
    return true;
}

Status cache_open(Arena *a, char **dir, bool *shared, const char **why)
{
    static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};
    const char *own = getenv("TMPDIR");

    *shared =
        *shared && dir_make(a, temp_dir(a), why) == STATUS_OK && private_dir(a, temp_dir(a), dir);
    if (*shared) {
        sweep_temp(a);
        return STATUS_OK;
    }
    if (own && *own && private_dir(a, own, dir))
        return STATUS_OK;
    for (int i = 0; i < COUNT(places); i++)
        if (private_dir(a, places[i], dir))
            return STATUS_OK;
    *why = arena_printf(a, "no folder to build in: %s, TMPDIR, /tmp: %s", cache_root(a),
                        strerror(errno));
    return STATUS_IO;
}

/* ---- entries --------------------------------------------------------------------------------- */

static const char *const parts[] = {"key.txt", "kernel.c", "kernel.so"};

static bool manifest_text(Arena *a, const char *dir, Str *out)
{
    str_printf(out, "%s\n", CACHE_FORMAT);
    for (int i = 0; i < COUNT(parts); i++) {
        char *data, hex[33];
        size_t n;
        const char *why;
        if (file_read(a, path_join(a, dir, parts[i]), &data, &n, &why) != STATUS_OK)
            return false;
        hash_hex(data, n, hex);
        str_printf(out, "%s %zu %s\n", parts[i], n, hex);
    }
    return true;
}

static bool entry_is_whole(Arena *a, const char *dir)
{
    Str want;
    char *got;
    size_t n;
    const char *why;

    str_init(&want, a);
    return file_read(a, path_join(a, dir, "manifest"), &got, &n, &why) == STATUS_OK &&
           manifest_text(a, dir, &want) && n == want.n && memcmp(got, want.s, n) == 0;
}

/* What is wrong with whose an entry is, or NULL. */
static const char *entry_distrust(Arena *a, const char *kernels, const char *name)
{
    const char *why = path_distrust(a, kernels), *dir = path_join(a, kernels, name);

    if (!why)
        why = file_distrust(a, dir);
    for (int i = 0; !why && i < COUNT(parts); i++)
        why = file_distrust(a, path_join(a, dir, parts[i]));
    return why ? why : file_distrust(a, path_join(a, dir, "manifest"));
}

/* Of an entry of the caches that are only read.  One that is not there is no one's. */
static const char *shared_distrust(Arena *a, const CacheKey *k)
{
    const char *rest = shared_caches(), *root, *why = NULL;

    while (!why && (root = next_shared(a, &rest))) {
        const char *kernels = path_join(a, root, "kernels");
        if (file_exists(path_join(a, kernels, k->name)))
            why = entry_distrust(a, kernels, k->name);
    }
    return why;
}

const char *cache_complaint(Arena *a, const CacheKey *k)
{
    const char *why = cache_root_distrust(a);

    if (why)
        return arena_printf(a, "%s: no kernel is loaded from there, and the cache is %s instead "
                            "[cache-shared]", why, cache_root(a));
    why = entry_distrust(a, kernels_dir(a), k->name);
    if (!why)
        why = shared_distrust(a, k);
    return why ? arena_printf(a, "%s: this entry of the cache is not loaded, and the kernel is "
                              "compiled again [cache-shared]", why)
               : NULL;
}

static const char *get_from(Arena *a, const char *kernels, const CacheKey *k)
{
    char *dir = path_join(a, kernels, k->name), *key;
    size_t n;
    const char *why;

    if (entry_distrust(a, kernels, k->name))
        return NULL;
    if (file_read(a, path_join(a, dir, "key.txt"), &key, &n, &why) != STATUS_OK)
        return NULL;
    if (n != k->n || memcmp(key, k->text, n) != 0 || !entry_is_whole(a, dir))
        return NULL;
    return path_join(a, dir, "kernel.so");
}

const char *cache_get(Arena *a, const CacheKey *k)
{
    const char *rest = shared_caches(), *root, *found = get_from(a, kernels_dir(a), k);

    while (!found && (root = next_shared(a, &rest)))
        found = get_from(a, path_join(a, root, "kernels"), k);
    return found;
}

/* Whatever the umask, none of it may be written to by others: it would not be loaded. */
static bool fill_entry(Arena *a, const CacheKey *k, const char *dir)
{
    Str manifest;
    const char *why, *last = path_join(a, dir, "manifest");

    str_init(&manifest, a);
    if (file_write(a, path_join(a, dir, "key.txt"), k->text, k->n, &why) != STATUS_OK ||
        !manifest_text(a, dir, &manifest) ||
        file_write(a, last, manifest.s, manifest.n, &why) != STATUS_OK || chmod(last, 0644) != 0)
        return false;
    for (int i = 0; i < COUNT(parts); i++)
        if (chmod(path_join(a, dir, parts[i]), 0644) != 0)
            return false;
    return true;
}

void cache_drop(Arena *a, const CacheKey *k)
{
    char *trash = path_temp(a, temp_dir(a), k->name);
    if (rename(path_join(a, kernels_dir(a), k->name), trash) == 0)
        tree_remove(trash);
}

/* The folder may be there already: from another process (then it is as good as ours), or damaged
 * (then it is moved out of the way first). */
static bool publish(Arena *a, const CacheKey *k, const char *dir, const char *final)
{
    if (rename(dir, final) == 0)
        return true;
    if (errno != EEXIST && errno != ENOTEMPTY)
        return false;
    if (get_from(a, kernels_dir(a), k))
        return true;
    cache_drop(a, k);
    return rename(dir, final) == 0 || get_from(a, kernels_dir(a), k) != NULL;
}

const char *cache_put(Arena *a, const CacheKey *k, const char *dir)
{
    const char *why, *own = path_join(a, dir, "kernel.so");
    char *final = path_join(a, kernels_dir(a), k->name);

    if (dir_make(a, kernels_dir(a), &why) != STATUS_OK || !fill_entry(a, k, dir) ||
        !publish(a, k, dir, final))
        return own;
    return path_join(a, final, "kernel.so");
}

/* ---- tl cache -------------------------------------------------------------------------------- */

/* The value of "field: …" near the head of a key, up to its newline. */
static const char *field_of(Arena *a, const char *key, const char *field)
{
    size_t n = strlen(field);
    for (const char *s = key; *s && strncmp(s, "source:", 7) != 0; s += strcspn(s, "\n") + 1)
        if (strncmp(s, field, n) == 0 && s[n] == ':')
            return arena_strndup(a, s + n + 2, strcspn(s + n + 2, "\n"));
    return "";
}

static const char *source_of(const char *key)
{
    const char *s = strstr(key, "\nsource:\n");
    return s ? s + 9 : "";
}

static int64_t dir_bytes(Arena *a, const char *dir)
{
    int64_t total = 0;
    struct stat st;
    for (int i = 0; i < COUNT(parts); i++)
        if (stat(path_join(a, dir, parts[i]), &st) == 0)
            total += st.st_size;
    return total;
}

static Status list_root(Arena *a, Str *out, const char *root, const char *about, const char **why)
{
    char **names = NULL, *dir = path_join(a, root, "kernels");
    int n = 0, nshown = 0;
    int64_t total = 0;

    if (file_exists(dir)) {
        Status s = dir_list(a, dir, &names, &n, why);
        if (s != STATUS_OK)
            return s;
    }
    for (int i = 0; i < n; i++) {
        char *entry = path_join(a, dir, names[i]), *key;
        size_t nkey;
        const char *ignored;
        if (file_read(a, path_join(a, entry, "key.txt"), &key, &nkey, &ignored) != STATUS_OK)
            continue;
        int64_t nbytes = dir_bytes(a, entry);
        str_printf(out, "%.12s  %7.1f KiB  %-24s %s%s\n", names[i], (double)nbytes / 1024,
                   field_of(a, key, "kernel"), field_of(a, key, "target"),
                   entry_is_whole(a, entry) ? "" : "  (damaged; it will be built again)");
        total += nbytes;
        nshown++;
    }
    str_printf(out, "%d kernels, %.1f KiB in %s%s\n", nshown, (double)total / 1024, root, about);
    return STATUS_OK;
}

Status cache_list(Arena *a, Str *out, const char **why)
{
    const char *rest = shared_caches(), *root;
    Status s = list_root(a, out, cache_root(a), "", why);

    while (s == STATUS_OK && (root = next_shared(a, &rest)))
        s = list_root(a, out, root, " (only read)", why);
    return s;
}

Status cache_clear(Arena *a, int64_t *nremoved, const char **why)
{
    char **names = NULL, *dir = kernels_dir(a);
    int n = 0;

    *nremoved = 0;
    if (file_exists(dir)) {
        Status s = dir_list(a, dir, &names, &n, why);
        if (s != STATUS_OK)
            return s;
    }
    for (int i = 0; i < n; i++) {
        char *path = path_join(a, dir, names[i]);
        if (tree_remove(path) != STATUS_OK && file_exists(path)) {
            *why = arena_printf(a, "cannot remove %s", path);
            return STATUS_IO;
        }
        ++*nremoved;
    }
    tree_remove(temp_dir(a));
    return STATUS_OK;
}

static const char *const fields[] = {"kernel", "format", "target", "machine", "compiler", "version",
                                     "flags"};

/* How alike two keys are: equal fields, and among equal fields the length of the common source. */
static int64_t likeness(Arena *a, const char *x, const char *y)
{
    int64_t n = 0;
    const char *s = source_of(x), *t = source_of(y);
    for (int i = 0; i < COUNT(fields); i++)
        n += strcmp(field_of(a, x, fields[i]), field_of(a, y, fields[i])) == 0 ? (int64_t)1 << 40
                                                                               : 0;
    for (; *s && *s == *t; s++, t++)
        n++;
    return n;
}

static void tell_source(Str *out, Arena *a, const char *ours, const char *theirs)
{
    int line = 1;
    const char *s = ours, *t = theirs;
    for (; *s && *s == *t; s++, t++)
        line += *s == '\n';
    while (s > ours && s[-1] != '\n') {
        s--;
        t--;
    }
    str_printf(out, "the emitted source differs at line %d:\n    now    %s\n    cached %s\n", line,
               arena_strndup(a, s, strcspn(s, "\n")), arena_strndup(a, t, strcspn(t, "\n")));
}

static void tell_difference(Str *out, Arena *a, const char *ours, const char *theirs)
{
    for (int i = 0; i < COUNT(fields); i++) {
        const char *x = field_of(a, ours, fields[i]), *y = field_of(a, theirs, fields[i]);
        if (strcmp(x, y) != 0) {
            str_printf(out, "the %s differs:\n    now    %s\n    cached %s\n", fields[i], x, y);
            return;
        }
    }
    tell_source(out, a, source_of(ours), source_of(theirs));
}

void cache_why(Arena *a, const CacheKey *k, Str *out)
{
    char **names = NULL, *dir = kernels_dir(a), *best = NULL;
    const char *why, *best_name = "";
    int n = 0;
    int64_t most = -1;

    const char *found = cache_get(a, k);
    if (found) {
        str_printf(out, "it is in the cache: %.*s\n", (int)(strrchr(found, '/') - found), found);
        return;
    }
    if (file_exists(path_join(a, dir, k->name))) {
        str_printf(out, "the entry %s is damaged; it will be built again\n", k->name);
        return;
    }
    if (!file_exists(dir) || dir_list(a, dir, &names, &n, &why) != STATUS_OK)
        n = 0;
    for (int i = 0; i < n; i++) {
        char *key;
        size_t nkey;
        if (file_read(a, path_join(a, path_join(a, dir, names[i]), "key.txt"), &key, &nkey, &why))
            continue;
        int64_t like = likeness(a, k->text, key);
        if (like > most) {
            most = like;
            best = key;
            best_name = names[i];
        }
    }
    if (!best) {
        str_printf(out, "the cache in %s is empty\n", cache_root(a));
        return;
    }
    str_printf(out, "nearest entry %.12s: ", best_name);
    tell_difference(out, a, k->text, best);
}
