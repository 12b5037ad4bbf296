# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += %D%/code-fortran.c %D%/code-fortran.h %D%/code-instrument.c %D%/code-instrument.h %D%/code-piece.c %D%/code-piece.h %D%/code-read.c %D%/code-read.h %D%/code.c %D%/code.h \
	%D%/fortran-body.c %D%/fortran-body.h %D%/fortran-instrument.c %D%/fortran-instrument.h \
	%D%/fortran-leave.c %D%/fortran-leave.h %D%/fortran-macros.c %D%/fortran-macros.h %D%/fortran-openmp.c %D%/fortran-openmp.h %D%/fortran-text.c %D%/fortran-text.h %D%/fortran-word.c %D%/fortran-word.h
EXTRA_DIST += %D%/README.md

# What reads C and C++, run where a source is asked for.
clang_sources = %D%/clang-flags.c %D%/clang-main.c %D%/clang-openmp.c %D%/clang-overlay.c %D%/clang-walk.c
if LIBCLANG
pkglibexec_PROGRAMS += evspace-clang
evspace_clang_SOURCES = $(clang_sources) %D%/clang-flags.h %D%/clang-overlay.h %D%/clang-walk.h %D%/code.c %D%/code.h \
	pathmap/base/error.c pathmap/base/error.h pathmap/base/memory.c pathmap/base/memory.h \
	pathmap/base/utf8.c pathmap/base/utf8.h
evspace_clang_CPPFLAGS = $(AM_CPPFLAGS) $(LIBCLANG_CFLAGS) \
	-DCODE_FLAGS='"$(MPI_CFLAGS) -idirafter $(includedir) -idirafter $(CC_INCLUDE)"'
evspace_clang_LDADD = $(LIBCLANG_LIBS)
else
EXTRA_DIST += $(clang_sources) %D%/clang-flags.h %D%/clang-overlay.h %D%/clang-walk.h
endif
