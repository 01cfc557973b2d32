/* config.h -- pass configs: what a compilation is asked to do or to leave. */
#ifndef TL_IR_CONFIG_H
#define TL_IR_CONFIG_H

#include "ir/ir.h"

typedef enum {
#define CONFIG(id, ...) CONFIG_##id,
#define CHOICE CONFIG
#define IGNORED CONFIG
#define REFUSED CONFIG
#define ALIAS CONFIG
#define NEEDS(...)
#include "ir/config.def"
#undef CONFIG
#undef CHOICE
#undef IGNORED
#undef REFUSED
#undef ALIAS
#undef NEEDS
    CONFIG_COUNT
} ConfigId;

typedef enum { CONFIG_FLAG, CONFIG_NUMBER, CONFIG_TEXT, CONFIG_WORDS, CONFIG_TABLE } ConfigKind;
typedef enum {
    CONFIG_IS_OBEYED, CONFIG_IS_IGNORED, CONFIG_IS_REFUSED,
    CONFIG_IS_ALIAS, /* doc is the name now */
} ConfigFate;

typedef struct {
    const char *name, *member; /* "tl.as_written", of PassConfigKey */
    ConfigKind kind;
    ConfigFate fate;
    int64_t otherwise;
    const char *values; /* "0..10", "32|64"; NULL: any of its kind */
    const char *by;  /* who obeys it */
    const char *doc; /* what it does, what happens instead, why not */
} ConfigRow;

extern const ConfigRow config_table[CONFIG_COUNT];
const ConfigRow *config_find(const char *name); /* NULL: there is none; never an alias */

/* Adds to hints what is given as a value of this kind: a number for FLAG and NUMBER, else a text.
 * What is unknown, of another kind or refused is an error at `at`. */
void config_set(Ir *ir, Span at, Hints *h, const char *name, ConfigKind kind, int64_t number,
                const char *text);

/* The same from a text: "1", "True", "-DX -DY". */
void config_set_text(Ir *ir, Span at, Hints *h, const char *name, const char *text);

/* One that a target has no use for, but for a number that it obeys. */
typedef struct ConfigLost {
    ConfigId id;
    int64_t obeyed;
    const char *instead; /* NULL: the end of a table */
} ConfigLost;

/* Says which of those given ask for what this machine, or a target (NULL: any), does not do. */
void config_tell(const Func *f, const Machine *m, const ConfigLost *lost);

bool config_given(const Func *f, ConfigId id);
int64_t config_int(const Func *f, ConfigId id); /* FLAG, NUMBER */
bool config_on(const Func *f, ConfigId id);
const char *config_text(const Func *f, ConfigId id); /* TEXT, WORDS; NULL: not given */
/* Where a config that is on shows what it was asked to show; NULL: it is off. */
Str *config_report(const Func *f, ConfigId id);

#endif
