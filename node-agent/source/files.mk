# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libagent_la_SOURCES += \
	%D%/counter.c %D%/counter.h %D%/accounting.c %D%/accounting.h \
	%D%/reaper.c %D%/reaper.h %D%/label.c %D%/label.h %D%/row-comm.c %D%/row-comm.h \
	%D%/row-fetch.c %D%/row-gone.c %D%/row-label.c %D%/row-label.h %D%/row-mirror.c \
	%D%/row-private.h %D%/row-take.c %D%/row.c %D%/row.h \
	%D%/site.c %D%/site.h %D%/source-host.c %D%/source.c %D%/source.h
EXTRA_DIST += %D%/README.md
