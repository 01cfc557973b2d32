/* naga_takes.c -- a libwgpu_native.so in front of the real one, which has naga read every text of a folder: those of $WGSL_TEXTS, when the
 * first module is made.  A text that it does not take fails that module, by the name of its file.  Everything else is the
 * real library, which this one is linked with. */
#define _GNU_SOURCE
#include <dirent.h>
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

typedef void *Make(void *device, const Named *wish);

/* NULL: not to be read.  naga has subgroups, and takes no line that says so. */
static char *text_of(const char *path)
{
    static const char line[] = "\nenable subgroups;";
    char *text = NULL;
    size_t n = 0;
    FILE *f = fopen(path, "r");

    if (!f || getdelim(&text, &n, '\0', f) < 0)
        return NULL;
    fclose(f);
    char *at = strstr(text, line);
    if (at)
        memcpy(at + 1, "//", 2);
    return text;
}

static void take_all(void *device, Make *make, void (*release)(void *))
{
    const char *folder = getenv("WGSL_TEXTS");
    DIR *d = folder ? opendir(folder) : NULL;
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d)) != NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        char *text = strstr(e->d_name, ".wgsl") ? text_of(path) : NULL;
        if (!text)
            continue;
        Wgsl wgsl = {{NULL, 2}, {text, strlen(text)}};
        Named wish = {&wgsl.chain, {e->d_name, strlen(e->d_name)}};
        void *module = make(device, &wish);
        if (module)
            release(module);
        free(text);
        n++;
    }
    if (d)
        closedir(d);
    printf("%d texts read\n", n);
}

void *wgpuDeviceCreateShaderModule(void *device, const Named *wish)
{
    static int done;
    Make *make = (Make *)dlsym(RTLD_NEXT, "wgpuDeviceCreateShaderModule");

    if (!done++)
        take_all(device, make, (void (*)(void *))dlsym(RTLD_NEXT, "wgpuShaderModuleRelease"));
    return make(device, wish);
}
