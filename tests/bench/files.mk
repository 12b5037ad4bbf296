# SPDX-License-Identifier: BSD-3-Clause
# Tests/bench, tests/fuzz.

# Benches are built and run by `make bench` alone; each takes --json, --quick and --help. They print
# ratios to a limit or floor measured in the same run, and fail no build.
bench_programs = tests/bench/agents tests/bench/collect tests/bench/colop tests/bench/element tests/bench/failure tests/bench/instructions tests/bench/perturb tests/bench/phase tests/bench/tree tests/bench/remap tests/bench/share tests/bench/stage tests/bench/tradeoff
# What tests/bench/collect and tests/bench/phase start, and what is preloaded into that.
bench_helpers = tests/bench/allreduce tests/bench/cores tests/bench/solo tests/bench/duo tests/bench/pvm-duo
bench_preloads = tests/bench/alternate.la tests/bench/forward.la tests/preload/plant.la tests/preload/skew.la
# What tests/bench/colop starts.
bench_ranks = tests/stamper
# What tests/bench/stage loads.
bench_stages = tests/bench/stage-sum.la tests/bench/stage-sum-by-op.la
if LTTNG
bench_preloads += tests/bench/lttng.la
endif
EXTRA_PROGRAMS = $(bench_programs) $(bench_helpers)
EXTRA_LTLIBRARIES = tests/bench/alternate.la tests/bench/forward.la tests/bench/lttng.la $(bench_stages)
CLEANFILES += $(bench_programs) $(bench_helpers) $(EXTRA_LTLIBRARIES)
BENCH_CPPFLAGS = $(libtree_la_CPPFLAGS) -DBENCH_SOURCES='"$(abs_top_srcdir)"'
bench_sources = \
	tests/bench/bed.c tests/bench/bed.h \
	tests/bench/bench.c tests/bench/bench.h \
	consumers/map/certificate.c consumers/map/certificate.h \
	tests/bench/figures.c tests/bench/figures.h \
	tests/bench/meter.c tests/bench/meter.h \
	tests/bench/puller.c tests/bench/puller.h \
	tests/bench/traffic.c tests/bench/traffic.h

tests_bench_agents_SOURCES = tests/bench/agents.c consumers/map/calibrate.c consumers/map/calibrate-tree.c \
	tests/bench/bed.c tests/bench/bed.h tests/bench/bench.c tests/bench/bench.h \
	tests/bench/census.c tests/bench/census.h \
	tests/bench/figures.c tests/bench/figures.h \
	tests/bench/floor.c tests/bench/floor.h \
	tests/bench/meter.c tests/bench/meter.h \
	consumers/map/certificate.c consumers/map/certificate.h \
	tests/bench/pipe.c tests/bench/pipe.h \
	tests/bench/puller.c tests/bench/puller.h \
	tests/bench/reduced.c tests/bench/reduced.h \
	tests/bench/space.c tests/bench/space.h \
	tests/bench/traffic.c tests/bench/traffic.h
tests_bench_agents_CPPFLAGS = $(BENCH_CPPFLAGS)
tests_bench_agents_LDADD = $(EVSPACE_LIBS)

tests_bench_tree_SOURCES = tests/bench/tree.c $(bench_sources) \
	tests/bench/burst.c tests/bench/burst.h \
	tests/bench/floor.c tests/bench/floor.h \
	tests/bench/grove.c tests/bench/grove.h \
	tests/bench/newest.c tests/bench/newest.h \
	tests/bench/packed.c tests/bench/packed.h \
	tests/bench/pipe.c tests/bench/pipe.h \
	tests/bench/space.c tests/bench/space.h
tests_bench_tree_CPPFLAGS = $(BENCH_CPPFLAGS)
tests_bench_tree_LDADD = $(EVSPACE_LIBS) $(ZSTD_LIBS)

tests_bench_instructions_SOURCES = tests/bench/instructions.c $(bench_sources) \
	tests/bench/grove.c tests/bench/grove.h \
	tests/bench/space.c tests/bench/space.h
tests_bench_instructions_CPPFLAGS = $(BENCH_CPPFLAGS)
tests_bench_instructions_LDADD = $(EVSPACE_LIBS)

tests_bench_colop_SOURCES = tests/bench/colop.c tests/bench/colop.h tests/bench/colop-clock.c \
	tests/bench/colop-price.c tests/bench/colop-said.c $(bench_sources) \
	tests/stamps.c tests/stamps.h
tests_bench_colop_CPPFLAGS = $(BENCH_CPPFLAGS)
EXTRA_tests_bench_colop_DEPENDENCIES = $(bench_helpers) $(bench_ranks) $(bench_preloads)
tests_bench_colop_LDADD = $(EVSPACE_LIBS) -lm

tests_bench_element_SOURCES = tests/bench/element.c tests/bench/bench.c tests/bench/bench.h \
	tests/bench/figures.c tests/bench/figures.h tests/bench/pairs.c tests/bench/pairs.h
tests_bench_element_CPPFLAGS = $(BENCH_CPPFLAGS)
tests_bench_element_LDADD = libevspace-element.la $(EVSPACE_LIBS) -lm

tests_bench_perturb_SOURCES = tests/bench/perturb.c $(bench_sources) \
	tests/bench/slowdown-budget.c tests/bench/slowdown-planted.c tests/bench/slowdown.h \
	tests/simulated.c tests/simulated.h tests/random.h
tests_bench_perturb_CPPFLAGS = $(BENCH_CPPFLAGS)
tests_bench_perturb_LDADD = $(EVSPACE_LIBS) -lm

tests_bench_failure_SOURCES = tests/bench/failure.c $(bench_sources) \
	tests/bench/space.c tests/bench/space.h
tests_bench_failure_CPPFLAGS = $(BENCH_CPPFLAGS)
tests_bench_failure_LDADD = $(EVSPACE_LIBS)

tests_bench_remap_SOURCES = tests/bench/remap.c tests/bench/follower.c tests/bench/follower.h \
	tests/bench/bed.c tests/bench/bed.h tests/bench/bench.c tests/bench/bench.h \
	consumers/map/certificate.c consumers/map/certificate.h
tests_bench_remap_CPPFLAGS = $(BENCH_CPPFLAGS)
tests_bench_remap_LDADD = $(EVSPACE_LIBS)

tests_bench_share_SOURCES = tests/bench/share.c $(bench_sources) \
	tests/bench/space.c tests/bench/space.h
tests_bench_share_CPPFLAGS = $(BENCH_CPPFLAGS)
tests_bench_share_LDADD = $(EVSPACE_LIBS)

tests_bench_phase_SOURCES = tests/bench/phase.c tests/random.h tests/bench/bench.c tests/bench/bench.h
tests_bench_phase_CPPFLAGS = $(BENCH_CPPFLAGS)
tests_bench_phase_LDADD = $(EVSPACE_LIBS) -lm
tests_bench_cores_SOURCES = tests/bench/cores.c tests/random.h tests/apps/simplex.c tests/apps/simplex.h
tests_bench_cores_LDADD = $(EVSPACE_LIBS) -lm
EXTRA_DIST += tests/bench/mir.sh tests/bench/phases.sh
tests_bench_stage_SOURCES = tests/bench/stage.c \
	tests/bench/bench.c tests/bench/bench.h tests/bench/figures.c tests/bench/figures.h
tests_bench_stage_CPPFLAGS = $(BENCH_CPPFLAGS)
EXTRA_tests_bench_stage_DEPENDENCIES = $(bench_stages)
tests_bench_stage_LDADD = $(EVSPACE_LIBS)
tests_bench_stage_sum_la_SOURCES = tests/bench/stage-sum.c tree/data/total.c tree/data/total.h
tests_bench_stage_sum_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_bench_stage_sum_la_LIBADD = -lm
tests_bench_stage_sum_by_op_la_SOURCES = $(tests_bench_stage_sum_la_SOURCES)
tests_bench_stage_sum_by_op_la_CPPFLAGS = $(AM_CPPFLAGS) -DBY_OP
tests_bench_stage_sum_by_op_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_bench_stage_sum_by_op_la_LIBADD = -lm

tests_bench_tradeoff_SOURCES = tests/bench/tradeoff.c $(bench_sources) \
	tests/bench/floor.c tests/bench/floor.h tests/bench/pipe.c tests/bench/pipe.h \
	tests/bench/space.c tests/bench/space.h tests/bench/tunnel.c tests/bench/tunnel.h
tests_bench_tradeoff_CPPFLAGS = $(BENCH_CPPFLAGS)
tests_bench_tradeoff_LDADD = $(EVSPACE_LIBS)

# The collector's own code, as it is compiled for programs.
tests_bench_collect_SOURCES = \
	$(collector_core) node-agent/collect/core/collect-swift.h \
	tests/bench/bench.c tests/bench/bench.h \
	tests/bench/collect.c tests/bench/collect-case.h \
	tests/bench/collect-elements.c \
	node-agent/collect/core/hooks.c tests/bench/collect-hooks.c \
	tests/bench/collect-lttng.c \
	tests/bench/collect-modes.c \
	tests/bench/collect-mpi.c tests/bench/collect-mpi.h \
	tests/bench/collect-path.c tests/bench/collect-path.h \
	tests/bench/collect-pvm.c \
	tests/bench/collect-runs.c \
	tests/bench/collect-user.c \
	tests/bench/figures.c tests/bench/figures.h \
	tests/bench/pairs.c tests/bench/pairs.h
tests_bench_collect_CPPFLAGS = $(BENCH_CPPFLAGS)
EXTRA_tests_bench_collect_DEPENDENCIES = $(bench_helpers) $(bench_preloads)
tests_bench_collect_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(COLLECT_ALIGN)
tests_bench_collect_LDADD = $(EVSPACE_LIBS)

# MPI programs that it starts; nothing of them is sanitized, nor shared with those that are.
bench_helper_sources = \
	pathmap/base/error.c pathmap/base/error.h pathmap/base/memory.c pathmap/base/memory.h pathmap/base/utf8.c pathmap/base/utf8.h \
	tests/bench/figures.c tests/bench/figures.h \
	tests/bench/pairs.c tests/bench/pairs.h \
	tree/data/clock.c tree/data/clock.h
tests_bench_solo_SOURCES = tests/bench/solo.c tests/bench/library.h tests/bench/lttng.h \
	$(bench_helper_sources)
tests_bench_solo_CPPFLAGS = $(APP_CPPFLAGS)
tests_bench_solo_CFLAGS = $(APP_CFLAGS)
tests_bench_solo_LDFLAGS = $(APP_LINKFLAGS)
tests_bench_solo_LDADD = $(MPI_LIBS) -ldl
tests_bench_allreduce_SOURCES = tests/bench/allreduce.c
tests_bench_allreduce_CPPFLAGS = $(APP_CPPFLAGS)
tests_bench_allreduce_CFLAGS = $(APP_CFLAGS)
tests_bench_allreduce_LDFLAGS = $(APP_LINKFLAGS)
tests_bench_allreduce_LDADD = $(MPI_LIBS)
tests_bench_duo_SOURCES = tests/bench/duo.c tests/bench/library.h $(bench_helper_sources)
tests_bench_duo_CPPFLAGS = $(APP_CPPFLAGS)
tests_bench_duo_CFLAGS = $(APP_CFLAGS)
tests_bench_duo_LDFLAGS = $(APP_LINKFLAGS)
tests_bench_duo_LDADD = $(MPI_LIBS) -ldl
tests_bench_pvm_duo_SOURCES = tests/bench/pvm-duo.c tree/data/clock.c tree/data/clock.h
tests_bench_pvm_duo_CFLAGS = $(APP_CFLAGS)
tests_bench_pvm_duo_LDFLAGS = $(APP_LINKFLAGS)
tests_bench_pvm_duo_LDADD = $(PVM_LIBS)
tests_bench_alternate_la_SOURCES = tests/bench/alternate.c tests/bench/library.h \
	tree/data/clock.c tree/data/clock.h
tests_bench_alternate_la_CPPFLAGS = $(APP_CPPFLAGS)
tests_bench_alternate_la_CFLAGS = $(APP_CFLAGS)
tests_bench_alternate_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_bench_alternate_la_LIBADD = -ldl
tests_bench_forward_la_SOURCES = tests/bench/forward.c tests/bench/library.h
tests_bench_forward_la_CPPFLAGS = $(APP_CPPFLAGS)
tests_bench_forward_la_CFLAGS = $(APP_CFLAGS)
tests_bench_forward_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_bench_forward_la_LIBADD = -ldl
tests_bench_lttng_la_SOURCES = tests/bench/lttng.c tests/bench/lttng.h \
	tests/bench/lttng-provider.h tests/bench/library.h
tests_bench_lttng_la_CPPFLAGS = $(APP_CPPFLAGS) $(LTTNG_CFLAGS)
tests_bench_lttng_la_CFLAGS = $(APP_CFLAGS)
tests_bench_lttng_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_bench_lttng_la_LIBADD = $(LTTNG_LIBS) -ldl

.PHONY: bench
bench: all $(bench_programs) $(bench_helpers) $(bench_preloads) $(bench_ranks) $(bench_stages)
	@$(AM_TESTS_ENVIRONMENT) for program in $(bench_programs); do \
		$$program $(BENCH_ARGS) || echo "$$program: no result"; echo; \
	done

# What make check does for seconds, for minutes.
.PHONY: soak
soak: all $(check_PROGRAMS)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS EVSPACE_TEST_LIMIT=7200 \
		TESTS='tests/chaos_test.sh tests/reconnect_test.sh tests/hostile_test.sh' \
		CHAOS_SECONDS=300 RECONNECTIONS=10000 HOSTILE_SECONDS=3600

# A program that tries code without locks is compiled, with the sources it tries, under this.
TSAN_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fsanitize=thread

# A fuzz target is built from its own source and those that it tries, each compiled once for all:
#	tests/fuzz/x_fuzz: $(call fuzzed, tests/fuzz/x_fuzz.c $(libpathmap_la_SOURCES))
#		$(FUZZ_LINK) $(ZSTD_LIBS)
# make check gives each FUZZ_SECONDS.
fuzzed = $(patsubst %.c,tests/fuzz/objects/%.o,$(filter %.c,$(1)))
FUZZ_CLANG = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(CLANG) -g -fsanitize=fuzzer$(1),address,undefined \
	-fno-sanitize-recover=undefined -o $@
FUZZ_LINK = $(call FUZZ_CLANG,) $(filter %.o %.a,$^)
tests/fuzz/objects/%.o: %.c
	$(call FUZZ_CLANG,-no-link) -std=gnu11 -O1 $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(PROTOBUF_C_CFLAGS) \
		$(EVENT_CFLAGS) $(XML_CFLAGS) -MMD -c $<
-include $(wildcard tests/fuzz/objects/*/*.d tests/fuzz/objects/*/*/*.d)

fuzz_targets = tests/fuzz/archive_fuzz tests/fuzz/batch_fuzz tests/fuzz/columns_fuzz tests/fuzz/cursor_fuzz \
	tests/fuzz/kept_fuzz tests/fuzz/mir_fuzz tests/fuzz/mirror_fuzz tests/fuzz/pathmap_fuzz tests/fuzz/segment_fuzz tests/fuzz/wire_fuzz
EXTRA_DIST += tests/fuzz/archive_fuzz.c tests/fuzz/batch_fuzz.c tests/fuzz/columns_fuzz.c tests/fuzz/cursor_fuzz.c \
	tests/fuzz/kept_fuzz.c tests/fuzz/mir_fuzz.c tests/fuzz/mirror_fuzz.c tests/fuzz/pathmap_fuzz.c tests/fuzz/segment_fuzz.c tests/fuzz/wire_fuzz.c tests/fuzz/seeds/columns tests/fuzz/seeds/mir tests/fuzz/seeds/mir.dict tests/fuzz/seeds/segment
if FUZZER
check_DATA += $(fuzz_targets)
CLEANFILES += $(fuzz_targets)
endif
mostlyclean-local:
	rm -rf tests/fuzz/objects

tests/fuzz/archive_fuzz: $(call fuzzed, tests/fuzz/archive_fuzz.c consumers/archive/archive.c consumers/archive/archive-reader.c \
		tree/wire/bytes.c tree/wire/deframer.c tree/wire/flat.c tree/wire/packer.c \
		tree/wire/wire.c tree/wire/wire.pb-c.c $(data_sources) \
		tree/stage/convert.c $(libpathmap_la_SOURCES))
	$(FUZZ_LINK) $(PROTOBUF_C_LIBS) $(ZSTD_LIBS) -lm

tests/fuzz/batch_fuzz: $(call fuzzed, tests/fuzz/batch_fuzz.c $(data_sources) $(stage_sources) \
		$(libpathmap_la_SOURCES))
	$(FUZZ_LINK) -lm

tests/fuzz/columns_fuzz: $(call fuzzed, tests/fuzz/columns_fuzz.c $(data_sources) $(libpathmap_la_SOURCES))
	$(FUZZ_LINK) -lm

tests/fuzz/cursor_fuzz: $(call fuzzed, tests/fuzz/cursor_fuzz.c node-agent/store/cursor.c \
		node-agent/store/cursor-file.c node-agent/store/shelf.c \
		node-agent/segment/folder.c $(data_sources) $(libpathmap_la_SOURCES))
	$(FUZZ_LINK) -lm

# The room of maps, as instrumented; what it needs besides, as it is.
tests/fuzz/kept_fuzz: $(call fuzzed, tests/fuzz/kept_fuzz.c node-agent/map/active-map.c \
		node-agent/map/active-map-behind.c node-agent/map/active-map-pass.c node-agent/map/active-map-plan.c \
		$(libpathmap_la_SOURCES)) libtree.la
	$(FUZZ_LINK) .libs/libtree.a \
		$(PROTOBUF_C_LIBS) $(EVENT_LIBS) $(OPENSSL_LIBS) $(ZSTD_LIBS) -lm

tests/fuzz/mir_fuzz: $(call fuzzed, tests/fuzz/mir_fuzz.c $(mir_reader_sources) consumers/mir/answer.c \
		consumers/mir/framing.c $(libpathmap_la_SOURCES))
	$(FUZZ_LINK) $(XML_LIBS)

tests/fuzz/mirror_fuzz: $(call fuzzed, tests/fuzz/mirror_fuzz.c node-agent/store/mirror.c \
		node-agent/segment/element.c node-agent/segment/folder.c \
		node-agent/segment/segment-file.c node-agent/segment/segment-mark.c \
		node-agent/segment/segment-read.c node-agent/segment/segment-room.c \
		node-agent/segment/segment.c node-agent/segment/segment-class.c \
		node-agent/segment/segment-table.c node-agent/segment/segment-timed.c \
		node-agent/segment/segment-function.c node-agent/segment/segment-map.c node-agent/segment/segment-told.c \
		node-agent/store/proc.c $(data_sources) $(libpathmap_la_SOURCES))
	$(FUZZ_LINK) -lm

tests/fuzz/pathmap_fuzz: $(call fuzzed, tests/fuzz/pathmap_fuzz.c tests/maps.c $(libpathmap_la_SOURCES))
	$(FUZZ_LINK)

tests/fuzz/segment_fuzz: $(call fuzzed, tests/fuzz/segment_fuzz.c node-agent/source/counter.c \
		node-agent/store/cursor.c node-agent/store/cursor-file.c \
		node-agent/segment/element.c node-agent/source/accounting.c \
		node-agent/segment/folder.c node-agent/source/label.c node-agent/store/mirror.c \
		node-agent/store/proc.c node-agent/source/row.c node-agent/source/row-names.c \
		node-agent/source/row-fetch.c node-agent/source/row-gone.c \
		node-agent/source/row-take.c node-agent/source/row-sample.c node-agent/source/row-thread.c node-agent/source/row-typed.c \
		node-agent/pastset/pastset.c node-agent/pastset/pastset-clock.c \
		node-agent/source/sampled.c node-agent/source/sampler.c node-agent/source/sieve.c \
		node-agent/segment/segment-class.c \
		node-agent/segment/segment-file.c \
		node-agent/segment/segment-table.c node-agent/segment/segment-mark.c \
		node-agent/segment/segment-read.c \
		node-agent/segment/segment-function.c node-agent/segment/segment-map.c node-agent/segment/segment-told.c node-agent/source/row-tell.c \
		node-agent/segment/segment-room.c node-agent/segment/segment-timed.c node-agent/segment/segment-trial.c \
		node-agent/segment/segment.c node-agent/store/shelf.c node-agent/source/source.c \
		node-agent/source/source-host.c node-agent/store/store-segment.c node-agent/store/store-element.c \
		node-agent/control/properties.c node-agent/control/trials.c \
		node-agent/control/switch.c tree/scope/classes.c tree/link/rate-limit.c \
		tree/wire/wire.pb-c.c $(data_sources) $(stage_sources) $(libpathmap_la_SOURCES))
	$(FUZZ_LINK) \
		$(PROTOBUF_C_LIBS) $(EVENT_LIBS) -lm

tests/fuzz/wire_fuzz: $(call fuzzed, tests/fuzz/wire_fuzz.c tree/wire/bytes.c tree/wire/deframer.c tree/wire/flat.c tree/wire/packer.c \
		tree/wire/wire.c tree/wire/wire-place.c tree/wire/wire.pb-c.c $(data_sources) \
		tree/stage/convert.c $(libpathmap_la_SOURCES))
	$(FUZZ_LINK) $(PROTOBUF_C_LIBS) $(ZSTD_LIBS) -lm
