/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wrapper as ours that hands its tuple to LTTng-UST. LTTng reads a clock of its own at each
 * event, so that the wrapper needs to read only the start.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/lttng-provider.h"

#include <mpi.h>

#include "tests/bench/library.h"
#include "tests/bench/lttng.h"
#include "tree/data/clock.h"

static int (*real_barrier)(MPI_Comm);
static uint32_t barriers;

static __attribute__((constructor)) void resolve(void)
{
	*(void **)&real_barrier = library_find("PMPI_Barrier");
}

int lttng_barrier(MPI_Comm comm)
{
	struct tuple t = {
		.start = clock_ticks(CLOCK_TICKS_TSC),
		.peer = TUPLE_NO_PEER,
		.seq_or_tag = barriers++,
		.comm = 1,
		.op = 1,
	};
	int rc = real_barrier(comm);

	lttng_ust_tracepoint(evspace_bench, tuple, &t);
	return rc;
}

int lttng_is_recorded(void)
{
	return lttng_ust_tracepoint_enabled(evspace_bench, tuple);
}
