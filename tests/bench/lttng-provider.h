/* SPDX-License-Identifier: BSD-3-Clause */
/* The event that LTTng-UST records in our place: the fields of a tuple. Included several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER evspace_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/lttng-provider.h"

#if !defined(EVSPACE_BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define EVSPACE_BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

#include "tree/data/tuple.h"

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(
	evspace_bench, tuple,
	LTTNG_UST_TP_ARGS(const struct tuple *, t),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, start, t->start)
		lttng_ust_field_integer(uint64_t, end, t->end)
		lttng_ust_field_integer(uint64_t, bytes, t->bytes)
		lttng_ust_field_integer(int32_t, peer, t->peer)
		lttng_ust_field_integer(uint32_t, seq_or_tag, t->seq_or_tag)
		lttng_ust_field_integer(uint32_t, comm, t->comm)
		lttng_ust_field_integer(uint16_t, op, t->op)
		lttng_ust_field_integer(uint16_t, flags, t->flags)
	)
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
