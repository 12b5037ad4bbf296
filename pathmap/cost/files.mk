# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libpathmap_la_SOURCES += \
	%D%/calibration.c %D%/cost.c %D%/cost.h \
	%D%/suggestion.c
EXTRA_DIST += %D%/README.md
