/* SPDX-License-Identifier: BSD-3-Clause */
/* The Wait and Test calls: one tuple for the call, one for each request that it completes. */
#ifndef EVSPACE_MPI_WAIT_H
#define EVSPACE_MPI_WAIT_H

#include <mpi.h>
#include <stdbool.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/mpi/mpi-library.h"
#include "node-agent/collect/mpi/mpi-request.h"

/** Most requests whose handles or records a call can note; with more, all records are held. */
#define MPI_WAIT_ROOM 512

/** Which requests a call completes. */
enum mpi_wait_which { MPI_WAIT_ONE, MPI_WAIT_ANY, MPI_WAIT_ALL, MPI_WAIT_SOME };

/** MPI's answer of what is complete; what the call does not return is NULL. */
struct mpi_wait_answer {
	const MPI_Status *statuses; /* of all, or in the order of indices; NULL: unknown */
	const int *flag;
	const int *index;
	const int *outcount;
	const int *indices;
	int first; /* the first index: 1 in Fortran */
};

/** How a call finds its requests' records. */
enum mpi_wait_how {
	MPI_WAIT_HELD,	 /* their records are held: several threads may call MPI, or no room */
	MPI_WAIT_LOOKED, /* their records were looked up before the call */
	MPI_WAIT_LATE,	 /* only handles were copied; complete ones are looked up after the call */
};

/** One such call, on the stack of its wrapper. A late one has only `requests`, `n`, `how`, `asks`
 * and `handles` at first. */
struct mpi_wait {
	struct mpi_place requests;
	int n;
	enum mpi_wait_how how;
	bool asks;   /* a status is needed: something is received, or may have been cancelled */
	int unknown; /* requests that are not on record */
	struct mpi_request *first, *last; /* HELD: records, by position */
	union {
		struct mpi_request *records[MPI_WAIT_ROOM]; /* LOOKED: NULL where none is active */
		MPI_Request handles[MPI_WAIT_ROOM];	    /* LATE */
	};
};

/** Begin a Wait call: find its requests, and set *@t (but its times) to what it waits for. */
void mpi_wait_begin(struct mpi_wait *w, struct tuple *t, uint16_t op, int n,
		    struct mpi_place requests);

/**
 * End a Wait call, or a Test call that has completed something: write a completion for each
 * request, and set their number and peer in *@t. Completions of a call without times get their end
 * here.
 */
void mpi_wait_end(struct mpi_wait *w, struct tuple *t, int rc, enum mpi_wait_which which,
		  const struct mpi_wait_answer *answer);

/** Hold the requests of a Test call that cannot be a late one, until it is known what has
 * completed. */
void mpi_test_hold(struct mpi_wait *w);
void mpi_test_put_back(struct mpi_wait *w);

/** Can a Test call of @n requests be a late one? With several threads, a handle may mean another
 * request as soon as this one is complete. */
static inline bool mpi_test_is_late(int n, struct mpi_place requests)
{
	return !mpi.multiple && n <= MPI_WAIT_ROOM && requests.at;
}

/** Copy the handles of a late one: no clock and no state line, since most complete nothing. */
static inline void mpi_test_copy(struct mpi_wait *w, int n, struct mpi_place requests)
{
	for (int i = 0; i < n; i++) {
		w->handles[i] = mpi_place_request(mpi_place_request_at(requests, i));
		/* no loop of its own for one or two: gcc would make it a slow "rep movs" */
		__asm__ volatile("" ::: "memory");
	}
}

/** The rest of a late one. */
static inline void mpi_test_late(struct mpi_wait *w, int n, struct mpi_place requests)
{
	w->requests = requests;
	w->n = n;
	w->asks = true;
	w->how = MPI_WAIT_LATE;
}

/** Begin a Test call. */
static inline void mpi_test_begin(struct mpi_wait *w, int n, struct mpi_place requests)
{
	if (__builtin_expect(mpi_test_is_late(n, requests), 1)) {
		mpi_test_late(w, n, requests);
		mpi_test_copy(w, n, requests);
		return;
	}
	w->requests = requests;
	w->n = mpi_place_requests(requests, n);
	w->asks = true;
	w->how = MPI_WAIT_HELD;
	mpi_test_hold(w);
}

/** Has the poll completed nothing? Then this ends it. (Without active requests MPI says "done".) */
static inline bool mpi_test_vain(struct mpi_wait *w, int rc, const struct mpi_wait_answer *a)
{
	if (rc != MPI_SUCCESS || (a->flag ? *a->flag : *a->outcount))
		return false;
	if (__builtin_expect(w->how != MPI_WAIT_LATE, 0))
		mpi_test_put_back(w);
	return true;
}

#endif
