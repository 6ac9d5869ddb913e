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
# Hardening; tools/check-hardening looks at what comes of it.  A check that fails ends the process,
# also when it is the observed JVM: an overflow in there is worse than its end.  Return addresses are
# protected where the processor can (the shadow stack of x86-64 costs no instruction), targets of
# branches are not.  src/probe goes without all that costs instructions: of 2.3 ns for a call that is
# counted and not timed, guards on the stack take 0.3 more and endbr64 0.3, since nodes_find() runs
# in each.
FORTIFY := $(if $(call on,DEBUG)$(call on,ASAN),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARDEN_x86_64 := -fcf-protection=return
HARDEN_aarch64 := -mbranch-protection=pac-ret
HARDEN = $(FORTIFY) -fstack-protector-strong $(HARDEN_$(ARCH))
HARDEN_PROBE := $(FORTIFY) -fno-stack-protector $(filter-out -m%,$(HARDEN_$(ARCH)))
HARDEN_DATA := $(if $(filter x86_64,$(ARCH)),-include cet.h)# bytes that are no code: nothing is to protect
HARDEN_LINK := -Wl,-z,relro,-z,now,-z,noexecstack
INCLUDES := -iquote src $(patsubst %,-iquote %,$(wildcard src/*/arch/$(ARCH) src/*/*/arch/$(ARCH)))
COMPILE = $(CC) $(LANGUAGE) $(HARDEN) $(WARNINGS) $(INCLUDES) $(CPPFLAGS) $(CFLAGS) $(INSTRUMENT) -MMD -MP
LINK_ANY = $(CC) $(CFLAGS) $(INSTRUMENT) $(HARDEN_LINK) $(LDFLAGS) -Wl,--as-needed
LINK = $(LINK_ANY) -pie
LINK_SHARED = $(LINK_ANY) -shared -Wl,-z,defs -Wl,--gc-sections -Wl,--version-script=src/agent/load/exports.map
PKG_CONFIG ?= pkg-config
LIBZIP_CFLAGS = $(shell $(PKG_CONFIG) --cflags libzip)
LIBZIP_LIBS = $(shell $(PKG_CONFIG) --libs libzip)
MANAGER_NEEDS := libmicrohttpd libcurl zlib sqlite3 libzstd libcjson libnats
MANAGER_LIBS = $(shell $(PKG_CONFIG) --libs $(MANAGER_NEEDS))

PREFIX ?= /usr/local

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $@)

# ---- sources -----------------------------------------------------------------------------------

# Folders that need libc alone.  Every program, the unit tests, fuzzers and benches link all of them.
CORE_FOLDERS := base elf classfile classfile/check classfile/lower classfile/show rule weave cache tree hook probe \
	plan/stats plan/inplace plan/dig plan/walk plan/observe plan/budget wire jvm
# Folders that only the command line adds.
CLI_FOLDERS := inject $(addprefix cli/,screen attach client classtools report run) cli
# The manager adds these, and takes of the command line what finds processes.
MANAGER_FOLDERS := export manager $(addprefix manager/,net figures archive push fleet bus relay watch http main)
# The agent library takes of the core what it needs, and adds this.
AGENT_FOLDERS := $(addprefix agent/,core hotspot classes natives weaving serve load)
# Of these two what unit tests are for: it needs neither a JVM nor a library but libc.
TESTED_FOLDERS := $(addprefix agent/,core hotspot) $(addprefix cli/,screen attach client report) \
	export manager/figures native inject
# Single files of folders that need libraries.
TESTED_FILES := src/agent/sampling/spot_cache.c src/cli/classtools/weave_rules.c src/manager/wait.c src/manager/fleet/hub.c src/manager/fleet/dig_far.c src/manager/bus/bus_key.c src/manager/net/pump.c src/manager/http/query.c src/manager/watch/usual.c

# The sampler, what is exported, and what shows both.
CORE_FOLDERS += sample outside
CLI_FOLDERS += export cli/hot cli/outside cli/look cli/top cli/walk
AGENT_FOLDERS += agent/sampling
TESTED_FOLDERS += cli/hot cli/outside cli/look cli/top

sources = $(sort $(foreach f,$(1),$(wildcard src/$(f)/*.[cS] src/$(f)/arch/$(ARCH)/*.[cS])))
objects = $(addprefix $(2)/,$(addsuffix .o,$(basename $(1))))

CORE_SRC := $(call sources,$(CORE_FOLDERS))
CORE_OBJ := $(call objects,$(CORE_SRC),$(OBJ))
CLI_OBJ := $(call objects,$(call sources,$(CLI_FOLDERS)),$(OBJ))
# The start library is loaded into every process below LD_PRELOAD.
START_SRC := src/start/start.c src/start/meant.c src/jvm/launch.c src/jvm/apps.c src/rule/pattern.c \
	src/base/arena.c src/base/mem.c
START_OBJ := $(call objects,$(START_SRC),$(OBJ)/start)
# The store without the manager.
STORE_OBJ = $(call objects,$(call sources,manager/archive manager/figures manager/net) src/manager/log.c src/manager/wait.c,$(OBJ))
MANAGER_OBJ := $(call objects,$(call sources,$(MANAGER_FOLDERS)),$(OBJ))
AGENT_OBJ := $(call objects,$(call sources,$(AGENT_FOLDERS)) src/start/meant.c,$(OBJ))
PROBE_OBJ := $(call objects,$(call sources,probe),$(OBJ))
# Of the agent: what woven code comes into.
NATIVE_OBJ := $(call objects,$(addprefix src/agent/,$(addprefix natives/,natives.c data_seen.c stack.c vthread.c) core/guests.c),$(OBJ))
# The agent of native processes takes what it needs of these.
NATIVE_LIB_OBJ := $(call objects,$(call sources,native native/load base elf hook rule sample wire),$(OBJ))
TESTED_OBJ := $(call objects,$(call sources,$(TESTED_FOLDERS)) $(TESTED_FILES),$(OBJ))
UNIT_OBJ := $(call objects,$(sort $(wildcard tests/unit/*.c tests/unit/*/*.c)),$(OBJ))
JAVA_SRC := $(if $(wildcard java),$(shell find java -name '*.java' | LC_ALL=C sort))
BENCH_SRC := $(sort $(wildcard bench/*/*.c))# each file is one program
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))

# ---- build -------------------------------------------------------------------------------------

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all unit benches test test-all test-unit check-fast demo fuzz bench format check install clean help need-libzip need-manager

JAVA := build/java/.done
WEB := build/web/.done

all: ## build everything (the default); with CROSS=, what needs no library but libc
ifdef CROSS
all: $(JAVA) $(OUT)/unit $(OUT)/libsonde.so $(OUT)/sonde-start.so $(OUT)/libsonde-native.so
else
all: $(JAVA) $(OUT)/sonde $(OUT)/sonded $(OUT)/libsonde.so $(OUT)/sonde-start.so $(OUT)/libsonde-native.so $(OUT)/sonde-calibrate.jar $(WEB)
endif

$(OUT)/sonde: $(CLI_OBJ) $(CORE_OBJ)
	$(call say,LINK)
	$(Q)$(LINK) -o $@ $^ $(LIBZIP_LIBS) -lm

$(OUT)/sonded: $(MANAGER_OBJ) $(OUT)/tested.a $(CORE_OBJ)
	$(call say,LINK)
	$(Q)$(LINK) -o $@ $^ $(MANAGER_LIBS) -lm -lpthread

# The agent depends on libc alone, and shows nobody more than src/agent/load/exports.map says.
$(OUT)/libsonde.so: $(AGENT_OBJ) $(CORE_OBJ) src/agent/load/exports.map
	$(call say,LINK)
	$(Q)$(LINK_SHARED) -Wl,-soname,libsonde.so -o $@ $(filter %.o,$^) -lm -ldl -lpthread

# The agent of native processes exports nothing.
$(OUT)/libsonde-native.so: $(NATIVE_LIB_OBJ)
	$(call say,LINK)
	$(Q)$(LINK_ANY) -shared -Wl,-z,defs -Wl,--gc-sections -Wl,-soname,libsonde-native.so -o $@ $^ -lm -ldl -lpthread

$(OBJ)/tests/unit/%.o: INCLUDES += -iquote tests/unit
$(OBJ)/src/probe/%.o: HARDEN = $(HARDEN_PROBE)
# It runs where arguments and results are still in registers.
$(OBJ)/src/native/activation.o: HARDEN = $(HARDEN_PROBE) -mgeneral-regs-only
$(OBJ)/src/native/activation.o: INSTRUMENT :=
$(OBJ)/src/native/%.o: CPPFLAGS += -D_GNU_SOURCE
$(OBJ)/src/start/%.o: CPPFLAGS += -D_GNU_SOURCE
$(OBJ)/src/agent/%.o: CPPFLAGS += -D_GNU_SOURCE -isystem $(JDK_HOME)/include -isystem $(JDK_HOME)/include/linux
$(OBJ)/src/agent/natives/probe_bytes.o: build/java/.done
$(OBJ)/src/cli/hot/flame_bytes.o: src/cli/hot/flame_page.html
$(OBJ)/src/cli/report/trace_bytes.o: src/cli/report/trace_page.html

$(OBJ)/src/manager/webpages_bytes.o: $(WEB)
$(OBJ)/src/manager/%.o: CPPFLAGS += -D_GNU_SOURCE
$(filter $(OBJ)/src/manager/%,$(MANAGER_OBJ)): | need-manager
need-manager:
	@$(PKG_CONFIG) --exists $(MANAGER_NEEDS) || { echo "one of $(MANAGER_NEEDS) is missing: run tools/setup build" >&2; exit 1; }

# Of the agent and the command line only what some test wants comes along.
$(OUT)/tested.a: $(TESTED_OBJ)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/unit: $(UNIT_OBJ) $(OUT)/tested.a $(CORE_OBJ)
	$(call say,LINK)
	$(Q)$(LINK) -o $@ $^ -lm

# Small and flat: two segments, no constructor, nothing to relocate but three weak symbols, no
# symbol that only new libcs have, and no sanitizer, since the programs it is loaded into have none.
START_FLAGS := -O2 -D_GNU_SOURCE -U_FORTIFY_SOURCE -fno-stack-protector -fno-asynchronous-unwind-tables \
	-ffunction-sections -fdata-sections
$(OUT)/sonde-start.so: $(START_OBJ)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -nostartfiles -Wl,--as-needed,--gc-sections,--hash-style=gnu \
		-Wl,-z,noseparate-code,-z,norelro,-z,lazy,-z,noexecstack -o $@ $^

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
	$(Q)$(COMPILE) $(HARDEN_DATA) -c -o $@ $<

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

# The pages: index.html, app.js, app.css and favicon.svg, each also gzipped.  Where npm is missing, or gets nothing, they
# say so and nothing else; they are made anew when npm has come.
WEB_SRC := $(shell find web -type f)
$(WEB): $(WEB_SRC) Makefile tools/pages $(if $(wildcard build/web/.no-npm),$(shell command -v npm >/dev/null && echo npm-has-come))
	$(call say,NPM)
	$(Q)tools/pages
	@touch $@
.PHONY: npm-has-come
npm-has-come:

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
	install -D -m 755 $(OUT)/sonded $(DESTDIR)$(PREFIX)/bin/sonded
	install -D -m 755 $(OUT)/libsonde.so $(DESTDIR)$(PREFIX)/lib/sonde/libsonde.so
	install -D -m 755 $(OUT)/sonde-start.so $(DESTDIR)$(PREFIX)/lib/sonde/sonde-start.so
	install -D -m 755 $(OUT)/libsonde-native.so $(DESTDIR)$(PREFIX)/lib/sonde/libsonde-native.so
	install -D -m 644 $(OUT)/sonde-calibrate.jar $(DESTDIR)$(PREFIX)/lib/sonde/sonde-calibrate.jar
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,man/man1 bash-completion/completions \
		zsh/site-functions fish/vendor_completions.d)
	$(OUT)/sonde man >$(DESTDIR)$(PREFIX)/share/man/man1/sonde.1
	$(OUT)/sonde man --list | while read -r sonde page; do \
		$(OUT)/sonde man $$page >"$(DESTDIR)$(PREFIX)/share/man/man1/sonde-$$(echo $$page | tr ' ' -).1"; \
	done
	$(OUT)/sonde completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/sonde
	$(OUT)/sonde completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_sonde
	$(OUT)/sonde completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/sonde.fish

clean: ## remove build/
	rm -rf build

# ---- tests -------------------------------------------------------------------------------------

test: ## install what is missing, build, run all suites, each on one JDK; NAME=SUITE: that one, on all
	@tools/setup
	@$(MAKE) --no-print-directory all unit $(TEST_PROGRAMS)
	@OUT=$(abspath $(OUT)) tests/run $(NAME)

test-all: ## the same, but every suite on every JDK
	@$(MAKE) --no-print-directory test NAME=--all

# Programs that only a test suite needs.
TEST_PROGRAMS := $(addprefix $(OUT)/,mutants hostile batter elf-dump hook-lengths hook-moves native-storm liar filtered hold.so manager-engine)
TEST_SRC := tests/mutants/mutants.c tests/faults/hostile.c tests/cache/batter.c tests/elf/dump.c \
	tests/hook/lengths.c tests/hook/moves.c tests/native/storm.c tests/filter/filtered.c tests/hostile/liar.c \
	tests/hostile/made_up.c tests/manager/engine.c
$(OUT)/mutants: $(OBJ)/tests/mutants/mutants.o
$(OUT)/hostile: $(OBJ)/tests/faults/hostile.o
$(OUT)/batter: $(OBJ)/tests/cache/batter.o
$(OUT)/elf-dump: $(OBJ)/tests/elf/dump.o
$(OUT)/hook-lengths: $(OBJ)/tests/hook/lengths.o
$(OUT)/hook-moves: $(OBJ)/tests/hook/moves.o
$(OUT)/native-storm: $(OBJ)/tests/native/storm.o $(filter-out %/load.o,$(NATIVE_LIB_OBJ))
$(OBJ)/tests/native/storm.o: CPPFLAGS += -D_GNU_SOURCE
$(OUT)/liar: $(OBJ)/tests/hostile/liar.o $(OBJ)/tests/hostile/made_up.o
$(OUT)/filtered: $(OBJ)/tests/filter/filtered.o
$(addprefix $(OUT)/,mutants hostile batter elf-dump hook-lengths hook-moves liar): $(CORE_OBJ)
$(addprefix $(OUT)/,mutants hostile batter elf-dump hook-lengths hook-moves native-storm liar filtered):
	$(call say,LINK)
	$(Q)$(LINK) -o $@ $^ -lm -ldl -lpthread

$(OUT)/manager-engine: $(OBJ)/tests/manager/engine.o $(STORE_OBJ) $(OUT)/tested.a $(CORE_OBJ)
	$(call say,LINK)
	$(Q)$(LINK) -o $@ $^ $(MANAGER_LIBS) -lm -lpthread

# An agent that holds threads in ours, for tests/clients.
$(OUT)/hold.so: tests/clients/hold.c Makefile
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LANGUAGE) $(WARNINGS) -D_GNU_SOURCE -isystem $(JDK_HOME)/include \
		-isystem $(JDK_HOME)/include/linux $(CFLAGS) -shared -o $@ $<

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
# Those that go through the command line link all of it but main().
FUZZ_CLI_NAMES := recording rows process archive hot look walk stored texts
FUZZ_CLI := $(call objects,$(filter-out src/cli/main.c,$(call sources,$(CLI_FOLDERS))),$(FUZZ_OBJ))

fuzz: $(FUZZ_NAMES:%=$(FUZZ_OUT)/fuzz_%) $(FUZZ_NAMES:%=$(FUZZ_OUT)/corpus/%) ## build the fuzzers and their seeds

$(FUZZ_NAMES:%=$(FUZZ_OUT)/fuzz_%): $(FUZZ_OUT)/%: $(FUZZ_OBJ)/tests/fuzz/%.o $(FUZZ_CORE)
	$(call say,LINK)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lm $(LIBZIP_LIBS)

$(FUZZ_CLI_NAMES:%=$(FUZZ_OUT)/fuzz_%): $(FUZZ_CLI)
$(FUZZ_OUT)/fuzz_stretch $(FUZZ_OUT)/fuzz_jfr: $(call objects,$(call sources,export),$(FUZZ_OBJ))
$(FUZZ_OUT)/fuzz_manager: $(call objects,$(call sources,export manager/figures) $(filter src/manager/%,$(TESTED_FILES)),$(FUZZ_OBJ))
# What stands behind the HTTP of the manager, but for what talks to a ClickHouse: the fuzzer answers in its place.
FUZZ_STORE := $(call objects,$(filter-out %/clickhouse_link.c,$(call sources,$(addprefix manager/,net figures archive push fleet \
	watch))) src/manager/log.c src/manager/wait.c,$(FUZZ_OBJ))
$(FUZZ_OUT)/fuzz_stored: $(FUZZ_STORE)
$(FUZZ_OUT)/fuzz_stored: LIBZIP_LIBS += $(MANAGER_LIBS)
$(FUZZ_OBJ)/src/manager/%.o: CPPFLAGS += -D_GNU_SOURCE
$(FUZZ_OBJ)/src/cli/%.o: CPPFLAGS += $(LIBZIP_CFLAGS)
$(FUZZ_OBJ)/src/cli/hot/flame_bytes.o: src/cli/hot/flame_page.html
$(FUZZ_OBJ)/src/cli/report/trace_bytes.o: src/cli/report/trace_page.html
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
	$(Q)$(LINK) -o $@ $^ $(BENCH_LIBS) -lm
# The manager's store without the manager.
$(OUT)/bench/manager/ingest: $(STORE_OBJ)
$(OUT)/bench/manager/ingest: BENCH_LIBS = $(MANAGER_LIBS) -lpthread

# bench/tree: the agent with a recorder between it and the probe, and the probe with a recorded clock.
TREE := $(OUT)/bench/tree
benches: $(TREE)/libsonde.so $(TREE)/replay
$(OBJ)/bench/tree/native/%.o: INCLUDES += -iquote .
$(TREE)/libsonde.so: $(OBJ)/bench/tree/native/record.o $(AGENT_OBJ) $(CORE_OBJ) src/agent/load/exports.map
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(LINK_SHARED) -Wl,-soname,libsonde.so $(addprefix -Wl$(comma)--wrap=probe_,enter exit thrown) \
		-o $@ $(filter %.o,$^) -lm -ldl -lpthread

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

# What is checked for hardening: all that is installed and loaded.
HARDENED := $(OUT)/libsonde.so $(OUT)/libsonde-native.so $(OUT)/sonde-start.so $(if $(CROSS),,$(OUT)/sonde $(OUT)/sonded)
check-fast: ## check format, layers, names and output alone, in seconds
	@rc=0; tools/check-format || rc=1; tools/check-layers || rc=1; tools/check-names || rc=1; tools/check-output || rc=1; exit $$rc

check: $(PROBE_OBJ) $(NATIVE_OBJ) $(HARDENED) ## check format, layers, names, output, hardening, and what probe and agent use
	@rc=0; tools/check-format || rc=1; tools/check-layers || rc=1; tools/check-names || rc=1; tools/check-output || rc=1; \
	tools/check-probe $(PROBE_OBJ) -- $(NATIVE_OBJ) || rc=1; tools/check-agent $(OUT)/libsonde.so || rc=1; \
	FORTIFY=$(if $(FORTIFY),,no) tools/check-hardening $(HARDENED) || rc=1; exit $$rc

help: ## list the targets
	@sed -n '4,/^$$/s/^# //p' Makefile; echo
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/\1|\2/p' Makefile | sed 's/%/NAME/' | \
		while IFS='|' read -r name what; do printf '%-11s %s\n' "$$name" "$$what"; done

-include $(patsubst %.o,%.d,$(CORE_OBJ) $(CLI_OBJ) $(MANAGER_OBJ) $(AGENT_OBJ) $(START_OBJ) $(UNIT_OBJ) $(FUZZ_CORE) $(FUZZ_CLI) $(call objects,$(TEST_SRC),$(OBJ)) \
	$(BENCH_SRC:%.c=$(OBJ)/%.o) $(REPLAY_OBJ) $(OBJ)/bench/tree/native/record.o $(FUZZ_SRC:%.c=$(FUZZ_OBJ)/%.o))
