# SPDX-License-Identifier: BSD-3-Clause
# Tree: stages, batches, wire, links, scopes.

noinst_LTLIBRARIES += libtree.la
libtree_la_CPPFLAGS = $(AM_CPPFLAGS) $(PROTOBUF_C_CFLAGS) $(EVENT_CFLAGS) $(OPENSSL_CFLAGS) \
	$(ZSTD_CFLAGS)
include tree/link/files.mk
include tree/data/files.mk
include tree/wire/files.mk
include tree/scope/files.mk
include tree/stage/files.mk
nodist_libtree_la_SOURCES = tree/wire/wire.pb-c.c tree/wire/wire.pb-c.h tree/data/op-table.h
BUILT_SOURCES += tree/wire/wire.pb-c.h tree/data/op-table.h
EXTRA_DIST += tree/wire/wire.proto tree/data/op.awk tree/data/ops.tab
libtree_la_LIBADD = $(PROTOBUF_C_LIBS) $(EVENT_LIBS) $(OPENSSL_LIBS) $(ZSTD_LIBS) -lm

# Generated; when their sources exist, add the names to nodist_libtree_la_SOURCES and BUILT_SOURCES,
# and the sources to EXTRA_DIST.
tree/wire/wire.pb-c.c: tree/wire/wire.proto
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(PROTOC_C) --c_out=. --proto_path=$(top_srcdir) $(top_srcdir)/tree/wire/wire.proto
tree/wire/wire.pb-c.h: tree/wire/wire.pb-c.c
	@test -f $@ || { rm -f tree/wire/wire.pb-c.c && $(MAKE) $(AM_MAKEFLAGS) tree/wire/wire.pb-c.c; }

tree/data/op-table.h: tree/data/op.awk tree/data/ops.tab
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(AWK) -f $(top_srcdir)/tree/data/op.awk $(top_srcdir)/tree/data/ops.tab >$@.tmp && mv $@.tmp $@

CLEANFILES += tree/wire/wire.pb-c.c tree/wire/wire.pb-c.h tree/data/op-table.h
EXTRA_DIST += %D%/README.md
