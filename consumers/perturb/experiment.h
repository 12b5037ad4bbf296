/* SPDX-License-Identifier: BSD-3-Clause */
/* An experiment on a running program, by a command: blocks without collecting, with it, and with
 * looks at a view as well. */
#ifndef EVSPACE_EXPERIMENT_H
#define EVSPACE_EXPERIMENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "consumers/budget/blocks.h"
#include "consumers/budget/frequency.h"
#include "consumers/cli/options.h"
#include "tree/data/op.h"

/** Of its intervals. */
#define EXPERIMENT_CONFIDENCE 0.95

/** Its arms; the last one only with a view. */
enum experiment_arm {
	EXPERIMENT_OFF,
	EXPERIMENT_AGAIN,
	EXPERIMENT_COLLECT,
	EXPERIMENT_OBSERVE,
	EXPERIMENT_ARMS
};

/** What is possible where there can be no experiment, after a message that says why. */
#define EXPERIMENT_ELSE "; evspace perturb without --ab measures directly"

/** One of them, or several in turn. Zeroed but for the first six. */
struct experiment {
	const char *command; /* "evspace perturb" */
	uint64_t ab_ns, block_ns;
	bool collector;		/* no experiment: bracket.h */
	enum evspace_mode mode; /* of collecting */
	const char *classes;	/* that have it, all others being as they are; NULL: all */
	int code;		/* EXIT_FINE */
	struct common common;
	struct evspace_connection *control;
	struct evspace_client *told, *view; /* of the blocks; of the observing arm, or NULL */
	struct frequency_look look;	    /* at the classes that were asked for */
	uint64_t called[CHANNEL_PROGRAMS];  /* of its calls those of each channel */
	unsigned processes;		    /* that it was about */
	unsigned refused;		    /* processes in which it did not begin … */
	char why[512];			    /* … and the reason of the first */
	bool unnumbered; /* ranks may count blocks differently: it is of no use */
	bool ended;	 /* the program has, which ends it, too */
	struct evspace_trial trial;
	struct blocks *blocks;
	uint64_t waves, looked_ns; /* that came in so much time of looking */
};

/** Ctrl-C was pressed: the experiment ends, and is reported. */
extern volatile sig_atomic_t experiment_stopped;

/** How long one may last: its lease, which ends a little later, is an hour at most. */
#define EXPERIMENT_MOST_S 3540u

/** Connect. Returns EXIT_FINE, or the exit code after a message; experiment_close() is due in any
 * case. */
int experiment_open(struct experiment *x);
void experiment_close(struct experiment *x);

/** Open the view of @x->common for the observing arm, in place of the one before. Likewise. */
int experiment_view(struct experiment *x);

/** Find the classes of operations that the program calls now. Returns bits by channel; 0: none, or
 * after a message with @x->code. */
unsigned experiment_classes(struct experiment *x);

/** Make the experiment for its time, or until Ctrl-C or the program's end; all modes are as before
 * then. Likewise. */
int experiment_run(struct experiment *x);

/** What an arm did, afterwards. */
struct effect_interval experiment_effect(const struct experiment *x, unsigned arm);

/** The waves a second that came while it looked. */
double experiment_rate(const struct experiment *x);

#endif
