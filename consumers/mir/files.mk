# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += \
	%D%/access.c %D%/access.h %D%/answer.c %D%/answer.h %D%/archiver.c %D%/archiver.h %D%/destination-element.c %D%/destination-folder.c %D%/destination-post.c %D%/destination-private.h %D%/destination.c %D%/destination.h %D%/errand.c %D%/errand.h %D%/fetch.c %D%/fetch.h %D%/framing.c %D%/framing.h %D%/https.c %D%/https.h %D%/markup.c %D%/markup.h %D%/mir.c \
	%D%/measurement.c %D%/measurement.h %D%/metric.c %D%/metric.h %D%/owner.c %D%/owner.h \
	%D%/probe-archive.c %D%/probe-archive.h %D%/probe-cell.c %D%/probe-cell.h %D%/probe-change.c %D%/probe-change.h %D%/probe-define.c %D%/probe-define.h %D%/probe-file.c %D%/probe-file.h %D%/probe-function.c %D%/probe-function.h %D%/probe-keeper.c %D%/probe-keeper.h \
	%D%/probe-region.c %D%/probe-region.h %D%/probe-span.c %D%/probe-span.h %D%/probe-stat.c %D%/probe-stat.h %D%/probe-values.c %D%/probe-values.h %D%/probe-view.c %D%/probe-view.h %D%/probe.c %D%/probe.h \
	%D%/probing.c %D%/probing.h %D%/request-write.c %D%/request-write.h %D%/request.c %D%/request.h %D%/sir-dwarf.c %D%/sir-ids.c %D%/sir-ids.h \
	%D%/sir-write.c %D%/sir-write.h %D%/sir.c %D%/sir.h %D%/sources.c %D%/sources.h %D%/usages.c %D%/usages.h %D%/snapshot-write.c %D%/snapshot.c %D%/snapshot.h %D%/stack-ask.c %D%/stack-ask.h %D%/tool.c %D%/tool.h %D%/units.c %D%/units.h \
	%D%/writeback.c %D%/writeback.h
EXTRA_DIST += %D%/README.md

# The grammar of all documents: for tools, and for the reader.
mirdir = $(pkgdatadir)
dist_mir_DATA = %D%/mir.xsd
BUILT_SOURCES += %D%/mir-schema.h
CLEANFILES += %D%/mir-schema.h
%D%/mir-schema.h: consumers/cli/text.awk %D%/mir.xsd
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(AWK) -v NAME=mir_schema -f $(top_srcdir)/consumers/cli/text.awk $(top_srcdir)/%D%/mir.xsd >$@.tmp && mv $@.tmp $@

# The reader, loaded by `evspace mir` alone.
pkglib_LTLIBRARIES += libevspace-mir.la
mir_reader_sources = %D%/markup.c %D%/request-places.c %D%/request-read.c %D%/request-take.c \
	%D%/request-validate.c %D%/request.c
libevspace_mir_la_SOURCES = $(mir_reader_sources) %D%/markup.h %D%/request-places.h %D%/request-read.h \
	%D%/request.h pathmap/base/memory.c pathmap/base/memory.h
nodist_libevspace_mir_la_SOURCES = %D%/mir-schema.h
libevspace_mir_la_CPPFLAGS = $(AM_CPPFLAGS) $(XML_CFLAGS)
libevspace_mir_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fvisibility=hidden
libevspace_mir_la_LDFLAGS = -module -shared -avoid-version -Wl,-z,now
libevspace_mir_la_LIBADD = $(XML_LIBS)
