/* SPDX-License-Identifier: BSD-3-Clause */
/* Tuples of programs' own elements (evspace-element.h) in views; part of evspace-client.h. */
#ifndef EVSPACE_TYPED_RECORD_H
#define EVSPACE_TYPED_RECORD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evspace_client;

/** One tuple. Strings and the tuple are valid until the next evspace_next(). */
struct evspace_typed {
	const char *name;   /* "/cluster/node/rank3/t0/element:residual", "-" for an unknown rank */
	int32_t rank;	    /* of the process that has made the element, -1: not known */
	uint64_t number;    /* of the tuple in its element, from 0; UINT64_MAX: not known, as a
			     * filter has left out some before it */
	int64_t time_ns;    /* when it was written: Unix time on the reference agent's clock; 0: not
			     * known */
	double error_ns;    /* bound of its error, relative to other hosts */
	const char *fields; /* its type: "iteration u64, residual f64[3]" */
	const void *tuple;  /* of a struct with these fields */
	size_t bytes;
};

/** Get the next such tuple of the wave. Returns 1, or 0 if there are no more. */
int evspace_typed(struct evspace_client *client, struct evspace_typed *typed);

/** What the values of a field come to (views with a stage `reduce ... of field`). */
struct evspace_figure {
	const char
		*name; /* of the group that it sums up: an element, thread, node, cluster, or "/" */
	const char *field; /* valid until the next call */
	const char *fold;  /* the figure that the view asks for: "count", "sum", … */
	uint64_t count;	   /* values */
	double sum, min, max, mean, variance;
};

/** Get the next figure of the wave. Returns 1, or 0 if there are no more. */
int evspace_figure(struct evspace_client *client, struct evspace_figure *figure);

#ifdef __cplusplus
}
#endif

#endif
