# SPDX-License-Identifier: Apache-2.0
# Sonde is built by this one file.  "make help" prints the next lines and the targets.
#
# Switches: DEBUG=1 ASAN=1 UBSAN=1 COVERAGE=1 WERROR=1 CC=clang CROSS=aarch64|x86_64, and V=1 to
# see the commands.  A plain build goes to build/; any other set of switches to a directory of its
# own (build/asan, build/asan-ubsan, build/clang-werror, build/aarch64 ...), so they never mix.

# ---- switches ----------------------------------------------------------------------------------

HOST_ARCH := $(shell uname -m)
ifdef CROSS
ARCH := $(CROSS)
CC := $(CROSS)-linux-gnu-gcc
RUN ?= $(if $(filter-out $(HOST_ARCH),$(CROSS)),qemu-$(CROSS) -L /usr/$(CROSS)-linux-gnu)
else
ARCH ?= $(HOST_ARCH)
ifeq ($(origin CC),default)
CC := gcc
endif
RUN ?=
endif

on = $(filter-out 0,$($(1)))# a switch is on when it is set, and not to 0
space := $(subst ,, )
comma := ,
VARIANT := $(subst $(space),-,$(strip $(CROSS) \
	$(if $(CROSS),,$(filter-out gcc cc,$(notdir $(CC)))) \
	$(if $(call on,DEBUG),debug) $(if $(call on,ASAN),asan) $(if $(call on,UBSAN),ubsan) \
	$(if $(call on,COVERAGE),coverage) $(if $(call on,WERROR),werror)))
OUT := build$(VARIANT:%=/%)
OBJ := $(OUT)/obj

CFLAGS ?= $(if $(call on,DEBUG),-O0,-O2) -g
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	$(if $(call on,WERROR),-Werror)
INSTRUMENT := $(if $(call on,ASAN),-fsanitize=address -fno-omit-frame-pointer) \
	$(if $(call on,UBSAN),-fsanitize=undefined -fno-sanitize-recover=all) \
	$(if $(call on,COVERAGE),--coverage)
# One set of objects serves the programs and the agent library, hence -fPIC for all.
LANGUAGE := -std=gnu11 -fPIC -fvisibility=hidden
INCLUDES := -iquote src $(patsubst %,-iquote %,$(wildcard src/*/arch/$(ARCH)))
COMPILE = $(CC) $(LANGUAGE) $(WARNINGS) $(INCLUDES) $(CPPFLAGS) $(CFLAGS) $(INSTRUMENT) -MMD -MP
LINK = $(CC) $(CFLAGS) $(INSTRUMENT) $(LDFLAGS) -Wl,--as-needed
PKG_CONFIG ?= pkg-config
LIBZIP_CFLAGS = $(shell $(PKG_CONFIG) --cflags libzip)
LIBZIP_LIBS = $(shell $(PKG_CONFIG) --libs libzip)

PREFIX ?= /usr/local

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $@)

# ---- sources -----------------------------------------------------------------------------------

# Folders that need libc alone.  Every program, the unit tests, fuzzers and benches link all of them.
CORE_FOLDERS := base classfile rule weave cache tree hook probe plan wire
# Folders that only the command line adds.
CLI_FOLDERS := export cli
# The agent library takes of the core what it needs, and adds this.
AGENT_FOLDERS := agent

sources = $(sort $(foreach f,$(1),$(wildcard src/$(f)/*.[cS] src/$(f)/arch/$(ARCH)/*.[cS])))
objects = $(addprefix $(2)/,$(addsuffix .o,$(basename $(1))))

CORE_SRC := $(call sources,$(CORE_FOLDERS))
CORE_OBJ := $(call objects,$(CORE_SRC),$(OBJ))
CLI_OBJ := $(call objects,$(call sources,$(CLI_FOLDERS)),$(OBJ))
# Of the agent's folder: what needs no JVM, for the command line and the unit tests, too; and the
# start library, which is loaded into every process below LD_PRELOAD.
LAUNCH_SRC := src/agent/launch.c src/agent/apps.c
LAUNCH_OBJ := $(call objects,$(LAUNCH_SRC),$(OBJ))
START_SRC := src/agent/start.c src/agent/meant.c $(LAUNCH_SRC) src/rule/pattern.c src/base/arena.c \
	src/base/mem.c
START_OBJ := $(call objects,$(START_SRC),$(OBJ)/start)
AGENT_OBJ := $(filter-out %/start.o,$(call objects,$(call sources,$(AGENT_FOLDERS)),$(OBJ)))
PROBE_OBJ := $(call objects,$(call sources,probe),$(OBJ))
# Parts of the agent that need no JVM, for the unit tests.
PURE_AGENT := $(call objects,$(wildcard $(addprefix src/agent/,options.c launch.c apps.c reading.c room.c compilers.c task.c)),$(OBJ))
# Parts of the command line that need no agent, for the unit tests.
PURE_CLI := $(call objects,$(addprefix src/cli/,cli.c figures.c hsperf.c jvm_threads.c layout.c method_name.c proc.c report_rows.c report_tree.c report_types.c states.c tree_figures.c \
	table.c tree_rows.c),$(OBJ))
UNIT_OBJ := $(call objects,$(sort $(wildcard tests/unit/*.c)),$(OBJ)) $(PURE_AGENT) $(PURE_CLI)
JAVA_SRC := $(if $(wildcard java),$(shell find java -name '*.java' | LC_ALL=C sort))
BENCH_SRC := $(sort $(wildcard bench/*/*.c))# each file is one program
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))

# ---- build -------------------------------------------------------------------------------------

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all unit benches test test-unit demo fuzz bench format check install clean help need-libzip

JAVA := build/java/.done

all: ## build everything (the default); with CROSS=, what needs no library but libc
ifdef CROSS
all: $(JAVA) $(OUT)/unit $(OUT)/libsonde.so $(OUT)/sonde-start.so
else
all: $(JAVA) $(OUT)/sonde $(OUT)/libsonde.so $(OUT)/sonde-start.so $(OUT)/sonde-calibrate.jar
endif

$(OUT)/sonde: $(CLI_OBJ) $(LAUNCH_OBJ) $(CORE_OBJ)
	$(call say,LINK)
	$(Q)$(LINK) -o $@ $^ $(LIBZIP_LIBS) -lm

# The agent depends on libc alone, and shows nobody more than src/agent/exports.map says.
$(OUT)/libsonde.so: $(AGENT_OBJ) $(CORE_OBJ) src/agent/exports.map
	$(call say,LINK)
	$(Q)$(LINK) -shared -Wl,-soname,libsonde.so -Wl,-z,defs -Wl,--gc-sections \
		-Wl,--version-script=src/agent/exports.map -o $@ $(filter %.o,$^) -lm -ldl -lpthread

$(OBJ)/src/agent/%.o: CPPFLAGS += -D_GNU_SOURCE -isystem $(JDK_HOME)/include -isystem $(JDK_HOME)/include/linux
$(OBJ)/src/agent/probe_bytes.o: build/java/.done
$(OBJ)/src/cli/trace_bytes.o: src/cli/trace_page.html

$(OUT)/unit: $(UNIT_OBJ) $(CORE_OBJ)
	$(call say,LINK)
	$(Q)$(LINK) -o $@ $^ -lm

# Small and flat: two segments, no constructor, nothing to relocate but three weak symbols, no
# symbol that only new libcs have, and no sanitizer, since the programs it is loaded into have none.
START_FLAGS := -O2 -D_GNU_SOURCE -U_FORTIFY_SOURCE -fno-stack-protector -fno-asynchronous-unwind-tables \
	-ffunction-sections -fdata-sections
$(OUT)/sonde-start.so: $(START_OBJ)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -nostartfiles -Wl,--as-needed,--gc-sections,--hash-style=gnu \
		-Wl,-z,noseparate-code,-z,norelro,-z,lazy -o $@ $^

$(OBJ)/start/%.o: %.c Makefile
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LANGUAGE) $(WARNINGS) $(INCLUDES) $(CPPFLAGS) $(CFLAGS) $(START_FLAGS) -MMD -MP -c -o $@ $<

$(OBJ)/src/cli/%.o: CPPFLAGS += $(LIBZIP_CFLAGS)
$(filter $(OBJ)/src/cli/%,$(CLI_OBJ)): | need-libzip
need-libzip:
	@$(PKG_CONFIG) --exists libzip || { echo "libzip is missing: run tools/setup build" >&2; exit 1; }

$(OBJ)/%.o: %.c Makefile
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<

$(OBJ)/%.o: %.S Makefile
	$(call say,AS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<

# The probe class belongs to java.base; the templates must be mergeable into classes of any age,
# so they are compiled for the oldest release that javac still knows.  java/stub holds the few
# declarations of other people's interfaces that templates need; a template for javax.* serves
# for jakarta.*, too, when "javax" is replaced.
JDK_HOME ?= $(shell tools/find-jdks | sed -n '$$s/^[^ ]* //p')
JAVAC ?= $(JDK_HOME)/bin/javac -g -nowarn -Xlint:-options
build/java/.done: $(JAVA_SRC) Makefile
	$(call say,JAVAC)
	@[ -n "$(JDK_HOME)" ] || { echo "no JDK found: run tools/setup jdk" >&2; exit 1; }
	@rm -rf $(@D) && mkdir -p $(@D)/probe $(@D)/template $(@D)/stub $(@D)/jakarta
	$(Q)$(JAVAC) -source 17 -target 17 -XDstringConcat=inline --patch-module java.base=java/probe -d $(@D)/probe \
		$$(find java/probe -name '*.java') 2>$(@D)/log || { cat $(@D)/log; exit 1; }
	$(Q)for f in $$(cd java && grep -rl 'javax\.' stub template); do \
		to=$(@D)/jakarta/$$(echo $$f | sed 's/javax/jakarta/; s/\.java/Jakarta.java/; s,^stub/\(.*\)Jakarta,stub/\1,'); \
		mkdir -p $$(dirname $$to); \
		sed 's/javax\./jakarta./g; s/^\(.*\)class \([A-Z][A-Za-z]*\)/\1class \2Jakarta/' java/$$f >$$to; \
	done
	$(Q)$(JAVAC) --release 8 -d $(@D)/stub \
		$$(find java/stub $(@D)/jakarta/stub -name '*.java' 2>/dev/null) java/template/sonde/Here.java
	$(Q)$(JAVAC) --release 8 -cp $(@D)/probe:$(@D)/stub -d $(@D)/template \
		$$(find java/template $(@D)/jakarta/template -name '*.java' 2>/dev/null)
	@touch $@

# The program of "sonde calibrate": the same bodies seven times, since each copy is hooked in another way.
CALIBRATE_SRC := $(wildcard java/calibrate/sonde/calibrate/*.java)
$(OUT)/sonde-calibrate.jar: $(CALIBRATE_SRC) build/java/.done
	$(call say,JAVAC)
	@rm -rf $(OBJ)/calibrate && mkdir -p $(OBJ)/calibrate/src
	@cp java/calibrate/sonde/calibrate/Main.java $(OBJ)/calibrate/src
	$(Q)for copy in Plain Every Settled Rare Passed Light Solo; do \
		sed "s/Bodies/$$copy/g" java/calibrate/sonde/calibrate/Bodies.java >$(OBJ)/calibrate/src/$$copy.java; \
	done
	$(Q)$(JAVAC) --release 17 -d $(OBJ)/calibrate/classes $(OBJ)/calibrate/src/*.java
	$(Q)$(JDK_HOME)/bin/jar -c -f $@ -C $(OBJ)/calibrate/classes .

# The cache keeps what this build has woven; another build must not take it.
BUILD_SRC := $(sort $(wildcard $(patsubst %,src/%/*.[chS],base classfile rule weave cache) \
	$(patsubst %,src/%/*.def,base classfile rule weave cache)))
$(OBJ)/src/cache/build.o: $(BUILD_SRC)
%/src/cache/build.o: CPPFLAGS += -DSONDE_BUILD='"$(shell cat $(BUILD_SRC) | sha256sum | cut -c1-32)"'

# The templates are embedded from one place.
$(OBJ)/src/weave/builtin_bytes.o: build/java/.done

install: all ## install below DESTDIR and PREFIX (/usr/local)
	install -D -m 755 $(OUT)/sonde $(DESTDIR)$(PREFIX)/bin/sonde
	install -D -m 755 $(OUT)/libsonde.so $(DESTDIR)$(PREFIX)/lib/sonde/libsonde.so
	install -D -m 755 $(OUT)/sonde-start.so $(DESTDIR)$(PREFIX)/lib/sonde/sonde-start.so
	install -D -m 644 $(OUT)/sonde-calibrate.jar $(DESTDIR)$(PREFIX)/lib/sonde/sonde-calibrate.jar

clean: ## remove build/
	rm -rf build

# ---- tests -------------------------------------------------------------------------------------

test: ## install what is missing, build, run all tests
	@tools/setup
	@$(MAKE) --no-print-directory all unit $(OUT)/mutants $(OUT)/hostile $(OUT)/batter
	@OUT=$(abspath $(OUT)) tests/run

# Programs that only a test suite needs.
TEST_SRC := tests/mutants/mutants.c tests/faults/hostile.c tests/cache/batter.c
$(OUT)/mutants: $(OBJ)/tests/mutants/mutants.o
$(OUT)/hostile: $(OBJ)/tests/faults/hostile.o
$(OUT)/batter: $(OBJ)/tests/cache/batter.o
$(OUT)/mutants $(OUT)/hostile $(OUT)/batter: $(CORE_OBJ)
	$(call say,LINK)
	$(Q)$(LINK) -o $@ $^ -lm

unit: $(OUT)/unit ## build the unit tests

test-unit: unit ## run the unit tests alone (under qemu-user with CROSS=, or under RUN=COMMAND)
	$(RUN) $(OUT)/unit

demo: ## install what is missing, build, show what Sonde does
	@tools/setup build jdk
	@$(MAKE) --no-print-directory all
	@OUT=$(abspath $(OUT)) tools/demo

# ---- fuzzing -----------------------------------------------------------------------------------

# tests/fuzz/fuzz_NAME.c becomes build/fuzz/fuzz_NAME.  Its seeds are written to
# build/fuzz/corpus/NAME by tests/fuzz/seed_NAME DIRECTORY, if there is such a script.
FUZZ_CC ?= clang
FUZZ_OUT := build/fuzz
FUZZ_OBJ := $(FUZZ_OUT)/obj
FUZZ_FLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_NAMES := $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%)
FUZZ_CORE := $(call objects,$(CORE_SRC),$(FUZZ_OBJ))

fuzz: $(FUZZ_NAMES:%=$(FUZZ_OUT)/fuzz_%) $(FUZZ_NAMES:%=$(FUZZ_OUT)/corpus/%) ## build the fuzzers and their seeds

$(FUZZ_NAMES:%=$(FUZZ_OUT)/fuzz_%): $(FUZZ_OUT)/%: $(FUZZ_OBJ)/tests/fuzz/%.o $(FUZZ_CORE)
	$(call say,LINK)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lm

$(FUZZ_OBJ)/%.o: %.c Makefile
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(LANGUAGE) $(WARNINGS) $(INCLUDES) $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link \
		-MMD -MP -c -o $@ $<

$(FUZZ_OBJ)/src/weave/builtin_bytes.o: build/java/.done
$(FUZZ_OBJ)/src/cache/build.o: $(BUILD_SRC)

$(FUZZ_OBJ)/%.o: %.S Makefile
	$(call say,AS)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(INCLUDES) -g -MMD -MP -c -o $@ $<

.SECONDEXPANSION:
$(FUZZ_NAMES:%=$(FUZZ_OUT)/corpus/%): $(FUZZ_OUT)/corpus/%: $$(wildcard tests/fuzz/seed_$$*)
	$(call say,SEED)
	@rm -rf $@ && mkdir -p $@
	$(Q)$(if $<,$< $@)

# ---- benches -----------------------------------------------------------------------------------

# Each bench/NAME/FILE.c becomes the program build/bench/NAME/FILE, for bench/NAME/run to run.
benches: $(BENCH_SRC:%.c=$(OUT)/%) ## build the programs of the benches
	@:

$(BENCH_SRC:%.c=$(OUT)/%): $(OUT)/%: $(OBJ)/%.o $(CORE_OBJ)
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lm

# bench/tree: the agent with a recorder between it and the probe, and the probe with a recorded clock.
TREE := $(OUT)/bench/tree
benches: $(TREE)/libsonde.so $(TREE)/replay
$(OBJ)/bench/tree/native/%.o: INCLUDES += -iquote .
$(TREE)/libsonde.so: $(OBJ)/bench/tree/native/record.o $(AGENT_OBJ) $(CORE_OBJ) src/agent/exports.map
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,-soname,libsonde.so -Wl,-z,defs -Wl,--gc-sections \
		$(addprefix -Wl$(comma)--wrap=probe_,enter exit thrown) \
		-Wl,--version-script=src/agent/exports.map -o $@ $(filter %.o,$^) -lm -ldl -lpthread

REPLAY_OBJ := $(call objects,bench/tree/native/replay.c $(call sources,probe base),$(OBJ)/replay)
$(OBJ)/replay/%.o: %.c Makefile
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LANGUAGE) $(WARNINGS) -iquote . -iquote bench/tree/clock $(INCLUDES) $(CPPFLAGS) $(CFLAGS) \
		$(INSTRUMENT) -MMD -MP -c -o $@ $<
$(TREE)/replay: $(REPLAY_OBJ)
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lm -lpthread

bench: ## run all benches, one after the other
	@rc=0; for run in bench/*/run; do \
		[ ! -x $$run ] || $(MAKE) --no-print-directory bench-$$(basename $${run%/run}) || rc=1; \
	done; exit $$rc

bench-%: ## run one bench: bench/NAME/run
	@tools/setup
	@$(MAKE) --no-print-directory all benches
	@mkdir -p $(OUT)/bench
	@OUT=$(abspath $(OUT)) bench/$*/run

# ---- upkeep ------------------------------------------------------------------------------------

format: ## put all C files into the house style
	@tools/check-format -i

check: $(PROBE_OBJ) $(OUT)/libsonde.so ## check format, layers, and what probe code and agent refer to
	@rc=0; tools/check-format || rc=1; tools/check-layers || rc=1; \
	tools/check-probe $(PROBE_OBJ) || rc=1; tools/check-agent $(OUT)/libsonde.so || rc=1; exit $$rc

help: ## list the targets
	@sed -n '4,/^$$/s/^# //p' Makefile; echo
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/\1|\2/p' Makefile | sed 's/%/NAME/' | \
		while IFS='|' read -r name what; do printf '%-11s %s\n' "$$name" "$$what"; done

-include $(patsubst %.o,%.d,$(CORE_OBJ) $(CLI_OBJ) $(AGENT_OBJ) $(LAUNCH_OBJ) $(START_OBJ) $(UNIT_OBJ) $(FUZZ_CORE) $(call objects,$(TEST_SRC),$(OBJ)) \
	$(BENCH_SRC:%.c=$(OBJ)/%.o) $(REPLAY_OBJ) $(OBJ)/bench/tree/native/record.o $(FUZZ_SRC:%.c=$(FUZZ_OBJ)/%.o))
