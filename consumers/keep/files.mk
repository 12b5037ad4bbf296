# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += \
	%D%/archive-command.c %D%/archive-show.c %D%/archive-show.h %D%/contents.c %D%/contents.h
EXTRA_DIST += %D%/README.md
