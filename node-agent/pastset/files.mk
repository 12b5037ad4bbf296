# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

pastset_sources = \
	%D%/element-handle.h %D%/evspace-element.c %D%/evspace-element.h %D%/evspace-element-read.c \
	%D%/evspace-element-write.c %D%/pastset.c %D%/pastset.h %D%/pastset-claim.c %D%/pastset-claim.h \
	%D%/pastset-clock.c %D%/pastset-clock.h %D%/pastset-layout.h %D%/pastset-sleep.c %D%/pastset-sleep.h
libagent_la_SOURCES += $(pastset_sources)

# What programs link: their elements, and nothing but libc.
lib_LTLIBRARIES += libevspace-element.la
include_HEADERS += %D%/evspace-element.h %D%/evspace-element.f90
libevspace_element_la_CPPFLAGS = $(COLLECT_CPPFLAGS)
libevspace_element_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -ffunction-sections
libevspace_element_la_SOURCES = $(pastset_sources) $(collect_sources) \
	node-agent/collect/core/settings.c node-agent/collect/core/settings.h \
	tree/data/fields.c tree/data/fields.h
libevspace_element_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,defs -Wl,--gc-sections \
	-Wl,--version-script=$(top_srcdir)/node-agent/pastset/evspace-element.map
EXTRA_libevspace_element_la_DEPENDENCIES = %D%/evspace-element.map
pkgconfig_DATA += evspace-element.pc
EXTRA_DIST += %D%/README.md %D%/evspace-element.map
