# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

# Without turn.c, which needs libevent, and what only agents and consumers do.
data_sources = \
	%D%/arena.c %D%/arena.h %D%/batch.c %D%/batch-check.c %D%/batch.h %D%/buffer.c %D%/buffer.h %D%/bin.c %D%/bin.h \
	%D%/bits.c %D%/bits.h \
	%D%/cell.h \
	%D%/clock.c %D%/clock.h %D%/clock-fit.c %D%/clock-fit.h %D%/clock-host.c %D%/clock-host.h \
	%D%/columns.c %D%/columns.h %D%/columns-table.c %D%/columns-table.h %D%/columns-batch.c %D%/columns-batch.h %D%/count.h \
	%D%/entropy-window.c %D%/entropy-window.h %D%/field-figure.c %D%/field-figure.h %D%/field-value.c %D%/fields.c %D%/fields.h %D%/foreign.c %D%/foreign.h \
	%D%/leaves.c %D%/leaves.h %D%/median.h %D%/meet.c %D%/meet.h %D%/members.c %D%/names-comm.c %D%/names-comm.h %D%/names-judge.c \
	%D%/names-private.h %D%/names.c %D%/names.h \
	%D%/op.c %D%/op.h %D%/part.c %D%/part.h %D%/process.h %D%/run.h %D%/signature.c %D%/signature.h %D%/signature-table.h \
	%D%/tellers.c %D%/tellers.h %D%/total.c %D%/total.h %D%/span.h %D%/trial.h %D%/tuple.c %D%/tuple.h %D%/typed.c %D%/typed.h

collect_sources += \
	%D%/clock.c %D%/clock.h %D%/op.c %D%/op.h \
	%D%/process.h %D%/signature.h %D%/signature-table.h %D%/trial.h
libtree_la_SOURCES += $(data_sources) %D%/schedule.c %D%/schedule.h %D%/turn.c %D%/turn.h %D%/urgency.c %D%/urgency.h
EXTRA_DIST += %D%/README.md
