/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the samples that tell something. */
#include "node-agent/source/sieve.h"

#include <stddef.h>

void sieve_rule_init(struct sieve_rule *rule, const struct sampling *sampling, unsigned events)
{
	unsigned n = sampling->events ? sampling->events : events;

	entropy_table_init(&rule->table, sampling->window, 1, NULL);
	rule->p = 1.0 / (n > 1 ? n : 2);
	rule->threshold = sampling->threshold > 0 ? sampling->threshold
						  : entropy_threshold(&rule->table, rule->p);
}

/* The last sample, which was left out, is kept after all. */
static void last_keep(const struct sieve *s, struct tuple *keep)
{
	*keep = s->last;
	keep->bytes = s->left - 1;
}

unsigned sieve_take(struct sieve *s, const struct sieve_rule *rule, const struct tuple *sample,
		    uint32_t event, struct tuple keep[2], bool *changed)
{
	bool tells;
	unsigned n = 0;

	*changed = !s->window.any || s->window.last != event;
	tells = entropy_window_next(&rule->table, &s->window, event, rule->p) > rule->threshold ||
		s->left >= SIEVE_LEFT_MOST;
	if (*changed && s->left > 0) {
		last_keep(s, &keep[n++]);
		s->left = 0;
	}
	if (tells) {
		keep[n] = *sample;
		keep[n++].bytes = s->left;
	}
	s->left = tells ? 0 : s->left + 1;
	s->last = *sample;
	return n;
}

unsigned sieve_end(struct sieve *s, struct tuple *keep)
{
	if (s->left == 0)
		return 0;
	last_keep(s, keep);
	s->left = 0;
	return 1;
}

void sieve_count(const struct tuple *samples, uint32_t n, struct part *part, uint64_t *sampled)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < n; i++)
		left += samples[i].bytes < SIEVE_LEFT_MOST ? samples[i].bytes : SIEVE_LEFT_MOST;
	part->read += left;
	part->filtered += left;
	if (sampled)
		*sampled += left;
}

uint64_t sieve_interval(const struct sampling *sampling, uint64_t ns, bool changed,
			uint64_t cost_ns, unsigned runs)
{
	uint64_t least = (uint64_t)((double)cost_ns * runs / SIEVE_SHARE);

	ns = changed ? ns / 2 : ns + ns / 4;
	if (ns < sampling->fastest_ns)
		ns = sampling->fastest_ns;
	if (ns > sampling->slowest_ns)
		ns = sampling->slowest_ns;
	return ns < least ? least : ns;
}
