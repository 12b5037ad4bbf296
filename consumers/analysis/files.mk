# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libclient_la_SOURCES += \
	%D%/arrival-order.c %D%/arrival-order.h %D%/assembly.c %D%/assembly.h %D%/class-form.c %D%/class-form.h %D%/crossing.c %D%/crossing.h %D%/dwell.c %D%/dwell.h %D%/group-number.c %D%/group-number.h %D%/lateness.c %D%/lateness.h %D%/meeting.c %D%/meeting.h %D%/meeting-sum.c %D%/meeting-sum.h %D%/message-flow.c %D%/message-flow.h %D%/message-match.c %D%/message-match.h %D%/message-wait.c %D%/message-wait.h %D%/middle.c %D%/middle.h %D%/overlap.c %D%/overlap.h %D%/proportion.c %D%/proportion.h %D%/evenness.c %D%/evenness.h %D%/student.c %D%/student.h %D%/tail.c %D%/tail.h \
	%D%/wait.c %D%/wait.h
EXTRA_DIST += %D%/README.md
