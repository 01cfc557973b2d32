/* builtin_module.c -- what the modules of the tilelang package hold: rows, types and constants. */
#include "front/builtin.h"
#include "ir/config.h"

typedef struct {
    const char *name;
    int64_t i;
    const char *text; /* NULL: the number */
} Constant;

static const Constant constants[] = {
    {"WSID", 0, "tl.ws_op_id"},
    {"WSScope.ROOT", 0, "root"},
    {"WSSyncKind.PRODUCER_ACQUIRE", 0, "producer_acquire"},
    {"WSSyncKind.PRODUCER_COMMIT", 0, "producer_commit"},
    {"WSSyncKind.CONSUMER_WAIT", 0, "consumer_wait"},
    {"WSSyncKind.CONSUMER_RELEASE", 0, "consumer_release"},
    {"SwizzleMode.NONE", 0, NULL},
    {"SwizzleMode.SWIZZLE_32B", 32, NULL},
    {"SwizzleMode.SWIZZLE_64B", 64, NULL},
    {"SwizzleMode.SWIZZLE_128B", 128, NULL},
};

static const Value unbound = {.kind = V_UNBOUND};

static Value constant(Eval *ev, const char *name)
{
    for (int i = 0; i < COUNT(constants); i++)
        if (!strcmp(constants[i].name, name))
            return constants[i].text ? value_str(ev, constants[i].text, strlen(constants[i].text))
                                     : value_int(constants[i].i);
    return unbound;
}

static Value row(const char *name)
{
    const Builtin *b = builtin_find(name);
    return b ? (Value){.kind = V_BUILTIN, .u.builtin = b} : unbound;
}

static Value named(Eval *ev, ValueKind kind, const char *name)
{
    Value v = value_str(ev, name, strlen(name));
    v.kind = kind;
    return v;
}

/* T.GemmWarpPolicy.Square, T.WSSync.producer_acquire */
Value builtin_attr(Eval *ev, const Value *v, const char *name)
{
    const char *full = arena_printf(ev->arena, "%s.%s", v->u.builtin->name, name);
    Value found = !strcmp(v->u.builtin->name, "GemmWarpPolicy") ? policy_member(name)
                                                              : constant(ev, full);
    return found.kind != V_UNBOUND ? found : row(full);
}

static Value language_name(Eval *ev, const char *name)
{
    DType t;
    int lanes;
    if (!strchr(name, '.')) {
        Value v = row(name);
        if (v.kind != V_UNBOUND)
            return v;
    }
    Value c = constant(ev, name);
    if (c.kind != V_UNBOUND)
        return c;
    if (!strcmp(name, "boolean"))
        return value_dtype(DT_BOOL, 1);
    if (dtype_parse(name, &t, &lanes))
        return value_dtype(t, lanes);
    return unbound;
}

/* PassConfigKey.TL_ENABLE_FAST_MATH is the key "tl.enable_fast_math". */
static Value config_key(Eval *ev, const char *name)
{
    for (int i = 0; i < CONFIG_COUNT; i++)
        if (!strcmp(config_table[i].member, name))
            return value_str(ev, config_table[i].name, strlen(config_table[i].name));
    return unbound;
}

static bool is_one_of(const char *name, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (!strcmp(list[i], name))
            return true;
    return false;
}

static bool ends_with(const char *s, const char *tail)
{
    size_t n = strlen(s), m = strlen(tail);
    return n >= m && !strcmp(s + n - m, tail);
}

static bool is_language_module(const char *m)
{
    return !strcmp(m, "tilelang.language") || ends_with(m, ".language");
}

/* Parts of the package that a kernel file may import for work a kernel never does: what comes out
 * of them stays a name of the host. */
static const char *const host_side[] = {
    "compile", "par_compile", "lower", "Profiler", "profiler", "TensorSupplyType", "autotuner",
    "env", "enable_cache", "disable_cache", "is_cache_enabled", "set_log_level", "transform",
    "engine", "tools", "contrib", "testing", "analysis", "cache", "JITKernel", "ir",
    "register_cuda_postproc", "register_hip_postproc", "register_c_postproc",
    "register_metal_postproc", "register_cuda_postproc_callback", "register_hip_postproc_callback",
    "register_c_postproc_callback", "build_date", "__version__", "deprecated", "intrinsics",
    "quantize", "jit_kernel", "do_bench", "arch", "roller", "template", "matmul_analysis", NULL};

static const char *const submodules[] = {
    "language", "layout", "math", "carver", "cuda", "rocm", "metal", "cpu", "webgpu", "utils",
    "tileop", "dtypes", "driver", "fp8", "base", "common", "PassConfigKey", "arch", NULL};

/* Files written for the older package take a few names from tvm and tvm.tir. */
static Value tvm_attr(Eval *ev, const char *module, const char *name)
{
    if (!strcmp(name, "DataType"))
        return row("dtype");
    if (!strcmp(name, "tir") || !strcmp(name, "tirx") || !strcmp(name, "script"))
        return named(ev, V_MODULE, arena_printf(ev->arena, "%s.%s", module, name));
    if (strcmp(module, "tvm")) {
        Value v = language_name(ev, strcmp(name, "const") ? name : "tvm_const");
        if (v.kind != V_UNBOUND)
            return v;
    }
    return named(ev, V_OPAQUE, arena_printf(ev->arena, "%s.%s", module, name));
}

Value module_attr(Eval *ev, Span at, const char *module, const char *name)
{
    (void)at;
    if (!strcmp(module, "tvm") || !strncmp(module, "tvm.", 4))
        return tvm_attr(ev, module, name);
    if (strncmp(module, "tilelang", 8) || (module[8] && module[8] != '.'))
        return unbound;
    if (ends_with(module, ".PassConfigKey"))
        return config_key(ev, name);
    if (ends_with(module, ".SwizzleMode"))
        return constant(ev, arena_printf(ev->arena, "SwizzleMode.%s", name));
    if (is_language_module(module) || ends_with(module, ".dtypes")) {
        Value v = language_name(ev, name);
        if (v.kind != V_UNBOUND)
            return v;
    }
    if (ends_with(module, "layout") || strstr(module, "intrinsics")) {
        Value v = row(arena_printf(ev->arena, "layout.%s", name));
        if (v.kind != V_UNBOUND)
            return v;
        if (!strcmp(name, "SwizzleMode"))
            return named(ev, V_MODULE, "tilelang.layout.SwizzleMode");
    }
    if (!strcmp(module, "tilelang") && !strcmp(name, "tvm"))
        return named(ev, V_MODULE, "tvm");
    static const char *const shared[] = {"Layout", "Fragment", "GemmWarpPolicy", "make_tensor",
                                         NULL};
    if (is_one_of(name, shared))
        return row(name);
    Value v = row(arena_printf(ev->arena, "tilelang.%s", name));
    /* Operators of whole tensors are tl.NAME alone. */
    bool whole = v.kind != V_UNBOUND && !strcmp(v.u.builtin->group, "tensor");
    if (v.kind != V_UNBOUND && !(whole && is_language_module(module)))
        return v;
    if (is_one_of(name, submodules))
        return named(ev, V_MODULE, arena_printf(ev->arena, "%s.%s", module, name));
    bool kernel_side = is_language_module(module) || !strcmp(module, "tilelang");
    if (is_one_of(name, host_side) || !kernel_side)
        return named(ev, V_OPAQUE, arena_printf(ev->arena, "%s.%s", module, name));
    return unbound;
}
