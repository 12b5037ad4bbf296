# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

stage_sources = \
	%D%/condition.c %D%/condition.h %D%/convert.c %D%/counts.c %D%/filter.c \
	%D%/fold.c %D%/fold.h %D%/histogram.c %D%/histogram.h %D%/matrix.c %D%/median.c %D%/message.c %D%/message.h \
	%D%/reduce.c %D%/slowest.c %D%/sort.c %D%/stage.c %D%/stage.h
libtree_la_SOURCES += $(stage_sources)
EXTRA_DIST += %D%/README.md
