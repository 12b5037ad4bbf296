/* SPDX-License-Identifier: BSD-3-Clause */
/* A gather: joins what a scope's inputs on one host bring for each wave. It alone handles deadlines
 * and coverage. */
#ifndef EVSPACE_GATHER_H
#define EVSPACE_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "pathmap/plan/plan.h"
#include "tree/data/batch.h"
#include "tree/scope/brought.h"
#include "tree/wire/wire.h"

struct event_base;
struct gather;
struct quota;

/** Most waves of a scope under way; slots are preallocated (docs/architecture.md). */
#define GATHER_WINDOW 64u

/** A leaf that a wave lacks. */
struct missing {
	uint32_t leaf;
	enum missing_why why;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	char *text;	   /* why it refuses, owned by the wave; NULL: unknown */
};

/** One wave under way. Plain data, owned by its gather. */
struct wave {
	uint64_t number;
	uint64_t have;
	bool again; /* asked for again, of some leaves only */
	bool busy;
	bool ending; /* set by done(): the owner still needs it, and calls gather_end() later */
	TAILQ_ENTRY(wave) entry; /* for the owner, while it is ending */
	unsigned pending;	 /* inputs that have not answered yet */
	uint8_t *waiting; /* per input: by which way its answer is to come, 0: none is expected */
	size_t next;	  /* the next input to ask; this and the following ones are not asked yet */
	struct batch batch;
	size_t held;		     /* bytes that it holds until it is done */
	struct brought_list brought; /* by inputs, if it is much */
	unsigned leaves;	     /* leaves in the batch */
	uint32_t cpu_us;	     /* used by the agents below */
	unsigned riders;	     /* that it is for, once it is complete */
	uint32_t fill;		     /* of the fullest element (see Answer in wire.proto) */
	uint32_t waited_us;	     /* for cores, the most of the agents below */
	uint64_t asked_ns, deadline_ns;
	struct missing *missing;
	size_t n_missing, room_missing;
};

/** Add the fill of an input's fullest element. */
static inline void wave_fill(struct wave *w, uint32_t fill)
{
	if (fill > w->fill)
		w->fill = fill;
}

/** Add CPU time used below. */
static inline void wave_cpu(struct wave *w, uint32_t us)
{
	w->cpu_us = us < UINT32_MAX - w->cpu_us ? w->cpu_us + us : UINT32_MAX;
}

/** What a gather asks of its owner. */
struct gather_events {
	/* An answer has come, and inputs from w->next on are not asked yet: ask some. May be NULL
	 * if w->next is never set. */
	void (*more)(void *arg, struct wave *w);
	/* The input has not answered in time: note its leaves with wave_miss(). */
	void (*late)(void *arg, struct wave *w, size_t input);
	/* What the input has brought, @leaves of them, was taken out of the wave again, for this
	 * reason: note those of its leaves that are missing now. */
	void (*displaced)(void *arg, struct wave *w, const struct brought *what, const char *why);
	/* All inputs have answered, or the deadline has passed. The wave is freed when this
	 * returns, unless it is `ending`; then this is called again if the slot is needed now. */
	void (*done)(void *arg, struct wave *w);
};

/** A gather of @inputs inputs. Aborts when there is no memory. */
struct gather *gather_new(struct event_base *base, size_t inputs,
			  const struct gather_events *events, void *arg);
void gather_free(struct gather *g);

/** Count the bytes that its waves hold in @quota, which must outlive it. Default: not counted. */
void gather_quota_set(struct gather *g, struct quota *quota);

/**
 * Begin a wave. If its slot still has the wave 64 numbers before, that ends now. For each input
 * that you ask, call gather_expect() on the result with the way (1 to 255, as an input may have
 * more than one: its child's and its stand-in's), then gather_seal(). If not all are asked at once,
 * set `next`.
 */
struct wave *gather_begin(struct gather *g, uint64_t number, bool again, uint64_t have,
			  unsigned deadline_ms);
void gather_expect(struct gather *g, struct wave *w, size_t input, unsigned way);

/** No more inputs: ends the wave if none is expected, else starts its deadline. */
void gather_seal(struct gather *g, struct wave *w);

/** The wave that waits for this input by this way, or NULL (late, answered twice, or never
 * asked). */
struct wave *gather_waiting(struct gather *g, uint64_t number, bool again, size_t input,
			    unsigned way);

/** Most bytes of a wave when all columns are opened: an answer has no room for more. */
#define GATHER_PLAIN_MOST BATCH_PLAIN_MOST

/**
 * Move @body to the wave, which holds it until it is done; @what says whose it is, by which input,
 * and of how many leaves. If there is no room, whoever has brought most loses it, by displaced():
 * an input that has brought more to this wave, or who has brought far more to all of the consumer's
 * waves; else this one. Returns 0, or -1 with EMSGSIZE or ENOBUFS and @e: @body stays as it is.
 */
int gather_bring(struct gather *g, struct wave *w, const struct brought *what, struct batch *body,
		 struct error *e);

/** The input's part is in the wave: ends it if it was the last. */
void gather_answered(struct gather *g, struct wave *w, size_t input);

/** Free a wave that is `ending`. */
void gather_end(struct gather *g, struct wave *w);

/** The input will not answer anything that it was asked by this way, as its connection broke: calls
 * late() for each wave. */
void gather_lost(struct gather *g, size_t input, unsigned way);

/** How many waves are under way, and how many of them wait for this input by this way. */
unsigned gather_busy(const struct gather *g);
unsigned gather_awaits(const struct gather *g, size_t input, unsigned way);

/** Note that a leaf is not in the wave; copies @text (NULL or "": no reason is known). */
void wave_miss(struct wave *w, uint32_t leaf, enum missing_why why, uint64_t since_ns,
	       const char *text);

/** A wave of @place that cannot be sent, as @text says, is dropped: its leaves are late, and can be
 * asked one by one. */
void wave_drop(struct wave *w, const struct plan_place *place, const char *text);

#endif
