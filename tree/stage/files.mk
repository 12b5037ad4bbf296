# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

stage_sources = \
	%D%/collector.c %D%/condition.c %D%/condition.h %D%/convert.c %D%/counts.c %D%/field-reduce.c %D%/field-reduce.h %D%/filter.c \
	%D%/evspace-stage.h %D%/foreign-stage.c %D%/foreign-stage.h \
	%D%/fold.c %D%/fold.h %D%/guarded.c %D%/guarded.h %D%/histogram.c %D%/histogram.h %D%/matrix.c %D%/median.c %D%/meet.c %D%/message.c %D%/message.h \
	%D%/reduce.c %D%/slowest.c %D%/sort.c %D%/stage-object.c %D%/stage-object.h %D%/stage.c %D%/stage.h %D%/thinning.c %D%/thinning.h
libtree_la_SOURCES += $(stage_sources)
EXTRA_DIST += %D%/README.md
