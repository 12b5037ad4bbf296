/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: what a call says beside its event, and operations joined over their members; part
 * of evspace-client.h. */
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
	int32_t root;	       /* rank in the communicator, instance in the group of PVM; -1:
				* none, or not known */
	const char *reduction; /* "MPI_SUM", "own" if the program has made it; NULL: none */
	const char *type;      /* "MPI_INT", "made" by the program; NULL: none, or several */
	uint32_t type_bytes;   /* size of the datatype; 0: not known */
	uint32_t size;	       /* members of the communicator, or as many as pvm_barrier waits
				* for; 0: not known */
	int here;	       /* of PVM: 1 if this call is the root's own */
};

/** Get that of @event. Returns 1, or 0 if it is no collective. */
int evspace_collective(const struct evspace_client *client, const struct evspace_event *event,
		       struct evspace_collective *collective);

/** One operation, as far as it has come (views with a stage `meet`). What is known of its members
 * may come in several waves: whoever joins these adds up counts, bytes and waits. */
struct evspace_meeting {
	const char *name; /* of the group of its members: a node, cluster, or "/" */
	uint32_t comm, number;
	uint32_t count; /* members that are in it */
	uint32_t size;	/* members of the communicator; 0: not known */
	const char *op;
	uint16_t op_number;
	uint16_t magnitude;	     /* no member had 2^magnitude bytes */
	int mixed;		     /* members called different operations; op is one of them */
	int32_t root;		     /* as in a call; -1: none, or not known, or they differ */
	int64_t start_ns;	     /* first start */
	int64_t before_ns, last_ns;  /* the last start but one, and the last; of one member its */
	int64_t end_ns, last_end_ns; /* first and last end */
	uint64_t waited_ns;	     /* sum of the times from each start to the last one */
	uint64_t bytes;		     /* of all members */
	const char *who; /* the element of the one that started last, "?" if it is not known */
	int32_t rank;	 /* its world rank, or -1 */
	double error_ns; /* bound of the error of each time, relative to other hosts */
	int hosts;	 /* 1: members are on several hosts; 0: differences have no error */
};

/** Get the next one of the wave. Returns 1, or 0 if there are no more. */
int evspace_meeting(struct evspace_client *client, struct evspace_meeting *meeting);

#ifdef __cplusplus
}
#endif

#endif
