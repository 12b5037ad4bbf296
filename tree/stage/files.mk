# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libtree_la_SOURCES += \
	%D%/condition.c %D%/condition.h %D%/convert.c %D%/counts.c %D%/filter.c \
	%D%/fold.c %D%/fold.h %D%/histogram.c %D%/matrix.c %D%/message.c %D%/message.h \
	%D%/reduce.c %D%/slowest.c %D%/sort.c %D%/stage.c %D%/stage.h
EXTRA_DIST += %D%/README.md
