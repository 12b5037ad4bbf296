/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost: what a plan's waves cost its hosts and links, by what was measured, and what costs less. */
#ifndef EVSPACE_COST_H
#define EVSPACE_COST_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"

/** Bytes of the list of nodes, with its final 0. */
#define CALIBRATION_NODES_BYTES 112

/** Hosts on one machine: so many find its caches as they left them; so many do not. */
#define COST_FEW  100
#define COST_MANY 2000

/** CPU times on the measured host, and a latency. */
struct calibration {
	double wake_us;	   /* to wake a process by a message, until it sleeps again */
	double latency_us; /* from a message until who sleeps runs, without CPU time of the two */
	double frame_us;   /* to make and send a frame, or to receive and parse it */
	double encrypt_ns; /* to encrypt or decrypt a byte */
	double copy_ns;	   /* to copy a byte */
	double read_ns;	   /* to read a tuple from an element */
	double stage_ns;   /* to run a stage on a tuple */
	double cold_us;	   /* more for a wake-up if others have used the caches meanwhile */
	unsigned cores;
	bool measured;			     /* else built in */
	char nodes[CALIBRATION_NODES_BYTES]; /* "w[0-3] x*": where it holds; "": all others */
	struct calibration *next;	     /* of other nodes; owned */
};

/** The path of the file: $XDG_CONFIG_HOME/evspace/cost, or ~/.config/evspace/cost; for the
 * caller to free(). */
char *calibration_path(void);

/** Read the file @path with lines "wake_us 7.5"; those behind a line "nodes w[0-3] x*" hold for
 * these nodes alone. Without the file, use the built-in values. Returns 0, or -1 with @e (file,
 * line, and what would be right) and the built-in values. calibration_fini() frees. */
int calibration_read(struct calibration *c, const char *path, struct error *e);
void calibration_fini(struct calibration *c);

/** Write what @measured says to the file @path, making its folder, instead of what the file says
 * for the same nodes; what it says for others stays, unless it is not valid. Returns 0, or -1 with
 * errno and @e. */
int calibration_write(const struct calibration *measured, const char *path, struct error *e);

/** Are these names of nodes, as in maps, divided by spaces? Returns 0, or -1 with @e. */
int calibration_nodes_check(const char *nodes, struct error *e);

/** What holds for @node: the last that names it, else @c itself. */
const struct calibration *calibration_of(const struct calibration *c, const char *node);

/** One host of a plan, per wave. */
struct cost_host {
	const struct plan_place *place, *parent; /* parent NULL: the consumer */
	const struct calibration *calibration;	 /* that holds for it; the caller's */
	size_t machine;				 /* hosts on one machine share its cores */
	double records;				 /* sent up */
	double bytes;				 /* of these, on the link to it */
	double cpu_us;				 /* with one wave under way */
	double wakes;				 /* number of wake-ups in that */
	double wake_us;				 /* one of them */
	double bits_per_s;			 /* of that link, 0: not known */
};

/** The prediction for a plan. */
struct cost {
	struct cost_host *hosts; /* the root first, each before its children */
	size_t n_hosts;
	unsigned window;
	double waves_per_s;	   /* one wave under way at a time */
	double window_waves_per_s; /* `window` waves under way */
	double cpu_us;		   /* of all hosts, per wave */
	size_t busiest;		   /* index of the host with most CPU time */
	bool measured;		   /* the calibrations of all hosts are */
};

/**
 * Predict the cost of @plan, made of @map. A wave takes as long as the slowest path down and up: at
 * each host wake-ups, frames, encryption (not on Unix sockets), reading and stages, and on links
 * the latency and bandwidth of the cluster map; the plan says how many children are asked at once.
 * What a machine has to do besides that path shares its cores. With more waves under way,
 * these share wake-ups, and the busiest host (agents have one thread), machine or link is the
 * limit. cost_fini() frees.
 */
void cost_predict(struct cost *cost, const struct plan *plan, const struct pathmap *map,
		  const struct calibration *calibration, unsigned window);

/** May consumers define @plan's view by @map, for what a wave of it is predicted to take? Views of
 * the map may always be. Returns 0, or -1 with EDQUOT and @e. */
int cost_allowed(const struct cost *cost, const struct plan *plan, const struct pathmap *map,
		 struct error *e);

/** Free what it owns; the plan stays. */
void cost_fini(struct cost *cost);

/** Bytes per wave on all links of the host: to it, and from it to its children. */
double cost_host_bytes(const struct cost *cost, size_t host);

/** One mapping of a view, and its prediction. */
struct suggestion {
	char *lines;		   /* what to write into `view NAME { ... }` of mapping.map */
	bool present;		   /* the map's own; then lines is "" */
	double waves_per_s;	   /* with one wave under way */
	double window_waves_per_s; /* with the window under way */
	double cpu_us;		   /* of all hosts, per wave */
	double busiest_cpu_us;	   /* of the busiest host */
	double busiest_bytes;	   /* on that host's links, per wave */
	char *busiest;		   /* its name */
};

/** Owns its suggestions. */
struct suggestions {
	struct suggestion *items;
	size_t n;
	size_t tried;
};

/**
 * Try the shapes by-cluster, flat and fan-outs from 2 to 32 for @view, each with all places of
 * stages that make a different tree. Keep those that no other one equals or beats in all of: the
 * rate with one wave and with @window waves under way, the CPU time of the busiest host and of all
 * hosts, and the bytes on the busiest host's links. The present mapping is always the first; then
 * the fastest come first. suggestions_fini() frees. Returns 0, or -1 with @e (unknown view).
 */
int suggestions_make(struct suggestions *s, const struct pathmap *map, const char *view,
		     const struct calibration *calibration, unsigned window, struct error *e);

/** Free what it owns. */
void suggestions_fini(struct suggestions *s);

#endif
