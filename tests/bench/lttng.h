/* SPDX-License-Identifier: BSD-3-Clause */
/* LTTng-UST in our place: a preloaded wrapper with its tracepoint, which bench/solo looks up. */
#ifndef EVSPACE_BENCH_LTTNG_H
#define EVSPACE_BENCH_LTTNG_H

#include <mpi.h>

/** MPI_Barrier with one event of LTTng-UST. */
int lttng_barrier(MPI_Comm comm);

/** Does a session record these events? Else a barrier costs next to nothing. */
int lttng_is_recorded(void);

#endif
