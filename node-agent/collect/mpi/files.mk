# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

mpi_collect_sources += \
	%D%/mpi-bytes.h %D%/mpi-calls.h %D%/mpi-comm.c %D%/mpi-comm.h \
	%D%/mpi-fortran.h %D%/mpi-handle.h %D%/mpi-library.c %D%/mpi-library.h \
	%D%/mpi-place.h %D%/mpi-process.c %D%/mpi-process.h %D%/mpi-request-table.h \
	%D%/mpi-request.c %D%/mpi-request.h \
	%D%/mpi-steer.c %D%/mpi-steer.h %D%/mpi-steer-comm.c %D%/mpi-steer-comm.h %D%/mpi-steer-move.c %D%/mpi-steer-move.h \
	%D%/mpi-steer-reduce.c %D%/mpi-steer-run.c %D%/mpi-steer-run.h \
	%D%/steer-set.c %D%/steer-set.h %D%/steer-tree.c %D%/steer-tree.h \
	%D%/mpi-status.h %D%/mpi-table.h %D%/mpi-type.h \
	%D%/mpi-wait.c %D%/mpi-wait.h
