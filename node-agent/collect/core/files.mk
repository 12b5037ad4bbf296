# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

mpi_collect_sources += \
	%D%/capacity.c %D%/collect-class.c \
	%D%/collect-enter.h %D%/collect-event.h \
	%D%/collect-space.c %D%/collect-space.h %D%/collect-stack.h %D%/collect-swift.h \
	%D%/collect-thread.h %D%/collect-timing.c %D%/collect-timing.h %D%/collect-tuple.h %D%/collect.c %D%/collect.h \
	%D%/member.c %D%/member.h %D%/modules.c %D%/modules.h \
	%D%/properties.c %D%/properties.h %D%/settings.c %D%/settings.h \
	%D%/told.c %D%/trial.c %D%/trial.h %D%/user.c

pvm_collect_sources += \
	%D%/capacity.c %D%/collect-class.c \
	%D%/collect-space.c %D%/collect-space.h %D%/collect-timing.c %D%/collect-timing.h \
	%D%/collect.c %D%/collect.h %D%/hooks.c %D%/hooks.h %D%/member.c %D%/member.h %D%/modules.c %D%/modules.h \
	%D%/properties.c %D%/properties.h %D%/settings.c %D%/settings.h %D%/told.c %D%/trial.c %D%/trial.h %D%/user.c

run_sources += \
	%D%/settings.c %D%/settings.h
