# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libclient_la_SOURCES += \
	%D%/agreement.c %D%/agreement.h %D%/stall-autopsy.c %D%/stall-odd.c %D%/stall.c %D%/stall.h

evspace_SOURCES += \
	%D%/collect.c %D%/disagreement.c %D%/disagreement.h %D%/discard.c %D%/events-format.c %D%/events-order.c %D%/events-order.h \
	%D%/events.c %D%/events.h %D%/heartbeat-show.c \
	%D%/heartbeat-words.c %D%/heartbeat.c %D%/heartbeat.h %D%/follow.c %D%/follow.h \
	%D%/thread-states.c %D%/thread-states.h %D%/typed-format.c %D%/view-bins.c %D%/view-cells.c %D%/view-classes.c %D%/view-foreign.c %D%/view-medians.c %D%/view-meetings.c \
	%D%/view.c %D%/view.h

run_sources += \
	%D%/standing.c %D%/standing.h
EXTRA_DIST += %D%/README.md
