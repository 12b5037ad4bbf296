/* SPDX-License-Identifier: BSD-3-Clause */
/* Stalls: who has made no progress, and who waits for whom, from one look at all threads (paper
 * 5.1). */
#ifndef EVSPACE_STALL_H
#define EVSPACE_STALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** No thread. */
#define STALL_NOBODY ((size_t)-1)

/** Whom a thread inside an operation waits for. */
enum stall_why {
	STALL_NOT,     /* for nobody, or not long enough yet */
	STALL_PEER,    /* its peer in a point-to-point operation */
	STALL_ANY,     /* any one of the awaited: a receive from any source */
	STALL_MEMBERS, /* all of the awaited: they are not in this collective yet */
	STALL_SOME,    /* perhaps some of the awaited: in this collective, nobody has to wait
			* for all */
	STALL_UNKNOWN, /* unknown */
};

/** What came first: this thread's waiting, or the silence of the one that causes it? */
enum stall_order { STALL_CANNOT_TELL, STALL_SILENT_BEFORE, STALL_SILENT_AFTER };

/** What is known of one thread: its last event, and since when nothing has changed. Plain data. */
struct thread_state {
	char name[256]; /* "/cluster/node/rank/thread" */
	uint32_t world; /* id of the world of its rank, if others spawned it; else 0 */
	int32_t rank;
	char op[64];
	uint16_t op_number;
	bool running; /* inside the operation, else it was the last one */
	bool gone;    /* its process died: inside the operation (not running then), or after it */
	bool died_inside;
	int32_t peer;
	uint32_t seq, comm;
	bool unnumbered; /* a collective without a valid number: EVSPACE_UNNUMBERED */
	uint64_t bytes;
	uint16_t region_op;	  /* the region or phase (evspace.h) that it is in; 0: none */
	uint32_t region;	  /* label */
	int64_t region_ns;	  /* since when */
	uint32_t site;		  /* label: where it has called the operation that it is in; 0: not
				   * known (yet) */
	int64_t start_ns, end_ns; /* end: 0 while running, and for one that died inside */
	double error_ns;	  /* of both, when compared with other hosts */
	int64_t still_ns;	  /* how long nothing has changed: since it entered or left the
				   * operation, by its own host's clock */
	uint64_t wave;		  /* the last one that had it */
	/* set by stall_find(): */
	bool stuck; /* no progress for too long, inside an operation or while others wait for it */
	bool culprit;  /* waited for, but in no operation itself: it computes, sleeps, or is gone */
	bool circle;   /* the chain of those waited for comes back to it */
	bool deadlock; /* it can never go on: all that could help it wait as well */
	bool odd;      /* it waits, and most of those that wait for it, and it for them, are
			* together in a collective: it is the one to look at */
	bool meets;    /* its peer is in the other half of the same message */
	enum stall_why why;
	enum stall_order order; /* relative to `cause` */
	const int32_t
		*awaits; /* ranks of its world, ascending; valid until the next stall_find() */
	size_t n_awaits;
	size_t next;	 /* the thread that stands for those awaited, where the chain goes on */
	size_t cause;	 /* the thread where the chain ends */
	size_t holds_up; /* how many stuck threads' chains end here */
};

/** Get the members of a communicator as world ranks (-1: unknown); returns how many, 0 if
 * unknown. */
typedef size_t stall_members(void *arg, uint32_t comm, int32_t *members, size_t room);

/** Since when nothing has changed: Unix time in ns, by its own host's clock. */
int64_t stall_since(const struct thread_state *thread_state);

/** Clear what stall_find() sets. */
void stall_reset(struct thread_state *thread_state);

/** Memory that stall_find() keeps for its caller. */
struct stall;
struct stall *stall_new(void);
void stall_free(struct stall *stall);

/**
 *
 * Set the last fields of all @n thread states, which are sorted by world and rank. Waiting is
 * analysed within each world, since it is unknown which rank of another one is meant. A thread is
 * stuck when it has been inside one operation for @after_ns, or when a stuck thread's chain ends
 * with it and it has not changed for that time. It waits for
 * - its peer, in point-to-point operations;
 * - those members of the communicator that are not in the collective of the same number, if it
 *  synchronizes (op_synchronizes()), also on windows and files; else those that were not seen in
 *  it or after it;
 * - perhaps all that are not in it, in MPI_Finalize.
 * Of a rank's threads, the one that has been inside an operation for longest stands for it, else
 * the one that was last in one. Returns how many are stuck.
 */
size_t stall_find(struct stall *stall, struct thread_state *thread_states, size_t n,
		  int64_t after_ns, stall_members *members, void *arg);

/** All @n have died: those that were inside an operation waited for whom? Sets culprit (and stuck)
 * of those that were awaited. Returns how many there are. */
size_t stall_autopsy(struct stall *stall, struct thread_state *thread_states, size_t n,
		     stall_members *members, void *arg);

/** The last step of stall_find(): set odd. */
void stall_odd(struct thread_state *thread_states, size_t n);

#endif
