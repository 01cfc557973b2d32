/* args.c -- the tensors of a run: read, solved, filled, copied. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "cli/cli.h"

int64_t tensor_elements(const tl_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++)
        n *= t->shape[d];
    return n;
}

double tensor_rms(const tl_tensor *t)
{
    double sum = 0;
    int64_t n = tensor_elements(t);

    for (int64_t i = 0; i < n; i++) {
        double v = tl_value_at(t, i);
        if (isfinite(v))
            sum += v * v;
    }
    return n ? sqrt(sum / (double)n) : 0;
}

/* Elements from the first to the last, strides counted. */
static int64_t tensor_span(const tl_tensor *t)
{
    int64_t n = 1;
    bool strided = false;

    for (int d = 0; d < t->rank; d++) {
        n += (t->shape[d] - 1) * t->stride[d];
        strided |= t->stride[d] != 0;
    }
    return strided ? MAX(n, 1) : tensor_elements(t);
}

static int inputs_read(Job *j, const OptList *files, tl_tensor **at, int *n)
{
    *at = NEWN(j->arena, tl_tensor, files->n + 1);
    *n = 0;
    for (int i = 0; i < files->n; i++) {
        const char *equal = strchr(files->at[i], '='), *why = "";
        if (!equal)
            return fail_text(EXIT_USAGE, "--in takes NAME=FILE.npy, not '%s'", files->at[i]);
        tl_tensor *t = &(*at)[*n];
        if (!npy_read(j->arena, equal + 1, t, &why))
            return fail_text(file_exists(equal + 1) ? EXIT_MACHINE : EXIT_USER, "%s", why);
        t->name = arena_strndup(j->arena, files->at[i], (size_t)(equal - files->at[i]));
        ++*n; /* freed with the others */
        for (int k = 0; k < *n - 1; k++)
            if (!strcmp((*at)[k].name, t->name))
                return fail_text(EXIT_USAGE, "--in gives '%s' twice [argument-name]", t->name);
    }
    return EXIT_OK;
}

/* ---- making them ----------------------------------------------------------------------------- */

static void *get_memory(Arguments *a, int i, int64_t nbytes)
{
    size_t room = ((size_t)nbytes + 127) / 64 * 64;
    void *p = aligned_alloc(64, room);
    if (p)
        memset(p, 0, room);
    a->nbytes[i] = nbytes;
    return p;
}

/* A whole number that the type has. */
static bool store_int(tl_tensor *t, const char *text)
{
    bool is_bool = !strcmp(t->dtype, "bool"), is_unsigned = t->dtype[0] == 'u';
    int bits = is_bool ? 64 : atoi(t->dtype + (is_unsigned ? 4 : 3));
    int base = strchr(text, 'x') ? 16 : 10;
    char *end;

    errno = 0;
    uint64_t u = is_unsigned ? strtoull(text, &end, base) : (uint64_t)strtoll(text, &end, base);
    int64_t i = (int64_t)u;
    if (errno || end == text || *end || (is_unsigned && strchr(text, '-')))
        return false;
    if (bits < 64 && (is_unsigned ? u >> bits != 0 : i >> (bits - 1) != 0 && i >> (bits - 1) != -1))
        return false;
    i = is_bool ? i != 0 : i;
    memcpy(t->data, &i, (size_t)tl_dtype_bytes(t->dtype, 1));
    return true;
}

static bool store_scalar(tl_tensor *t, const char *text)
{
    char *end;

    if (!strcmp(text, "True") || !strcmp(text, "False"))
        text = text[0] == 'T' ? "1" : "0";
    if (strncmp(t->dtype, "float", 5) && strncmp(t->dtype, "bfloat", 6) &&
        strcmp(t->dtype, "tfloat32"))
        return store_int(t, text);
    double v = strtod(text, &end);
    if (end == text || *end)
        return false;
    if (!strcmp(t->dtype, "float32") || !strcmp(t->dtype, "tfloat32"))
        *(float *)t->data = (float)v;
    else if (!strcmp(t->dtype, "float64"))
        *(double *)t->data = v;
    else {
        *(double *)t->data = v; /* narrow floats are passed as double; the kernel rounds */
        t->dtype = "float64";
    }
    return true;
}

static int take_scalar(Job *j, Arguments *a, int i, const tl_param *p)
{
    const char *text = define_of(j, p->name);

    a->at[i] = (tl_tensor){.name = p->name, .dtype = p->dtype};
    a->at[i].data = get_memory(a, i, 16);
    if (!a->at[i].data)
        return fail_text(EXIT_MACHINE, "out of memory");
    if (!text)
        return fail_text(EXIT_USER, "the scalar '%s' (%s) needs a value: %s=…", p->name, p->dtype,
                         p->name);
    if (!store_scalar(&a->at[i], text))
        return fail_text(EXIT_USER, "the scalar '%s' takes %s, not '%s' [argument-range]", p->name,
                         p->dtype, text);
    return EXIT_OK;
}

static int take_given(Arguments *a, int i, const tl_param *p, const tl_tensor *t)
{
    if (!npy_fits(t->dtype, p->dtype))
        return fail_text(EXIT_USER, "argument '%s' is %s; the kernel takes %s [argument-dtype]",
                         p->name, t->dtype, p->dtype);
    a->at[i] = *t;
    a->at[i].dtype = p->dtype;
    a->at[i].name = p->name;
    if (tl_dtype_bytes(p->dtype, 2) == 1 && t->rank > 0) /* bytes of two elements */
        a->at[i].shape[t->rank - 1] *= 2;
    a->nbytes[i] = tl_dtype_bytes(p->dtype, tensor_elements(&a->at[i]));
    a->at[i].data = get_memory(a, i, a->nbytes[i]);
    if (!a->at[i].data)
        return fail_text(EXIT_MACHINE, "out of memory");
    memcpy(a->at[i].data, t->data, (size_t)a->nbytes[i]);
    return EXIT_OK;
}

static int take_all_given(Job *j, tl_kernel *k, const tl_tensor *given, int ngiven, Arguments *a)
{
    for (int g = 0; g < ngiven; g++) {
        int found = -1;
        for (int i = 0; i < a->n; i++)
            if (!strcmp(tl_kernel_param(k, i).name, given[g].name))
                found = i;
        if (found < 0 || tl_kernel_param(k, found).is_scalar)
            return fail_text(EXIT_USER, "'%s' has no tensor called '%s'", tl_kernel_name(k),
                             given[g].name);
        tl_param p = tl_kernel_param(k, found);
        if (p.is_output)
            return fail_text(EXIT_USER, "--in %s: the kernel makes '%s', and reads nothing of it",
                             p.name, p.name);
        int code = take_given(a, found, &p, &given[g]);
        if (code != EXIT_OK)
            return code;
    }
    for (int i = 0; i < a->n; i++) {
        tl_param p = tl_kernel_param(k, i);
        if (!strcmp(p.dtype, "handle"))
            return fail_text(EXIT_USER, "'%s' takes addresses, which only a program has; call '%s' "
                             "through tilelang.h", p.name, tl_kernel_name(k));
        int code = p.is_scalar ? take_scalar(j, a, i, &p) : EXIT_OK;
        if (code != EXIT_OK)
            return code;
    }
    return EXIT_OK;
}

static int fill_rest(Job *j, tl_kernel *k, uint64_t seed, Arguments *a)
{
    for (int i = 0; i < a->n; i++) {
        tl_param p = tl_kernel_param(k, i);
        tl_tensor *t = &a->at[i];
        if (t->data)
            continue;
        int64_t n = tensor_span(t), bits = 64;
        for (int d = 0; d < t->rank; d++)
            if (__builtin_mul_overflow(bits, MAX(t->shape[d], 1), &bits))
                return fail_text(EXIT_MACHINE, "out of memory for '%s': it has more elements than "
                                 "memory can have", p.name);
        t->data = get_memory(a, i, tl_dtype_bytes(t->dtype, n));
        if (!t->data)
            return fail_text(EXIT_MACHINE, "out of memory for '%s' (%lld bytes)", p.name,
                             (long long)tl_dtype_bytes(t->dtype, n));
        if (p.is_output || !p.is_read)
            continue;
        tl_tensor flat = {
            .dtype = t->dtype, .rank = 1, .shape = {n}, .data = t->data, .name = t->name};
        tl_status s = tl_fill_random(j->ctx, &flat, seed + (uint64_t)i);
        if (s != TL_OK)
            return fail_with(j->ctx, s);
    }
    return EXIT_OK;
}

int arguments_make(Job *j, tl_kernel *k, const tl_tensor *given, int ngiven, uint64_t seed,
                   Arguments *out)
{
    int n = tl_kernel_nparam(k);

    *out = (Arguments){n, calloc((size_t)n + 1, sizeof *out->at),
                       calloc((size_t)n + 1, sizeof *out->nbytes)};
    if (!out->at || !out->nbytes)
        return fail_text(EXIT_MACHINE, "out of memory");
    int code = take_all_given(j, k, given, ngiven, out);
    if (code != EXIT_OK)
        return code;
    tl_status s = tl_kernel_solve(k, j->defines, j->ndefine, out->at, n);
    if (s != TL_OK)
        return fail_with(j->ctx, s);
    return fill_rest(j, k, seed, out);
}

Arguments arguments_copy(const Arguments *a)
{
    Arguments c = {a->n, calloc((size_t)a->n + 1, sizeof *c.at),
                   calloc((size_t)a->n + 1, sizeof *c.nbytes)};

    for (int i = 0; c.at && c.nbytes && i < a->n; i++) {
        c.at[i] = a->at[i];
        c.at[i].data = get_memory(&c, i, a->nbytes[i]);
        if (c.at[i].data)
            memcpy(c.at[i].data, a->at[i].data, (size_t)a->nbytes[i]);
    }
    return c;
}

void arguments_free(Arguments *a)
{
    for (int i = 0; a->at && i < a->n; i++)
        free(a->at[i].data);
    free(a->at);
    free(a->nbytes);
    *a = (Arguments){0};
}

int task_open(Task *t, int nargs, const char **args, const CommonOptions *c, const OptList *in,
              tl_options *o)
{
    *t = (Task){0};
    int code = job_open(&t->job, nargs, args);

    if (code == EXIT_OK)
        code = inputs_read(&t->job, in, &t->given, &t->ngiven);
    o->inputs = t->given;
    o->ninput = t->ngiven;
    return code == EXIT_OK ? job_compile(&t->job, c, o, &t->kernel) : code;
}

int task_fill(Task *t, int64_t seed)
{
    return arguments_make(&t->job, t->kernel, t->given, t->ngiven, (uint64_t)seed, &t->args);
}

void task_close(Task *t)
{
    arguments_free(&t->args);
    for (int i = 0; i < t->ngiven; i++)
        free(t->given[i].data);
    tl_kernel_free(t->kernel);
    job_close(&t->job);
}
