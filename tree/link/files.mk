# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libtree_la_SOURCES += \
	%D%/address.c %D%/address.h %D%/allow.c \
	%D%/link-dial.c %D%/link-hello.c %D%/link-hub.c %D%/link-hub.h %D%/link-hub-private.h %D%/link-io.c %D%/link-pack.c \
	%D%/link-private.h %D%/link.c %D%/link.h %D%/listener.c %D%/listener.h \
	%D%/notify.c %D%/notify.h %D%/pass.c %D%/pass.h \
	%D%/rate-limit.c %D%/rate-limit.h %D%/resolver.c %D%/resolver.h %D%/revoked.c %D%/revoked.h \
	%D%/stamp.c %D%/stamp.h %D%/tls-peer.c %D%/tls-text.c %D%/tls.c %D%/tls.h \
	%D%/transport.c %D%/transport.h %D%/worker.c %D%/worker.h
EXTRA_DIST += %D%/README.md
