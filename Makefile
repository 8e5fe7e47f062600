# The verbs of Sinew. Each one installs what it needs first: `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help demo test test-threads test-valgrind test-current test-referee test-core test-native build wheel extension pictures check bench bench-assets bench-meshers bench-completion clean
.PHONY: check-warnings check-cppcheck check-ruff check-types check-layers check-windows
MAKEFLAGS += --no-print-directory

PYTHON3 := $(shell for p in python3.11 /usr/bin/python3 python3; do $$p -c '' 2>/dev/null && echo $$p && break; done)
ENVIRONMENT := $(PYTHON3) tests/tools/environment.py
SUITES := $(PYTHON3) tests/tools/suites.py
TOOLS := build/env/tools/bin/python
BPY := PYTHONPATH=addon:examples build/env/45/bin/python
# Found when it is used: in a fresh clone the environment is made by the lines before.
BLENDER_EXT = $$(ls build/env/45/lib/python3*/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py)
JOBS := $(shell nproc 2>/dev/null || echo 2)

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Werror
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' addon/sinew/blender_manifest.toml)
NATIVE_FLAGS := -std=c11 -fopenmp $(WARNINGS) -Inative -isystem /usr/include/suitesparse -DSN_VERSION='"$(VERSION)"' -MMD -MP
NATIVE_LIBRARIES := -lcholmod -lsuitesparseconfig -larpack -lopenblas -lm
NATIVE_SOURCES := $(filter-out native/python/%,$(sort $(wildcard native/*/*.c native/*/*/*.c)))
NATIVE_TESTS := $(sort $(wildcard tests/native/test_*.c))
# The instruction sets that the core is compiled for, as setup.py does; `baseline` is the one that runs everywhere.
INSTRUCTIONS := baseline $(if $(filter x86_64,$(shell uname -m)),v2 v3 v4)
FLAVOURS := $(INSTRUCTIONS) sanitized threads traced
baseline_FLAGS := -O3 -fno-math-errno -fno-trapping-math
v2_FLAGS := $(baseline_FLAGS) -march=x86-64-v2
v3_FLAGS := $(baseline_FLAGS) -march=x86-64-v3
v4_FLAGS := $(baseline_FLAGS) -march=x86-64-v4
sanitized_FLAGS := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
threads_FLAGS := -O1 -g -fsanitize=thread
traced_FLAGS := -O2 -g
# What is tested are the objects of the core; the programs around them are many to compile, and need not be fast.
TEST_FLAGS := -O1
# What runs on several threads, for ThreadSanitizer; what allocates and computes a whole run, for valgrind, which takes its time.
THREADS_TESTS := threads memory multifrontal tet_elements time_step
TRACED_TESTS := allocations fill memory linear_solver multifrontal tet_elements newton cage

WINDOWS_OBJECTS := $(patsubst %.c,build/windows/%.o,$(NATIVE_SOURCES))

help:
	@echo "make demo          enrich an example character; results in build/demo/"
	@echo "make test          build and run every test, in every Blender at hand"
	@echo "make test-current  the window, the package and the command in Debian unstable's Blender (as root); it is kept in"
	@echo "                   ~/.cache/sinew, and \`python3 tests/tools/current.py blender ARGS\` starts it"
	@echo "make test-core     only the tests without Blender"
	@echo "make test-native   only the tests of the C core"
	@echo "make test-threads  the C core under ThreadSanitizer; make test-valgrind: under valgrind (minutes)"
	@echo "make test-referee  contact against ipctk, which it installs in an environment of its own"
	@echo "make build         the native module, into addon/sinew/"
	@echo "make check         warnings, static analysis, types, layers, Windows compile"
	@echo "make bench         times of the reference shot, plots of convergence, the comparison with CalculiX"
	@echo "make bench-assets  bake every example model"
	@echo "make bench-meshers both meshers on every example model"
	@echo "make bench-completion what elasticity makes of hidden parts of a face, with numbers"
	@echo "make extension     the zip to install in Blender, into build/"
	@echo "make pictures      the pictures of the artist's pages, from the window test in Debian unstable's Blender (as root)"
	@echo "make wheel         a wheel of the add-on's tree, into build/wheel/"
	@echo "make clean         remove what was built here (environments stay in the user's cache)"

demo:
	@$(ENVIRONMENT) build bpy
	@$(TOOLS) setup.py -q build_ext
	@mkdir -p build/demo
	$(BPY) examples/demo.py

build:
	@$(ENVIRONMENT) build
	@$(TOOLS) setup.py -q build_ext

test:
	@$(ENVIRONMENT) build bpy blender bpy-next
	@$(TOOLS) setup.py -q build_ext
	@$(SUITES)

test-current:
	@$(ENVIRONMENT) build
	@$(TOOLS) setup.py -q build_ext
	@$(SUITES) current

test-referee:
	@$(ENVIRONMENT) build bpy referee
	@$(TOOLS) setup.py -q build_ext
	@$(SUITES) core-45 -- tests/core/test_referee.py

test-core:
	@$(ENVIRONMENT) build bpy
	@$(TOOLS) setup.py -q build_ext
	@$(SUITES) core-45

test-threads:
	@$(ENVIRONMENT) build
	@$(MAKE) -j$(JOBS) $(THREADS_TESTS:%=build/threads/tests/test_%)
	@for name in $(THREADS_TESTS); do TSAN_OPTIONS=halt_on_error=1 build/threads/tests/test_$$name || exit 1; done

test-valgrind:
	@$(ENVIRONMENT) build valgrind
	@$(MAKE) -j$(JOBS) $(TRACED_TESTS:%=build/traced/tests/test_%)
	@for name in $(TRACED_TESTS); do \
	  OMP_NUM_THREADS=2 valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
	  build/traced/tests/test_$$name || exit 1; done

test-native:
	@$(ENVIRONMENT) build
	@$(TOOLS) setup.py -q build_ext
	@$(SUITES) native native-v2 native-v3 native-v4 sanitized

bench:
	@$(ENVIRONMENT) build bpy bench
	@$(TOOLS) setup.py -q build_ext
	@$(MAKE) -j$(JOBS) $(foreach name,$(INSTRUCTIONS),build/$(name)/benchmark/engine build/$(name)/tests/test_wild build/$(name)/tests/test_contact_wild)
	$(BPY) tests/benchmark/bench.py
	$(BPY) tests/benchmark/convergence.py
	@$(SUITES) core-45 -- -k calculix

bench-assets:
	@$(ENVIRONMENT) build bpy
	@$(TOOLS) setup.py -q build_ext
	$(BPY) tests/benchmark/bench_assets.py

bench-meshers:
	@$(ENVIRONMENT) build bpy
	@$(TOOLS) setup.py -q build_ext
	$(BPY) tests/benchmark/bench_meshers.py

bench-completion:
	@$(ENVIRONMENT) build bpy
	@$(TOOLS) setup.py -q build_ext
	$(BPY) tests/benchmark/bench_completion.py

extension:
	@$(ENVIRONMENT) build bpy
	@$(TOOLS) setup.py -q build_ext
	@$(TOOLS) tests/tools/extension.py
	@build/env/45/bin/python $(BLENDER_EXT) validate build/sinew-$(VERSION).zip

pictures:
	@$(ENVIRONMENT) build
	@$(TOOLS) setup.py -q build_ext
	@$(TOOLS) tests/tools/pictures.py

wheel:
	@$(ENVIRONMENT) build
	@$(TOOLS) setup.py -q bdist_wheel --dist-dir build/wheel
	@ls build/wheel/*.whl

check:
	@$(ENVIRONMENT) build bpy check
	@$(MAKE) -k -j$(JOBS) -Otarget check-warnings check-cppcheck check-ruff check-types check-layers check-windows
	@echo "All checks passed."

check-warnings:
	@$(TOOLS) setup.py -q build_ext
	@echo "warnings: none"

check-cppcheck:
	@cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
	  --suppress=missingIncludeSystem --suppress=missingInclude --suppress=normalCheckLevelMaxBranches -Inative \
	  $(NATIVE_SOURCES) $(wildcard native/python/*.c)
	@echo "cppcheck: clean"

check-ruff:
	@$(TOOLS) -m ruff check --quiet --no-cache .
	@echo "ruff: clean"

check-types:
	@MYPY_CACHE_DIR=build/mypy $(TOOLS) -m mypy

check-layers:
	@build/env/45/bin/python -m pytest -q -p no:cacheprovider tests/core/test_layers.py

check-windows: $(WINDOWS_OBJECTS)
	@echo "windows: native/ compiles"

clean:
	rm -rf build addon/sinew/*.abi3.so addon/sinew/build.toml addon/sinew/lib addon/sinew/presets
	find addon tests examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# The tests of the C core: every tests/native/test_*.c is a program, built for each instruction set and with sanitizers.

# What is tested for an instruction set are the objects that its module is linked of; the other flavours have their own.
NATIVE_HEADERS := $(wildcard native/*/*.h native/*/*/*.h)
define module_objects
build/module/$(1)/made: $(NATIVE_SOURCES) $(NATIVE_HEADERS) setup.py
	@SINEW_INSTRUCTIONS=$(1) $(TOOLS) setup.py -q build_objects
	@touch $$@
$(1)_MADE := build/module/$(1)/made
$(1)_CORE := $(patsubst native/%.c,build/module/$(1)/%.o,$(NATIVE_SOURCES))
endef
$(foreach name,$(INSTRUCTIONS),$(eval $(call module_objects,$(name))))

# ThreadSanitizer does not see how OpenMP's library waits: there the parallel loop runs on plain threads.
threads_WITHOUT := native/base/parallel.c
threads_WITH := build/threads/tests/threads/parallel.o

define own_objects
build/$(1)/native/%.o: native/%.c Makefile
	@mkdir -p $$(@D)
	@gcc $(NATIVE_FLAGS) $($(1)_FLAGS) -c $$< -o $$@
$(1)_MADE := $(patsubst %.c,build/$(1)/%.o,$(filter-out $($(1)_WITHOUT),$(NATIVE_SOURCES))) $($(1)_WITH)
$(1)_CORE := $$($(1)_MADE)
endef
$(foreach name,$(filter-out $(INSTRUCTIONS),$(FLAVOURS)),$(eval $(call own_objects,$(name))))

define flavour
build/$(1)/tests/%.o: tests/native/%.c Makefile
	@mkdir -p $$(@D)
	@gcc $(NATIVE_FLAGS) $($(1)_FLAGS) $(TEST_FLAGS) -Itests/native -c $$< -o $$@
$(1)_PROGRAMS := $(patsubst tests/native/%.c,build/$(1)/tests/%,$(NATIVE_TESTS))
$$($(1)_PROGRAMS): %: %.o $$($(1)_MADE)
	@gcc -fopenmp $($(1)_FLAGS) $$< $$($(1)_CORE) $(NATIVE_LIBRARIES) -o $$@
-include $$(wildcard build/$(1)/*/*.d build/$(1)/*/*/*.d build/$(1)/*/*/*/*.d)
endef
$(foreach name,$(FLAVOURS),$(eval $(call flavour,$(name))))
.SECONDARY:
check-warnings: $(sanitized_PROGRAMS)
# The benchmark of the engine alone, beside its yardsticks, for each instruction set; bench.py runs it.
define benchmark
build/$(1)/benchmark/engine: tests/benchmark/engine.c $$(wildcard tests/benchmark/*.h tests/native/*.h) $$($(1)_MADE) Makefile
	@mkdir -p $$(@D)
	@gcc $(NATIVE_FLAGS) $($(1)_FLAGS) -D_POSIX_C_SOURCE=200809L -Itests/native $$< $$($(1)_CORE) $(NATIVE_LIBRARIES) -o $$@
endef
$(foreach name,$(INSTRUCTIONS),$(eval $(call benchmark,$(name))))

# Portability: the core without native/python also compiles for Windows. Only headers of the libraries are needed.

# Two warnings are off because its headers cause them: isfinite() converts to float, and printf formats are the old ones.
WINDOWS_FLAGS := -O1 -D__USE_MINGW_ANSI_STDIO=1 -Wno-float-conversion -Wno-format -Wno-format-extra-args

build/windows/include/suitesparse:
	@mkdir -p $(@D)
	@ln -sfn /usr/include/suitesparse $@
build/windows/native/%.o: native/%.c Makefile | build/windows/include/suitesparse
	@mkdir -p $(@D)
	@x86_64-w64-mingw32-gcc-posix $(NATIVE_FLAGS) $(WINDOWS_FLAGS) -idirafter build/windows/include -c $< -o $@
-include $(wildcard build/windows/native/*/*.d build/windows/native/*/*/*.d)
