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
OBJ := $(SRC:%.c=$(BUILD)/%.o)
CLIOBJ := $(CLI:%.c=$(BUILD)/%.o)

all: $(BUILD)/tl $(BUILD)/libtilelang.so

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CFLAGS) $(EXTRA) $(CPPFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(BUILD)/libtilelang.so: $(OBJ)
	$(CC) $(CFLAGS) $(EXTRA) -shared -o $@ $(OBJ) $(LDLIBS)

$(BUILD)/tl: $(OBJ) $(CLIOBJ)
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $(CLIOBJ) $(OBJ) $(LDLIBS)

-include $(OBJ:.o=.d) $(CLIOBJ:.o=.d)

clean:
	rm -rf $(BUILD)

.PHONY: all clean
