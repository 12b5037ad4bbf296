/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects elements by name, and applies a view's stages to a whole wave: what trees of hosts make
 * of it is the same. */
#include "consumers/client/client-stages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-newest.h"
#include "consumers/client/client.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/definition.h"
#include "pathmap/model/pattern.h"
#include "pathmap/texts.h"
#include "tree/data/columns-batch.h"
#include "tree/stage/stage.h"

struct client_stages {
	char **patterns; /* of the view; none: all elements */
	size_t n_patterns;
	struct client_newest *newest; /* the view reads these; NULL: it reads a stream, or … */
	bool counts;		      /* … these */
	bool staged;
	struct chain chain;
};

/* ---- the view ---- */

/* Take what is needed of the view, up to the level that is asked for. */
static int stages_take(struct client_stages *s, const struct evspace_client *c,
		       const struct view *view, struct error *e)
{
	enum level top = LEVEL_ALL;
	size_t n = 0;

	errno = EINVAL;
	if (view->sample)
		return errorf(e,
			      "the view %s reads %s, which an archive of events does not have; "
			      "archive that view itself",
			      c->view, reading_name(view->reading, view->sample));
	if (!view_top(c->view, &top))
		return errorf(e, "%s: there is no such level", c->view);
	for (size_t i = 0; i < view->n_select; i++) {
		s->patterns = memory_room(s->patterns, s->n_patterns, sizeof(*s->patterns));
		s->patterns[s->n_patterns++] = memory_copy(view->select[i]);
	}
	while (n < view->n_stages && view->stages[n].level <= top)
		n++;
	s->counts = view->has_reading && view->reading == READ_COUNTS;
	if (view->has_reading && view->reading == READ_LATEST)
		s->newest = client_newest_new();
	if (chain_init(&s->chain, view->stages, n, c->names, e) < 0)
		return -1;
	s->staged = true;
	return 0;
}

/* The view that the client defines. */
static int stages_define(struct client_stages *s, const struct evspace_client *c,
			 const struct pathmap *map, struct error *e)
{
	const struct definition definition = {c->define, strlen(c->define)};
	struct view *view = definition_read(&definition, map, stage_check, NULL, e);
	int rc = view ? stages_take(s, c, view, e) : -1;

	view_free(view);
	return rc;
}

/* The view that it names. */
static int stages_name(struct client_stages *s, const struct evspace_client *c,
		       const struct pathmap *map, struct error *e)
{
	char *name = memory_format("%.*s", (int)strcspn(c->view, "@"), c->view);
	const struct view *view = pathmap_view(map, name);
	int rc;

	errno = EINVAL;
	rc = view ? stages_take(s, c, view, e)
		  : errorf(e,
			   "there is no view `%s`, neither in the archive's map nor in every map",
			   name);
	free(name);
	return rc;
}

/* By the archive's map; of another release's, or one with stages that are not here, what every map
 * has. */
static int stages_find(struct client_stages *s, const struct evspace_client *c,
		       const struct pathmap_texts *texts, struct error *e)
{
	struct error why = {""}, what;
	struct pathmap *map = texts->application ? texts_parse(texts, stage_check, &why) : NULL;
	int rc;

	map = map ? map : pathmap_local("local", stage_check);
	rc = c->define ? stages_define(s, c, map, &what) : stages_name(s, c, map, &what);
	pathmap_free(map);
	if (rc < 0)
		errorf(e, "%s%s%s", what.text, why.text[0] ? "; it cannot be read here: " : "",
		       why.text);
	return rc;
}

struct client_stages *client_stages_new(const struct evspace_client *c,
					const struct pathmap_texts *texts, bool same,
					struct error *e)
{
	struct client_stages *s = memory_new(1, sizeof(*s));

	if (same || stages_find(s, c, texts, e) == 0)
		return s;
	client_stages_free(s);
	errno = EINVAL;
	return NULL;
}

void client_stages_free(struct client_stages *s)
{
	if (!s)
		return;
	if (s->staged)
		chain_fini(&s->chain);
	client_newest_free(s->newest);
	for (size_t i = 0; i < s->n_patterns; i++)
		free(s->patterns[i]);
	free(s->patterns);
	free(s);
}

void client_stages_follow(struct client_stages *s, struct client_stages *before)
{
	struct client_newest *newest = before->newest;

	if (!s->newest || !newest)
		return;
	before->newest = s->newest;
	s->newest = newest;
}

/* ---- a wave ---- */

bool client_stages_stream(const struct client_stages *s)
{
	return !s->newest;
}

bool client_stages_counts(const struct client_stages *s)
{
	return s->counts;
}

static bool matches(char *const *patterns, size_t n, const char *name)
{
	bool any = n == 0;

	for (size_t i = 0; i < n && !any; i++)
		any = pattern_match(patterns[i], name);
	return any;
}

bool client_stages_select(const struct client_stages *s, const struct evspace_client *c)
{
	return s->n_patterns > 0 || c->n_select > 0;
}

bool client_stages_want(const struct client_stages *s, const struct evspace_client *c,
			uint32_t element)
{
	const struct name *name = names_find(c->names, element);

	return !name || (matches(s->patterns, s->n_patterns, name->text) &&
			 matches(c->select, c->n_select, name->text));
}

/* What is not selected was not read. */
static void part_lessen(struct part *part, const struct run_view *view)
{
	part->read -= view->run->kind == RUN_TYPED
			      ? typed_count(view->typed_words, view->run->count)
			      : view->run->count;
	if (view->run->flags & RUN_DISCARDED)
		part->discarded -= view->lost;
	else
		part->lost -= view->lost;
}

static void select_runs(const struct client_stages *s, const struct evspace_client *c,
			struct batch *batch)
{
	struct batch_cursor cursor = {0};
	struct part *part = NULL;
	struct run_view view;
	struct batch kept;

	if (!client_stages_select(s, c))
		return;
	batch_init(&kept);
	while (batch_next_packed(batch, &cursor, &view)) {
		bool named = view.run->kind == RUN_TUPLES || view.run->kind == RUN_COUNTS ||
			     view.run->kind == RUN_TYPED;

		if (!named || client_stages_want(s, c, view.run->element)) {
			part = view.run->kind == RUN_PART ? view.part : part;
			batch_keep(&kept, &view);
		} else if (part && view.run->kind != RUN_COUNTS) {
			part_lessen(part, &view);
		}
	}
	batch_clear(batch);
	batch_link(batch, &kept);
	batch_fini(&kept);
}

static void sums_count(const struct batch *batch, struct delivery_sums *sums)
{
	struct delivery_sums n = {.repeated = sums->repeated, .unaccounted = sums->unaccounted};
	struct batch_cursor cursor = {0};
	struct run_view view;

	while (batch_next_packed(batch, &cursor, &view)) {
		if (view.run->kind == RUN_TUPLES || view.run->kind == RUN_NEWEST)
			n.tuples += view.run->count;
		if (view.run->kind == RUN_TYPED)
			n.tuples += typed_count(view.typed_words, view.run->count);
		if (view.run->kind != RUN_PART)
			continue;
		n.read += view.part->read;
		n.lost += view.part->lost;
		n.discarded += view.part->discarded;
		n.filtered += view.part->filtered;
		n.reduced += view.part->reduced;
		n.sampled += view.lost;
	}
	*sums = n;
}

int client_stages_apply(struct client_stages *s, const struct evspace_client *c,
			struct client_answer *to, struct error *e)
{
	const struct ask ask = {.wave = to->wave.number};

	if (!s->staged && c->n_select == 0)
		return 0;
	columns_batch_open(&to->batch);
	select_runs(s, c, &to->batch);
	if (s->newest)
		client_newest_apply(s->newest, to->wave.number, &to->batch);
	if (s->staged && chain_apply(&s->chain, &ask, &to->batch, 0) < 0)
		return errorf(e, "wave %llu cannot pass the view's stages",
			      (unsigned long long)to->wave.number);
	sums_count(&to->batch, &to->sums);
	return 0;
}
