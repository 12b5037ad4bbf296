# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libtree_la_SOURCES += \
	%D%/dictionary.c %D%/dictionary.h %D%/bytes.c %D%/bytes.h %D%/deframer.c %D%/deframer.h \
	%D%/flat.c %D%/flat.h \
	%D%/packer.c %D%/packer.h %D%/wire-place.c %D%/wire-place.h \
	%D%/wire.c %D%/wire.h
EXTRA_DIST += %D%/README.md
