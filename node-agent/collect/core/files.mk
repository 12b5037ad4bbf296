# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

mpi_collect_sources += \
	%D%/capacity.c %D%/capacity.h %D%/collect-class.c %D%/collect-class.h \
	%D%/collect-enter.h %D%/collect-event.h %D%/collect-fault.c %D%/collect-fault.h \
	%D%/collect-space.c %D%/collect-space.h %D%/collect-stack.h %D%/collect-swift.h \
	%D%/collect-thread.h %D%/collect-tuple.h %D%/collect.c %D%/collect.h \
	%D%/member.c %D%/member.h %D%/modules.c %D%/modules.h %D%/settings.c %D%/settings.h \
	%D%/user.c %D%/user.h

pvm_collect_sources += \
	%D%/capacity.c %D%/capacity.h %D%/collect-class.c %D%/collect-class.h \
	%D%/collect-fault.c %D%/collect-fault.h %D%/collect-space.c %D%/collect-space.h \
	%D%/collect.c %D%/collect.h %D%/member.c %D%/member.h %D%/modules.c %D%/modules.h \
	%D%/settings.c %D%/settings.h %D%/user.c %D%/user.h

run_sources += \
	%D%/settings.c %D%/settings.h
