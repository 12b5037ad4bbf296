/* SPDX-License-Identifier: BSD-3-Clause */
/* An experiment of two arms that change no mode: in the blocks of one the client looks, in those of
 * the other it does not. */
#ifndef EVSPACE_CLIENT_TRIAL_H
#define EVSPACE_CLIENT_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

struct client_trial;
struct evspace_client;
struct evspace_switched;
struct frequency_look;

/** What an experiment tells, from the loop. */
struct client_trial_events {
	/* A pair of blocks: with looks, which were asked for at @rate_hz, and without. The first
	 * took exp(@log) times as long. */
	void (*pair)(void *arg, double log, double rate_hz);
	/* There is none, as @why says; NULL: it was, and has ended. */
	void (*ended)(void *arg, const char *why);
};

/** What an answer about classes says of how often these are called. */
void client_trial_look(const struct evspace_switched *switched, struct frequency_look *look);

/** For @c, without an experiment yet. */
struct client_trial *client_trial_new(struct evspace_client *c,
				      const struct client_trial_events *events, void *arg);

/** End the experiment that there is, if any, and free it. NULL is fine. */
void client_trial_free(struct client_trial *t);

/** Begin one, with blocks for looks at @rate_hz; none is under way. */
void client_trial_begin(struct client_trial *t, double rate_hz);

/** Are blocks being measured? */
bool client_trial_measures(const struct client_trial *t);

/** @n waves were asked for now. */
void client_trial_asked(struct client_trial *t, uint32_t n);

/** The reference clock is now @ns of Unix time. */
void client_trial_clock(struct client_trial *t, int64_t ns);

/** The client is closed: it may be what this experiment is told by. */
void client_trial_forget(struct client_trial *t, const struct evspace_client *c);

#endif
