# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libclient_la_SOURCES += \
	%D%/alarm.c %D%/alarm.h %D%/score.c %D%/score.h

evspace_SOURCES += \
	%D%/watch.c %D%/watch.h %D%/watch-replay.c %D%/watch-save.c %D%/watch-stacks.c %D%/watch-start.c %D%/watch-stream.c
EXTRA_DIST += %D%/README.md
