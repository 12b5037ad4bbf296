/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes snapshots: by the views `rates`, which knows all threads and communicators, and
 * `heartbeat`. */
#include "consumers/mir/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* The answer is there within a second, if hosts answer; what they wait for a connection comes on
 * top. */
#define DEADLINE_MS 900
#define PATIENCE_MS 5000

/* A view on its way. */
struct mir_look {
	struct evspace_client *client;
	bool come, ended;
};

static void on_news(struct evspace_client *client, enum evspace_news news, void *arg)
{
	struct mir_look *look = arg;

	(void)client;
	look->come |= news == EVSPACE_WAVE;
	look->ended |= news == EVSPACE_ENDED;
}

/* ---- names ---- */

/* Below each other, as in a tree: by their parts, numbers as numbers. */
static int names_compare(const char *a, const char *b)
{
	for (;;) {
		size_t n_a = strcspn(a, "/"), n_b = strcspn(b, "/");
		char part_a[256], part_b[256];
		int order;

		snprintf(part_a, sizeof(part_a), "%.*s", (int)n_a, a);
		snprintf(part_b, sizeof(part_b), "%.*s", (int)n_b, b);
		order = strverscmp(part_a, part_b);
		if (order != 0)
			return order;
		if (!a[n_a] || !b[n_b])
			return (a[n_a] != 0) - (b[n_b] != 0);
		a += n_a + 1;
		b += n_b + 1;
	}
}

static int threads_compare(const void *a, const void *b)
{
	return names_compare(((const struct mir_thread *)a)->name,
			     ((const struct mir_thread *)b)->name);
}

static int members_compare(const void *a, const void *b)
{
	const struct mir_member *x = a, *y = b;

	if (x->world != y->world)
		return y->world - x->world;
	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return names_compare(x->process, y->process);
}

/* The first @parts of a name; NULL: it has fewer. */
static char *name_part(const char *name, unsigned parts)
{
	const char *at = name;

	for (unsigned i = 0; i < parts; i++) {
		if (*at != '/')
			return NULL;
		at += 1 + strcspn(at + 1, "/");
	}
	return memory_copy_bytes(name, (size_t)(at - name));
}

static struct mir_thread *thread_add(struct snapshot *s, char *name)
{
	if (!name)
		return NULL;
	s->threads = memory_room(s->threads, s->n_threads, sizeof(*s->threads));
	s->threads[s->n_threads] = (struct mir_thread){.name = name};
	return &s->threads[s->n_threads++];
}

static void thread_fini(struct mir_thread *t)
{
	free(t->name);
	for (size_t i = 0; i < SNAPSHOT_FRAMES; i++)
		free(t->frames[i]);
}

/* Sort, and keep each once, with all frames. */
static void threads_settle(struct snapshot *s)
{
	size_t kept = 0;

	if (s->n_threads > 0)
		qsort(s->threads, s->n_threads, sizeof(*s->threads), threads_compare);
	for (size_t i = 0; i < s->n_threads; i++) {
		struct mir_thread *t = &s->threads[i], *last = &s->threads[kept ? kept - 1 : 0];

		if (kept == 0 || strcmp(last->name, t->name) != 0) {
			s->threads[kept++] = *t;
			continue;
		}
		for (size_t k = 0; k < SNAPSHOT_FRAMES; k++) {
			if (last->frames[k])
				continue;
			last->frames[k] = t->frames[k];
			t->frames[k] = NULL;
		}
		thread_fini(t);
	}
	s->n_threads = kept;
}

static void members_settle(struct snapshot *s)
{
	size_t kept = 0;

	if (s->n_members > 0)
		qsort(s->members, s->n_members, sizeof(*s->members), members_compare);
	for (size_t i = 0; i < s->n_members; i++) {
		if (kept > 0 && members_compare(&s->members[kept - 1], &s->members[i]) == 0)
			free(s->members[i].process);
		else
			s->members[kept++] = s->members[i];
	}
	s->n_members = kept;
}

/* ---- what waves say ---- */

static void missing_take(struct snapshot *s, const struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);

	for (size_t i = 0; i < w->n_missing; i++) {
		s->missing = memory_room(s->missing, s->n_missing, sizeof(*s->missing));
		s->missing[s->n_missing++] =
			memory_format("%s is %s", w->missing[i].leaf, w->missing[i].why);
	}
}

/* Windows and files have such numbers, too. */
static bool is_of_communicator(const struct evspace_class *c)
{
	return c->comm != 0 &&
	       (strcmp(c->channel, "p2p") == 0 || strcmp(c->channel, "collective") == 0 ||
		strcmp(c->channel, "comm") == 0);
}

static void classes_take(struct snapshot *s, struct evspace_client *client)
{
	struct evspace_class c;
	struct evspace_leaf leaf;

	while (evspace_class(client, &c)) {
		thread_add(s, name_part(c.name, 4));
		if (!is_of_communicator(&c))
			continue;
		s->members = memory_room(s->members, s->n_members, sizeof(*s->members));
		s->members[s->n_members++] = (struct mir_member){
			c.comm, evspace_is_world(client, c.comm), name_part(c.name, 3)};
	}
	for (size_t i = 0; evspace_leaf(client, i, &leaf); i++)
		thread_add(s, name_part(leaf.name, 2));
	missing_take(s, client);
}

static void frames_take(struct snapshot *s, struct evspace_client *client)
{
	struct evspace_event ev;

	while (evspace_event(client, &ev)) {
		bool region = ev.flags & EVSPACE_REGION;
		struct mir_thread *t;

		if (!region && !(ev.flags & EVSPACE_RUNNING))
			continue;
		t = thread_add(s, name_part(ev.name, 4));
		if (!t)
			continue;
		/* in no region, the call site stands for one */
		if (region) {
			t->frames[1] = memory_copy(evspace_label(client, ev.comm));
			if (ev.seq_or_tag != ev.comm)
				t->frames[2] = memory_copy(evspace_label(client, ev.seq_or_tag));
		} else {
			t->frames[0] = memory_copy(ev.op);
		}
	}
}

/* ---- all of it ---- */

static bool look_wait(struct mir_look *look, struct evspace_connection *connection)
{
	uint64_t until = clock_mono_ns() + (uint64_t)PATIENCE_MS * 1000000;

	while (!look->come && !look->ended) {
		uint64_t now = clock_mono_ns();

		if (now >= until ||
		    evspace_wait(connection, (int)((until - now) / 1000000) + 1) < 0)
			break;
	}
	return look->come && evspace_next(look->client, 0) == 1;
}

static int view_take(struct snapshot *s, struct evspace_connection *connection,
		     const struct evspace_options *look, const char *view,
		     void (*take)(struct snapshot *, struct evspace_client *),
		     struct mir_request *request)
{
	struct evspace_options options = {.run = look->run,
					  .view = view,
					  .deadline_ms = DEADLINE_MS,
					  .rate_hz = 1,
					  .wait = look->wait};
	struct mir_look l = {.client = NULL};
	int rc = 0;

	l.client = evspace_open_on(connection, &options, on_news, &l);
	if (look_wait(&l, connection)) {
		take(s, l.client);
	} else {
		const char *why = l.client ? evspace_why(l.client) : "";

		request_complain(request, &request->place, "no answer: %s",
				 why[0] ? why : "nobody has answered; evspace status says more");
		rc = -1;
	}
	evspace_close(l.client);
	return rc;
}

int snapshot_take(struct snapshot *snapshot, struct evspace_connection *connection,
		  const struct evspace_options *look, bool stack, struct mir_request *request)
{
	int rc;

	*snapshot = (struct snapshot){0};
	rc = view_take(snapshot, connection, look, "rates@thread", classes_take, request);
	if (rc == 0 && stack)
		rc = view_take(snapshot, connection, look, "heartbeat", frames_take, request);
	threads_settle(snapshot);
	members_settle(snapshot);
	return rc;
}

void snapshot_fini(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->n_threads; i++)
		thread_fini(&snapshot->threads[i]);
	free(snapshot->threads);
	for (size_t i = 0; i < snapshot->n_members; i++)
		free(snapshot->members[i].process);
	free(snapshot->members);
	for (size_t i = 0; i < snapshot->n_missing; i++)
		free(snapshot->missing[i]);
	free(snapshot->missing);
}
