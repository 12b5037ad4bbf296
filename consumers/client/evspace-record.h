/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of a wave: tuples, totals, losses and more; part of evspace-client.h. */
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
	const char *name;	  /* "/cluster/node/rank/thread/channel", or its group if reduced */
	int32_t rank;		  /* world rank, -1 if the group is above ranks */
	uint64_t number;	  /* the tuple's number in its element, from 0; UINT64_MAX: not
				   * known, as a filter has left out others before it */
	int64_t start_ns, end_ns; /* Unix time on the reference agent's clock; the end is 0
				   * while the operation is under way */
	double error_ns; /* bound of the error of both, relative to other hosts, when read */
	int64_t read_ns; /* when its host was read, or of hosts that are mixed the first */
	const char *op;	 /* "MPI_Send" */
	uint16_t op_number, flags; /* flags: EVSPACE_RUNNING … */
	int32_t peer;		   /* world rank; -1 none, -2 any */
	uint32_t seq_or_tag, comm;
	uint64_t bytes;
	int32_t signature; /* of a collective: for evspace_collective() */
};

#define EVSPACE_RUNNING	     0x01u /* under way: the thread is inside this operation */
#define EVSPACE_COMPLETION   0x02u /* the end of a request; the event starts with the request */
#define EVSPACE_FAILED	     0x04u /* the call did not succeed */
#define EVSPACE_UNATTRIBUTED 0x08u /* a completion whose request is unknown */
#define EVSPACE_CANCELLED    0x10u /* a completion of a cancelled request */
#define EVSPACE_GONE	     0x20u /* the process died: inside this (EVSPACE_RUNNING) or after it */
#define EVSPACE_UNNUMBERED   0x40u /* a collective whose number may differ on other members */
/** Not an operation: the region or phase (evspace.h) that the thread is in, if any; comm is the
 * label (evspace_label()) of the call site of its operation once it is in it for 0.2 s. */
#define EVSPACE_REGION 0x80u

/** Get the next tuple of the wave. Returns 1, or 0 if there are no more. */
int evspace_event(struct evspace_client *client, struct evspace_event *event);

/** One total of a view that reduces to numbers. */
struct evspace_total {
	const char *name; /* of the group that it sums up: a thread, node, cluster, or "/" */
	const char *op;	  /* key, "" if not by operation */
	uint32_t comm;	  /* key, 0 if not by communicator; by label, block: that */
	const char *what; /* "duration" (ns) or "bytes" */
	const char *fold; /* the figure that the view asks for: "count", "sum", … */
	uint64_t count, sum, min, max;
	double mean, variance;
};

/** Get the next total of the wave. Returns 1, or 0 if there are no more. */
int evspace_total(struct evspace_client *client, struct evspace_total *total);

/** One bin of a histogram (views with a stage `histogram`); bins without values are left out. */
struct evspace_bin {
	const char *name;	   /* of the group of its values: a thread, node, cluster, or "/" */
	const char *op;		   /* key, "" if not by operation */
	uint32_t comm;		   /* key, 0 if not by communicator */
	const char *what;	   /* "duration" (ns) or "bytes" */
	uint64_t low, high;	   /* least and largest value that fall into it */
	uint64_t count, sum, most; /* of the values: number, sum, largest; all exact */
};

/** Get the next bin of the wave. Returns 1, or 0 if there are no more. */
int evspace_bin(struct evspace_client *client, struct evspace_bin *bin);

/** One median (views with a stage `median`); name, op, comm and what are as in a bin. */
struct evspace_median {
	const char *name, *op, *what;
	uint32_t comm;
	uint64_t value, low, high; /* exact below 32, else off by 3.1 % at most; the true one
				    * lies from low to high */
	uint64_t count;		   /* number of its values */
};

/** Get the next median of the wave. Returns 1, or 0 if there are no more. */
int evspace_median(struct evspace_client *client, struct evspace_median *median);

/** One cell of a matrix (views with a stage `matrix`): messages from one process or node to
 * another. */
struct evspace_cell {
	const char *name;	    /* whose matrix it is: a thread, node, cluster, or "/" */
	const char *from, *to;	    /* "/cluster/node", or the name of a process without a world
				     * rank; NULL: a process with a number */
	int32_t from_rank, to_rank; /* that number if the name is NULL, as in evspace_event.peer */
	uint64_t calls, bytes;
};

/** Get the next cell of the wave. Returns 1, or 0 if there are no more. */
int evspace_cell(struct evspace_client *client, struct evspace_cell *cell);

/** What a class of operations has counted since its program began (views that read counts). */
struct evspace_class {
	const char *name;    /* a thread's channel, or the group that it is summed up for */
	const char *channel; /* key, "" if not by channel */
	uint32_t comm;	     /* key: communicator; 0: unknown, or not by communicator */
	uint64_t calls, bytes;
	uint64_t time_ns; /* in calls that were recorded, or made in mode `time` */
	uint64_t skipped; /* calls without a tuple, because of the mode */
};

/** Get the next class of the wave. Returns 1, or 0 if there are no more. */
int evspace_class(struct evspace_client *client, struct evspace_class *class_of);

/** Tuples of an element that were overwritten before they could be read, or discarded. */
struct evspace_loss {
	const char *name;
	int32_t rank;
	uint64_t first; /* number of the first one */
	uint64_t lost;	/* how many */
	int discarded;	/* 1: outlived their element's lifetime, or dropped by evspace discard */
};

/** Get the next loss of the wave. Returns 1, or 0 if there are no more. */
int evspace_loss(struct evspace_client *client, struct evspace_loss *loss);

/** Does the view read all tuples (1), or only the newest ones at each wave (0)? */
int evspace_is_stream(const struct evspace_client *client);

/** Start again with the wave's first record: reading one kind passes over those of all others. */
void evspace_rewind(struct evspace_client *client);

/** Get the members of a communicator, as world ranks (-1: unknown), up to @room of them. Returns
 * how many there are, 0 if unknown. */
size_t evspace_members(const struct evspace_client *client, uint32_t comm, int32_t *members,
		       size_t room);

/** The host with this place number, "/cluster/node", or NULL. Peers of hops have such numbers, in
 * views of the run "evspace". */
const char *evspace_host(const struct evspace_client *client, int32_t place);

/** The program's name for the region or phase with this seq_or_tag (evspace.h), or NULL. In views
 * of the run "evspace": the view, by comm. */
const char *evspace_label(const struct evspace_client *client, uint32_t seq_or_tag);

/** Is it the communicator of all processes that were started together (MPI_COMM_WORLD)? */
int evspace_is_world(const struct evspace_client *client, uint32_t comm);

#ifdef __cplusplus
}
#endif

#endif
