/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace phase --now: how all processes are spread over blocks at each look, of counts by block
 * that hosts have added up on the way. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/words.h"
#include "consumers/phase/phase.h"
#include "pathmap/base/quantity.h"

/* Views of every map. */
#define VIEW_CALLS "blocks"
#define VIEW_SAID  "states"

int phase_now_take(void *into, const char *value, struct error *e)
{
	struct phase *p = into;

	p->now = NULL;
	if (strcmp(value, "calls") == 0)
		p->now = VIEW_CALLS;
	else if (strcmp(value, "said") == 0)
		p->now = VIEW_SAID;
	return p->now ? 0 : errorf(e, "'%.60s' is neither \"calls\" nor \"said\"", value);
}

/* What the counts of a wave come to. */
struct spread {
	uint64_t processes, most;
	unsigned blocks;
	double crowded; /* sum of c log2 c */
	char where[PHASE_BLOCK];
};

static void block_add(struct spread *s, const struct evspace_total *t)
{
	if (t->count == 0)
		return;
	s->processes += t->count;
	s->blocks++;
	s->crowded += (double)t->count * log2((double)t->count);
	if (t->count <= s->most)
		return;
	s->most = t->count;
	if (strcmp(t->op, "evspace_state") == 0)
		snprintf(s->where, sizeof(s->where), "in block %u", t->comm);
	else
		snprintf(s->where, sizeof(s->where), "%s %s", t->comm ? "in" : "behind", t->op);
}

static double spread_bits(const struct spread *s)
{
	double n = (double)s->processes;

	return s->processes ? fmax(0, log2(n) - s->crowded / n) : (double)NAN;
}

static void spread_json(const struct phase *p, const struct evspace_wave *w, const struct spread *s)
{
	static const char *const normalised[] = {"volume", "none"};
	double bits = spread_bits(s);
	uint64_t most = p->blocks < s->processes ? p->blocks : s->processes;
	double largest = most > 1 ? log2((double)most) : 1;

	for (unsigned i = 0; i < 2; i++)
		json_print(json_pack("{s:s,s:s,s:s,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "figure",
				     "entropy", "of", "now", "normalise", normalised[i], "bits",
				     i == 1, "value", json_number(i ? bits : bits / largest),
				     "wave", json_count(w->number), "at_ns", json_time(w->taken_ns),
				     "processes", json_count(s->processes), "blocks",
				     json_count(s->blocks), "most", json_count(s->most), "where",
				     json_text(s->where), "missing", json_missing(w)),
			   stdout);
}

static void spread_text(const struct evspace_wave *w, const struct spread *s)
{
	char clock[32], n[UNIT_TEXT], most[UNIT_TEXT];

	words_clock(clock, sizeof(clock), w->taken_ns, 1);
	printf("%s  %s process%s in %u block%s: %.4g bits", clock, unit_count(n, s->processes),
	       plural(s->processes, "es"), s->blocks, plural(s->blocks, "s"), spread_bits(s));
	if (s->most > 0)
		printf("; %s %s", unit_count(most, s->most), s->where);
	printf("\n");
}

static bool take_wave(void *arg, uint64_t *seen)
{
	struct phase *p = arg;
	struct follower *f = &p->follow;
	const struct evspace_wave *w = evspace_wave(f->client);
	struct spread s = {0};
	struct evspace_total total;

	*seen = w->number;
	options_note_missing(f->command, &f->common, f->client);
	standing_note_unreadable(&f->standing, "evspace phase", f->client);
	while (evspace_total(f->client, &total))
		block_add(&s, &total);
	p->blocks = s.blocks > p->blocks ? s.blocks : p->blocks;
	if (s.processes == 0)
		return false;
	p->came = true;
	if (f->common.json)
		spread_json(p, w, &s);
	else
		spread_text(w, &s);
	/* it brings the same for ever */
	return false;
}

int phase_now(struct phase *p, const char *command)
{
	struct follower *f = &p->follow;
	int code;

	f->until_end = true;
	f->common.look.view = p->now;
	f->common.look.folded = 1;
	f->client = options_open(command, &f->common, &code);
	if (!f->client)
		return code;
	code = follow_run(f, take_wave, p);
	if (code == EXIT_FINE && !p->came)
		fprintf(stderr, "%s: %s\n", command,
			strcmp(p->now, VIEW_SAID) == 0 ? "no process has said a block "
							 "(evspace_block()): --now calls is of "
							 "operations"
						       : "no process has made a call");
	follow_tell_cost(f);
	options_close(&f->common, f->client);
	return code;
}
