# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += \
	%D%/doctor.c %D%/calibrate.c %D%/calibrate-tree.c %D%/certificate.c %D%/certificate.h %D%/map-change.c \
	%D%/map-cost.c %D%/map.h %D%/map-fold.c %D%/map-say.c %D%/map.c
EXTRA_DIST += %D%/README.md
