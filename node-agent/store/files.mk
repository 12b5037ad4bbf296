# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libagent_la_SOURCES += \
	%D%/cursor-file.c %D%/cursor-private.h %D%/cursor.c %D%/cursor.h \
	%D%/mirror.c %D%/mirror.h %D%/monitor.c %D%/monitor.h %D%/proc.c %D%/proc.h \
	%D%/shelf.c %D%/shelf.h %D%/store-element.c %D%/store-element.h %D%/store-file.c %D%/store-index.h %D%/store-purge.c \
	%D%/store-run.c %D%/store-run.h %D%/store-segment.c %D%/store-watch.c \
	%D%/store.c %D%/store.h
EXTRA_DIST += %D%/README.md
