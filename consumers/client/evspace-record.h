/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in a wave: tuples, totals and losses, one by one; part of evspace-client.h. */
#ifndef EVSPACE_RECORD_H
#define EVSPACE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evspace_client;

/** One tuple. Strings are valid until the next evspace_next(). */
struct evspace_event {
	const char *name; /* "/cluster/node/rank/thread/channel", or what it was reduced to */
	int32_t rank;	  /* world rank, -1 if reduced above ranks */
	uint64_t number;  /* of the tuple in its element, from 0 */
	int64_t start_ns, end_ns;  /* Unix time on the reference agent's clock; end is 0 while it is
				      under way */
	double error_ns;	   /* bound of the error of both, relative to other hosts */
	int64_t read_ns;	   /* when its host was asked, on the same clock; of several hosts'
				      mixed events the first */
	const char *op;		   /* "MPI_Send" */
	uint16_t op_number, flags; /* flags: EVSPACE_RUNNING … */
	int32_t peer;		   /* world rank; -1 none, -2 any */
	uint32_t seq_or_tag, comm;
	uint64_t bytes;
};

#define EVSPACE_RUNNING	     0x01u /* under way: the thread is inside this operation */
#define EVSPACE_COMPLETION   0x02u /* the end of a request; start is when it was started */
#define EVSPACE_FAILED	     0x04u /* the call did not succeed */
#define EVSPACE_UNATTRIBUTED 0x08u /* a completion of a request that was not on record */
#define EVSPACE_CANCELLED    0x10u /* a completion of a cancelled request */
#define EVSPACE_GONE                                                  \
	0x20u /* the process has ended without finishing: inside this \
		 operation if that is under way, else after it */
#define EVSPACE_UNNUMBERED \
	0x40u /* a collective whose number may not be that of other members: its class was off */
#define EVSPACE_REGION                                                                         \
	0x80u /* under way, too: not what the thread does, but the region or phase (evspace.h) \
		 that it does it in */

/** The next tuple of the wave. Returns 1, or 0 when there is no more. */
int evspace_event(struct evspace_client *client, struct evspace_event *event);

/** One total of a reduced view. */
struct evspace_total {
	const char *name; /* what was summed up: a thread, node, cluster, or "/" */
	const char *op;	  /* key, "" if not by operation */
	uint32_t comm;	  /* key, 0 if not by communicator */
	const char *what; /* "duration" (ns) or "bytes" */
	const char *fold; /* the figure that the view asks for: "count", "sum", … */
	uint64_t count, sum, min, max;
	double mean, variance;
};

/** The next total of the wave, for views that reduce to numbers. Returns 1, or 0 when there is no
 * more. */
int evspace_total(struct evspace_client *client, struct evspace_total *total);

/** One bin of a histogram (views with a stage `histogram`); bins without values are left out. */
struct evspace_bin {
	const char *name;	   /* what it is a histogram of: a thread, node, cluster, or "/" */
	const char *op;		   /* key, "" if not by operation */
	uint32_t comm;		   /* key, 0 if not by communicator */
	const char *what;	   /* "duration" (ns) or "bytes" */
	uint64_t low, high;	   /* the smallest and the largest value that belong into it */
	uint64_t count, sum, most; /* of the values: how many, their sum, the largest; all exact */
};

/** The next bin of the wave. Returns 1, or 0 when there is no more. */
int evspace_bin(struct evspace_client *client, struct evspace_bin *bin);

/** One median (views with a stage `median`); its keys are those of a bin. */
struct evspace_median {
	const char *name, *op, *what;
	uint32_t comm;
	uint64_t value, low, high; /* exact below 32, else off by 3.1 % at most; surely between */
	uint64_t count;		   /* of the values that it is of */
};

/** The next median of the wave. Returns 1, or 0 when there is no more. */
int evspace_median(struct evspace_client *client, struct evspace_median *median);

/** One cell of a matrix (views with a stage `matrix`): messages from one to another. */
struct evspace_cell {
	const char *name;      /* whose matrix it is */
	const char *from, *to; /* a node, or another process of many; NULL: one with a number */
	int32_t from_rank, to_rank; /* then it is here, as evspace_event.peer */
	uint64_t calls, bytes;
};

/** The next cell of the wave. Returns 1, or 0 when there is no more. */
int evspace_cell(struct evspace_client *client, struct evspace_cell *cell);

/** What a class of operations has counted since its program began (views that read counts). */
struct evspace_class {
	const char *name;    /* of whom: a thread's channel, or what it was summed up to */
	const char *channel; /* key, "" if not by channel */
	uint32_t comm;	     /* key: communicator; 0: none on record, or not by communicator */
	uint64_t calls, bytes;
	uint64_t time_ns; /* spent in calls while their class was in mode `time` */
	uint64_t skipped; /* calls that left no tuple */
};

/** The next class of the wave. Returns 1, or 0 when there is no more. */
int evspace_class(struct evspace_client *client, struct evspace_class *class_of);

/** Tuples of an element that were overwritten before they could be read, or discarded. */
struct evspace_loss {
	const char *name;
	int32_t rank;
	uint64_t first; /* number of the first of them */
	uint64_t lost;
	int discarded; /* by their element's lifetime, or by evspace discard */
};

/** The next loss of the wave. Returns 1, or 0 when there is no more. */
int evspace_loss(struct evspace_client *client, struct evspace_loss *loss);

/** Does the view read all tuples that are written (1), or what is newest at each wave (0)? */
int evspace_is_stream(const struct evspace_client *client);

/** Begin again with the first record of the wave. */
void evspace_rewind(struct evspace_client *client);

/** Members of a communicator (world ranks; -1 unknown). Returns how many there are, 0 when it is
 * unknown. */
size_t evspace_members(const struct evspace_client *client, uint32_t comm, int32_t *members,
		       size_t room);

/** The host with this place number, "/cluster/node", or NULL: peers of hops have such numbers, when
 * the monitors are looked at. */
const char *evspace_host(const struct evspace_client *client, int32_t place);

/** What the program calls the region or phase with this seq_or_tag (evspace.h), or NULL. Of
 * what monitors record of themselves: the view, by comm. */
const char *evspace_label(const struct evspace_client *client, uint32_t seq_or_tag);

/** Is it the communicator of all processes that were started together (MPI_COMM_WORLD)? */
int evspace_is_world(const struct evspace_client *client, uint32_t comm);

#ifdef __cplusplus
}
#endif

#endif
