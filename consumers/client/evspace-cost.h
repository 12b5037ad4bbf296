/* SPDX-License-Identifier: BSD-3-Clause */
/* What collecting a program, and looking at it, cost so far, as measured; part of
 * evspace-control.h. */
#ifndef EVSPACE_CLIENT_COST_H
#define EVSPACE_CLIENT_COST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evspace_among;
struct evspace_connection;
struct evspace_question;
struct evspace_reply;

/**
 * What events of a channel cost the program's processes. A random one in 64 is timed in place: the
 * collector's own time, without the operation. NAN: not known yet.
 */
struct evspace_channel_cost {
	const char *channel;	/* "p2p" */
	uint64_t events, timed; /* so far; of these timed */
	uint64_t cut;		/* timed ones that were interrupted, which do not count */
	double event_ns;	/* of an event on average */
	double error_ns;	/* half of the interval that holds it with 95 % */
	/* the same of operations in modes `sample` and `1/n` that are no event: to see them */
	uint64_t passed;
	double passed_ns;
};

/** An agent, and what it has used. */
struct evspace_agent_cost {
	const char *name;    /* "/cluster/node" */
	const char *missing; /* why it has not answered; NULL: it has */
	double cpu_s;	     /* CPU time since its start */
};

/** Bytes on the wire between an agent and its parent or a consumer, since they are connected. */
struct evspace_link_cost {
	const char *agent, *peer;
	uint64_t sent, received; /* by the agent */
};

/** What an agent has sent for a view that is open. Between agents several consumers may share it:
 * it is said to be for the first. */
struct evspace_view_cost {
	const char *agent, *consumer, *view, *run;
	uint64_t bytes, answers;
};

/** The sums, which may be copied. Each grows, so that differences are what a time has cost. */
struct evspace_cost_sums {
	int64_t taken_ns;    /* when it came: CLOCK_MONOTONIC of this host */
	unsigned agents;     /* that have answered */
	unsigned processes;  /* of the run, that live */
	unsigned threads;    /* of these, of which the kernel's accounts are known */
	double lived_s;	     /* time of all processes, from their starts to their ends or now */
	uint64_t events;     /* recorded so far */
	double collecting_s; /* the collectors' own time for these. NAN: not known yet */
	double collecting_error_s; /* half of the interval that holds it with 95 % */
	double agents_s;	   /* CPU time of all agents */
	uint64_t link_bytes;	   /* on all links */
	/* of the threads, since agents began to look at them: */
	uint64_t switches; /* involuntary context switches */
	double waited_s;   /* ready to run, without a processor (run-queue delay) */
	double ran_s;	   /* on a processor */
	/* the collectors' own time for operations that are seen, and are no event, as estimated
	 * from those that were timed */
	double passing_s;
};

/** The answer to evspace_cost(). */
struct evspace_costs {
	const char *run;
	struct evspace_cost_sums sums;
	const struct evspace_channel_cost *channels; /* of which anything is known */
	size_t n_channels;
	const struct evspace_agent_cost *agents; /* of the map, the entry first */
	size_t n_agents;
	const struct evspace_link_cost *links; /* if all may be seen */
	size_t n_links;
	const struct evspace_view_cost *views; /* likewise */
	size_t n_views;
};

/**
 * Ask what collecting a run (@among->run; NULL: the only one with live processes, else the only
 * one) and looking at it cost so far; of @among only the run and the deadline count. Answered with
 * `costs`. That takes a frame to each agent of the map, and some files in /proc for each thread of
 * the program, 256 of a host at a time.
 */
struct evspace_question *evspace_cost(
	struct evspace_connection *connection, const struct evspace_among *among,
	void (*answered)(const struct evspace_reply *reply, void *arg), void *arg);

/** What a time has cost, as shares: 0.01 is 1 %. */
struct evspace_spent {
	double seconds;	   /* that it lasted */
	double events_hz;  /* events of the program in a second */
	double collecting; /* the collectors' part of the processes' time; NAN: not known */
	double looking;	   /* the agents' CPU time, as part of the processes' time */
	double delayed;	   /* waiting for a processor, as part of the processes' time */
	double slowdown;   /* estimate: collecting and looking */
	/* If agents only used processors that were idle, at the low end of what is known of
	 * collectors; if each agent delayed one process by all that it used, and this one all
	 * others, at the high end. Measured effects on iterations: evspace perturb --ab. */
	double low, high;
	double link_hz;	    /* bytes on all links in a second */
	double switches_hz; /* involuntary context switches in a second, of all threads */
};

/** What the time between @before and @after, of the same run, has cost; @busiest_s is the CPU time
 * that the agent that used most used in it (of evspace_agent_cost). Returns 0, or -1 if they are
 * no two such sums: then nothing is known. */
int evspace_cost_between(const struct evspace_cost_sums *before,
			 const struct evspace_cost_sums *after, double busiest_s,
			 struct evspace_spent *spent);

/** What the keeper of a budget tells a program about it: shares of its time; NAN: not known. */
struct evspace_tale {
	double budget;
	double slowdown, low, high; /* what looking and collecting cost, and the interval */
	double rate_hz;		    /* looks a second */
	unsigned for_ms;	    /* it holds for so long, an hour at most */
};

/**
 * Tell all processes of a run, which may ask for it (evspace.h: evspace_budget). A client with a
 * budget does so by itself. A command: it needs a control certificate. Of @among the run and the
 * deadline count. Answered with `switched`: `changed` are the processes that can be told.
 */
struct evspace_question *evspace_tell(
	struct evspace_connection *connection, const struct evspace_among *among,
	const struct evspace_tale *tale,
	void (*answered)(const struct evspace_reply *reply, void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif
