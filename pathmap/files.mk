# SPDX-License-Identifier: BSD-3-Clause
# Pathmap: the three files, their checks, the plan of a tree.

noinst_LTLIBRARIES += libpathmap.la
libpathmap_la_LIBADD = -lm
include pathmap/model/files.mk
include pathmap/cost/files.mk
include pathmap/base/files.mk
include pathmap/grammar/files.mk
include pathmap/plan/files.mk

examplesdir = $(pkgdatadir)/examples
dist_examples_DATA = pathmap/examples/README.md
examples_localdir = $(pkgdatadir)/examples/local
dist_examples_local_DATA = \
	pathmap/examples/local/application.map \
	pathmap/examples/local/cluster.map \
	pathmap/examples/local/mapping.map
examples_paperdir = $(pkgdatadir)/examples/paper
dist_examples_paper_DATA = \
	pathmap/examples/paper/application.map \
	pathmap/examples/paper/cluster.map \
	pathmap/examples/paper/mapping.map
libpathmap_la_SOURCES += \
	pathmap/pathmap.c pathmap/texts.c \
	pathmap/texts.h
EXTRA_DIST += %D%/README.md
