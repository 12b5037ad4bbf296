/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of tests/apps/calls: each makes some kinds of MPI calls, checks what came, counts them.
 */
#ifndef EVSPACE_CALLS_H
#define EVSPACE_CALLS_H

#include <mpi.h>

#include "tests/apps/counts.h"

/** Bytes of @n ints, the type that most calls move. */
#define INTS(n) ((uint64_t)(n) * sizeof(int))

/** A communicator, and the places of this rank and its neighbours in it as on a ring. */
struct calls {
	MPI_Comm comm;
	int rank, size, left, right;
};

/** Fill in all of @on for @comm. */
void calls_on(struct calls *on, MPI_Comm comm);

/** The @n numbers that rank @from sends for the purpose @what (any small number). */
void calls_fill(int *buf, int n, int from, int what);

/** Are these the numbers that calls_fill() makes? If not, say that @op was wrong, and end all
 * with 1. */
void calls_check(const char *op, const int *buf, int n, int from, int what);

/** Say what is wrong unless @good, and end all ranks with exit code 1. */
void calls_must(int good, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** MPI_Wait on a request that @op made and that moves @bytes; counts both. */
void calls_wait(const char *op, MPI_Request *request, uint64_t bytes);

/* The parts. Each is collective over on->comm; all must run with one rank, too. */
void calls_p2p(const struct calls *on);	     /* calls_p2p.c: blocking sends, receives, probes */
void calls_requests(const struct calls *on); /* calls_requests.c: nonblocking, Wait and Test */
void calls_persistent(
	const struct calls *on); /* calls_persistent.c: persistent, cancelled, freed */
void calls_collective(const struct calls *on, int nonblocking); /* calls_coll.c: no v, no w */
void calls_vectors(const struct calls *on, int nonblocking);	/* calls_vector.c: v and w */
void calls_neighbour(const struct calls *on, int nonblocking);	/* calls_neighbour.c: on a Cart */
void calls_comm(const struct calls *on);    /* calls_comm.c: making and freeing communicators */
void calls_inter(const struct calls *on);   /* calls_inter.c: intercommunicators */
void calls_across(MPI_Comm comm, int high); /* calls_across.c: the same, rooted and v, w */
void calls_window(const struct calls *on);  /* calls_window.c: one-sided */
void calls_file(const struct calls *on);    /* calls_file.c: files */
void calls_again(const struct calls *on);   /* calls_again.c: persistent collectives */
void calls_mpi4(const struct calls *on);    /* calls_mpi4.c: what MPI-4 has more, if it is one */
void calls_general(const struct calls *on); /* calls_general.c: requests by other means */
void calls_types(
	const struct calls *on); /* calls_types.c: derived datatypes, zero counts, errors */

/**
 * Make a collective call, blocking or not: COLL(on, nonblocking, MPI_Bcast, MPI_Ibcast, bytes,
 * args...); the nonblocking one is completed at once.
 */
#define COLL(nonblocking, call, icall, bytes, ...)                \
	do {                                                      \
		if (nonblocking) {                                \
			MPI_Request coll_request;                 \
			COUNT(icall, bytes);                      \
			icall(__VA_ARGS__, &coll_request);        \
			calls_wait(#icall, &coll_request, bytes); \
		} else {                                          \
			COUNT(call, bytes);                       \
			call(__VA_ARGS__);                        \
		}                                                 \
	} while (0)

#endif
