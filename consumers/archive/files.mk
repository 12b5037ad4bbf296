# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libclient_la_SOURCES += \
	%D%/archive-reader.c %D%/archive-reader.h %D%/archive-writer.c %D%/archive-writer.h %D%/archive.c %D%/archive.h
EXTRA_DIST += %D%/README.md
