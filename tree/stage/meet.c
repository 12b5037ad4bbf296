/* SPDX-License-Identifier: BSD-3-Clause */
/* Meet: joins what the members of each collective operation have done, by communicator and number:
 * who came first and last, how long they waited, what they brought. */
#include "tree/stage/stage.h"

#include <string.h>

#include "tree/stage/fold.h"

static int meet_init(struct stage *s, const char *args, struct error *e)
{
	(void)s;
	if (*args)
		return errorf(e, "`meet %.60s` is not understood; write `meet`", args);
	return 0;
}

static void meet_fini(struct stage *s)
{
	fold_fini(fold_of(s));
}

/* Are records of one part from one host? A mark, and a folded part, is of several. */
static bool is_one_host(const struct part_item *item)
{
	return !(item->run.flags & (RUN_FOLD | RUN_MANY));
}

/* Put @m, of the part at hand, into its group. */
static void put(struct stage *s, uint32_t name, struct meet *m)
{
	struct fold *fold = fold_of(s);
	uint32_t part = (uint32_t)fold->parts.n - 1;
	uint64_t key[2];
	struct group *g;
	bool is_new;

	if (fold->parts.mixed)
		meet_to_ns(m, &fold_part(fold)->clock);
	group_key_of(key, name, m->comm, m->number);
	g = groups_at(&fold->groups, key, &is_new);
	if (is_new) {
		g->meet = *m;
		g->part = part;
		return;
	}
	meet_merge(&g->meet, m);
	if (g->part != part || !is_one_host(&fold->parts.items[part]))
		g->meet.flags |= MEET_HOSTS;
}

static void take_tuples(struct stage *s, const struct run_view *view, uint32_t name)
{
	struct part *part = fold_part(fold_of(s));
	struct meet m;

	for (uint32_t i = 0; i < view->run->count; i++) {
		if (!meet_take(&m, &view->tuples[i], view->run->element)) {
			part->filtered++;
			continue;
		}
		part->reduced++;
		put(s, name, &m);
	}
}

static int take_run(struct stage *s, const struct run_view *view, uint32_t name)
{
	struct fold *fold = fold_of(s);
	struct meet m;

	if (view->run->kind == RUN_TUPLES)
		take_tuples(s, view, name);
	else if (view->run->kind != RUN_MEETS)
		batch_keep(&fold->others, view);
	for (uint32_t *i = &fold->done.record;
	     view->run->kind == RUN_MEETS && *i < view->run->count;) {
		m = view->meets[*i];
		put(s, name, &m);
		if (++*i < view->run->count && stage_over(s, 1))
			return 1;
	}
	fold->done.record = 0;
	return 0;
}

/* The first part with another clock follows. */
static void taken_to_ns(struct stage *s)
{
	struct fold *fold = fold_of(s);

	for (size_t i = 0; i < fold->groups.n; i++)
		meet_to_ns(&fold->groups.items[i].meet, &fold->parts.line);
}

static const struct fold_ops join_ops = {
	.run = take_run,
	.mixed = taken_to_ns,
};

static int meet_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	return fold_apply(s, &join_ops, ask, b);
}

/* How many there are is not known from maps; of several they are packed as columns. */
const struct stage_ops meet_ops = {
	.name = "meet",
	.op = OP_EVSPACE_MEET,
	.traits = {.folds = true, .makes = RUN_MEETS, .bytes = 24},
	.size = sizeof(struct fold),
	.init = meet_init,
	.apply = meet_apply,
	.fini = meet_fini,
};
