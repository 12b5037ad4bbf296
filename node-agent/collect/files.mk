# SPDX-License-Identifier: BSD-3-Clause
# Node-agent/collect: what is preloaded into MPI programs.

# No sanitizer, no OpenSSL, no libevent, no libmpi of its own: it is a guest in somebody's program.
COLLECT_CPPFLAGS = $(AM_CPPFLAGS)
# Functions begin where the processor fetches instructions: a tenth of an event's cost.
COLLECT_ALIGN = -falign-functions=32
COLLECT_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(COLLECT_ALIGN) \
	-fvisibility=hidden -ftls-model=initial-exec
COLLECT_LINKFLAGS = -module -shared -avoid-version -Wl,-z,defs -Wl,-z,now

# What is preloaded is the door, which lets in the collector for the program's MPI (door.h): one for
# each MPI, of the same sources, linked with the door. Compiled for themselves, without what they
# share with the agent being in a library: only libc is linked.
pkglib_LTLIBRARIES += libevspace-mpi.la libevspace-openmpi.la
DOOR_CPPFLAGS = $(COLLECT_CPPFLAGS) -DEVSPACE_DOOR
libevspace_mpi_la_CPPFLAGS = $(DOOR_CPPFLAGS)
libevspace_mpi_la_CFLAGS = $(COLLECT_CFLAGS) -ffunction-sections
libevspace_mpi_la_LDFLAGS = -shared -avoid-version -Wl,-z,defs -Wl,-z,now -Wl,--gc-sections
libevspace_mpi_la_SOURCES = \
	node-agent/collect/core/door.c node-agent/collect/core/door.h \
	node-agent/collect/core/hooks.c node-agent/collect/core/hooks.h \
	node-agent/collect/core/objects.c \
	node-agent/collect/core/settings.c node-agent/collect/core/settings.h \
	$(collect_sources)
nodist_libevspace_mpi_la_SOURCES = node-agent/collect/core/mpi-door.c

node-agent/collect/core/mpi-door.c: node-agent/collect/gen/row.awk node-agent/collect/gen/mpi-row.awk \
		node-agent/collect/gen/mpi-door.awk tree/data/ops.tab
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(AWK) -f $(top_srcdir)/node-agent/collect/gen/row.awk \
		-f $(top_srcdir)/node-agent/collect/gen/mpi-row.awk \
		-f $(top_srcdir)/node-agent/collect/gen/mpi-door.awk $(top_srcdir)/tree/data/ops.tab >$@.tmp && \
	mv $@.tmp $@
EXTRA_DIST += node-agent/collect/gen/mpi-door.awk
CLEANFILES += node-agent/collect/core/mpi-door.c

libevspace_openmpi_la_CPPFLAGS = $(DOOR_CPPFLAGS) $(MPI_CFLAGS)
libevspace_openmpi_la_CFLAGS = $(COLLECT_CFLAGS)
libevspace_openmpi_la_LDFLAGS = $(COLLECT_LINKFLAGS)
libevspace_openmpi_la_LIBADD = libevspace-mpi.la
libevspace_openmpi_la_SOURCES = $(mpi_collect_sources)
nodist_libevspace_openmpi_la_SOURCES = node-agent/collect/mpi/mpi-wrappers.c \
	node-agent/collect/mpi/mpi-fortran-openmpi.c
if MPICH
pkglib_LTLIBRARIES += libevspace-mpich.la
# (gcc 12 takes its MPI_STATUSES_IGNORE, which is the address 1, for an array without room.)
libevspace_mpich_la_CPPFLAGS = $(DOOR_CPPFLAGS) $(MPICH_CFLAGS) -DHAVE_VISIBILITY
libevspace_mpich_la_CFLAGS = $(COLLECT_CFLAGS) -Wno-stringop-overflow
libevspace_mpich_la_LDFLAGS = $(COLLECT_LINKFLAGS)
libevspace_mpich_la_LIBADD = libevspace-mpi.la
libevspace_mpich_la_SOURCES = $(mpi_collect_sources)
nodist_libevspace_mpich_la_SOURCES = node-agent/collect/mpi/mpi-wrappers.c \
	node-agent/collect/mpi/mpi-fortran-mpich.c
endif

include node-agent/collect/core/files.mk
include node-agent/collect/mpi/files.mk
EXTRA_DIST += $(mpi_awk)
CLEANFILES += node-agent/collect/mpi/mpi-wrappers.c

# What programs include to say more; nothing is linked.
include_HEADERS += node-agent/collect/core/evspace.h node-agent/collect/core/evspace-figures.h \
	node-agent/collect/core/evspace.f90

# What a collector has in common with readers of segments.

# What makes wrappers of the table, but for the door that they are for.
mpi_awk = node-agent/collect/gen/mpi.awk \
	node-agent/collect/gen/row.awk node-agent/collect/gen/mpi-row.awk \
	node-agent/collect/gen/mpi-shapes.awk node-agent/collect/gen/mpi-c.awk \
	node-agent/collect/gen/mpi-fortran.awk

node-agent/collect/mpi/mpi-wrappers.c: $(mpi_awk) tree/data/ops.tab
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(AWK) -f $(top_srcdir)/node-agent/collect/gen/row.awk \
		-f $(top_srcdir)/node-agent/collect/gen/mpi-row.awk \
		-f $(top_srcdir)/node-agent/collect/gen/mpi-shapes.awk \
		-f $(top_srcdir)/node-agent/collect/gen/mpi-c.awk \
		-f $(top_srcdir)/node-agent/collect/gen/mpi.awk $(top_srcdir)/tree/data/ops.tab >$@.tmp && \
	mv $@.tmp $@

# Fortran's doors differ between the two MPIs.
node-agent/collect/mpi/mpi-fortran-%.c: $(mpi_awk) tree/data/ops.tab
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(AWK) -v library=$* -f $(top_srcdir)/node-agent/collect/gen/row.awk \
		-f $(top_srcdir)/node-agent/collect/gen/mpi-row.awk \
		-f $(top_srcdir)/node-agent/collect/gen/mpi-shapes.awk \
		-f $(top_srcdir)/node-agent/collect/gen/mpi-fortran.awk \
		-f $(top_srcdir)/node-agent/collect/gen/mpi.awk $(top_srcdir)/tree/data/ops.tab >$@.tmp && \
	mv $@.tmp $@
CLEANFILES += node-agent/collect/mpi/mpi-fortran-openmpi.c node-agent/collect/mpi/mpi-fortran-mpich.c

# === PVM: what is preloaded into PVM tasks, or linked into those that are linked statically

PVM_COLLECT_CPPFLAGS = $(AM_CPPFLAGS)
include node-agent/collect/pvm/files.mk

pkglib_LTLIBRARIES += libevspace-pvm.la
libevspace_pvm_la_CPPFLAGS = $(PVM_COLLECT_CPPFLAGS)
libevspace_pvm_la_CFLAGS = $(COLLECT_CFLAGS)
libevspace_pvm_la_LDFLAGS = $(COLLECT_LINKFLAGS)
libevspace_pvm_la_SOURCES = $(pvm_collect_sources) \
	node-agent/collect/core/objects.c
nodist_libevspace_pvm_la_SOURCES = node-agent/collect/pvm/pvm-wrappers.c

# One object in which nothing but the wrappers has a name that could meet one of the program's.
noinst_LIBRARIES = libpvm-wrap-parts.a
libpvm_wrap_parts_a_CPPFLAGS = $(PVM_COLLECT_CPPFLAGS) -DEVSPACE_PVM_WRAP
libpvm_wrap_parts_a_CFLAGS = $(COLLECT_CFLAGS) -fPIC
libpvm_wrap_parts_a_SOURCES = $(pvm_collect_sources)
nodist_libpvm_wrap_parts_a_SOURCES = node-agent/collect/pvm/pvm-wrappers.c
pvmlibdir = $(pkglibdir)
pvmlib_DATA = libevspace-pvm-wrap.a
libevspace-pvm-wrap.a: libpvm-wrap-parts.a
	$(AM_V_GEN)rm -f $@ && \
	$(CC) -r -nostdlib -o libpvm-wrap.o -Wl,--whole-archive libpvm-wrap-parts.a \
		-Wl,--no-whole-archive && \
	$(OBJCOPY) --localize-hidden libpvm-wrap.o && $(AR) cr $@ libpvm-wrap.o && \
	rm -f libpvm-wrap.o
CLEANFILES += libevspace-pvm-wrap.a

node-agent/collect/pvm/pvm-wrappers.c: node-agent/collect/gen/row.awk node-agent/collect/gen/pvm.awk \
		tree/data/ops.tab
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(AWK) -f $(top_srcdir)/node-agent/collect/gen/row.awk \
		-f $(top_srcdir)/node-agent/collect/gen/pvm.awk $(top_srcdir)/tree/data/ops.tab >$@.tmp && \
	mv $@.tmp $@
EXTRA_DIST += node-agent/collect/gen/pvm.awk
CLEANFILES += node-agent/collect/pvm/pvm-wrappers.c

# Every wrapper is an option to the linker; those of --wrap are no names of libraries.
pkgconfig_DATA += evspace-pvm.pc
evspace-pvm.pc: evspace-pvm.pc.in node-agent/collect/gen/pvm-wrap.awk tree/data/ops.tab config.status
	$(AM_V_GEN)$(AWK) -f $(top_srcdir)/node-agent/collect/gen/pvm-wrap.awk \
		$(top_srcdir)/tree/data/ops.tab >$@.flags && \
	$(SED) -e 's,@pkglibdir\@,$(pkglibdir),' -e 's,@VERSION\@,$(VERSION),' \
		-e "s/@PVM_WRAP\@/`cat $@.flags`/" $(top_srcdir)/evspace-pvm.pc.in >$@.tmp && \
	rm -f $@.flags && mv $@.tmp $@
EXTRA_DIST += evspace-pvm.pc.in node-agent/collect/gen/pvm-wrap.awk
CLEANFILES += evspace-pvm.pc

# Test programs, and a bed of hosts for them.
check_PROGRAMS += \
	tests/apps/pvm_again tests/apps/pvm_calls tests/apps/pvm_figure5 tests/apps/pvm_groups tests/apps/pvm_stuck tests/apps/pvm_twice
tests_apps_pvm_calls_SOURCES = \
	tests/apps/pvm_calls.c tests/apps/pvm_calls.h \
	tests/apps/pvm_calls_groups.c \
	tests/apps/pvm_calls_messages.c \
	tests/apps/pvm_calls_packing.c \
	tests/apps/pvm_calls_tasks.c \
	tests/apps/pvm_counts.c tests/apps/pvm_counts.h
tests_apps_pvm_calls_LDFLAGS = -no-install
tests_apps_pvm_calls_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_apps_pvm_calls_LDADD = -lgpvm3 $(PVM_LIBS)
tests_apps_pvm_again_LDFLAGS = -no-install
tests_apps_pvm_again_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_apps_pvm_again_LDADD = $(PVM_LIBS)
tests_apps_pvm_figure5_LDFLAGS = -no-install
tests_apps_pvm_figure5_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_apps_pvm_figure5_LDADD = -lgpvm3 $(PVM_LIBS)
tests_apps_pvm_groups_LDFLAGS = -no-install
tests_apps_pvm_groups_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_apps_pvm_groups_LDADD = -lgpvm3 $(PVM_LIBS)
tests_apps_pvm_stuck_LDFLAGS = -no-install
tests_apps_pvm_stuck_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_apps_pvm_stuck_LDADD = -lgpvm3 $(PVM_LIBS)
tests_apps_pvm_twice_LDFLAGS = -no-install
tests_apps_pvm_twice_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_apps_pvm_twice_LDADD = -lgpvm3 $(PVM_LIBS)
EXTRA_DIST += tests/pvm-bed.sh tests/apps/pvm_fortran.f tests/apps/pvm_timetable.xml
EXTRA_DIST += %D%/README.md
