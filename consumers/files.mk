# SPDX-License-Identifier: BSD-3-Clause
# Consumers: the client library and the evspace command.

# What every program of ours may link, in the order that a static linker wants.
EVSPACE_LIBS = libclient.la libagent.la libtree.la libpathmap.la

# The command links the convenience library, so that the built evspace is no libtool wrapper script;
# libevspace is the same code for programs of others.
noinst_LTLIBRARIES += libclient.la
libclient_la_CPPFLAGS = $(libtree_la_CPPFLAGS)
include consumers/budget/files.mk
include consumers/analysis/files.mk
include consumers/archive/files.mk
include consumers/client/files.mk
include consumers/watch/files.mk
include consumers/draw/files.mk
include consumers/perturb/files.mk
include consumers/phase/files.mk

# What a program of others links: the client alone is exported.
lib_LTLIBRARIES += libevspace.la
include_HEADERS += consumers/client/evspace-call.h consumers/client/evspace-client.h consumers/client/evspace-control.h consumers/client/evspace-cost.h consumers/client/evspace-loop.h \
	consumers/client/evspace-record.h consumers/client/evspace-reply.h consumers/client/evspace-wave.h \
	consumers/client/evspace-foreign.h consumers/client/evspace-typed.h tree/stage/evspace-stage.h
libevspace_la_SOURCES =
libevspace_la_LIBADD = libclient.la libtree.la libpathmap.la
libevspace_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/consumers/client/evspace.map
EXTRA_libevspace_la_DEPENDENCIES = consumers/client/evspace.map
EXTRA_DIST += consumers/client/evspace.map

bin_PROGRAMS += evspace
# What `evspace deploy` sends where agents are tasks of PVM; evspace itself needs no PVM.
pkglibexec_PROGRAMS = evspace-pvm
evspace_pvm_SOURCES = consumers/deploy/deploy-pvm.c
evspace_pvm_LDADD = $(PVM_LIBS)
nodist_evspace_SOURCES += consumers/deploy/deploy-scripts.h
BUILT_SOURCES += consumers/deploy/deploy-scripts.h
CLEANFILES += consumers/deploy/deploy-scripts.h
deploy_scripts = $(top_srcdir)/deploy/host $(top_srcdir)/deploy/launch
EXTRA_DIST += deploy/scripts.awk deploy/host deploy/launch
consumers/deploy/deploy-scripts.h: deploy/scripts.awk $(deploy_scripts)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(AWK) -f $(top_srcdir)/deploy/scripts.awk $(deploy_scripts) >$@.tmp && mv $@.tmp $@

evspace_CPPFLAGS = $(libtree_la_CPPFLAGS) $(JANSSON_CFLAGS) -DPKGLIBDIR='"$(pkglibdir)"' \
	-DPKGLIBEXECDIR='"$(pkglibexecdir)"'
evspace_LDADD = $(EVSPACE_LIBS) $(JANSSON_LIBS) $(EVENT_HTTPS_LIBS)
include consumers/cli/files.mk
include consumers/code/files.mk
include consumers/colop/files.mk
include consumers/deploy/files.mk
include consumers/map/files.mk
include consumers/run/files.mk
include consumers/watchdog/files.mk
include consumers/keep/files.mk
include consumers/mir/files.mk
EXTRA_DIST += %D%/README.md
