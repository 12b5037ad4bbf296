/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call says beside its event: a collective's arguments; part of evspace-client.h. */
#ifndef EVSPACE_CALL_H
#define EVSPACE_CALL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evspace_client;
struct evspace_event;

/** What the call of a collective says beside its event. */
struct evspace_collective {
	int32_t root;	       /* rank in the communicator; -1: none, or not known */
	const char *reduction; /* "MPI_SUM", "own" if the program has made it; NULL: none */
	const char *type;      /* "MPI_INT", "made" by the program; NULL: none, or several */
	uint32_t type_bytes;   /* size of the datatype; 0: not known */
	uint32_t size;	       /* members of the communicator; 0: not known */
};

/** Get that of @event. Returns 1, or 0 if it is no collective. */
int evspace_collective(const struct evspace_client *client, const struct evspace_event *event,
		       struct evspace_collective *collective);

#ifdef __cplusplus
}
#endif

#endif
