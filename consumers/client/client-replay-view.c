/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds what makes of an archive the view that a client asks for, by the archive's maps. */
#include "consumers/client/client-replay-private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Views are those of the map that was in effect when it came. */
void replay_map(struct client_replay *r, const Evspace__Map *map)
{
	const Evspace__MapTexts *said = map->texts;
	struct pathmap_texts now = {0};

	if (said)
		texts_set(&now, said->application, said->cluster, said->mapping);
	if (!said || (r->map.application && texts_equal(&r->map, &now))) {
		texts_fini(&now);
		return;
	}
	texts_fini(&r->map);
	r->map = now;
	r->remapped = true;
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

bool replay_same_select(const struct evspace_client *c, const Evspace__Open *o)
{
	bool same = c->n_select == o->n_select;

	for (size_t i = 0; same && i < c->n_select; i++)
		same = strcmp(c->select[i], o->select[i]) == 0;
	return same;
}

static bool same_view(const struct evspace_client *c, const Evspace__Open *o)
{
	size_t n = c->define ? strlen(c->define) : 0;

	return same_text(c->view, o->view) && n == o->define.len &&
	       (n == 0 || memcmp(c->define, o->define.data, n) == 0);
}

/* Are these all events, or counts, of which other views can be made here? */
static bool has_view(const Evspace__Open *o, const char *view)
{
	return o->define.len == 0 && strcmp(o->view, view) == 0;
}

static int no_view(const struct evspace_client *c, const Evspace__Open *o, struct error *e)
{
	static const char apart[] = "keep another one in a folder of its own";
	int n = o->define.len < 200 ? (int)o->define.len : 200;
	char has[256];

	if (o->define.len > 0)
		snprintf(has, sizeof(has), "--define '%.*s'", n, (const char *)o->define.data);
	else
		snprintf(has, sizeof(has), "%.200s", o->view);
	if (c->replay->resumes)
		return errorf(e, "the archive has the view %s; %s", has, apart);
	return errorf(
		e,
		"the archive has the view %s, and nothing else; evspace view %s --from %s shows it",
		has, has, c->connection->address + strlen(CLIENT_REPLAY));
}

/* The map has no such view: an earlier one may have had it, then it goes on as it was, or a later
 * one has. */
static int stages_lack(struct evspace_client *c, const struct error *e)
{
	struct client_replay *r = c->replay;

	if (r->stages)
		return 0;
	r->lacks = true;
	r->lack = *e;
	/* it takes all, so that nothing else is missing then */
	r->stages = client_stages_new(c, &r->map, true, &r->fault);
	return 0;
}

/* From now on these are in effect. */
static int stages_set(struct evspace_client *c, struct client_stages *stages, struct error *e)
{
	struct client_replay *r = c->replay;
	bool newest = !client_stages_stream(stages);

	if (r->stages && !r->lacks && newest != c->newest) {
		client_stages_free(stages);
		errno = EINVAL;
		return errorf(e, "the view %s has another `read` in the map that was applied then",
			      c->view);
	}
	if (r->stages)
		client_stages_follow(stages, r->stages);
	client_stages_free(r->stages);
	r->stages = stages;
	r->lacks = false;
	c->newest = newest;
	return 0;
}

/* What the client's view makes of what comes. */
static int take_stages(struct evspace_client *c, const Evspace__Open *o, bool same, struct error *e)
{
	struct client_replay *r = c->replay;
	struct client_stages *stages;
	bool counts;

	if (r->stages && !r->remapped)
		return 0;
	r->remapped = false;
	stages = client_stages_new(c, &r->map, same, e);
	if (!stages)
		return stages_lack(c, e);
	counts = client_stages_counts(stages);
	if (!same && counts != has_view(o, CLIENT_REPLAY_COUNTS_VIEW)) {
		if (!counts || r->counts) {
			client_stages_free(stages);
			return no_view(c, o, e);
		}
		r->beside = true;
	}
	return stages_set(c, stages, e);
}

/* What has been opened before is the same. */
int replay_question(struct evspace_client *c, const Evspace__Open *o, struct error *e)
{
	bool same;

	errno = EINVAL;
	if (c->run[0] && o->run[0] && strcmp(c->run, o->run) != 0)
		return errorf(e, "the archive has the run %s, not %s", o->run, c->run);
	/* "": whichever view it is */
	same = !*c->view || same_view(c, o);
	if (!same && (c->replay->resumes ||
		      (!has_view(o, "events") && !has_view(o, CLIENT_REPLAY_COUNTS_VIEW))))
		return no_view(c, o, e);
	c->backlog = o->backlog;
	if (!c->was_open)
		c->partial = archive_reader_head(c->replay->reader)->number > 1;
	return c->replay->resumes ? 0 : take_stages(c, o, same, e);
}
