# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += \
	%D%/doctor.c %D%/calibrate.c %D%/calibrate.h %D%/map-change.c %D%/map-change.h \
	%D%/map-cost.c %D%/map-cost.h %D%/map-fold.c %D%/map-fold.h %D%/map-suggest.c %D%/map.c
EXTRA_DIST += %D%/README.md
