# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += %D%/picture.c %D%/picture.h
EXTRA_DIST += %D%/README.md

# What paints, loaded where a picture is written.
if CAIRO
pkglib_LTLIBRARIES += libevspace-draw.la
libevspace_draw_la_SOURCES = %D%/picture-cairo.c %D%/picture.h
libevspace_draw_la_CPPFLAGS = $(AM_CPPFLAGS) $(CAIRO_CFLAGS)
libevspace_draw_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fvisibility=hidden
libevspace_draw_la_LDFLAGS = -module -shared -avoid-version -Wl,-z,now
libevspace_draw_la_LIBADD = $(CAIRO_LIBS) -lm
else
EXTRA_DIST += %D%/picture-cairo.c
endif
