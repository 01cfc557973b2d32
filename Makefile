# Two commands do everything: `make demo` and `make test`.
BUILD ?= build
CC ?= cc
CFLAGS ?= -O2 -g
WARN := -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes
CPPFLAGS += -Isrc -Iinclude -I$(BUILD)/gen -D_GNU_SOURCE
LDLIBS += -lm -lpthread -ldl
EXTRA ?=

SRC := $(sort $(filter-out src/cli/% src/py/% src/target/template/%,$(shell find src -name '*.c')))
CLI := $(sort $(wildcard src/cli/*.c))
UNIT := $(sort $(wildcard test/unit/*.c test/law/*.c test/prove/*.c)) test/test.c
DEVICE_CPU := $(sort $(wildcard device/cpu/*.h))
ERRORS := $(wildcard doc/errors.md)
GEN := $(BUILD)/gen/device_cpu.h $(BUILD)/gen/errors_text.h

OBJ := $(SRC:%.c=$(BUILD)/%.o)
CLIOBJ := $(CLI:%.c=$(BUILD)/%.o)
UNITOBJ := $(UNIT:%.c=$(BUILD)/%.o)

all: $(BUILD)/tl $(BUILD)/libtilelang.so

# ---- generated headers ---------------------------------------------------------------------------

$(BUILD)/gen/device_cpu.h: $(DEVICE_CPU) tools/embed.sh
	@mkdir -p $(@D)
	sh tools/embed.sh $(DEVICE_CPU) >$@.tmp && mv $@.tmp $@

$(BUILD)/gen/errors_text.h: $(ERRORS) tools/embed.sh
	@mkdir -p $(@D)
	(sh tools/embed.sh $(ERRORS); $(if $(ERRORS),,echo 'static const unsigned char doc_errors_md[] = "";')) >$@.tmp && mv $@.tmp $@

# ---- objects -------------------------------------------------------------------------------------

$(BUILD)/%.o: %.c | $(GEN)
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CFLAGS) $(EXTRA) $(CPPFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(UNITOBJ): CPPFLAGS += -Itest

$(BUILD)/libtilelang.so: $(OBJ)
	$(CC) $(CFLAGS) $(EXTRA) -shared -o $@ $(OBJ) $(LDLIBS)

$(BUILD)/tl: $(OBJ) $(CLIOBJ)
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $(CLIOBJ) $(OBJ) $(LDLIBS)

-include $(OBJ:.o=.d) $(CLIOBJ:.o=.d) $(UNITOBJ:.o=.d)

# ---- tests ---------------------------------------------------------------------------------------

$(BUILD)/unit: $(UNITOBJ) $(OBJ) $(filter-out %/main.o,$(CLIOBJ))
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $^ $(LDLIBS)

unit: $(BUILD)/unit
	$(BUILD)/unit

test: all unit
	sh tools/layers.sh
	sh tools/sizes.sh
	TL=$(BUILD)/tl sh test/cli/run.sh

clean:
	rm -rf $(BUILD)

.PHONY: all unit test clean
