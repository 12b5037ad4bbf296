/* SPDX-License-Identifier: BSD-3-Clause */
/* The conformance suite: what its parts share, above all how they write down what they saw. */
#ifndef EVSPACE_SUITE_H
#define EVSPACE_SUITE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/** What the parts work on: a communicator, and this process's place in it. */
struct suite {
	MPI_Comm comm;
	int rank, size;
	int left, right;     /* neighbours on a ring */
	const char *folder;  /* where files may be made */
	const char *program; /* this program, to be spawned */
	bool threads;	     /* MPI_THREAD_MULTIPLE was given */
};

/** Error field of statuses that a call need not set: seen again, nobody touched it. */
#define SUITE_MARK 77

/** How many statuses and requests one call of the suite has at most. */
#define SUITE_MANY 16

/** A line of what was seen. No addresses, no times: they differ from run to run. */
void suite_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** What call @name returned: "fine", or its error class. Returns @rc. */
int suite_rc(const char *name, int rc);

/** Write down the call and what it returned. */
#define SUITE(call) suite_rc(#call, call)

/** The @n numbers of @buf. */
void suite_ints(const char *name, const int *buf, int n);

/** Source, tag, error field, bytes, elements of @type and whether cancelled. */
void suite_status(const char *name, const MPI_Status *status, MPI_Datatype type);

/** Of a status of a file's: bytes and elements of @type alone, the rest is undefined
 * (MPI-3.1 13.4.1). */
void suite_moved(const char *name, const MPI_Status *status, MPI_Datatype type);

/** Fill statuses with marks, so that what is not written can be seen. */
void suite_mark(MPI_Status *statuses, int n);

/** Which of @n requests are MPI_REQUEST_NULL. */
void suite_requests(const char *name, const MPI_Request *requests, int n);

/** A number that tells from whom, what and where in the buffer; fill one with it. */
int suite_value(int from, int what, int i);
void suite_fill(int *buf, int n, int from, int what);

/* The parts; each leaves nothing behind. */
void suite_messages(const struct suite *s);
void suite_probes(const struct suite *s);
void suite_completions(const struct suite *s);
void suite_persistent(const struct suite *s);
void suite_partitions(const struct suite *s);
void suite_types(const struct suite *s);
void suite_collectives(const struct suite *s);
void suite_reductions(const struct suite *s);
void suite_vectors(const struct suite *s);
void suite_nonblocking(const struct suite *s);
void suite_lasting(const struct suite *s);
void suite_neighbours(const struct suite *s);
void suite_communicators(const struct suite *s);
void suite_intercomm(const struct suite *s);
void suite_callbacks(const struct suite *s);
void suite_errors(const struct suite *s);
void suite_windows(const struct suite *s);
void suite_epochs(const struct suite *s);
void suite_files(const struct suite *s);
void suite_split_files(const struct suite *s);
void suite_children(const struct suite *s);
void suite_ports(const struct suite *s);
void suite_threads(const struct suite *s);

/** What a spawned child does with its parent. */
void suite_child(MPI_Comm parent);

#endif
