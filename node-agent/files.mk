# SPDX-License-Identifier: BSD-3-Clause
# Node-agent: segments, elements, sources, the agent.

noinst_LTLIBRARIES += libagent.la
libagent_la_CPPFLAGS = $(libtree_la_CPPFLAGS) $(DW_CFLAGS)
libagent_la_LIBADD = $(DW_LIBS)
include node-agent/control/files.mk
include node-agent/store/files.mk
include node-agent/map/files.mk
include node-agent/source/files.mk
include node-agent/remote/files.mk
include node-agent/segment/files.mk
include node-agent/pastset/files.mk
libagent_la_SOURCES += \
	node-agent/agent.c node-agent/agent.h \
	node-agent/identity.c node-agent/identity.h \
	node-agent/prefork.c
EXTRA_DIST += %D%/README.md
