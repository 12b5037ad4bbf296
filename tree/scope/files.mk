# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libtree_la_SOURCES += \
	%D%/ask.c %D%/ask.h %D%/brought.c %D%/brought.h %D%/below.c %D%/below-check.c %D%/below.h %D%/failover.c %D%/failover.h \
	%D%/fanout.c %D%/fanout.h \
	%D%/child.c %D%/child.h %D%/complaints.c %D%/complaints.h %D%/classes.c %D%/classes.h %D%/gather.c %D%/gather.h \
	%D%/quota.c %D%/quota.h %D%/hop.c %D%/hop.h %D%/hop-miss.c %D%/hop-private.h \
	%D%/joining.c %D%/joining.h \
	%D%/gather-status.c %D%/gather-status.h \
	%D%/fanout-command.c %D%/fanout-command.h %D%/child-clock.c %D%/child-clock.h \
	%D%/scope.c %D%/scope.h %D%/seats.c %D%/seats.h %D%/scope-shared.c %D%/scope-shared.h \
	%D%/opening.c %D%/opening.h %D%/riding.c %D%/riding.h %D%/trunk.c %D%/trunk.h \
	%D%/trunk-private.h %D%/trunk-wave.c %D%/question.c %D%/question.h \
	%D%/stage-fault.c %D%/stage-fault.h %D%/silence.c %D%/silence.h \
	%D%/urgent.c %D%/urgent.h
EXTRA_DIST += %D%/README.md
