/* SPDX-License-Identifier: BSD-3-Clause */
/* Leases on the modes of a segment, and experiments, which have one: begins and ends them, and sets
 * the modes of an arm. */
#ifndef EVSPACE_SEGMENT_TRIAL_H
#define EVSPACE_SEGMENT_TRIAL_H

#include "node-agent/segment/segment-class.h"
#include "pathmap/base/error.h"

/** The longest lease, in ms. One that ends later than twice so long from now is none of an agent,
 * and over. */
#define SEGMENT_LEASE_MOST_MS UINT32_C(3600000)

/** Who is to hold the modes. */
struct segment_lease {
	uint64_t id;		/* random; of an experiment its seed */
	uint64_t until_mono_ns; /* CLOCK_MONOTONIC of this host */
	const char *holder;	/* who that is, in words */
};

/** What an experiment is to do. */
struct segment_trial_plan {
	uint32_t comm;	       /* communicator whose collectives are counted by */
	uint32_t length, wash; /* calls, from 1 to TRIAL_LENGTH_MAX; wash is less than length */
	struct segment_lease lease;	   /* its id is the seed of the order of arms */
	unsigned arms;			   /* 1 to TRIAL_ARMS_MAX */
	uint8_t mode[TRIAL_ARMS_MAX];	   /* enum segment_mode; fresh: as it was before */
	uint32_t channels[TRIAL_ARMS_MAX]; /* that it is of: bits, all others being as before; 0:
					    * all */
};

/** Agent: hold the modes for @lease, or longer if its id holds them already. Returns 0, or -1 with
 * errno and @e: EBUSY (another one holds them), ENOTSUP (a collector of a release without). */
int segment_lease_take(struct segment_control *control, const struct segment *s,
		       const struct segment_lease *lease, struct error *e);

/** Agent: may @id switch modes? Returns 0, or -1 with EBUSY and @e, which says who holds them and
 * until when. */
int segment_lease_check(const struct segment_control *control, uint64_t id, struct error *e);

/** Agent: end the lease of @id, and leave the modes as they are. Returns whether it had one. */
int segment_lease_keep(struct segment_control *control, uint64_t id);

/** Agent: announce @plan to the program, which begins with its next block. Returns 0, or -1 with
 * errno and @e: EBUSY (another one is under way), ENOENT (no collective there yet), ENOTSUP (its
 * collector is of a release that cannot), EINVAL. */
int segment_trial_begin(struct segment_control *control, const struct segment *s,
			const struct segment_trial_plan *plan, struct error *e);

/** Is one under way? */
int segment_trial_active(const struct segment_control *control);

/** Is one under way that is over at @now_ns, or that somebody has begun to end, who may have died?
 */
int segment_trial_late(const struct segment_control *control, uint64_t now_ns);

/** End the one under way, if there is one: all modes are as before it, and then it is none any
 * more; classes made since it began get those of later ones. Program and agent may do so at once.
 * Returns whether this call did. */
int segment_trial_end(struct segment_control *control, const struct segment *s);

/** Program: set the modes of @arm. Classes whose calls are numbered are counted where others are
 * off, as their numbers could not be told any more. */
void segment_trial_arm(struct segment *s, unsigned arm);

/** Program: the mode of the calls that the experiment counts by, in @arm: they are counted at
 * least. */
unsigned segment_trial_mode(const struct segment_control *control, unsigned arm);

#endif
