# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += \
	%D%/archive-command.c %D%/archive-cut.c %D%/archive-cut.h %D%/archive-merge.c %D%/archive-merge.h %D%/merged.c %D%/merged.h %D%/merging.c %D%/merging.h %D%/archive-show.c %D%/archive-show.h %D%/export-ctf.c %D%/export-paje.c %D%/export-perfetto.c \
	%D%/export-records.c %D%/export.c %D%/export.h %D%/spill.c %D%/spill.h %D%/progress.c %D%/progress.h %D%/trace-walk.c %D%/trace.c %D%/trace.h %D%/counts-merge.c %D%/counts-merge.h %D%/contents.c %D%/contents.h %D%/pairing.c %D%/pairing.h %D%/trace-paired.c

# What writes OTF2, loaded by `evspace export` alone.
if OTF2
pkglib_LTLIBRARIES += libevspace-otf2.la
libevspace_otf2_la_SOURCES = %D%/export-otf2.c %D%/export.h %D%/trace.h
libevspace_otf2_la_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CFLAGS)
libevspace_otf2_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fvisibility=hidden
libevspace_otf2_la_LDFLAGS = -module -shared -avoid-version -Wl,-z,now
libevspace_otf2_la_LIBADD = $(OTF2_LIBS)
else
EXTRA_DIST += %D%/export-otf2.c
endif
EXTRA_DIST += %D%/README.md
