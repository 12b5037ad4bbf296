# SPDX-License-Identifier: BSD-3-Clause
# Collects everything that configure misses, so that one message names it all.

# EVSPACE_MISSES(WHAT, DEBIAN-PACKAGES)
# Note that WHAT was not found, and the packages that have it.
AC_DEFUN([EVSPACE_MISSES],
[evspace_missing="$evspace_missing
    $1: Debian package(s) $2"
evspace_packages="$evspace_packages $2"])

# EVSPACE_NEED_MODULE(VARIABLE, PKG-CONFIG-MODULES, WHAT, DEBIAN-PACKAGES)
# Set VARIABLE_CFLAGS and VARIABLE_LIBS, or note what is missing.
AC_DEFUN([EVSPACE_NEED_MODULE],
[PKG_CHECK_MODULES([$1], [$2], [], [EVSPACE_MISSES([$3], [$4])])])

# EVSPACE_NEED_HEADER(HEADER, WHAT, DEBIAN-PACKAGES)
AC_DEFUN([EVSPACE_NEED_HEADER],
[AC_CHECK_HEADER([$1], [], [EVSPACE_MISSES([$2], [$3])])])

# EVSPACE_NEED_PROGRAM(VARIABLE, PROGRAM, WHAT, DEBIAN-PACKAGES)
AC_DEFUN([EVSPACE_NEED_PROGRAM],
[AC_PATH_PROG([$1], [$2])
AS_IF([test -z "$$1"], [EVSPACE_MISSES([$3], [$4])])])

# EVSPACE_HAVE_MPICH
# MPICH may be there beside Open MPI: set MPICH_CFLAGS, MPICH_LIBS, MPICH_RUN (a launcher) and
# MPICH_FC (its Fortran compiler, may be empty), and have_mpich to yes or no.
AC_DEFUN([EVSPACE_HAVE_MPICH],
[have_mpich=yes
PKG_CHECK_MODULES([MPICH], [mpich], [], [have_mpich=no])
AC_PATH_PROGS([MPICH_RUN], [mpirun.mpich mpiexec.mpich mpiexec.hydra])
AC_PATH_PROGS([MPICH_FC], [mpifort.mpich mpif90.mpich])
AM_CONDITIONAL([MPICH], [test "$have_mpich" = yes])
AS_IF([test "$have_mpich" = no], [MPICH_RUN= MPICH_FC=])])

# EVSPACE_HAVE_FORTRAN
# Fortran programs are compiled for tests alone, each MPI's by its own compiler: after
# EVSPACE_HAVE_MPICH, set OPENMPI_FC, and conditionals for both compilers.
AC_DEFUN([EVSPACE_HAVE_FORTRAN],
[AC_PATH_PROGS([OPENMPI_FC], [mpifort.openmpi mpif90.openmpi])
AM_CONDITIONAL([OPENMPI_FC], [test -n "$OPENMPI_FC"])
AM_CONDITIONAL([MPICH_FC], [test -n "$MPICH_FC"])])

# EVSPACE_HAVE_LTTNG
# LTTng-UST may be there, for a bench to compare with: set LTTNG_CFLAGS, LTTNG_LIBS and have_lttng.
AC_DEFUN([EVSPACE_HAVE_LTTNG],
[have_lttng=yes
PKG_CHECK_MODULES([LTTNG], [lttng-ust >= 2.13], [], [have_lttng=no])
AM_CONDITIONAL([LTTNG], [test "$have_lttng" = yes])])

# EVSPACE_HAVE_CAIRO
# cairo may be there, for `evspace tune --plot`: set CAIRO_CFLAGS, CAIRO_LIBS and have_cairo.
AC_DEFUN([EVSPACE_HAVE_CAIRO],
[have_cairo=yes
PKG_CHECK_MODULES([CAIRO], [cairo cairo-svg cairo-png], [], [have_cairo=no])
AM_CONDITIONAL([CAIRO], [test "$have_cairo" = yes])])

# EVSPACE_HAVE_LIBCLANG
# libclang may be there, for sources in `evspace mir`: set LIBCLANG_CFLAGS, LIBCLANG_LIBS and have_libclang. It has
# no pkg-config file; Debian has each version in a folder of its own.
AC_DEFUN([EVSPACE_HAVE_LIBCLANG],
[AC_ARG_WITH([libclang],
	[AS_HELP_STRING([--with-libclang=PREFIX],
		[where libclang is (default: the newest /usr/lib/llvm-*, or /usr)])],
	[], [with_libclang=`ls -d /usr/lib/llvm-*/include/clang-c 2>/dev/null | sed 's,/include/.*,,' | sort -V | tail -n 1`])
AC_MSG_CHECKING([for libclang])
LIBCLANG_CFLAGS="-I${with_libclang:-/usr}/include"
LIBCLANG_LIBS="-L${with_libclang:-/usr}/lib -lclang"
have_libclang=no
evspace_save_cppflags=$CPPFLAGS evspace_save_libs=$LIBS
CPPFLAGS="$CPPFLAGS $LIBCLANG_CFLAGS" LIBS="$LIBCLANG_LIBS $LIBS"
AS_IF([test "x$with_libclang" != xno],
	[AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <clang-c/Index.h>]], [[clang_createIndex(0, 0);]])],
		[have_libclang=yes])])
CPPFLAGS=$evspace_save_cppflags LIBS=$evspace_save_libs
AC_MSG_RESULT([$have_libclang])
AC_SUBST([LIBCLANG_CFLAGS])
AC_SUBST([LIBCLANG_LIBS])
# headers that come with compilers, as omp.h
AC_SUBST([CC_INCLUDE], [`$CC -print-file-name=include`])
AM_CONDITIONAL([LIBCLANG], [test "$have_libclang" = yes])])

# EVSPACE_HAVE_LAPACKE
# LAPACKE may be there, for the components of `evspace phase`: set LAPACKE_CFLAGS, LAPACKE_LIBS and have_lapacke.
AC_DEFUN([EVSPACE_HAVE_LAPACKE],
[have_lapacke=yes
PKG_CHECK_MODULES([LAPACKE], [lapacke], [], [have_lapacke=no])
AM_CONDITIONAL([LAPACKE], [test "$have_lapacke" = yes])])

# EVSPACE_HAVE_OTF2
# OTF2 may be there, for `evspace export --to otf2`: set OTF2_CFLAGS, OTF2_LIBS and have_otf2.
AC_DEFUN([EVSPACE_HAVE_OTF2],
[have_otf2=yes
PKG_CHECK_MODULES([OTF2], [otf2], [], [have_otf2=no])
AM_CONDITIONAL([OTF2], [test "$have_otf2" = yes])])

# EVSPACE_REPORT_MISSING
# End configure with everything that was noted, if anything was.
AC_DEFUN([EVSPACE_REPORT_MISSING],
[AS_IF([test -n "$evspace_missing"],
[evspace_packages=`echo $evspace_packages | tr ' ' '\n' | sort -u | tr '\n' ' '`
AC_MSG_ERROR([EventSpace needs what is missing here:
$evspace_missing

On Debian:  apt-get install $evspace_packages
or run ./deploy/check, which installs everything in deploy/packages, builds and tests.])])])
