# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libagent_la_SOURCES += \
	%D%/element-writer.h %D%/element.c %D%/element.h \
	%D%/folder.c %D%/folder.h %D%/segment-class.c %D%/segment-class.h \
	%D%/segment-entry.h \
	%D%/segment-file.c %D%/segment-file.h %D%/segment-function.c %D%/segment-function.h %D%/segment-table.c %D%/segment-table.h \
	%D%/segment-layout.h %D%/segment-map.c %D%/segment-mode.h %D%/segment-mark.c %D%/segment-mark.h \
	%D%/segment-read.c %D%/segment-read.h \
	%D%/segment-room.c %D%/segment-timed.c %D%/segment-timed.h %D%/segment-told.c %D%/segment-told.h %D%/segment-trial.c %D%/segment-trial.h \
	%D%/segment.c %D%/segment.h

collect_sources += \
	%D%/element-writer.h %D%/element.c %D%/element.h \
	%D%/folder.c %D%/folder.h %D%/segment-class.c %D%/segment-class.h \
	%D%/segment-entry.h \
	%D%/segment-file.c %D%/segment-file.h %D%/segment-function.c %D%/segment-function.h %D%/segment-table.c %D%/segment-table.h \
	%D%/segment-layout.h %D%/segment-mode.h %D%/segment-mark.h \
	%D%/segment-room.c %D%/segment-timed.c %D%/segment-timed.h %D%/segment-told.c %D%/segment-told.h %D%/segment-trial.c %D%/segment-trial.h %D%/segment.c %D%/segment.h
EXTRA_DIST += %D%/README.md
