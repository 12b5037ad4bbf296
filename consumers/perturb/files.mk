# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libclient_la_SOURCES += \
	%D%/knapsack-greedy.c %D%/knapsack-probing.c %D%/knapsack.c %D%/knapsack.h %D%/plan-table.c %D%/plan-table.h

evspace_SOURCES += \
	%D%/entropy.c %D%/perturb.c %D%/plan.c
EXTRA_DIST += %D%/README.md
