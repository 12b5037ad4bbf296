# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libclient_la_SOURCES += \
	%D%/drift.c %D%/drift.h %D%/knapsack-bound.c %D%/knapsack-greedy.c %D%/knapsack-improve.c %D%/knapsack-probing.c %D%/knapsack-search.c %D%/knapsack-search.h %D%/knapsack.c %D%/knapsack.h %D%/plan-table.c %D%/plan-table.h

evspace_SOURCES += \
	%D%/bracket.c %D%/bracket.h %D%/critical-live.c %D%/critical-live.h %D%/curve.c %D%/curve.h %D%/direct.c %D%/direct.h %D%/entropy.c %D%/experiment.c %D%/experiment.h %D%/perturb.c %D%/plan-apply.c %D%/plan-count.c %D%/plan-reduce.c \
	%D%/plan-live.c %D%/plan-live.h %D%/plan-probe.c %D%/plan-probe.h %D%/planning.h %D%/plan.c %D%/sampling-effect.c %D%/sampling-effect.h %D%/sampling-read.c %D%/sampling-read.h %D%/tune-options.c %D%/tune.c %D%/tune.h
EXTRA_DIST += %D%/README.md
