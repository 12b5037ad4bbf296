/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of stages that others have written (evspace-stage.h); part of evspace-client.h. */
#ifndef EVSPACE_FOREIGN_RECORD_H
#define EVSPACE_FOREIGN_RECORD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evspace_client;

/** One record: so many numbers, whose meaning is its kind's. Valid until the next call. */
struct evspace_foreign {
	const char *name; /* whose it is: a thread, node, cluster, or "/" */
	const char *kind; /* what the stage calls its records */
	const uint64_t *words;
	unsigned n_words;
	int keyed; /* the first word is a key, by which the name has many records */
};

/** The name of an operation by its number, as stages have it (evspace_tuple.op): "MPI_Send". Valid
 * for the next 15 calls. */
const char *evspace_op_name(uint16_t op);

/** Get the next foreign record of the wave. Returns 1, or 0 if there are no more. */
int evspace_foreign(struct evspace_client *client, struct evspace_foreign *record);

#ifdef __cplusplus
}
#endif

#endif
