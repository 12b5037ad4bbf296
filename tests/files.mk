# SPDX-License-Identifier: BSD-3-Clause
# Tests: one CUnit program per module, speaking TAP; scripts.

# Programs named in unit_tests are built and run by make check; each is <name>.c and LDADD, unless
# it says otherwise. Scripts in TESTS end in .sh and are run by bash with tests/tap.sh.
# Both print TAP, each case is one line.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(BASH_PATH) $(top_srcdir)/tests/driver.sh
TEST_EXTENSIONS = .sh
SH_LOG_DRIVER = $(LOG_DRIVER)
LOG_COMPILER = $(BASH_PATH) $(top_srcdir)/tests/limit.sh
SH_LOG_COMPILER = $(LOG_COMPILER) $(BASH_PATH)
EXTRA_DIST += tests/cluster/bed tests/cluster/bed.sh tests/cluster/far.sh tests/cluster/slurm.sh
EXTRA_DIST += tests/bench/archive.sh tests/bench/bench.sh tests/bench/deploy.sh tests/bench/distance.sh tests/bench/late.sh tests/bench/planted.sh tests/bench/sir.sh tests/bench/steer.sh
check_PROGRAMS += tests/cluster/wire
tests_cluster_wire_LDADD =
# Not what make would make of bed.sh by a rule of its own.
tests/cluster/bed: ;
EXTRA_DIST += tests/stages/bad.c tests/meetings.awk tests/lateness.py
EXTRA_DIST += tests/abi.awk tests/sampler.awk tests/recorded/abi tests/calls.awk tests/circles.awk tests/code.awk tests/rules.awk tests/rooms tests/figures.sh
EXTRA_DIST += tests/apart.sh tests/exempt.tab tests/cppcheck.cfg tests/copy.sh tests/counts.sh tests/driver.sh tests/durations \
	tests/limit.sh tests/machine.sh tests/tap.sh $(script_tests) $(idle_tests) $(lone_tests) $(dear_tests)

# MPI as root, with more ranks than cores; what is tested is what was built, not what is installed.
# A sanitized program may have the collector, which is not sanitized, preloaded before it.
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	EVSPACE_LIBDIR='$(abs_top_builddir)/.libs'; export EVSPACE_LIBDIR; \
	PATH='$(abs_top_builddir)':$$PATH; export PATH; \
	OMPI_ALLOW_RUN_AS_ROOT=1; export OMPI_ALLOW_RUN_AS_ROOT; \
	OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM; \
	OMPI_MCA_rmaps_base_oversubscribe=1; export OMPI_MCA_rmaps_base_oversubscribe; \
	OMP_NUM_THREADS=1; export OMP_NUM_THREADS; \
	MPICH_RUN='$(MPICH_RUN)'; export MPICH_RUN; \
	FUZZ_SECONDS='$(FUZZ_SECONDS)'; export FUZZ_SECONDS; \
	ASAN_OPTIONS=verify_asan_link_order=0:$$ASAN_OPTIONS; export ASAN_OPTIONS; \
	UBSAN_OPTIONS=print_stacktrace=1:$$UBSAN_OPTIONS; export UBSAN_OPTIONS;

check_LTLIBRARIES = libtap.la
libtap_la_SOURCES = tests/tap.c tests/tap.h
libtap_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUNIT_CFLAGS)
libtap_la_LIBADD = $(CUNIT_LIBS)
LDADD = libtap.la $(EVSPACE_LIBS)

unit_tests = \
	tests/address_test tests/agreement_test tests/alarm_test \
	tests/batch_test tests/brought_test \
	tests/bench_test \
	tests/classes_test \
	tests/client_test tests/client_connection_test tests/client_break_test tests/client_held_test \
	tests/clock_test tests/clock_fit_test \
	tests/collect_class_test \
	tests/collector_test tests/collector_thread_test \
	tests/columns_test \
	tests/collect_hazard_test \
	tests/convert_test \
	tests/cost_test \
	tests/cursor_test tests/shelf_test \
	tests/definition_test tests/deframer_test \
	tests/budget_test tests/bucket_test tests/critical_test tests/effect_test tests/entropy_window_test tests/phase_test tests/unordered_test tests/watching_test \
	tests/urgency_test \
	tests/knapsack_test \
	tests/element_test tests/element_tsan_test \
	tests/subprocess_test \
	tests/error_test \
	tests/fields_test \
	tests/filter_test tests/flat_test tests/framing_test \
	tests/thinning_test \
	tests/sampler_threads_test tests/sieve_test \
	tests/gather_test \
	tests/finding_test \
	tests/fold_test tests/foreign_stage_test \
	tests/part_test \
	tests/pastset_test tests/pastset_hostile_test \
	tests/joining_test \
	tests/measurement_test tests/median_test tests/meet_test \
	tests/arrival_order_test tests/crossing_test tests/group_number_test tests/meeting_test tests/message_test tests/wait_test tests/lateness_test tests/dwell_test \
	tests/heartbeat_test tests/intervals_test tests/merged_test tests/counts_merge_test tests/archive_forged_test tests/fortran_macros_test tests/pairing_test tests/progress_test tests/spill_test tests/stall_odd_test \
	tests/fetch_test tests/hearsay_test tests/hop_test tests/hop_answer_test tests/hop_fold_test tests/hostlist_test \
	tests/lattice_test \
	tests/delivery_test tests/delivery_fold_test tests/delivery_columns_test \
	tests/library_test \
	tests/link_test tests/link_flood_test \
	tests/loop_test tests/loop_tsan_test \
	tests/listener_test \
	tests/child_test tests/child_clock_test \
	tests/fanout_test tests/awaits_test tests/lasting_test \
	tests/names_test tests/names_comm_test \
	tests/op_test \
	tests/packer_test \
	tests/pass_test \
	tests/pathmap_test \
	tests/pattern_test \
	tests/table_test tests/tally_test \
	tests/difference_test \
	tests/order_test \
	tests/plan_test tests/plan_early_test tests/plan_random_test \
	tests/price_test tests/process_test \
	tests/thread_states_test tests/tempo_test tests/capacity_test \
	tests/reduce_test \
	tests/score_test tests/segment_test tests/segment_hostile_test \
	tests/settings_test \
	tests/signature_test \
	tests/steer_tree_test \
	tests/site_test \
	tests/sort_test \
	tests/monitor_test \
	tests/source_test tests/source_damage_test tests/source_many_test \
	tests/stack_signals_test \
	tests/stage_test \
	tests/riding_test tests/scope_shared_test \
	tests/store_test tests/store_purge_test tests/segment_room_test \
	tests/timing_test tests/told_test tests/trial_test tests/one_in_test tests/drift_test \
	tests/tls_test \
	tests/view_bins_test \
	tests/wire_test
check_PROGRAMS += $(unit_tests)
# Those that take long have a line in tests/durations, by which deploy/check begins with the longest.
script_tests = \
	tests/abi_test.sh tests/clocks_test.sh \
	tests/cluster/multicluster \
	tests/hostile_test.sh \
	tests/distance_test.sh \
	tests/conformance_test.sh \
	tests/mistakes_test.sh tests/watch_test.sh tests/watch_hosts_test.sh tests/signatures_test.sh tests/steer_live_test.sh tests/steer_test.sh tests/switch_test.sh \
	tests/control_test.sh \
	tests/hpcc_test.sh \
	tests/launch_test.sh \
	tests/plan_live_test.sh tests/perturb_test.sh tests/phases_test.sh tests/plans_test.sh \
	tests/deploy_test.sh \
	tests/discover_test.sh \
	tests/mpich_test.sh \
	tests/remap_test.sh \
	tests/observe_test.sh \
	tests/systemd_test.sh \
	tests/apps_test.sh \
	tests/attack_test.sh \
	tests/certs_test.sh tests/define_test.sh \
	tests/chaos_test.sh \
	tests/check_test.sh \
	tests/archive_test.sh tests/mir_test.sh tests/mir_hosts_test.sh tests/mir_listen_test.sh tests/mir_https_test.sh tests/mir_code_test.sh tests/mir_sir_test.sh tests/mir_write_test.sh tests/mir_fortran_test.sh tests/mir_region_test.sh tests/mir_function_test.sh tests/export_test.sh tests/collect_test.sh tests/colop_test.sh \
	tests/comms_test.sh \
	tests/ids_test.sh \
	tests/merge_test.sh tests/merge_remap_test.sh tests/executions_test.sh \
	tests/docs_test.sh \
	tests/doctor_test.sh \
	tests/elements_test.sh tests/properties_test.sh tests/arrears_test.sh \
	tests/hurry_test.sh tests/ended_test.sh \
	tests/failure_test.sh \
	tests/shares_test.sh tests/starved_test.sh \
	tests/fault_test.sh \
	tests/folder_test.sh \
	tests/fortran_test.sh \
	tests/gateway_test.sh \
	tests/guest_test.sh \
	tests/install_test.sh \
	tests/kill_test.sh \
	tests/monitors_test.sh \
	tests/prefork_test.sh \
	tests/pathmap_recorded_test.sh \
	tests/profile_test.sh \
	tests/programs_test.sh \
	tests/prolog_test.sh \
	tests/pvm_test.sh tests/groups_test.sh \
	tests/sampler_test.sh \
	tests/quickstart_test.sh \
	tests/reconnect_test.sh \
	tests/refuse_test.sh \
	tests/remote_test.sh \
	tests/rest_test.sh tests/served_test.sh \
	tests/run_test.sh \
	tests/share_test.sh \
	tests/sigkill_test.sh \
	tests/stages_test.sh \
	tests/examples_test.sh \
	tests/stack_test.sh \
	tests/stuck_test.sh \
	tests/user_test.sh \
	tests/versions_test.sh \
	tests/view_test.sh \
	tests/whole_test.sh
# They only compute: one after the other beside all others, with what processor time these leave over.
idle_tests = \
	tests/fuzz_test.sh \
	tests/style.sh
# They compare what they measure with what was predicted: nothing else may run.
lone_tests = tests/predict_test.sh
TESTS += $(script_tests) $(unit_tests) $(idle_tests) $(lone_tests)
# They take minutes of both cores: deploy/check --all runs them, or make check TESTS=tests/deb_test.sh
dear_tests = tests/deb_test.sh

# For deploy/check.
.PHONY: tests-list
tests-list:
	@printf 'some %s\n' $(script_tests) $(unit_tests)
	@printf 'idle %s\n' $(idle_tests)
	@printf 'lone %s\n' $(lone_tests)
	@printf 'dear %s\n' $(dear_tests)

tests_hop_test_SOURCES = tests/hop_test.c tests/hop-bed.c tests/hop-bed.h tests/peers.c tests/peers.h
tests_hop_answer_test_SOURCES = tests/hop_answer_test.c tests/hop-bed.c tests/hop-bed.h \
	tests/hop-sayer.c tests/hop-sayer.h tests/peers.c tests/peers.h
tests_hop_fold_test_SOURCES = tests/hop_fold_test.c tests/hop-bed.c tests/hop-bed.h \
	tests/hop-sayer.c tests/hop-sayer.h tests/peers.c tests/peers.h
tests_child_test_SOURCES = tests/child_test.c tests/peers.c tests/peers.h
tests_child_clock_test_SOURCES = tests/child_clock_test.c tests/peers.c tests/peers.h
tests_fanout_test_SOURCES = tests/fanout_test.c tests/peers.c tests/peers.h
tests_awaits_test_SOURCES = tests/awaits_test.c tests/peers.c tests/peers.h
tests_pass_test_SOURCES = tests/maps.c tests/maps.h tests/pass_test.c tests/peers.c tests/peers.h
tests_link_flood_test_SOURCES = tests/link_flood_test.c tests/peers.c tests/peers.h
tests_link_test_SOURCES = tests/link_test.c tests/peers.c tests/peers.h
tests_listener_test_SOURCES = tests/listener_test.c tests/peers.c tests/peers.h
tests_brought_test_SOURCES = tests/brought_test.c tests/gather-bed.h
tests_gather_test_SOURCES = tests/gather_test.c tests/gather-bed.h
tests_packer_test_SOURCES = tests/packer_test.c tests/peers.c tests/peers.h tests/random.h
tests_packer_test_LDADD = $(LDADD) $(ZSTD_LIBS)
tests_tls_test_SOURCES = tests/tls_test.c tests/forge.c tests/forge.h tests/peers.c tests/peers.h

tests_filter_test_SOURCES = tests/filter_test.c tests/random.h
tests_sampler_threads_test_SOURCES = tests/sampler_threads_test.c tests/source-bed.c tests/source-bed.h tests/fixture.c tests/fixture.h
tests_sieve_test_SOURCES = tests/sieve_test.c tests/random.h
tests_thinning_test_SOURCES = tests/thinning_test.c tests/random.h
tests_columns_test_SOURCES = tests/columns-naive.h tests/columns-records.h tests/columns_test.c tests/random.h
tests_flat_test_SOURCES = tests/flat_test.c tests/random.h
tests_steer_tree_test_SOURCES = node-agent/collect/mpi/steer-tree.c tests/random.h tests/steer_tree_test.c
tests_framing_test_SOURCES = consumers/mir/framing.c consumers/mir/markup.c tests/framing_test.c
tests_measurement_test_SOURCES = consumers/mir/answer.c consumers/mir/measurement.c tests/measurement_test.c tests/random.h
tests_measurement_test_LDADD = $(LDADD) -lm
tests_median_test_SOURCES = tests/median_test.c tests/random-trees.c tests/random-trees.h tests/random.h
tests_meet_test_SOURCES = tests/meet_test.c tests/random-trees.c tests/random-trees.h tests/random.h
tests_meet_test_LDADD = $(LDADD) -lm
tests_joining_test_SOURCES = tests/joining_test.c tests/random-trees.c tests/random-trees.h tests/random.h
tests_fold_test_SOURCES = tests/fold_test.c tests/random-trees.c tests/random-trees.h tests/random.h
tests_part_test_SOURCES = tests/part_test.c tests/random.h
tests_foreign_stage_test_SOURCES = tests/foreign_stage_test.c tests/random-trees.c tests/random-trees.h tests/random.h
tests_reduce_test_SOURCES = tests/random-trees.c tests/random-trees.h tests/random.h tests/reduce_test.c
tests_sort_test_SOURCES = tests/random.h tests/sort_test.c
tests_monitor_test_SOURCES = tests/monitor_test.c tests/fixture.c tests/fixture.h
tests_source_test_SOURCES = tests/source_test.c tests/source-bed.c tests/source-bed.h tests/fixture.c tests/fixture.h
tests_source_many_test_SOURCES = tests/source_many_test.c tests/source-bed.c tests/source-bed.h \
	tests/fixture.c tests/fixture.h
tests_fetch_test_SOURCES = tests/fetch_test.c tests/source-bed.c tests/source-bed.h tests/fixture.c tests/fixture.h
tests_source_damage_test_SOURCES = tests/source_damage_test.c tests/source-bed.c tests/source-bed.h \
	tests/fixture.c tests/fixture.h
tests_store_test_SOURCES = tests/store_test.c tests/fixture.c tests/fixture.h
tests_segment_room_test_SOURCES = tests/segment_room_test.c tests/fixture.c tests/fixture.h
tests_store_purge_test_SOURCES = tests/store_purge_test.c tests/fixture.c tests/fixture.h
fake_sources = tests/fake.c tests/fake.h tests/fake-words.c tests/fake-words.h tests/random.h
tests_client_break_test_SOURCES = tests/client_break_test.c $(fake_sources)
tests_client_held_test_SOURCES = tests/client_held_test.c $(fake_sources)
tests_loop_test_SOURCES = tests/loop_test.c tests/loop-bed.c tests/loop-bed.h $(fake_sources)
tests_loop_test_LDADD = $(LDADD) -lpthread
# The same with all of the library, so that whatever two connections in two threads share is found.
tests_loop_tsan_test_CPPFLAGS = $(libtree_la_CPPFLAGS) $(CUNIT_CFLAGS)
tests_loop_tsan_test_CFLAGS = $(TSAN_CFLAGS) -Wno-tsan
tests_loop_tsan_test_LDFLAGS = -fsanitize=thread
tests_loop_tsan_test_LDADD = $(libtree_la_LIBADD) $(CUNIT_LIBS) -lpthread
tests_loop_tsan_test_SOURCES = $(tests_loop_test_SOURCES) tests/tap.c tests/tap.h \
	$(libclient_la_SOURCES) $(libtree_la_SOURCES) $(libpathmap_la_SOURCES)
nodist_tests_loop_tsan_test_SOURCES = $(nodist_libtree_la_SOURCES)
tests_view_bins_test_SOURCES = tests/view_bins_test.c $(fake_sources)
tests_client_test_SOURCES = tests/client_test.c tests/client-bed.c tests/client-bed.h $(fake_sources)
tests_client_connection_test_SOURCES = tests/client_connection_test.c tests/client-bed.c tests/client-bed.h \
	$(fake_sources)
tests_delivery_fold_test_SOURCES = tests/delivery_fold_test.c tests/delivery-scope.h tests/random.h
tests_delivery_test_SOURCES = tests/delivery_test.c tests/delivery-scope.h tests/random.h
tests_delivery_columns_test_SOURCES = tests/delivery_columns_test.c tests/delivery-scope.h tests/random.h
tests_intervals_test_SOURCES = tests/intervals_test.c tests/random.h
# As programs of others: linked with the library alone.
tests_library_test_LDADD = libtap.la libevspace.la
tests_pastset_test_LDADD = libtap.la libevspace-element.la
tests_pastset_test_SOURCES = tests/pastset_test.c tests/pastset-bed.c tests/pastset-bed.h
tests_heartbeat_test_SOURCES = tests/heartbeat_test.c tests/stall-bed.c tests/stall-bed.h
tests_stall_odd_test_SOURCES = tests/stall_odd_test.c tests/stall-bed.c tests/stall-bed.h
tests_pastset_hostile_test_LDADD = libtap.la libevspace-element.la
tests_pastset_hostile_test_SOURCES = tests/pastset_hostile_test.c tests/pastset-bed.c tests/pastset-bed.h
tests_fields_test_SOURCES = tests/fields_test.c tests/random.h
tests_bench_test_CPPFLAGS = $(AM_CPPFLAGS) -DBENCH_SOURCES='"$(abs_top_srcdir)"'
tests_bench_test_SOURCES = tests/bench/bench.c tests/bench/bench.h tests/bench_test.c
tests_subprocess_test_SOURCES = consumers/cli/subprocess.c consumers/cli/subprocess.h tests/subprocess_test.c
tests_finding_test_SOURCES = consumers/deploy/finding.c consumers/deploy/finding.h \
	consumers/deploy/finding-words.c tests/finding_test.c tests/random.h
tests_capacity_test_SOURCES = node-agent/collect/core/capacity.c \
	tests/capacity_test.c
tests_tally_test_CPPFLAGS = $(AM_CPPFLAGS) $(CUNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_tally_test_SOURCES = consumers/cli/json.c consumers/cli/json.h consumers/cli/tally.c consumers/cli/tally.h \
	consumers/cli/words.c consumers/cli/words.h tests/tally_test.c
tests_tally_test_LDADD = $(LDADD) $(JANSSON_LIBS)
tests_spill_test_SOURCES = consumers/keep/spill.c consumers/keep/spill.h tests/spill_test.c tests/random.h
tests_progress_test_SOURCES = consumers/cli/status-line.c consumers/cli/status-line.h consumers/keep/progress.c consumers/keep/progress.h tests/progress_test.c
tests_progress_test_LDADD = $(LDADD) -lm
tests_fortran_macros_test_SOURCES = consumers/code/fortran-macros.c consumers/code/fortran-macros.h tests/fortran_macros_test.c
tests_pairing_test_SOURCES = consumers/keep/pairing.c consumers/keep/pairing.h tests/pairing_test.c tests/random.h
tests_merged_test_SOURCES = consumers/keep/merged.c consumers/keep/merged.h tests/merged_test.c tests/random.h
tests_counts_merge_test_SOURCES = consumers/keep/counts-merge.c consumers/keep/counts-merge.h consumers/keep/merged.c consumers/keep/merged.h consumers/keep/merging.c consumers/keep/merging.h tests/counts_merge_test.c
tests_archive_forged_test_SOURCES = consumers/keep/merged.c consumers/keep/merged.h consumers/keep/merging.c consumers/keep/merging.h tests/archive_forged_test.c
tests_archive_forged_test_LDADD = $(LDADD) $(ZSTD_LIBS)
tests_thread_states_test_SOURCES = consumers/watch/thread-states.c consumers/watch/thread-states.h tests/thread_states_test.c
tests_stage_test_SOURCES = tests/stage_test.c tests/wave.c tests/wave.h
tests_convert_test_SOURCES = tests/convert_test.c tests/random.h
EXTRA_DIST += tests/apps/elements.f90
EXTRA_DIST += tests/recorded/stages tests/fuzz/seeds/wire tests/fuzz/seeds/segment

tests_pathmap_test_SOURCES = tests/maps.c tests/maps.h tests/pathmap_test.c
tests_table_test_SOURCES = tests/table_test.c
tests_pattern_test_SOURCES = tests/pattern_test.c tests/random.h
tests_order_test_SOURCES = tests/order_test.c tests/maps.c tests/maps.h
tests_difference_test_SOURCES = tests/difference_test.c tests/maps.c tests/maps.h
tests_effect_test_SOURCES = tests/effect_test.c tests/simulated.c tests/simulated.h tests/random.h
tests_arrival_order_test_SOURCES = tests/arrival_order_test.c tests/random.h
tests_meeting_test_SOURCES = tests/meeting_test.c tests/random.h
tests_crossing_test_SOURCES = tests/crossing_test.c tests/random.h
tests_crossing_test_LDADD = $(LDADD) -lm
tests_group_number_test_SOURCES = tests/group_number_test.c tests/random.h
tests_message_test_SOURCES = tests/message_test.c tests/random.h
tests_wait_test_SOURCES = tests/wait_test.c tests/random.h
tests_wait_test_LDADD = $(LDADD) -lm
tests_dwell_test_SOURCES = tests/dwell_test.c tests/random.h
tests_dwell_test_LDADD = $(LDADD) -lm
tests_lateness_test_SOURCES = tests/lateness_test.c tests/random.h
tests_lateness_test_LDADD = $(LDADD) -lm
tests_budget_test_SOURCES = tests/budget_test.c tests/random.h
tests_budget_test_LDADD = $(LDADD) -lm
tests_bucket_test_LDADD = $(LDADD) -lm
tests_effect_test_LDADD = $(LDADD) -lm
tests_critical_test_SOURCES = tests/critical_test.c tests/random.h
tests_critical_test_LDADD = $(LDADD) -lm
tests_price_test_SOURCES = tests/price_test.c tests/random.h
tests_price_test_LDADD = $(LDADD) -lm
tests_knapsack_test_LDADD = $(LDADD) -lm
tests_entropy_window_test_LDADD = $(LDADD) -lm
tests_phase_test_SOURCES = tests/phase_test.c tests/random.h
tests_watching_test_SOURCES = tests/watching_test.c tests/random.h
tests_watching_test_LDADD = $(LDADD) -lm
tests_phase_test_LDADD = $(LDADD) -lm
tests_unordered_test_SOURCES = tests/unordered_test.c tests/random.h
tests_unordered_test_LDADD = $(LDADD) -lm
tests_cost_test_SOURCES = tests/cost_test.c tests/maps.c tests/maps.h
tests_definition_test_SOURCES = tests/definition_test.c tests/maps.c tests/maps.h
tests_plan_test_SOURCES = tests/maps.c tests/maps.h tests/plan_test.c
tests_plan_early_test_SOURCES = tests/maps.c tests/maps.h tests/plan_early_test.c
tests_plan_random_test_SOURCES = tests/maps.c tests/maps.h tests/plan_random_test.c tests/random.h
EXTRA_DIST += tests/recorded/pathmap tests/fuzz/seeds/pathmap

# === tests of what is collected

tests_segment_test_SOURCES = tests/segment_test.c tests/segments.c tests/segments.h
tests_segment_hostile_test_SOURCES = tests/segment_hostile_test.c tests/segments.c tests/segments.h
tests_site_test_SOURCES = tests/site_test.c tests/segments.c tests/segments.h \
	node-agent/collect/core/modules.c node-agent/collect/core/modules.h

# A collector without an MPI or PVM.
collector_core = \
	node-agent/collect/core/collect.c node-agent/collect/core/collect.h \
	node-agent/collect/core/collect-class.c \
	node-agent/collect/core/collect-space.c node-agent/collect/core/collect-space.h \
	node-agent/collect/core/collect-timing.c node-agent/collect/core/collect-timing.h \
	node-agent/collect/core/capacity.c \
	node-agent/collect/core/modules.c node-agent/collect/core/modules.h \
	node-agent/collect/core/properties.c node-agent/collect/core/properties.h \
	node-agent/collect/core/trial.c node-agent/collect/core/trial.h
# gcc 12 tests the address of a thread-local variable with flags that it has just overwritten.
tests_collector_test_CFLAGS = $(AM_CFLAGS) -fno-sanitize=null
tests_collector_test_SOURCES = $(collector_core) tests/collector_test.c tests/collector-bed.c tests/collector-bed.h \
	tests/segments.c tests/segments.h
tests_collector_thread_test_CFLAGS = $(AM_CFLAGS) -fno-sanitize=null
tests_collector_thread_test_SOURCES = $(collector_core) tests/collector_thread_test.c tests/collector-bed.c tests/collector-bed.h \
	tests/segments.c tests/segments.h
tests_timing_test_CFLAGS = $(AM_CFLAGS) -fno-sanitize=null
tests_timing_test_SOURCES = $(collector_core) tests/timing_test.c tests/collector-bed.c tests/collector-bed.h \
	tests/segments.c tests/segments.h
tests_told_test_CFLAGS = $(AM_CFLAGS) -fno-sanitize=null -pthread
tests_told_test_SOURCES = $(collector_core) node-agent/collect/core/told.c tests/told_test.c tests/collector-bed.c \
	tests/collector-bed.h tests/segments.c tests/segments.h
tests_trial_test_CFLAGS = $(AM_CFLAGS) -fno-sanitize=null
tests_trial_test_SOURCES = $(collector_core) tests/trial_test.c tests/collector-bed.c tests/collector-bed.h \
	tests/segments.c tests/segments.h
tests_one_in_test_CFLAGS = $(AM_CFLAGS) -fno-sanitize=null
tests_one_in_test_SOURCES = $(collector_core) tests/one_in_test.c tests/collector-bed.c tests/collector-bed.h \
	tests/segments.c tests/segments.h
tests_one_in_test_LDADD = $(LDADD) -lm
tests_collect_class_test_CFLAGS = $(AM_CFLAGS) -fno-sanitize=null
tests_collect_class_test_SOURCES = $(collector_core) tests/collect_class_test.c tests/segments.c tests/segments.h
tests_collect_hazard_test_CFLAGS = $(AM_CFLAGS) -fno-sanitize=null
tests_collect_hazard_test_SOURCES = $(collector_core) tests/collect_hazard_test.c tests/segments.c tests/segments.h
tests_settings_test_SOURCES = \
	node-agent/collect/core/settings.c node-agent/collect/core/settings.h \
	tests/segments.c tests/segments.h tests/settings_test.c

tests_element_tsan_test_CPPFLAGS = $(AM_CPPFLAGS) $(CUNIT_CFLAGS)
tests_element_tsan_test_CFLAGS = $(TSAN_CFLAGS) -Wno-tsan
tests_element_tsan_test_LDFLAGS = -fsanitize=thread
tests_element_tsan_test_LDADD = $(CUNIT_LIBS)
tests_element_tsan_test_SOURCES = \
	node-agent/segment/element.c node-agent/segment/element.h node-agent/segment/element-writer.h \
	tests/element_test.c tests/tap.c tests/tap.h

# What tests/collect_test.sh looks with, and what else may be there when an MPI program is collected.
check_PROGRAMS += tests/segdump tests/killed tests/preload/late
check_LTLIBRARIES += tests/preload/failing.la tests/preload/plant.la tests/preload/plugin.la tests/preload/tool.la
tests_killed_LDADD = $(EVSPACE_LIBS)
# gcc 12 tests the address of a thread-local variable with flags that it has just overwritten.
tests_killed_CFLAGS = $(AM_CFLAGS) -fno-sanitize=null
tests_killed_SOURCES = $(collector_core) tests/killed.c
tests_segdump_LDADD = $(EVSPACE_LIBS)
tests_preload_late_CFLAGS = $(APP_CFLAGS)
tests_preload_late_LDFLAGS = -no-install
tests_preload_late_LDADD = -ldl -lpthread
PRELOAD_LINKFLAGS = -module -shared -avoid-version -rpath /nowhere
tests_preload_failing_la_SOURCES = tests/preload/failing.c
tests_preload_failing_la_CPPFLAGS = $(APP_CPPFLAGS)
tests_preload_failing_la_CFLAGS = $(APP_CFLAGS)
tests_preload_failing_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_preload_failing_la_LIBADD = $(MPI_LIBS)
tests_preload_plant_la_SOURCES = tests/preload/plant.c
tests_preload_plant_la_CPPFLAGS = $(APP_CPPFLAGS)
tests_preload_plant_la_CFLAGS = $(APP_CFLAGS)
tests_preload_plant_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_preload_plant_la_LIBADD = -ldl
tests_preload_plugin_la_SOURCES = tests/preload/plugin.c
tests_preload_plugin_la_CPPFLAGS = $(APP_CPPFLAGS)
tests_preload_plugin_la_CFLAGS = $(APP_CFLAGS)
tests_preload_plugin_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_preload_plugin_la_LIBADD = $(MPI_LIBS)
tests_preload_tool_la_SOURCES = tests/preload/tool.c
tests_preload_tool_la_CPPFLAGS = $(APP_CPPFLAGS)
tests_preload_tool_la_CFLAGS = $(APP_CFLAGS)
tests_preload_tool_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_preload_tool_la_LIBADD = $(MPI_LIBS)

# Another kind of tool, programs that wrap MPI, have it in them, or have one that nobody knows; and
# the same for MPICH: <name>-mpich.
check_PROGRAMS += tests/preload/alone tests/preload/inside tests/preload/strange \
	tests/preload/wrapped
check_LTLIBRARIES += tests/preload/libstrange.la tests/preload/profiler.la
tests_preload_alone_LDFLAGS = -all-static
tests_preload_alone_CFLAGS = $(APP_CFLAGS)
tests_preload_alone_LDADD =
tests_preload_inside_SOURCES = tests/preload/alone.c
tests_preload_inside_CFLAGS = $(APP_CFLAGS)
tests_preload_inside_LDFLAGS = $(APP_LINKFLAGS)
tests_preload_inside_LDADD =
tests_preload_libstrange_la_SOURCES = tests/preload/strange.c
tests_preload_libstrange_la_CFLAGS = $(APP_CFLAGS)
tests_preload_libstrange_la_LDFLAGS = -shared -avoid-version -rpath $(abs_builddir)/tests/preload/.libs
tests_preload_strange_CPPFLAGS = $(AM_CPPFLAGS) -DPROGRAM
tests_preload_strange_CFLAGS = $(APP_CFLAGS)
tests_preload_strange_LDADD = tests/preload/libstrange.la
tests_preload_strange_LDFLAGS = -no-install
tests_preload_wrapped_CPPFLAGS = $(APP_CPPFLAGS)
tests_preload_wrapped_CFLAGS = $(APP_CFLAGS)
tests_preload_wrapped_LDFLAGS = $(APP_LINKFLAGS)
tests_preload_wrapped_LDADD = $(MPI_LIBS)
tests_preload_profiler_la_CPPFLAGS = $(APP_CPPFLAGS)
tests_preload_profiler_la_CFLAGS = $(APP_CFLAGS)
tests_preload_profiler_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_preload_profiler_la_LIBADD = $(MPI_LIBS)
tests_preload_profiler_la_SOURCES = tests/preload/profiler.c
if MPICH
check_PROGRAMS += tests/preload/wrapped-mpich
check_LTLIBRARIES += tests/preload/failing-mpich.la \
	tests/preload/plugin-mpich.la tests/preload/profiler-mpich.la \
	tests/preload/tool-mpich.la
tests_preload_wrapped_mpich_SOURCES = tests/preload/wrapped.c
tests_preload_wrapped_mpich_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_preload_wrapped_mpich_CFLAGS = $(MPICH_APP_CFLAGS)
tests_preload_wrapped_mpich_LDFLAGS = $(APP_LINKFLAGS)
tests_preload_wrapped_mpich_LDADD = $(MPICH_LIBS)
tests_preload_failing_mpich_la_SOURCES = tests/preload/failing.c
tests_preload_failing_mpich_la_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_preload_failing_mpich_la_CFLAGS = $(MPICH_APP_CFLAGS)
tests_preload_failing_mpich_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_preload_failing_mpich_la_LIBADD = $(MPICH_LIBS)
tests_preload_plugin_mpich_la_SOURCES = tests/preload/plugin.c
tests_preload_plugin_mpich_la_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_preload_plugin_mpich_la_CFLAGS = $(MPICH_APP_CFLAGS)
tests_preload_plugin_mpich_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_preload_plugin_mpich_la_LIBADD = $(MPICH_LIBS)
tests_preload_profiler_mpich_la_SOURCES = tests/preload/profiler.c
tests_preload_profiler_mpich_la_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_preload_profiler_mpich_la_CFLAGS = $(MPICH_APP_CFLAGS)
tests_preload_profiler_mpich_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_preload_profiler_mpich_la_LIBADD = $(MPICH_LIBS)
tests_preload_tool_mpich_la_SOURCES = tests/preload/tool.c
tests_preload_tool_mpich_la_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_preload_tool_mpich_la_CFLAGS = $(MPICH_APP_CFLAGS)
tests_preload_tool_mpich_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_preload_tool_mpich_la_LIBADD = $(MPICH_LIBS)
endif

# Black-box tests: the bed of agents, who counts what came of every tuple, a clock that steps.
EXTRA_DIST += tests/bed.sh tests/hosts-bed.sh tests/mir-sir.sh
check_PROGRAMS += tests/account
tests_account_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_account_LDADD = $(EVSPACE_LIBS) $(JANSSON_LIBS)
# What views say, and what the events do.
check_PROGRAMS += tests/json_rows
tests_json_rows_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_json_rows_LDADD = $(JANSSON_LIBS)

check_PROGRAMS += tests/asker
tests_asker_LDADD = $(EVSPACE_LIBS)
check_PROGRAMS += tests/answers
tests_answers_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_answers_LDADD = $(EVSPACE_LIBS) $(JANSSON_LIBS)
# Who writes known numbers, and who sums up what comes of them.
check_PROGRAMS += tests/cutter tests/delay tests/checker tests/writer
# Who has no certificate, or the wrong one.
check_PROGRAMS += tests/attacker
# Who makes agents seem to be of another release, or machine.
check_PROGRAMS += tests/version-proxy
tests_attacker_SOURCES = tests/attacker.c tests/attacker-orders.c tests/attacker-orders.h
tests_attacker_LDADD = $(EVSPACE_LIBS)
check_PROGRAMS += tests/crowd tests/greedy tests/hostile tests/opener tests/pulse
tests_crowd_SOURCES = tests/crowd.c node-agent/collect/core/modules.c node-agent/collect/core/modules.h
tests_crowd_LDADD = $(EVSPACE_LIBS)
tests_hostile_SOURCES = tests/hostile.c tests/random.h tests/random-frame.c tests/random-frame.h \
	tests/speech.c tests/speech.h
tests_hostile_LDADD = $(EVSPACE_LIBS)
tests_opener_LDADD = $(EVSPACE_LIBS)
tests_pulse_LDADD = $(EVSPACE_LIBS)
tests_version_proxy_LDADD = $(EVSPACE_LIBS)
tests_checker_SOURCES = tests/checker.c tests/oracle.c tests/oracle.h
tests_checker_LDADD = $(EVSPACE_LIBS) -lm
tests_writer_SOURCES = tests/writer.c tests/oracle.c tests/oracle.h
tests_writer_LDADD = $(EVSPACE_LIBS)
check_PROGRAMS += tests/stamper
tests_stamper_SOURCES = tests/stamper.c tests/stamps.c tests/stamps.h
tests_stamper_LDADD = $(EVSPACE_LIBS) -lm
check_LTLIBRARIES += tests/preload/skew.la
tests_preload_skew_la_SOURCES = tests/preload/skew.c
tests_preload_skew_la_CFLAGS = $(APP_CFLAGS)
tests_preload_skew_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
tests_preload_skew_la_LIBADD = -ldl
check_LTLIBRARIES += tests/preload/leap.la
tests_preload_leap_la_SOURCES = tests/preload/leap.c
tests_preload_leap_la_CFLAGS = $(APP_CFLAGS)
tests_preload_leap_la_LDFLAGS = $(PRELOAD_LINKFLAGS)
