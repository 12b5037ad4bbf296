/* SPDX-License-Identifier: BSD-3-Clause */
/* The one probe of a plan: looks at a program's heartbeat, whom it finds in which class, and what
 * that takes. */
#ifndef EVSPACE_PLAN_PROBE_H
#define EVSPACE_PLAN_PROBE_H

#include "consumers/cli/options.h"
#include "tree/data/op.h"

/** A class is a channel on MPI_COMM_WORLD, or on all other communicators and none. */
#define PLAN_SLOTS (2u * CHANNEL_COUNT)

/** What things of a kind cost, by those that were timed. */
struct plan_timed {
	uint64_t n;  /* so far … */
	double ns;   /* … and their sum */
	double each; /* seconds; 0: not known yet */
};

/** @n were timed so far, with this mean; too few since the last time say nothing, and what was
 * known before counts half. */
void plan_timed_take(struct plan_timed *timed, uint64_t n, double mean_ns);

/** The mean of what was known before (0: nothing), and what is known now. */
double plan_half(double before, double now);

/** A probe, and what it has found. */
struct plan_probe {
	struct common *common; /* of its view, with its rate */
	struct evspace_client *client;
	uint64_t probes, hits[PLAN_SLOTS]; /* since plan_probe_begin() */
	unsigned processes, missing;	   /* live ones, and hosts, in the last look */
	double t_report, t_sampling;	   /* seconds of an event, and of a look, by process */
	/* the same of looks that hit a class, and of those that hit none */
	struct plan_timed sampled[PLAN_SLOTS], vain;
	uint64_t n[PLAN_SLOTS + 1]; /* hits so far, and vain ones … */
	double ns[PLAN_SLOTS + 1];  /* … and what they took */
};

/** Open it, with @common->look's rate; looks for up to 3 s. Returns EXIT_FINE, or the exit code
 * after a message; plan_probe_close() is due in any case. */
int plan_probe_open(struct plan_probe *probe, struct common *common);
void plan_probe_close(struct plan_probe *probe);

/** Count hits anew. */
void plan_probe_begin(struct plan_probe *probe);

/** Look for @ns, or until *@stop, and learn what that takes. Returns as above. */
int plan_probe_for(struct plan_probe *probe, uint64_t ns, const volatile int *stop);

/** Say so if it cannot look @hz times a second, and what it does instead. */
void plan_probe_may(const struct plan_probe *probe, double hz);

/** Look @hz times a second from now on, as nearly as can be; 0: as seldom as can be. Likewise. */
int plan_probe_rate(struct plan_probe *probe, double hz);

#endif
