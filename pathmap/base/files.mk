# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libpathmap_la_SOURCES += \
	%D%/config.c %D%/config.h %D%/error.c %D%/error.h %D%/folder-base.c %D%/folder-base.h \
	%D%/hash.c %D%/hash.h %D%/interval.c %D%/interval.h \
	%D%/memory.c %D%/memory.h %D%/one-in.c %D%/one-in.h %D%/quantity.c %D%/quantity.h \
	%D%/table.c %D%/table.h %D%/utf8.c %D%/utf8.h %D%/wildcard.c %D%/wildcard.h

collect_sources += \
	%D%/error.c %D%/error.h %D%/folder-base.c %D%/folder-base.h %D%/interval.c %D%/interval.h %D%/one-in.c %D%/one-in.h %D%/quantity.c \
	%D%/quantity.h %D%/utf8.c %D%/utf8.h
EXTRA_DIST += %D%/README.md
