# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

run_sources += \
	%D%/claim.c %D%/claim.h %D%/exec.c \
	%D%/launch.c %D%/launch.h %D%/program.c %D%/run.c %D%/summary-print.c \
	%D%/summary.c %D%/summary.h
EXTRA_DIST += %D%/README.md
