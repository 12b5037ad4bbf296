# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libclient_la_SOURCES += \
	%D%/blocks.c %D%/blocks.h %D%/budget.c %D%/budget.h %D%/collecting.c %D%/collecting.h %D%/critical.c %D%/critical.h %D%/effect.c %D%/effect.h %D%/frequency.c %D%/frequency.h %D%/levers.c %D%/levers.h %D%/pareto.c %D%/pareto.h
EXTRA_DIST += %D%/README.md
