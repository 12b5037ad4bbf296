/* SPDX-License-Identifier: BSD-3-Clause */
/* What is recorded of classes of operations, and the experiment that switches it by itself. */
#ifndef EVSPACE_SEGMENT_MODE_H
#define EVSPACE_SEGMENT_MODE_H

#include <stdatomic.h>
#include <stdint.h>

#include "pathmap/base/one-in.h"
#include "tree/data/op.h"
#include "tree/data/trial.h"

/** What is recorded of a class of operations. */
enum segment_mode {
	MODE_TRACE,  /* everything: a tuple each, state line, counts */
	MODE_OFF,    /* nothing */
	MODE_COUNT,  /* calls and bytes; no clock is read */
	MODE_TIME,   /* as count, plus the time spent and the state line */
	MODE_SAMPLE, /* counts and the state line, for external samplers */
	MODE_COUNT_OF,
	/* added to 1 to ONE_IN_MOST: all are counted, and one in 2^k at random is traced */
	MODE_ONE_IN = 8,
	MODE_TRIAL = 32,  /* of the class whose calls an experiment counts by */
	MODE_MISSED = 64, /* added to one of these: it was off, and is entered out of line */
	MODE_LEFT = 128,  /* of an arm that leaves all modes alone, added to that of the class that
			   * its experiment counts by */
	MODE_FRESH = 255, /* the class of a communicator that has not been made yet */
};

/** Classes that a segment can have at most; the last number stands for those not made yet. */
#define SEGMENT_CLASSES_MAX 2048u
#define SEGMENT_CLASS_FRESH (SEGMENT_CLASSES_MAX - 1)

/** Instead of an experiment's class: modes are held by a planner, which switches them itself. */
#define SEGMENT_TRIAL_HELD UINT32_MAX

/** Likewise: it has ended, and the modes are being put back. */
#define SEGMENT_TRIAL_ENDING (UINT32_MAX - 1)

/** Bytes of the name of who holds modes. */
#define SEGMENT_HOLDER 64

/**
 * A lease on all modes, on the control page: until it is over, nobody else switches; then they are
 * as before. Mostly for an experiment: blocks of calls of one class, each with the modes of an arm,
 * in random order (tree/data/trial.h). Block k begins with the call whose number is k times length.
 * The agent writes all of it and then the class; who sets the class to SEGMENT_TRIAL_ENDING puts
 * the modes back, and then sets it to 0.
 */
struct segment_trial {
	_Atomic uint32_t class;		/* 1 + its number, or SEGMENT_TRIAL_HELD; 0: none */
	_Atomic uint32_t serial;	/* another one for each experiment */
	_Atomic uint32_t length, wash;	/* calls of a block, and of its begin that do not count */
	_Atomic uint64_t seed;		/* who holds it: chosen at random */
	_Atomic uint64_t until_mono_ns; /* it ends then by itself */
	_Atomic uint8_t holder[SEGMENT_HOLDER];	    /* who that is; the last one is 0 */
	_Atomic uint8_t arms, mode[TRIAL_ARMS_MAX]; /* enum segment_mode of other classes, or
						     * MODE_LEFT */
	_Atomic uint16_t channels[TRIAL_ARMS_MAX];  /* of these; 0: of all */
	/* what was before: classes, and their modes in 6 bits each (segment-trial.c) */
	_Atomic uint32_t classes;
	_Atomic uint8_t fresh[CHANNEL_MAX], quiet[CHANNEL_MAX];
	_Atomic uint32_t before[(SEGMENT_CLASSES_MAX + 4) / 5];
};

#endif
