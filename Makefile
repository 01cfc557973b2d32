# Two commands do everything: `make demo` and `make test`; `make check` is for while one works.
BUILD ?= build
CC ?= cc
CLANG ?= clang
CFLAGS ?= -O2 -g
WARN := -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes
CPPFLAGS += -Isrc -Iinclude -I$(BUILD)/gen -D_GNU_SOURCE
LDLIBS += -lm -lpthread -ldl
EXTRA ?=

SRC := $(sort $(filter-out src/cli/% src/lsp/% src/py/%,$(shell find src -name '*.c')))
CLI := $(sort $(wildcard src/cli/*.c src/lsp/*.c))
UNIT := $(sort $(wildcard test/unit/*.c test/law/*.c test/prove/*.c)) test/test.c test/ast.c
ERRORS := $(wildcard doc/errors.md)
GEN := $(patsubst device/%,$(BUILD)/gen/device_%.h,$(wildcard device/*)) $(BUILD)/gen/errors_text.h $(BUILD)/gen/package_text.h

OBJ := $(SRC:%.c=$(BUILD)/%.o)
CLIOBJ := $(CLI:%.c=$(BUILD)/%.o)
BENCHGPU := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard bench/gpu/*.c)))
BENCHOBJ := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard bench/*.c)))
UNITOBJ := $(UNIT:%.c=$(BUILD)/%.o)
GOLDEN := test/test.c $(sort $(wildcard test/run*.c))
GOLDENOBJ := $(GOLDEN:%.c=$(BUILD)/%.o)
FUZZ := lex parse read
TESTS := $(BUILD)/unit $(BUILD)/golden $(BUILD)/mutate $(BUILD)/stress_cache $(FUZZ:%=$(BUILD)/fuzz_%)

all: $(GEN) $(BUILD)/tl $(BUILD)/libtilelang.so

# ---- generated headers ---------------------------------------------------------------------------

# device_NAME.h holds the files of device/NAME.  `all` names them, or make would throw them away.
.SECONDEXPANSION:
$(BUILD)/gen/device_%.h: $$(sort $$(wildcard device/$$*/*)) tools/embed.sh
	@mkdir -p $(@D)
	sh tools/embed.sh $(filter device/%,$^) >$@.tmp && mv $@.tmp $@

$(BUILD)/gen/errors_text.h: $(ERRORS) tools/embed.sh
	@mkdir -p $(@D)
	(sh tools/embed.sh $(ERRORS); $(if $(ERRORS),,echo 'static const unsigned char doc_errors_md[] = "";')) >$@.tmp && mv $@.tmp $@

PACKAGED := $(sort $(wildcard python/tilelang/rocm/intrinsics/*.py))
$(BUILD)/gen/package_text.h: $(PACKAGED) tools/embed.sh
	@mkdir -p $(@D)
	sh tools/embed.sh $(PACKAGED) >$@.tmp && mv $@.tmp $@

# ---- objects -------------------------------------------------------------------------------------

$(BUILD)/%.o: %.c | $(GEN)
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CFLAGS) $(EXTRA) $(CPPFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(UNITOBJ) $(GOLDENOBJ): CPPFLAGS += -Itest

# Programs find the library by its soname, which changes when what they were built for is taken away.
SONAME := libtilelang.so.0
$(BUILD)/libtilelang.so: $(OBJ)
	$(CC) $(CFLAGS) $(EXTRA) -shared -Wl,-soname,$(SONAME) -o $@ $(OBJ) $(LDLIBS)
	@ln -sf libtilelang.so $(BUILD)/$(SONAME)

$(BUILD)/tl: $(OBJ) $(CLIOBJ)
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $(CLIOBJ) $(OBJ) $(LDLIBS)

# ---- the Python package --------------------------------------------------------------------------

# make py: into $(BUILD)/py, for PYTHONPATH.  Python's tables hold functions as void *, so no -Wpedantic.
PYTHON ?= python3
PYSRC := $(sort $(wildcard src/py/*.c))
PYOBJ := $(PYSRC:%.c=$(BUILD)/%.o)
PYDIR := $(BUILD)/py/tilelang
PYFILES := $(sort $(shell find python -name '*.py' -o -name '*.pyi' -o -name 'py.typed'))

$(PYOBJ): WARN := -std=c11 -Wall -Wextra -Wshadow -Wmissing-prototypes
$(PYOBJ): CPPFLAGS += -I$(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')

$(PYDIR)/_core.abi3.so: $(OBJ) $(PYOBJ) $(CLIOBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(EXTRA) -shared -Wl,--exclude-libs,ALL -Wl,--version-script=src/py/exports.txt -o $@ $(PYOBJ) $(CLIOBJ) $(OBJ) $(LDLIBS)

$(BUILD)/py/files: $(PYFILES)
	@mkdir -p $(PYDIR)
	@(cd python && tar cf - $(PYFILES:python/%=%)) | (cd $(BUILD)/py && tar xf -)
	@touch $@

py: $(PYDIR)/_core.abi3.so $(BUILD)/py/files

-include $(PYOBJ:.o=.d)
-include $(OBJ:.o=.d) $(CLIOBJ:.o=.d) $(UNITOBJ:.o=.d) $(GOLDENOBJ:.o=.d) \
	$(BENCHOBJ:.o=.d) $(BENCHGPU:.o=.d)

# ---- tests ---------------------------------------------------------------------------------------

$(BUILD)/unit: $(UNITOBJ) $(OBJ) $(filter-out %/main.o,$(CLIOBJ))
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $^ $(LDLIBS)

$(BUILD)/golden: $(GOLDENOBJ) $(OBJ) $(filter-out %/main.o,$(CLIOBJ))
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $^ $(LDLIBS)

$(BUILD)/mutate: $(BUILD)/test/mutate/mutate.o $(OBJ)
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $^ $(LDLIBS)

$(BUILD)/stress_cache: $(BUILD)/test/stress/cache.o $(OBJ)
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $^ $(LDLIBS)

$(BUILD)/fuzz_%: $(BUILD)/test/fuzz/fuzz_%.o $(BUILD)/test/fuzz/drive.o $(BUILD)/test/ast.o $(OBJ)
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $^ $(LDLIBS)

# while one works; before a change goes in; everything, for hours (PART=n: one part of it)
check test:
	@sh tools/install.sh test
	@$(MAKE) --no-print-directory -s -j2 all tests py
	@sh test/all.sh $(BUILD) $@

test-full:
	@sh tools/install.sh full
	@$(MAKE) --no-print-directory -s -j2 all tests py
	@sh test/all.sh $(BUILD) full $(PART)

test-asan: asan
	@sh test/all.sh $(BUILD)/asan sanitized

# The same programs with ASan and UBSan in them, and every allocation a block of its own.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -DTL_DEBUG_ARENA
asan:
	@sh tools/install.sh test
	@$(MAKE) --no-print-directory -s -j2 BUILD=$(BUILD)/asan CFLAGS="-O1 -g" EXTRA="$(SANITIZE)" tests py $(BUILD)/asan/tl

# With clang's MemorySanitizer; what the tests compile is compiled by $(BUILD)/msan/cc, with it too.
MSAN := -fsanitize=memory -fno-omit-frame-pointer
msan:
	@sh tools/install.sh full
	@$(MAKE) --no-print-directory -s -j2 BUILD=$(BUILD)/msan CC="$(CLANG)" CFLAGS="-O1 -g" EXTRA="$(MSAN)" $(BUILD)/msan/golden
	@printf '#!/bin/sh\nexec $(CLANG) "$$@" $(MSAN) -g -O1\n' >$(BUILD)/msan/cc && chmod +x $(BUILD)/msan/cc

# On a machine with an NVIDIA GPU: examples against the simulator, bundles, faults of the compilers there.
test-gpu:
	@$(MAKE) --no-print-directory -s all tests py
	@sh test/gpu/device.sh $(BUILD)

tests: $(TESTS)

unit: $(BUILD)/unit
	$(BUILD)/unit $(ONLY)

# make golden [ONLY=text]; make bless: what comes out now is what is expected
golden: $(BUILD)/golden
	TILELANG_CACHE_DIR=$(abspath $(BUILD))/cache $(BUILD)/golden $(ONLY)

bless: $(BUILD)/golden docs
	$(BUILD)/golden -u pass/ emit/ replay/

docs: $(BUILD)/tl
	sh tools/docs.sh $(BUILD)/tl

stubs: py
	PYTHONPATH=$(BUILD)/py $(PYTHON) tools/stubs.py

replay-update: $(BUILD)/golden
	$(BUILD)/golden -u replay/

lint:
	sh tools/lint.sh

# ---- measure -------------------------------------------------------------------------------------

$(BUILD)/bench/run: $(BENCHOBJ) $(BUILD)/libtilelang.so
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $(BENCHOBJ) $(BUILD)/libtilelang.so -Wl,-rpath,'$$ORIGIN/..' $(LDLIBS)

demo:
	@MAKE="$(MAKE)" sh bench/demo.sh $(BUILD)

# make bench [ONLY=gemm] [CSV=name]: CSV writes bench/results/name.csv
bench:
	@sh tools/install.sh demo
	@$(MAKE) --no-print-directory -s $(BUILD)/bench/run
	@$(BUILD)/bench/run $(if $(ONLY),--only $(ONLY)) $(if $(CSV),--csv bench/results/$(CSV).csv)

$(BUILD)/bench/libgpu.so: $(filter-out %/main.o,$(BENCHGPU)) $(BUILD)/libtilelang.so
	$(CC) $(CFLAGS) $(EXTRA) -shared -o $@ $(filter %.o,$^) $(BUILD)/libtilelang.so -Wl,-rpath,'$$ORIGIN/..' $(LDLIBS)

$(BUILD)/bench/gpu_run: $(BENCHGPU) $(BUILD)/libtilelang.so
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $(BENCHGPU) $(BUILD)/libtilelang.so -Wl,-rpath,'$$ORIGIN/..' $(LDLIBS)

# The documents as pages, to be looked at from the folder or served by anything.
site: all playground
	@python3 tools/site.py $(BUILD)/tl $(BUILD)/site $(BUILD)/playground

# The compiler in a browser: $(BUILD)/playground/index.html, one file that needs no server (doc/playground.md).
playground: $(GEN)
	@sh tools/install.sh playground
	@$(MAKE) --no-print-directory -s -j2 -f web/Makefile BUILD=$(BUILD)
	@$(PYTHON) tools/playground.py $(BUILD)/wasm/tl.wasm $(BUILD)/playground

# The extension for VS Code as a file that it installs (doc/editor.md).
vsix:
	@mkdir -p $(BUILD)
	@$(PYTHON) tools/vsix.py $(BUILD)/tilelang.vsix

# python3 bench/picture.py CSV doc/speed.svg makes the README's picture of what this writes.
# make bench-gpu [ONLY=gemm,small] [QUICK=1] [CSV=name] [ARGS=…]: against the vendor's libraries
bench-gpu:
	@$(MAKE) --no-print-directory -s $(BUILD)/bench/gpu_run $(BUILD)/bench/libgpu.so
	@sh bench/gpu.sh $(BUILD) $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),--quick) --csv bench/results/$(or $(CSV),gpu).csv $(ARGS)
	@$(if $(QUICK),:,$(MAKE) --no-print-directory -s py)
	@$(if $(QUICK),:,PYTHONPATH=$(BUILD)/py python3 bench/gpu_families.py $(if $(ONLY),--only $(ONLY)))

# make bench-original WHEEL=PATH[:PATH] EXAMPLES=DIR [LIST=FILE] [ONLY=TEXT] [ARGS=…]: beside the original
bench-original: py
	@test -n "$(WHEEL)" -a -n "$(EXAMPLES)" || { echo "usage: make bench-original WHEEL=PATH EXAMPLES=DIR [LIST=FILE]"; exit 2; }
	@python3 bench/original/run.py --wheel "$(WHEEL)" --examples "$(EXAMPLES)" --package $(BUILD)/py --out $(BUILD)/original $(if $(LIST),--list $(LIST)) $(if $(ONLY),--only $(ONLY)) $(ARGS)

# make audit EXAMPLES='FILE|DIR…' [TARGET=T]: what fell back in the kernels of scripts; no GPU is needed
TARGET ?= cuda -arch=sm_90a
audit: py
	@test -n "$(EXAMPLES)" || { echo "usage: make audit EXAMPLES='FILE|DIR…' [TARGET=T]"; exit 2; }
	@PYTHONPATH=$(abspath $(BUILD))/py $(PYTHON) tools/audit.py --target "$(TARGET)" $(EXAMPLES)

# ---- releases ------------------------------------------------------------------------------------

# make release [ARCHES="x86_64 aarch64"]: sdist and manylinux wheels in $(BUILD)/release, with their hashes
release:
	@sh tools/release.sh $(BUILD)/release $(ARCHES)

# make bench-tune [WHEELS=DIR] [SECONDS=N]: tuning here and by Helion, of wheels in DIR or installed; SECONDS: its budget a kernel
bench-tune: py
	@PYTHONPATH=$(BUILD)/py python3 bench/tune/peers.py $(if $(WHEELS),--wheels $(WHEELS)) $(if $(SECONDS),--seconds $(SECONDS)) $(ARGS)

# make gate [UPDATE="reason"]: times against bench/gate/MACHINE.json, which UPDATE writes anew
gate: $(BUILD)/tl
	@$(PYTHON) tools/gate.py $(BUILD)/tl $(if $(UPDATE),--update "$(UPDATE)") $(ARGS)

clean:
	rm -rf $(BUILD)

.PHONY: release gate site playground vsix audit bench-original bench-tune all py stubs check test test-asan test-full test-gpu asan msan tests unit golden bless docs replay-update lint demo bench bench-gpu clean
