# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libagent_la_SOURCES += \
	%D%/element-writer.h %D%/element.c %D%/element.h \
	%D%/folder.c %D%/folder.h %D%/segment-class.c %D%/segment-class.h \
	%D%/segment-comm.c %D%/segment-comm.h %D%/segment-entry.h \
	%D%/segment-file.c %D%/segment-file.h %D%/segment-label.c %D%/segment-label.h \
	%D%/segment-layout.h %D%/segment-mark.c %D%/segment-mark.h \
	%D%/segment-module.c %D%/segment-module.h %D%/segment-read.c %D%/segment-read.h \
	%D%/segment-region.c %D%/segment-region.h %D%/segment-room.c %D%/segment-room.h \
	%D%/segment.c %D%/segment.h

collect_sources += \
	%D%/element-writer.h %D%/element.c %D%/element.h \
	%D%/folder.c %D%/folder.h %D%/segment-class.c %D%/segment-class.h \
	%D%/segment-comm.c %D%/segment-comm.h %D%/segment-entry.h \
	%D%/segment-file.c %D%/segment-file.h %D%/segment-label.c %D%/segment-label.h \
	%D%/segment-layout.h %D%/segment-mark.h %D%/segment-module.c %D%/segment-module.h \
	%D%/segment-room.c %D%/segment-room.h %D%/segment.c %D%/segment.h
EXTRA_DIST += %D%/README.md
