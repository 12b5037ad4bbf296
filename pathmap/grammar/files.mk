# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libpathmap_la_SOURCES += \
	%D%/directive.c %D%/directive.h %D%/mapfile.c %D%/mapfile.h \
	%D%/statement.c %D%/statement.h
EXTRA_DIST += %D%/README.md
