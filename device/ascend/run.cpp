#include <acl/acl.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static aclrtStream tl_stream;
static int tl_argc;
static char **tl_argv;

[[noreturn]] static void tl_stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

[[maybe_unused]] static int tl_no(const char *text, int code)
{
    fprintf(stderr, "%s\n", text);
    return code ? code : 1;
}

static void tl_ask(aclError error, const char *what)
{
    if (error != ACL_SUCCESS) {
        fprintf(stderr, "%s: error %d of ACL\n", what, (int)error);
        exit(1);
    }
}

/* The value of NAME=VALUE on the command line; NULL: it is not there. */
static const char *tl_given(const char *name)
{
    const size_t n = strlen(name);
    for (int i = 1; i < tl_argc; i++)
        if (!strncmp(tl_argv[i], name, n) && tl_argv[i][n] == '=')
            return tl_argv[i] + n + 1;
    return nullptr;
}

[[maybe_unused]] static double tl_number(const char *name)
{
    const char *text = tl_given(name);
    if (!text)
        tl_stop(name, "give it as NAME=NUMBER");
    return atof(text);
}

[[maybe_unused]] static int64_t tl_truncdiv_i64(int64_t a, int64_t b) { return b == 0 ? 0 : a / b; }
[[maybe_unused]] static int64_t tl_truncmod_i64(int64_t a, int64_t b) { return b == 0 ? 0 : a % b; }
[[maybe_unused]] static int64_t tl_floordiv_i64(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }
[[maybe_unused]] static int64_t tl_floormod_i64(int64_t a, int64_t b) { return b == 0 ? 0 : a - b * tl_floordiv_i64(a, b); }
[[maybe_unused]] static int64_t tl_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
[[maybe_unused]] static int64_t tl_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t tl_grid(int64_t blocks)
{
    if (blocks > 65535)
        tl_stop("the grid", "more than 65535 blocks, which ACL does not launch");
    return blocks;
}

static void tl_open(int argc, char **argv)
{
    tl_argc = argc;
    tl_argv = argv;
    tl_ask(aclInit(nullptr), "aclInit");
    tl_ask(aclrtSetDevice(tl_given("device") ? atoi(tl_given("device")) : 0), "aclrtSetDevice");
    tl_ask(aclrtCreateStream(&tl_stream), "aclrtCreateStream");
}

static void tl_close()
{
    aclrtDestroyStream(tl_stream);
    aclFinalize();
}

static std::vector<char> tl_read(const char *path)
{
    std::vector<char> bytes;
    FILE *f = fopen(path, "rb");
    if (!f)
        tl_stop(path, "cannot be read");
    for (int c; (c = getc(f)) != EOF;)
        bytes.push_back((char)c);
    fclose(f);
    return bytes;
}

/* A tensor of so many bytes: of the file NAME=FILE if there is one (raw, or of numpy's format .npy), else zeros. */
static uint8_t *tl_make(const char *name, int64_t bytes, int reads)
{
    const char *path = reads ? tl_given(name) : nullptr;
    void *made = nullptr;
    std::vector<char> data((size_t)bytes);

    if (path) {
        const std::vector<char> file = tl_read(path);
        size_t head = 0;
        if (file.size() > 10 && !memcmp(file.data(), "\x93NUMPY\x01", 7))
            head = 10 + (unsigned char)file[8] + 256 * (size_t)(unsigned char)file[9];
        if (file.size() < head || file.size() - head != (size_t)bytes)
            tl_stop(path, "not as many bytes as the tensor has");
        memcpy(data.data(), file.data() + head, (size_t)bytes);
    }
    tl_ask(aclrtMalloc(&made, (size_t)(bytes + 63) / 32 * 32, ACL_MEM_MALLOC_HUGE_FIRST), name);
    tl_ask(aclrtMemcpy(made, (size_t)bytes, data.data(), (size_t)bytes, ACL_MEMCPY_HOST_TO_DEVICE), name);
    return (uint8_t *)made;
}

static void tl_save(const char *name, const uint8_t *from, int64_t bytes)
{
    const char *path = tl_given(name);
    std::vector<char> data((size_t)bytes);

    if (!path)
        return;
    tl_ask(aclrtMemcpy(data.data(), (size_t)bytes, from, (size_t)bytes, ACL_MEMCPY_DEVICE_TO_HOST), name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data.data(), 1, (size_t)bytes, f) != (size_t)bytes || fclose(f) != 0)
        tl_stop(path, "cannot be written");
}

/* ---- this kernel ------------------------------------------------------------------------------- */

