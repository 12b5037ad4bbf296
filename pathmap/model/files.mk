# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libpathmap_la_SOURCES += \
	%D%/application-read.c %D%/application-read.h %D%/application.c %D%/application.h \
	%D%/elements-read.c %D%/definable.c %D%/definable.h %D%/definition.c %D%/definition.h \
	%D%/cluster-read.c %D%/cluster-read.h %D%/cluster-resolve.c %D%/cluster.c %D%/cluster.h \
	%D%/deployment.c %D%/deployment.h %D%/hostlist.c %D%/hostlist.h %D%/made-read.c %D%/made.h \
	%D%/mapping-place.c %D%/mapping-read.c %D%/mapping-read.h \
	%D%/mapping-steer.c %D%/mapping-tree.c %D%/mapping.c %D%/mapping.h %D%/parts.h %D%/pathmap.c %D%/pathmap.h \
	%D%/pattern.c %D%/pattern.h \
	%D%/recording.c %D%/recording.h %D%/sampling.c %D%/sampling.h %D%/shape.c %D%/shape.h %D%/stage-alias.c %D%/stage-alias.h %D%/steering.h \
	%D%/view-read.c %D%/view.c %D%/view.h
collect_sources += %D%/pattern.c %D%/pattern.h
EXTRA_DIST += %D%/README.md
