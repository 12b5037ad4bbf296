# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libclient_la_SOURCES += \
	%D%/axes.c %D%/axes.h %D%/clumps.c %D%/clumps.h %D%/coincidence.c %D%/coincidence.h %D%/doubt.c %D%/doubt.h %D%/execution.c %D%/execution.h %D%/moments.c %D%/moments.h %D%/multiplicity.c %D%/multiplicity.h \
	%D%/occupancy.c %D%/occupancy.h %D%/occurrences.c %D%/occurrences.h %D%/routes.c %D%/routes.h %D%/usual.c %D%/usual.h %D%/watching.c %D%/watching.h \
	%D%/points.c %D%/points.h %D%/scan.c %D%/scan.h %D%/unordered.c %D%/unordered.h %D%/vectors.h

evspace_SOURCES += \
	%D%/blocks-of-events.c %D%/blocks-of-events.h %D%/components.h %D%/entries.c %D%/entries.h %D%/phase-live.c %D%/phase-now.c %D%/phase-print.c %D%/phase-source.c %D%/phase-subset.c %D%/phase-watch.c %D%/phase.c %D%/phase.h \
	%D%/space-picture.c %D%/space.c %D%/space.h
EXTRA_DIST += %D%/README.md %D%/space.html

# The page of --plot FILE.html.
nodist_evspace_SOURCES += %D%/space-page.h
BUILT_SOURCES += %D%/space-page.h
CLEANFILES += %D%/space-page.h
%D%/space-page.h: consumers/cli/text.awk %D%/space.html
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(AWK) -v NAME=space_page -f $(top_srcdir)/consumers/cli/text.awk $(top_srcdir)/%D%/space.html >$@.tmp && mv $@.tmp $@

# What finds components, loaded by `evspace phase` alone.
if LAPACKE
pkglib_LTLIBRARIES += libevspace-components.la
libevspace_components_la_SOURCES = %D%/components.c %D%/components.h %D%/leading.c %D%/leading.h %D%/vectors.h
libevspace_components_la_CPPFLAGS = $(AM_CPPFLAGS) $(LAPACKE_CFLAGS)
libevspace_components_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fvisibility=hidden
libevspace_components_la_LDFLAGS = -module -shared -avoid-version -Wl,-z,now
libevspace_components_la_LIBADD = $(LAPACKE_LIBS) -lm
else
EXTRA_DIST += %D%/components.c %D%/leading.c %D%/leading.h
endif
