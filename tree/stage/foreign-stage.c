/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a table of others: gives it copies of tuples, keeps its records between guards, and counts,
 * merges and sends these as a fold does. */
#include "tree/stage/foreign-stage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tree/data/op.h"
#include "tree/data/signature.h"
#include "tree/stage/fold.h"
#include "tree/stage/guarded.h"

/* Most bytes of records in a wave: what one answer has room for. */
#define RECORDS_BYTES (64u << 20)

/* Words that are copied in the time that a tuple takes. */
#define STEP_WORDS 16u

struct foreign_stage {
	struct fold fold;
	struct evspace_stage stage; /* what the table's functions see */
	struct foreign_kind kind;
	struct foreign head[FOREIGN_HEAD];	   /* of runs of that kind */
	struct guarded own, tuples, records, from; /* from: a record of a host below */
	/* while take() runs: */
	const struct stage *in;
	const struct run_view *view;
	uint32_t name;
	bool full;
};

_Static_assert(sizeof(struct evspace_tuple) == sizeof(struct tuple) &&
		       offsetof(struct evspace_tuple, peer) == offsetof(struct tuple, peer) &&
		       offsetof(struct evspace_tuple, flags) == offsetof(struct tuple, flags) &&
		       EVSPACE_STAGE_WORDS == FOREIGN_WORDS,
	       "evspace-stage.h says what a tuple is");

static inline struct foreign_stage *foreign_of(struct stage *s)
{
	return (struct foreign_stage *)(void *)s->private;
}

static inline struct foreign_stage *foreign_at(const struct evspace_stage *stage)
{
	return (struct foreign_stage *)(void *)((unsigned char *)(uintptr_t)stage -
						offsetof(struct foreign_stage, stage));
}

static inline struct foreign_stage_kind *kind_of(const struct stage *s)
{
	return (struct foreign_stage_kind *)(uintptr_t)s->ops;
}

/* ---- what the table's functions may call ---- */

/* The number of the record of the present group with this key. */
static size_t record_at(struct foreign_stage *f, uint64_t value, bool *is_new)
{
	uint64_t key[2];
	struct group *g;

	group_key_of(key, f->name, 0, f->kind.keyed ? value : 0);
	g = groups_at(&f->fold.groups, key, is_new);
	if (*is_new) {
		g->number = guarded_add(&f->records);
		if (f->kind.keyed)
			guarded_at(&f->records, g->number)[0] = value;
	}
	return g->number;
}

/* Small records take more for what is around them. */
static bool is_full(const struct foreign_stage *f)
{
	return f->records.n * (f->records.each + GUARDED_WORDS) >= RECORDS_BYTES / sizeof(uint64_t);
}

static uint64_t *host_record(struct evspace_stage *stage, uint64_t key)
{
	static uint64_t nowhere[FOREIGN_WORDS];
	struct foreign_stage *f = foreign_at(stage);
	bool is_new;

	/* from within another function than take() */
	if (!f->view)
		return nowhere;
	f->full |= is_full(f);
	if (f->full)
		return guarded_at(&f->from, 0);
	return guarded_at(&f->records, record_at(f, key, &is_new));
}

static const char *host_element(const struct evspace_stage *stage, int32_t *rank)
{
	const struct foreign_stage *f = foreign_at(stage);
	const struct name *name = f->view ? names_find(f->in->names, f->view->run->element) : NULL;

	if (rank)
		*rank = name ? name->rank : -1;
	return name ? name->text : "";
}

static const char *host_op_name(uint16_t op)
{
	return op_name(op);
}

static const struct evspace_stage_host host = {
	.record = host_record,
	.element = host_element,
	.op_name = host_op_name,
};

/* ---- waves ---- */

/* The stage has written past what it was given. What else it has written to, nobody knows: no view
 * uses it any more, which the agent says once. */
static int fail_broken(struct stage *s)
{
	static const char fault[] =
		"has written past what it was given; mend it, and start this agent again";
	struct foreign_stage_kind *kind = kind_of(s);

	if (!kind->broken && kind->told)
		fprintf(kind->told, "stage \"%s\" %s: no view can use it until then\n",
			kind->ops.name, fault);
	kind->broken = true;
	s->fault = fault;
	errno = EPROTO;
	return -1;
}

/* Are the guards whole that are not looked at record by record? */
static bool is_whole(const struct foreign_stage *f)
{
	return guarded_holds(&f->own, 0, 1) && guarded_holds(&f->tuples, 0, 1) &&
	       guarded_holds(&f->from, 0, 1);
}

/* The stage has failed, and says why; unless it has done worse. */
static int fail(struct stage *s, const char *fault)
{
	const struct foreign_stage *f = foreign_of(s);

	if (!is_whole(f) || !guarded_holds(&f->records, 0, f->records.n))
		return fail_broken(s);
	s->fault = fault;
	errno = EPROTO;
	return -1;
}

/* Runs of views that read the newest tuples have one each: not worth a call. Stages of others know
 * peers alone, and no signatures. */
static inline void tuples_copy(struct tuple *to, const struct tuple *from, size_t n)
{
	if (n == 1)
		memcpy(to, from, sizeof(*from));
	else
		memcpy(to, from, n * sizeof(*from));
	for (size_t i = 0; i < n; i++)
		to[i].peer = signature_peer(&to[i]);
}

static int take_tuples(struct stage *s, const struct run_view *view)
{
	struct foreign_stage *f = foreign_of(s);
	struct part *part = fold_part(&f->fold);
	uint32_t *i = &f->fold.done.record;

	while (*i < view->run->count) {
		uint32_t n = view->run->count - *i;
		struct evspace_stage_run run = {
			.tuples = (void *)guarded_at(&f->tuples, 0),
			.count = n < EVSPACE_STAGE_TUPLES ? n : EVSPACE_STAGE_TUPLES,
			.first = run_number(view->run, *i),
			.sparse = (view->run->flags & RUN_SPARSE) != 0,
			.ns_per_tick = part->clock.ns_per_tick,
		};
		size_t count = run.count, taken;

		tuples_copy((void *)guarded_at(&f->tuples, 0), view->tuples + *i, count);
		taken = kind_of(s)->table->take(&f->stage, &run);
		if (taken > count)
			return fail(s, "says that it has taken more tuples than it was given");
		if (f->full)
			return fail(s, "makes more than 64 MiB of records in a wave");
		part->reduced += taken;
		part->filtered += count - taken;
		*i += (uint32_t)count;
		if (*i < view->run->count && stage_over(s, count))
			return 1;
	}
	*i = 0;
	return 0;
}

/* A copy of record @i of a run of ours, where the table's functions may read it. */
static uint64_t *record_copy(struct foreign_stage *f, const struct run_view *view, uint32_t i)
{
	return memcpy(guarded_at(&f->from, 0),
		      view->foreigns + FOREIGN_HEAD + (size_t)i * f->kind.words,
		      f->kind.words * sizeof(uint64_t));
}

/* How many records the run has that this stage can merge, and has room for. */
static uint32_t records_of(struct stage *s, const struct run_view *view)
{
	struct foreign_stage *f = foreign_of(s);
	const struct evspace_stage_table *table = kind_of(s)->table;
	struct foreign_kind kind;
	uint32_t n = foreign_read(view->foreigns, view->run->count, &kind);

	if (strcmp(kind.name, f->kind.name) != 0 || kind.words != f->kind.words ||
	    kind.keyed != f->kind.keyed || (f->fold.done.record == 0 && is_full(f)))
		return 0;
	/* once for each run, not for each turn */
	for (uint32_t i = 0; table->sound && f->fold.done.record == 0 && i < n; i++)
		if (!table->sound(&f->stage, record_copy(f, view, i)))
			return 0;
	return n;
}

static int take_records(struct stage *s, const struct run_view *view)
{
	struct foreign_stage *f = foreign_of(s);
	uint32_t n = records_of(s, view), *i = &f->fold.done.record;

	if (n == 0)
		batch_keep(&f->fold.others, view);
	while (*i < n) {
		uint64_t *from = record_copy(f, view, *i), *to;
		bool is_new;

		to = guarded_at(&f->records, record_at(f, from[0], &is_new));
		if (is_new)
			memcpy(to, from, f->kind.words * sizeof(*to));
		else
			kind_of(s)->table->merge(&f->stage, to, from);
		if (++*i < n && stage_over(s, 1 + f->kind.words / STEP_WORDS))
			return 1;
	}
	*i = 0;
	return 0;
}

static int take_run(struct stage *s, const struct run_view *view, uint32_t name)
{
	struct foreign_stage *f = foreign_of(s);
	int rc = 0;

	f->name = name;
	f->in = s;
	f->view = view->run->kind == RUN_TUPLES ? view : NULL;
	if (f->view)
		rc = take_tuples(s, view);
	else if (view->run->kind == RUN_FOREIGN)
		rc = take_records(s, view);
	else
		batch_keep(&f->fold.others, view);
	f->view = NULL;
	return rc;
}

/* Consecutive records of one name become one run. Guards are looked at here, once for each wave: so
 * a tuple costs next to nothing, and nothing of a stage that has written past is sent. */
static int emit(struct stage *s)
{
	struct foreign_stage *f = foreign_of(s);
	const struct group *g = f->fold.groups.items;
	size_t words = f->kind.words, most = (UINT16_MAX - FOREIGN_HEAD) / words;
	uint32_t n = 0;

	if (!is_whole(f))
		return fail_broken(s);
	for (size_t *at = &f->fold.done.out; *at < f->fold.groups.n; *at += n) {
		struct foreign *out;

		if (stage_over(s, 1 + n * words / STEP_WORDS))
			return 1;
		for (n = 1; *at + n < f->fold.groups.n && n < most; n++)
			if (group_name(&g[*at + n]) != group_name(&g[*at]))
				break;
		out = batch_add(&f->fold.out, RUN_FOREIGN, group_name(&g[*at]), 0,
				(uint32_t)(FOREIGN_HEAD + n * words), 0);
		memcpy(out, f->head, sizeof(f->head));
		for (uint32_t i = 0; i < n; i++) {
			size_t record = g[*at + i].number;

			if (!guarded_holds(&f->records, record, 1))
				return fail_broken(s);
			memcpy(out + FOREIGN_HEAD + i * words, guarded_at(&f->records, record),
			       words * sizeof(*out));
		}
	}
	return 0;
}

static int foreign_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	static const struct fold_ops ops = {.run = take_run, .emit = emit};
	struct foreign_stage *f = foreign_of(s);
	int rc;

	/* in whichever view */
	if (kind_of(s)->broken)
		return fail_broken(s);
	if (!s->paused) {
		f->records.n = 0;
		f->full = false;
	}
	rc = fold_apply(s, &ops, ask, b);
	if (rc == 0 && f->records.n > STAGE_KEPT)
		guarded_fini(&f->records);
	return rc;
}

/* ---- instances ---- */

static int foreign_init(struct stage *s, const char *args, struct error *e)
{
	struct foreign_stage *f = foreign_of(s);
	const struct evspace_stage_table *table = kind_of(s)->table;
	char why[256] = "";

	/* a map that has it stays a map */
	if (kind_of(s)->broken && s->names)
		return errorf(e, "has written past what it was given before; mend it, and start "
				 "this agent again");
	f->own.each = (table->own_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	guarded_add(&f->own);
	f->stage = (struct evspace_stage){
		.host = &host,
		.own = guarded_at(&f->own, 0),
		.words = table->words,
		.records = table->keyed ? 0 : 1,
	};
	if (table->init && table->init(&f->stage, args, why, sizeof(why)) < 0) {
		why[sizeof(why) - 1] = '\0';
		return errorf(e, "%s", *why ? why : "its init() has failed and does not say why");
	}
	if (f->stage.words == 0 || f->stage.words > FOREIGN_WORDS)
		return errorf(e, "a record of %u words; it must have 1 to %u", f->stage.words,
			      FOREIGN_WORDS);
	f->kind.words = f->stage.words;
	f->kind.keyed = table->keyed;
	snprintf(f->kind.name, sizeof(f->kind.name), "%s", table->kind);
	foreign_head(f->head, &f->kind);
	f->records.each = f->from.each = f->kind.words;
	f->tuples.each = EVSPACE_STAGE_TUPLES * sizeof(struct tuple) / sizeof(uint64_t);
	guarded_add(&f->from);
	guarded_add(&f->tuples);
	s->traits.records = f->stage.records;
	s->traits.bytes = sizeof(struct run) + (FOREIGN_HEAD + f->kind.words) * sizeof(uint64_t);
	return 0;
}

static void foreign_fini(struct stage *s)
{
	struct foreign_stage *f = foreign_of(s);

	if (f->stage.own && kind_of(s)->table->fini)
		kind_of(s)->table->fini(&f->stage);
	guarded_fini(&f->own);
	guarded_fini(&f->tuples);
	guarded_fini(&f->records);
	guarded_fini(&f->from);
	fold_fini(&f->fold);
}

int foreign_stage_init(struct foreign_stage_kind *kind, const char *name,
		       const struct evspace_stage_table *table, struct error *e)
{
	errno = EINVAL;
	if (table->interface != EVSPACE_STAGE_INTERFACE)
		return errorf(e,
			      "is written for version %u of evspace-stage.h, this agent for %u; "
			      "build it with the header of this release",
			      table->interface, EVSPACE_STAGE_INTERFACE);
	if (table->bytes != sizeof(*table))
		return errorf(e,
			      "has a table of %u bytes, not of %zu; begin it with "
			      "EVSPACE_STAGE_HEAD",
			      table->bytes, sizeof(*table));
	if (!table->kind || !foreign_name(table->kind))
		return errorf(e,
			      "names no kind of records; give small letters, digits and '-', "
			      "%u at most",
			      FOREIGN_NAME - 1);
	if (!table->take || !table->merge)
		return errorf(e, "has no %s(); put one into its table",
			      table->take ? "merge" : "take");
	if (table->own_bytes > RECORDS_BYTES)
		return errorf(e, "wants %zu bytes of its own; have it do with 64 MiB",
			      table->own_bytes);
	*kind = (struct foreign_stage_kind){
		.ops = {.name = name,
			.op = OP_EVSPACE_FOREIGN,
			.traits = {.makes = RUN_FOREIGN, .foreign = table->kind},
			.size = sizeof(struct foreign_stage),
			.init = foreign_init,
			.apply = foreign_apply,
			.fini = foreign_fini},
		.table = table,
	};
	return 0;
}
