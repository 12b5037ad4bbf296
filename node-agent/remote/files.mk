# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libagent_la_SOURCES += \
	%D%/fetch-take.c %D%/fetch.c %D%/fetch.h
EXTRA_DIST += %D%/README.md
