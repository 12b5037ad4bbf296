/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the frames of an archive as if they came from an agent. */
#include "consumers/client/client-replay-private.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

const char *client_replay_folder(const char *address)
{
	size_t n = strlen(CLIENT_REPLAY);

	return address && strncmp(address, CLIENT_REPLAY, n) == 0 ? address + n : NULL;
}

/* Waves come as fast as they are read, or that many times as fast as they were taken. */
static double replay_speed;

double client_replay_speed_set(double speed)
{
	const double before = replay_speed;

	replay_speed = speed;
	return before;
}

void client_replay_free(struct client_replay *r)
{
	if (!r)
		return;
	client_stages_free(r->stages);
	archive_reader_free(r->reader);
	texts_fini(&r->map);
	free(r);
}

double client_replay_share(const struct evspace_client *c)
{
	const struct client_replay *r = c->replay;

	double done;

	if (!r)
		return -1;
	done = (double)archive_reader_done(r->reader);
	/* it may grow meanwhile */
	return done < (double)r->before ? done / (double)r->before : 1;
}

struct client_replayed client_replayed(struct evspace_client *c)
{
	return (struct client_replayed){
		.batch = &c->taken.batch,
		.names = c->names,
		.delivery = c->delivery,
		.map = c->replay ? &c->replay->map : NULL,
		.epoch_ns = c->epoch_ns,
		.whole = c->backlog && !c->partial,
	};
}

/* ---- frames ---- */

static int take_open(struct evspace_client *c, const Evspace__Open *o, struct error *e)
{
	if (replay_question(c, o, e) < 0)
		return -1;
	if (!c->replay->resumes)
		return 0;
	errno = EINVAL;
	if (!replay_same_select(c, o))
		return errorf(e, "the archive was begun with another --select; keep this in a "
				 "folder of its own");
	if (o->id.len != sizeof(c->id))
		return errorf(e, "the archive has no identity to go on with");
	memcpy(c->id, o->id.data, sizeof(c->id));
	return 0;
}

static int take_answer(struct evspace_client *c, const struct frame *frame, struct error *e)
{
	const Evspace__Answer *a = frame->header->answer;
	const struct archive_head *head = archive_reader_head(c->replay->reader);

	errno = EPROTO;
	if (!c->was_open)
		return errorf(e, "the archive has an answer before a view was opened");
	if (a->wave && !c->replay->begun && head->number > 1)
		c->next_take = c->next_ask = head->first ? head->first : 1;
	c->replay->begun |= a->wave != 0;
	if (a->wave >= c->next_take + CLIENT_WINDOW_MAX)
		return errorf(e, "the archive lacks waves %llu to %llu",
			      (unsigned long long)c->next_take,
			      (unsigned long long)(a->wave - CLIENT_WINDOW_MAX));
	if (!a->again && a->wave >= c->next_ask)
		c->next_ask = a->wave + 1;
	if (a->again) {
		c->again_next = a->wave;
		c->again_end = a->wave + 1;
	}
	if (a->wave > c->replay->newest)
		c->replay->newest = a->wave;
	client_answer(c, frame);
	c->again_next = c->again_end = 0;
	return c->replay->faulty ? errorf(e, "%s", c->replay->fault.text) : 0;
}

static int take_frame(struct evspace_client *c, const struct frame *frame, struct error *e)
{
	const Evspace__Frame *header = frame->header;

	switch (header->kind_case) {
	case EVSPACE__FRAME__KIND_HELLO:
		c->epoch_ns = header->hello->epoch_ns;
		return 0;
	case EVSPACE__FRAME__KIND_MAP:
		replay_map(c->replay, header->map);
		return 0;
	case EVSPACE__FRAME__KIND_OPEN:
		return take_open(c, header->open, e);
	case EVSPACE__FRAME__KIND_OPENED:
		if (!c->replay->resumes && !c->replay->stages) {
			errno = EPROTO;
			return errorf(e, "the archive does not say what it has");
		}
		client_opened(c, header->opened);
		return 0;
	case EVSPACE__FRAME__KIND_ANSWER:
		return take_answer(c, frame, e);
	default:
		return 0;
	}
}

/* Is it in one of the ranges, which ascend? */
static bool has_element(const struct archive_elements *elements, size_t n, uint32_t id)
{
	size_t from = 0, to = n;

	while (from < to) {
		const size_t mid = from + (to - from) / 2;

		if (elements[mid].from <= id)
			from = mid + 1;
		else
			to = mid;
	}
	/* those that are empty are in front */
	return from > 0 && id - elements[from - 1].from < elements[from - 1].count;
}

/* Is a chunk with these elements needed? */
static bool wants(void *arg, const struct archive_head *head,
		  const struct archive_elements *elements, size_t n)
{
	const struct evspace_client *c = arg;
	const struct client_stages *stages = c->replay->stages;
	int64_t ids = 0;

	(void)head;
	if (c->replay->lacks)
		return false;
	if (c->replay->resumes || !stages || !client_stages_select(stages, c))
		return true;
	for (size_t i = 0; i < n; i++)
		ids += elements[i].count;
	for (size_t i = 0; i < names_count(c->names); i++) {
		const uint32_t id = names_at(c->names, i)->id;

		if (!has_element(elements, n, id))
			continue;
		if (client_stages_want(stages, c, id))
			return true;
		ids--;
	}
	/* of which nobody knows the names */
	return ids > 0;
}

/* Chunks were passed over: no wave of theirs comes, and the numbers of elements that are not
 * selected begin anew. */
static void pass(struct evspace_client *c, uint64_t wave)
{
	struct client_replay *r = c->replay;

	r->skip_to = wave + 1;
	if (c->next_ask < r->skip_to)
		c->next_ask = r->skip_to;
	for (size_t i = 0; i < names_count(c->names); i++) {
		const struct name *name = names_at(c->names, i);

		if (name->level == LEVEL_ELEMENT &&
		    (r->lacks || !client_stages_want(r->stages, c, name->id)))
			delivery_forget(c->delivery, name->id);
	}
}

/* Returns 1, 0 at the end, or -1 with @e. */
static int step(struct evspace_client *c, struct error *e)
{
	struct client_replay *r = c->replay;
	struct frame frame;
	uint64_t n, wave;
	int rc = archive_reader_frame(r->reader, false, &frame, e);

	if (rc != 0)
		return rc > 0 && take_frame(c, &frame, e) < 0 ? -1 : rc;
	rc = archive_reader_chunk(r->reader, e);
	n = archive_reader_passed(r->reader, &wave);
	if (rc >= 0 && n != r->n_passed)
		pass(c, wave);
	r->n_passed = n;
	return rc;
}

/* ---- waves ---- */

/* Waves were passed over: nothing can have come for those behind the newest. */
static bool skip_passed(struct evspace_client *c)
{
	const struct client_replay *r = c->replay;

	if (c->next_take >= r->skip_to)
		return false;
	c->next_take = c->next_take > r->newest ? r->skip_to : c->next_take + 1;
	return true;
}

/* What was asked for last, and never answered, is not waited for. */
static bool skip_unanswered(struct evspace_client *c)
{
	if (c->next_take >= c->next_ask)
		return false;
	c->next_take++;
	return true;
}

enum evspace_failure client_replay_failure(void)
{
	return error_is_disk(errno) ? EVSPACE_DISK : EVSPACE_WRONG;
}

static int replay_fail(struct evspace_client *c, const struct error *e)
{
	c->failed = true;
	c->failure = client_replay_failure();
	errorf(&c->why, "%s", e->text);
	return -1;
}

/* Wait until the wave is due, or evspace_stop(). */
static void replay_wait(const struct evspace_client *c)
{
	struct client_replay *r = c->replay;
	struct pollfd wake = {.fd = c->wake_fd, .events = POLLIN};
	const struct evspace_wave *w = &c->taken.wave;
	uint64_t due_ns, now = clock_mono_ns();

	if (replay_speed <= 0 || r->resumes)
		return;
	if (!r->began_ns) {
		r->began_ns = now;
		r->first_ns = w->taken_ns;
	}
	due_ns = r->began_ns;
	if (w->taken_ns > r->first_ns)
		due_ns += (uint64_t)fmin(((double)w->taken_ns - (double)r->first_ns) / replay_speed,
					 1e18);
	while (!c->stopping && (now = clock_mono_ns()) < due_ns) {
		uint64_t ms = (due_ns - now) / 1000000u + 1;

		(void)poll(&wake, 1, ms < 1000 ? (int)ms : 1000);
	}
}

int client_replay_next(struct evspace_client *c)
{
	struct error e;
	int rc;

	if (c->failed)
		return -1;
	while (!c->stopping) {
		if (client_take(c)) {
			replay_wait(c);
			return 1;
		}
		if (skip_passed(c))
			continue;
		rc = step(c, &e);
		if (rc < 0)
			return replay_fail(c, &e);
		if (rc == 0 && (c->replay->resumes || !skip_unanswered(c)))
			return 0;
	}
	return 0;
}

/* ---- life ---- */

static struct client_replay *replay_new(struct evspace_client *c, const char *folder,
					struct error *e)
{
	struct client_replay *r = memory_new(1, sizeof(*r));

	r->reader = archive_reader_new(folder, e);
	if (r->reader) {
		r->before = archive_reader_bytes(r->reader);
		archive_reader_select(r->reader, wants, c);
		return r;
	}
	free(r);
	return NULL;
}

/* Those that have come before a map that has the view. */
static void waves_drop(struct evspace_client *c)
{
	for (;;) {
		if (!client_take(c) && !skip_passed(c))
			break;
	}
	c->taken.here = false;
	c->counts = (struct evspace_counts){0};
}

/* Go on with the archive of counts that is beside the events in @folder. */
static int counts_begin(struct evspace_client *c, const char *folder, struct error *e)
{
	char *beside = memory_format("%s/" CLIENT_REPLAY_COUNTS, folder);
	int rc = 0;

	client_replay_free(c->replay);
	c->replay = replay_new(c, beside, e);
	if (c->replay)
		c->replay->counts = true;
	else
		rc = errorf(e,
			    "the view %s reads counts, which this archive of events does not have "
			    "(there is no %s)",
			    c->view, beside);
	free(beside);
	return rc;
}

int client_replay_begin(struct evspace_client *c, const char *folder, struct error *e)
{
	struct evspace_connection *on = c->connection;
	int rc = 1;

	LIST_INSERT_HEAD(&on->scopes, c, entry);
	c->number = connection_number(on);
	on->failed = true;
	on->failure = EVSPACE_WRONG;
	errorf(&on->why, "%s is an archive, and nobody there can be asked", folder);
	c->replay = replay_new(c, folder, e);
	while (c->replay && (!c->was_open || c->replay->lacks) && (rc = step(c, e)) > 0) {
		if (c->replay->beside && counts_begin(c, folder, e) < 0)
			return -1;
		if (c->replay->lacks)
			waves_drop(c);
	}
	if (!c->replay || rc < 0)
		return -1;
	if (c->replay->lacks) {
		*e = c->replay->lack;
		errno = EINVAL;
		return -1;
	}
	if (!c->was_open) {
		errno = EPROTO;
		return errorf(e, "%s: nothing was written to the archive yet", folder);
	}
	return 0;
}

int client_replay_resume(struct evspace_client *c, const char *folder, struct archive_end *end,
			 uint64_t *torn, struct error *e)
{
	struct client_replay *r = replay_new(c, folder, e);
	int rc = -1;

	*end = (struct archive_end){0};
	*torn = 0;
	/* a new one */
	if (!r)
		return errno == ENOENT || errno == ENODATA ? 0 : -1;
	r->resumes = true;
	c->replay = r;
	while ((rc = client_replay_next(c)) > 0)
		;
	if (rc < 0)
		errorf(e, "%s%s", c->why.text,
		       c->failure == EVSPACE_DISK ? "; evspace archive check tells more" : "");
	errno = c->failure == EVSPACE_DISK ? EPROTO : EINVAL;
	*end = archive_reader_end(r->reader);
	*torn = archive_reader_torn(r->reader);
	c->replay = NULL;
	client_replay_free(r);
	c->opened = c->was_open = false;
	return rc;
}

void client_replay_stages(struct evspace_client *c, struct client_answer *to)
{
	struct client_replay *r = c->replay;

	if (r->resumes || client_stages_apply(r->stages, c, to, &r->fault) == 0)
		return;
	r->faulty = true;
}
