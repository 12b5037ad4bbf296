# SPDX-License-Identifier: BSD-3-Clause
# Tests/conformance: the suite in C and Fortran, for each MPI.

# Sentinels are small numbers that gcc takes for addresses.
CONFORMANCE_CFLAGS = $(APP_CFLAGS) -Wno-stringop-overflow -Wno-stringop-overread
conformance_sources = \
	tests/apps/loopback.c tests/apps/loopback.h \
	tests/conformance/callbacks.c \
	tests/conformance/children.c \
	tests/conformance/collectives.c \
	tests/conformance/communicators.c \
	tests/conformance/completions.c \
	tests/conformance/epochs.c \
	tests/conformance/errors.c \
	tests/conformance/files.c \
	tests/conformance/intercomm.c \
	tests/conformance/lasting.c \
	tests/conformance/messages.c \
	tests/conformance/neighbours.c \
	tests/conformance/nonblocking.c \
	tests/conformance/partitions.c \
	tests/conformance/persistent.c \
	tests/conformance/ports.c \
	tests/conformance/probes.c \
	tests/conformance/reductions.c \
	tests/conformance/split_files.c \
	tests/conformance/suite.c tests/conformance/suite.h \
	tests/conformance/threads.c \
	tests/conformance/types.c \
	tests/conformance/vectors.c \
	tests/conformance/windows.c
check_PROGRAMS += tests/conformance/suite
tests_conformance_suite_SOURCES = $(conformance_sources)
tests_conformance_suite_CPPFLAGS = $(APP_CPPFLAGS)
tests_conformance_suite_CFLAGS = $(CONFORMANCE_CFLAGS)
tests_conformance_suite_LDFLAGS = $(APP_LINKFLAGS)
tests_conformance_suite_LDADD = $(MPI_LIBS)
if MPICH
check_PROGRAMS += tests/conformance/suite-mpich
tests_conformance_suite_mpich_SOURCES = $(conformance_sources)
tests_conformance_suite_mpich_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_conformance_suite_mpich_CFLAGS = $(CONFORMANCE_CFLAGS)
tests_conformance_suite_mpich_LDFLAGS = $(APP_LINKFLAGS)
tests_conformance_suite_mpich_LDADD = $(MPICH_LIBS)
endif

# One program per door, whose modules are in a folder of its own. mpif.h declares no arguments.
conformance_fortran = say.F90 messages.F90 requests.F90 collectives.F90 communicators.F90 \
	windows.F90 files.F90 suite.F90
conformance_fortran_files = $(conformance_fortran:%=$(top_srcdir)/tests/conformance/%) \
	$(top_srcdir)/tests/conformance/door.inc
CONFORMANCE_FCFLAGS = -O0 -g -w -ffree-line-length-none -fallow-argument-mismatch \
	-I$(abs_top_srcdir)/tests/conformance
CONFORMANCE_FORTRAN = rm -rf $@.d && $(MKDIR_P) $@.d && cd $@.d && \
	$$compiler -DDOOR_$* $(CONFORMANCE_FCFLAGS) -o ../$(@F) \
	$(conformance_fortran:%=$(abs_top_srcdir)/tests/conformance/%)
conformance_doors = MPIF USE F08
conformance_built =
if OPENMPI_FC
conformance_built += $(conformance_doors:%=tests/conformance/fortran-openmpi-%)
endif
if MPICH_FC
conformance_built += $(conformance_doors:%=tests/conformance/fortran-mpich-%)
endif
tests/conformance/fortran-openmpi-%: $(conformance_fortran_files)
	$(AM_V_GEN)compiler='$(OPENMPI_FC)'; $(CONFORMANCE_FORTRAN)
tests/conformance/fortran-mpich-%: $(conformance_fortran_files)
	$(AM_V_GEN)compiler='$(MPICH_FC)'; $(CONFORMANCE_FORTRAN)
check_DATA += $(conformance_built)
CLEANFILES += $(conformance_built)
EXTRA_DIST += $(conformance_fortran:%=tests/conformance/%) tests/conformance/door.inc \
	tests/conformance/exempt tests/user/regions.c tests/user/regions.F90

# One program that is the same in C and by Fortran's three doors, of fcalls.tab.
fcalls_sources = tests/apps/fcalls.c tests/apps/fcalls-mixed.c tests/apps/fcalls-mixed.h
check_PROGRAMS += tests/apps/fcalls
tests_apps_fcalls_SOURCES = $(fcalls_sources)
tests_apps_fcalls_CPPFLAGS = $(APP_CPPFLAGS)
tests_apps_fcalls_CFLAGS = $(APP_CFLAGS) -Wno-stringop-overflow -Wno-stringop-overread
tests_apps_fcalls_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_fcalls_LDADD = $(MPI_LIBS)
if MPICH
check_PROGRAMS += tests/apps/fcalls-mpich
tests_apps_fcalls_mpich_SOURCES = $(fcalls_sources)
tests_apps_fcalls_mpich_CPPFLAGS = $(MPICH_APP_CPPFLAGS)
tests_apps_fcalls_mpich_CFLAGS = $(APP_CFLAGS) -Wno-stringop-overflow -Wno-stringop-overread
tests_apps_fcalls_mpich_LDFLAGS = $(APP_LINKFLAGS)
tests_apps_fcalls_mpich_LDADD = $(MPICH_LIBS)
endif

fcalls_lines = tests/apps/fcalls-c.inc tests/apps/fcalls-old.inc tests/apps/fcalls-f08.inc
tests/apps/fcalls-%.inc: tests/apps/fcalls.awk tests/apps/fcalls.tab
	$(AM_V_GEN)$(MKDIR_P) tests/apps && \
	$(AWK) -v door=$* -f $(top_srcdir)/tests/apps/fcalls.awk \
		$(top_srcdir)/tests/apps/fcalls.tab >$@.tmp && mv $@.tmp $@
tests/apps/fcalls-fcalls.$(OBJEXT): tests/apps/fcalls-c.inc
tests/apps/fcalls_mpich-fcalls.$(OBJEXT): tests/apps/fcalls-c.inc

# The C half is compiled by the same MPI's compiler as the program above.
FCALLS = rm -rf $@.d && $(MKDIR_P) $@.d && \
	$$compiler -DDOOR_$* $(CONFORMANCE_FCFLAGS) -cpp -J$@.d -I. -o $@ \
	$(top_srcdir)/tests/apps/fcalls.F90 $$mixed
fcalls_built =
if OPENMPI_FC
fcalls_built += $(conformance_doors:%=tests/apps/fcalls-openmpi-%)
endif
if MPICH_FC
fcalls_built += $(conformance_doors:%=tests/apps/fcalls-mpich-%)
endif
tests/apps/fcalls-openmpi-%: tests/apps/fcalls.F90 $(fcalls_lines) tests/apps/fcalls$(EXEEXT)
	$(AM_V_GEN)compiler='$(OPENMPI_FC)'; \
	mixed=tests/apps/fcalls-fcalls-mixed.$(OBJEXT); $(FCALLS)
tests/apps/fcalls-mpich-%: tests/apps/fcalls.F90 $(fcalls_lines) tests/apps/fcalls-mpich$(EXEEXT)
	$(AM_V_GEN)compiler='$(MPICH_FC)'; \
	mixed=tests/apps/fcalls_mpich-fcalls-mixed.$(OBJEXT); $(FCALLS)
check_DATA += $(fcalls_built)
CLEANFILES += $(fcalls_built) $(fcalls_lines)
EXTRA_DIST += tests/apps/fcalls.F90 tests/apps/fcalls.awk tests/apps/fcalls.tab
.SECONDARY: $(fcalls_lines)

clean-local: conformance-clean
conformance-clean:
	rm -rf tests/conformance/fortran-*.d tests/apps/fcalls-*.d
.PHONY: conformance-clean
