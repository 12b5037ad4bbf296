/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions and commands to an entry agent: what is collected, switched, discarded, which map is in
 * effect, how the agent is.
 *
 * Each is answered once: the function that is handed over gets the answer from evspace_dispatch(),
 * evspace_wait(), or the libevent base, also if the connection is lost: it is not asked again then,
 * as it may have been done. Nothing is answered after evspace_disconnect() or evspace_cancel().
 * Commands of one connection are carried out in the order in which they are given.
 *
 * Commands need a control certificate, or to be the agent's user on its host; else the reply's
 * `why` says what is missing. What is wrong with a question is told in its reply, too.
 */
#ifndef EVSPACE_CONTROL_H
#define EVSPACE_CONTROL_H

#include "evspace-loop.h"
#include "evspace-reply.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A question or command on its way; gone when it is answered. */
struct evspace_question;

/** Gets the answer: @reply and all that it leads to are there until it returns. */
typedef void evspace_answered(const struct evspace_reply *reply, void *arg);

/** Which part of a program is meant. Zero and NULL mean the default. */
struct evspace_among {
	const char *run;	   /* NULL: the only live one */
	const char *view;	   /* NULL: all elements */
	const char *const *select; /* patterns of names; NULL: all of the view */
	size_t n_select;
	unsigned deadline_ms; /* time for the hosts to answer, up to 60000; 0: 1000 */
};

/** How much is collected of a class of operations. */
enum evspace_mode {
	EVSPACE_AS_IT_IS = -1, /* change nothing */
	EVSPACE_TRACE = 0,     /* everything: each call is an event */
	EVSPACE_OFF,	       /* nothing, not even counted */
	EVSPACE_COUNT,	       /* calls and bytes; no clock is read */
	EVSPACE_TIME,	       /* the time spent in them, too, and who is in one now */
	EVSPACE_SAMPLE,	       /* calls and bytes, and who is in one now */
	EVSPACE_ONE_IN = 8,    /* plus k, from 1 to 16: calls and bytes, and one call in 2^k,
				* chosen at random, is an event; a collective is one on all its
				* members or on none */
};

/**
 * Switch @n classes ("p2p", "p2p@world", "all@1a2b3c4d"; NULL: all) to @mode while the program
 * runs, or only ask what is collected of them. Answered with `switched`.
 */
struct evspace_question *evspace_switch(struct evspace_connection *connection,
					const struct evspace_among *among,
					const char *const *classes, size_t n,
					enum evspace_mode mode, evspace_answered *answered,
					void *arg);

/** A mode for some classes. */
struct evspace_order {
	const char *classes; /* as of evspace_switch(): "p2p@world", "wait", "all" */
	enum evspace_mode mode;
};

/** Modes are held: nobody else can switch, and afterwards all are as they were before. */
struct evspace_lease {
	unsigned long long id; /* of who holds them, chosen at random */
	unsigned ms;	       /* for so long from now on, an hour at most; 0: it ends */
	int keep;	       /* when it ends so, modes stay as they are now */
};

/**
 * Switch classes by the @n @orders, 64 at most, in one command: all of them in a process at once.
 * Of orders about the same class the last counts. With a @lease modes are held; ask again with its
 * id, without orders perhaps, before it is over, and it goes on. If its owner dies it ends by
 * itself. Answered with `switched`; a host's text says who holds modes already, and until when.
 */
struct evspace_question *evspace_switch_all(struct evspace_connection *connection,
					    const struct evspace_among *among,
					    const struct evspace_order *orders, size_t n,
					    const struct evspace_lease *lease,
					    evspace_answered *answered, void *arg);

/** Most arms of an experiment. */
#define EVSPACE_ARMS_MAX 8

/** An experiment: what collecting does to the time of a program's iterations. */
struct evspace_trial {
	enum evspace_mode arms[EVSPACE_ARMS_MAX];
	const char *classes[EVSPACE_ARMS_MAX]; /* that an arm is of, "p2p", all others being as
						* they are; NULL: all */
	unsigned n_arms;		       /* 0: end the one with this seed */
	unsigned length;		       /* collectives on MPI_COMM_WORLD that make a block */
	unsigned wash;		 /* of each block's begin, that do not count; below length */
	unsigned long long seed; /* of the random order of arms */
	unsigned lease_ms;	 /* it ends by itself after so long, an hour at most */
};

/**
 * Begin an experiment in a run that makes collectives on MPI_COMM_WORLD. Block k begins with
 * collective number k times `length` on all ranks, has one arm, and is an event evspace_block when
 * it is over: from the end of its wash-out to its own, with the number of its arm as peer and its
 * own number as tag. All arms come once in as many blocks. Then, and when the lease is over, modes
 * are as before. Collectives are counted in all arms; of a process where they were off before,
 * blocks have EVSPACE_UNNUMBERED: its ranks may count differently. Answered with `switched`:
 * `changed` are the processes where it began.
 */
struct evspace_question *evspace_try(struct evspace_connection *connection,
				     const struct evspace_among *among,
				     const struct evspace_trial *trial, evspace_answered *answered,
				     void *arg);

/** Discard what elements hold now, for all consumers. Answered with `switched`. */
struct evspace_question *evspace_discard(struct evspace_connection *connection,
					 const struct evspace_among *among,
					 evspace_answered *answered, void *arg);

/** Ask how the agent is, and which processes it holds elements of. Answered with `status`. */
struct evspace_question *evspace_status(struct evspace_connection *connection,
					evspace_answered *answered, void *arg);

/** Ask for the map in effect at the entry agent. Answered with `map`. */
struct evspace_question *evspace_map(struct evspace_connection *connection,
				     evspace_answered *answered, void *arg);

/** A map to put into effect. */
struct evspace_apply {
	const struct evspace_texts *texts; /* NULL: the map before the present one */
	uint64_t expected;		   /* only if the present one has this generation; 0: any */
	int dry_run;			   /* prepare it, and change nothing */
	unsigned within_ms;		   /* time for all hosts; 0: 60000 */
};

/** Put another map into effect while views are open. Answered with `applied`. */
struct evspace_question *evspace_apply(struct evspace_connection *connection,
				       const struct evspace_apply *apply,
				       evspace_answered *answered, void *arg);

/** Do not tell the answer. A command that was sent is carried out all the same. NULL is fine. */
void evspace_cancel(struct evspace_question *question);

#ifdef __cplusplus
}
#endif

#endif
