# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += \
	%D%/colop.c %D%/colop.h %D%/colop-into.c %D%/colop-json.c %D%/colop-live.c %D%/colop-live.h %D%/colop-text.c %D%/attendance.c %D%/attendance.h %D%/arrivals.c %D%/arrivals.h \
	%D%/counted.c %D%/counted.h %D%/instance.c %D%/instance.h %D%/instance-picture.c %D%/proposal.c %D%/proposal.h %D%/reduced.c %D%/messages.c %D%/messages.h
EXTRA_DIST += %D%/README.md
