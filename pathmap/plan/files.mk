# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libpathmap_la_SOURCES += \
	%D%/difference.c %D%/difference.h %D%/dot.c %D%/holding.c %D%/holding.h \
	%D%/lineage.c %D%/lineage.h %D%/made.c %D%/made.h %D%/plan-private.h %D%/plan-stages.c %D%/plan-walk.c %D%/plan.c %D%/plan.h \
	%D%/roster.c %D%/roster.h %D%/route.c %D%/route.h %D%/rules.c %D%/rules.h %D%/show.c \
	%D%/steer.c %D%/steer.h \
	%D%/wish.c %D%/wish.h
EXTRA_DIST += %D%/README.md
