/* show.c -- what pass configs ask to see of a compiled kernel: layouts, times, files. */
#include "api/public.h"
#include <stdlib.h>

/* A word of "svg,txt" or "svg txt"; "all" is every one. */
static bool has_word(const char *words, const char *word)
{
    for (const char *s = words; s && *s;) {
        size_t n = strcspn(s, ", ");
        if ((n == strlen(word) && !strncmp(s, word, n)) || (n == 3 && !strncmp(s, "all", 3)))
            return true;
        s += n + strspn(s + n, ", ");
    }
    return false;
}

static void write_text(Arena *a, const char *folder, const char *name, const Str *text)
{
    const char *why = "";

    if (dir_make(a, folder, &why) != STATUS_OK ||
        file_write(a, path_join(a, folder, name), text->s, text->n, &why) != STATUS_OK)
        recover_throw(STATUS_IO, "%s", why);
}

static void write_layout(tl_kernel *k, const Buffer *b, const Layout *l, const char *words)
{
    Str text;

    if (has_word(words, "svg")) {
        str_init(&text, k->arena);
        layout_svg(&text, l, b->name, NULL);
        write_text(k->arena, "tmp", arena_printf(k->arena, "%s_layout.svg", b->name), &text);
    }
    if (has_word(words, "txt")) {
        str_init(&text, k->arena);
        layout_table(&text, l);
        write_text(k->arena, "tmp", arena_printf(k->arena, "%s_layout.txt", b->name), &text);
    }
}

static void show_layouts(tl_kernel *k)
{
    Func *f = k->build.func;
    const char *words = config_text(f, CONFIG_layout_visualization_formats);

    if (words && !has_word(words, "svg") && !has_word(words, "txt"))
        recover_throw(STATUS_USER, "tl.layout_visualization_formats is svg, txt or all, not '%s'; "
                      "tilelang.tools.plot_layout draws others [config-value]", words);
    for (int i = 0; i < f->kernels.n; i++)
        for (int j = 0; j < f->kernels.at[i]->buffers.n; j++) {
            const Buffer *b = f->kernels.at[i]->buffers.at[j];
            const Layout *l = buffer_plan(f->kernels.at[i], b)->layout;
            if (!l)
                continue;
            str_printf(&k->build.report, "%s inferenced layout: ", b->name);
            layout_print(&k->build.report, l);
            str_putc(&k->build.report, '\n');
            write_layout(k, b, l, words);
        }
}

static void show_times(tl_kernel *k)
{
    const Func *f = k->build.func;
    double least = (double)config_int(f, CONFIG_pass_profile_threshold_ms);
    Str all;

    str_init(&all, k->arena);
    time_text(&k->build, &all);
    str_printf(&k->build.report, "%s:\n", kernel_name(k));
    for (const char *s = all.s; *s;) {
        size_t n = strcspn(s, "\n") + 1;
        if (strtod(s, NULL) >= least)
            str_putn(&k->build.report, s, n);
        s += n;
    }
}

void show_asked(tl_kernel *k)
{
    const Func *f = k->build.func;
    const char *folder = config_text(f, CONFIG_kernels_output_dir);

    if (folder && *folder && k->build.source.n)
        write_text(k->arena, folder,
                   arena_printf(k->arena, "%s.%s", kernel_name(k), k->built.rt->ending),
                   &k->build.source);
    if (config_on(f, CONFIG_layout_visualization_enable))
        show_layouts(k);
    if (config_on(f, CONFIG_pass_profile))
        show_times(k);
    if (config_on(f, CONFIG_enable_ptxas_verbose_output))
        str_puts(&k->build.report,
                 k->built.module.log ? k->built.module.log : "the compiler was not run\n");
}
