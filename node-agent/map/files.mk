# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libagent_la_SOURCES += \
	%D%/active-map-behind.c %D%/active-map-pass.c %D%/active-map-plan.c %D%/active-map.c %D%/active-map.h
EXTRA_DIST += %D%/README.md
