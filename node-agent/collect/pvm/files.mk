# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

pvm_collect_sources += \
	%D%/pvm-bytes.c %D%/pvm-bytes.h %D%/pvm-calls.h \
	%D%/pvm-group.c %D%/pvm-group.h %D%/pvm-library.c %D%/pvm-library.h \
	%D%/pvm-process.c %D%/pvm-process.h
