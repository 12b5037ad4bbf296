# SPDX-License-Identifier: BSD-3-Clause
# Tests/apps: MPI programs to watch (not sanitized: Open MPI itself leaks).

APP_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
APP_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
APP_LINKFLAGS = -pthread

# Part of `make all`: people try them out, deploy/quickstart as well.
noinst_PROGRAMS += tests/apps/calls tests/apps/comms tests/apps/guest tests/apps/iterate tests/apps/meet tests/apps/spawn tests/apps/stuck tests/apps/threads tests/apps/windtunnel

tests_apps_windtunnel_SOURCES = \
	tests/apps/app.c tests/apps/app.h \
	tests/apps/lattice.c tests/apps/lattice.h \
	tests/apps/windtunnel.c
tests_apps_windtunnel_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_windtunnel_CFLAGS = $(APP_CFLAGS)
tests_apps_windtunnel_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_windtunnel_LDADD = $(MPI_LIBS)

tests_apps_guest_SOURCES = tests/apps/app.c tests/apps/app.h tests/apps/guest.c
tests_apps_guest_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_guest_CFLAGS = $(APP_CFLAGS)
tests_apps_guest_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_guest_LDADD = $(MPI_LIBS)
tests_apps_iterate_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_iterate_CFLAGS = $(APP_CFLAGS)
tests_apps_iterate_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_iterate_LDADD = $(MPI_LIBS)
tests_apps_stuck_SOURCES = tests/apps/app.c tests/apps/app.h tests/apps/stuck.c
tests_apps_stuck_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_stuck_CFLAGS = $(APP_CFLAGS)
tests_apps_stuck_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_stuck_LDADD = $(MPI_LIBS)

check_PROGRAMS += tests/apps/late tests/apps/awaited tests/apps/pairs tests/apps/mistakes tests/apps/signatures tests/apps/steady tests/apps/steered tests/apps/blocks
tests_apps_awaited_SOURCES = tests/apps/app.c tests/apps/app.h tests/apps/awaited.c
tests_apps_awaited_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_awaited_CFLAGS = $(APP_CFLAGS)
tests_apps_awaited_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_awaited_LDADD = $(MPI_LIBS)
tests_apps_pairs_SOURCES = tests/apps/app.c tests/apps/app.h tests/apps/pairs.c
tests_apps_pairs_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_pairs_CFLAGS = $(APP_CFLAGS)
tests_apps_pairs_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_pairs_LDADD = $(MPI_LIBS)
tests_apps_late_SOURCES = tests/apps/app.c tests/apps/app.h tests/apps/late.c
tests_apps_late_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_late_CFLAGS = $(APP_CFLAGS)
tests_apps_late_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_late_LDADD = $(MPI_LIBS)
tests_apps_mistakes_SOURCES = tests/apps/app.c tests/apps/app.h tests/apps/mistakes.c
tests_apps_mistakes_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_mistakes_CFLAGS = $(APP_CFLAGS)
tests_apps_mistakes_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_mistakes_LDADD = $(MPI_LIBS)
tests_apps_signatures_SOURCES = tests/apps/signatures.c
tests_apps_signatures_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_signatures_CFLAGS = $(APP_CFLAGS)
tests_apps_signatures_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_signatures_LDADD = $(MPI_LIBS)
tests_apps_steady_SOURCES = tests/apps/steady.c
tests_apps_steady_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_steady_CFLAGS = $(APP_CFLAGS)
tests_apps_steady_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_steady_LDADD = $(MPI_LIBS)

tests_apps_blocks_SOURCES = tests/apps/blocks.c
tests_apps_blocks_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_blocks_CFLAGS = $(APP_CFLAGS)
tests_apps_blocks_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_blocks_LDADD = $(MPI_LIBS)

# Those of the paper on entropy.
check_PROGRAMS += tests/apps/amoeba tests/apps/changes tests/apps/philosophers tests/apps/prefix
tests_apps_amoeba_SOURCES = tests/apps/amoeba.c tests/apps/simplex.c tests/apps/simplex.h
tests_apps_amoeba_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_amoeba_CFLAGS = $(APP_CFLAGS)
tests_apps_amoeba_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_amoeba_LDADD = $(MPI_LIBS)
tests_apps_changes_SOURCES = tests/apps/app.c tests/apps/app.h tests/apps/changes.c
tests_apps_changes_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_changes_CFLAGS = $(APP_CFLAGS)
tests_apps_changes_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_changes_LDADD = $(MPI_LIBS)
tests_apps_philosophers_SOURCES = tests/apps/app.c tests/apps/app.h tests/apps/philosophers.c tests/random.h
tests_apps_philosophers_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_philosophers_CFLAGS = $(APP_CFLAGS)
tests_apps_philosophers_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_philosophers_LDADD = $(MPI_LIBS)
tests_apps_prefix_SOURCES = tests/apps/prefix.c
tests_apps_prefix_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_prefix_CFLAGS = $(APP_CFLAGS)
tests_apps_prefix_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_prefix_LDADD = $(MPI_LIBS)

tests_apps_steered_SOURCES = tests/apps/steered.c
tests_apps_steered_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_steered_CFLAGS = $(APP_CFLAGS)
tests_apps_steered_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_steered_LDADD = $(MPI_LIBS)

tests_apps_calls_SOURCES = \
	tests/apps/app.c tests/apps/app.h \
	tests/apps/calls.c tests/apps/calls.h \
	tests/apps/calls_across.c \
	tests/apps/calls_again.c \
	tests/apps/calls_coll.c \
	tests/apps/calls_comm.c \
	tests/apps/calls_common.c \
	tests/apps/calls_file.c \
	tests/apps/calls_general.c \
	tests/apps/calls_inter.c \
	tests/apps/calls_mpi4.c \
	tests/apps/calls_neighbour.c \
	tests/apps/calls_p2p.c \
	tests/apps/calls_persistent.c \
	tests/apps/calls_requests.c \
	tests/apps/calls_types.c \
	tests/apps/calls_vector.c \
	tests/apps/calls_window.c \
	tests/apps/counts.c tests/apps/counts.h
tests_apps_calls_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_calls_CFLAGS = $(APP_CFLAGS)
tests_apps_calls_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_calls_LDADD = $(MPI_LIBS)

tests_apps_spawn_SOURCES = \
	tests/apps/app.c tests/apps/app.h \
	tests/apps/calls.h tests/apps/calls_common.c \
	tests/apps/counts.c tests/apps/counts.h \
	tests/apps/sides.c tests/apps/sides.h \
	tests/apps/spawn.c
tests_apps_spawn_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_spawn_CFLAGS = $(APP_CFLAGS)
tests_apps_spawn_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_spawn_LDADD = $(MPI_LIBS)

tests_apps_meet_SOURCES = \
	tests/apps/app.c tests/apps/app.h \
	tests/apps/calls.h tests/apps/calls_common.c \
	tests/apps/counts.c tests/apps/counts.h \
	tests/apps/loopback.c tests/apps/loopback.h \
	tests/apps/meet.c \
	tests/apps/sides.c tests/apps/sides.h
tests_apps_meet_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_meet_CFLAGS = $(APP_CFLAGS)
tests_apps_meet_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_meet_LDADD = $(MPI_LIBS)

tests_apps_comms_SOURCES = \
	tests/apps/app.c tests/apps/app.h \
	tests/apps/comms.c
tests_apps_comms_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_comms_CFLAGS = $(APP_CFLAGS)
tests_apps_comms_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_comms_LDADD = $(MPI_LIBS)

check_PROGRAMS += tests/apps/ids
tests_apps_ids_SOURCES = tests/apps/app.c tests/apps/app.h tests/apps/ids.c
tests_apps_ids_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_ids_CFLAGS = $(APP_CFLAGS)
tests_apps_ids_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_ids_LDADD = $(MPI_LIBS)

tests_apps_threads_SOURCES = \
	tests/apps/app.c tests/apps/app.h \
	tests/apps/counts.c tests/apps/counts.h \
	tests/apps/threads.c
tests_apps_threads_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_threads_CFLAGS = $(APP_CFLAGS)
tests_apps_threads_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_threads_LDADD = $(MPI_LIBS)

# The same programs for MPICH: <name>-mpich. Without MPICH there are none, and $(MPICH_RUN) is empty.
# (gcc 12 takes its MPI_STATUSES_IGNORE, which is the address 1, for an array without room.)
MPICH_APP_CPPFLAGS = $(AM_CPPFLAGS) $(MPICH_CFLAGS)
MPICH_APP_CFLAGS = $(APP_CFLAGS) -Wno-stringop-overflow
if MPICH
check_PROGRAMS += tests/apps/calls-mpich tests/apps/ids-mpich tests/apps/steered-mpich tests/apps/stuck-mpich tests/apps/threads-mpich \
	tests/apps/windtunnel-mpich
tests_apps_calls_mpich_SOURCES = $(tests_apps_calls_SOURCES)
tests_apps_calls_mpich_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_apps_calls_mpich_CFLAGS = $(MPICH_APP_CFLAGS)
tests_apps_calls_mpich_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_calls_mpich_LDADD = $(MPICH_LIBS)
tests_apps_ids_mpich_SOURCES = $(tests_apps_ids_SOURCES)
tests_apps_ids_mpich_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_apps_ids_mpich_CFLAGS = $(MPICH_APP_CFLAGS)
tests_apps_ids_mpich_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_ids_mpich_LDADD = $(MPICH_LIBS)
tests_apps_steered_mpich_SOURCES = $(tests_apps_steered_SOURCES)
tests_apps_steered_mpich_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_apps_steered_mpich_CFLAGS = $(MPICH_APP_CFLAGS)
tests_apps_steered_mpich_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_steered_mpich_LDADD = $(MPICH_LIBS)
tests_apps_stuck_mpich_SOURCES = $(tests_apps_stuck_SOURCES)
tests_apps_stuck_mpich_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_apps_stuck_mpich_CFLAGS = $(MPICH_APP_CFLAGS)
tests_apps_stuck_mpich_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_stuck_mpich_LDADD = $(MPICH_LIBS)
tests_apps_threads_mpich_SOURCES = $(tests_apps_threads_SOURCES)
tests_apps_threads_mpich_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_apps_threads_mpich_CFLAGS = $(MPICH_APP_CFLAGS)
tests_apps_threads_mpich_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_threads_mpich_LDADD = $(MPICH_LIBS)
tests_apps_windtunnel_mpich_SOURCES = $(tests_apps_windtunnel_SOURCES)
tests_apps_windtunnel_mpich_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_apps_windtunnel_mpich_CFLAGS = $(MPICH_APP_CFLAGS)
tests_apps_windtunnel_mpich_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_windtunnel_mpich_LDADD = $(MPICH_LIBS)
endif

tests_lattice_test_SOURCES = tests/apps/lattice.c tests/apps/lattice.h tests/lattice_test.c
tests_lattice_test_LDADD = libtap.la
