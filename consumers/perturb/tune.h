/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace tune: the settings that it walks, shared by the command (tune.c) and its options
 * (tune-options.c). */
#ifndef EVSPACE_TUNE_H
#define EVSPACE_TUNE_H

#include "consumers/budget/pareto.h"
#include "consumers/perturb/experiment.h"
#include "tree/data/urgency.h"

/** Most of each kind, and in all. */
#define TUNE_RATES_MAX	32u
#define TUNE_WORDS_MAX	16u
#define TUNE_POINTS_MAX 1024u

/** Words of an option. */
struct tune_choices {
	char *text; /* cut into the words */
	const char *word[TUNE_WORDS_MAX];
	size_t n;
};

/** A setting, and how long it was measured. */
struct tune_point {
	const char *tree;    /* NULL: as the map has it */
	const char *mode;    /* of collecting … */
	const char *classes; /* … in which these are, all others being as they are; NULL: all */
	enum urgency urgency;
	unsigned window;
	double asked_hz;
	uint64_t rounds;
};

struct tune {
	struct experiment x;
	double rates[TUNE_RATES_MAX];
	size_t n_rates;
	struct tune_choices trees, modes, classes, urgencies, windows;
	const char *plot;
	struct tune_point settings[TUNE_POINTS_MAX]; /* to be walked */
	size_t n_settings;
	struct tune_point of[TUNE_POINTS_MAX]; /* of those that were measured … */
	struct pareto_point points[TUNE_POINTS_MAX];
	size_t n;
	enum evspace_urgency said; /* by --urgency */
};

/** Of the command, with its own options. */
extern const struct usage tune_usage;

/** Make the settings of all options together. If these say none but rates: each rate, and at the
 * middle one each shape of trees, and each class of @channels (bits) only counted. */
void tune_settle(struct tune *tune, unsigned channels);

/** How many settings the options mean: TUNE_POINTS_MAX at most can be walked. */
size_t tune_count(const struct tune *tune);

/** Do the options say what to walk besides rates? */
bool tune_is_said(const struct tune *tune);

void tune_fini(struct tune *tune);

#endif
