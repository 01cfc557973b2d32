/* page.c -- what a bundle's page checks itself by: arguments and results of one run.
 *
 * check.bin has the bytes of every tensor before the run, then of those that it writes after it, as
 * the simulator gives them for the tile form; check.json says what is where, and the numbers. */
#include <stdlib.h>
#include <unistd.h>
#include "cli/cli.h"

enum { ALIGN = 8 }; /* typed arrays start at multiples of their element */

static size_t put_bytes(Str *out, const void *data, int64_t n)
{
    while (out->n % ALIGN)
        str_putn(out, "", 1);
    size_t at = out->n;
    str_putn(out, data, (size_t)n);
    return at;
}

static void put_numbers(Json *w, Job *j, tl_kernel *k, const Arguments *in)
{
    json_object(w, "numbers");
    for (int i = 0; i < tl_kernel_ndim(k); i++) {
        const char *given = define_of(j, tl_kernel_dim(k, i));
        if (given)
            json_double(w, tl_kernel_dim(k, i), atof(given));
    }
    for (int i = 0; i < in->n; i++)
        if (tl_kernel_param(k, i).is_scalar)
            json_double(w, tl_kernel_param(k, i).name, tl_value_at(&in->at[i], 0));
    json_end(w, '}');
}

static void put_all(Job *j, tl_kernel *k, const Arguments *in, const Arguments *want, Str *bytes,
                    Str *about)
{
    Json w;

    json_open(&w, about);
    json_object(&w, NULL);
    put_numbers(&w, j, k, in);
    json_object(&w, "tensors");
    for (int i = 0; i < in->n; i++) {
        tl_param p = tl_kernel_param(k, i);
        if (p.is_scalar)
            continue;
        json_object(&w, p.name);
        json_int(&w, "at", (int64_t)put_bytes(bytes, in->at[i].data, in->nbytes[i]));
        json_int(&w, "n", in->nbytes[i]);
        if (p.is_written)
            json_int(&w, "result",
                     (int64_t)put_bytes(bytes, want->at[i].data, want->nbytes[i]));
        json_end(&w, '}');
    }
    json_end(&w, '}');
    json_object(&w, "tolerance");
    for (int i = 0; i < in->n; i++)
        if (tl_kernel_param(k, i).is_written)
            json_double(&w, tl_kernel_param(k, i).name,
                        tl_kernel_tolerance(k, in->at[i].dtype));
    json_end(&w, '}');
    json_double(&w, "flops", tl_kernel_flops(k, in->at, in->n));
    json_end(&w, '}');
}

/* Sizes and scalars that were not given: " m=… s=…"; "" if all were. */
static const char *open_numbers(Job *j, const tl_kernel *k)
{
    const char *s = "";

    for (int i = 0; i < tl_kernel_ndim(k); i++)
        if (!define_of(j, tl_kernel_dim(k, i)))
            s = arena_printf(j->arena, "%s %s=…", s, tl_kernel_dim(k, i));
    for (int i = 0; i < tl_kernel_nparam(k); i++)
        if (tl_kernel_param(k, i).is_scalar && !define_of(j, tl_kernel_param(k, i).name))
            s = arena_printf(j->arena, "%s %s=…", s, tl_kernel_param(k, i).name);
    return s;
}

int page_check(Job *j, tl_kernel *k, const char *dir)
{
    Arguments in = {0};
    Str bytes, about;
    const char *why = "", *open = open_numbers(j, k);

    if (*open) { /* what an earlier build has left would be compared with */
        unlink(path_join(j->arena, dir, "check.bin"));
        unlink(path_join(j->arena, dir, "check.json"));
        printf("%s: the page has nothing to compare with; give%s\n", dir, open);
        return EXIT_OK;
    }
    int code = arguments_make(j, k, NULL, 0, 0, &in);

    if (code == EXIT_OK) {
        Arguments want = arguments_copy(&in);
        tl_status s = tl_kernel_reference(k, want.at, want.n);
        str_init(&bytes, j->arena);
        str_init(&about, j->arena);
        if (s != TL_OK) {
            code = fail_with(j->ctx, s);
        } else {
            put_all(j, k, &in, &want, &bytes, &about);
            if (file_write(j->arena, path_join(j->arena, dir, "check.bin"), bytes.s, bytes.n,
                           &why) != STATUS_OK ||
                file_write(j->arena, path_join(j->arena, dir, "check.json"), about.s, about.n,
                           &why) != STATUS_OK)
                code = fail_text(EXIT_MACHINE, "%s", why);
        }
        arguments_free(&want);
    }
    arguments_free(&in);
    return code;
}
