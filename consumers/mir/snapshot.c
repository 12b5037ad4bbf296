/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes snapshots: by the views `rates`, which knows all threads and communicators, and
 * `heartbeat`, and by what agents say of processes, with the stacks that they read. */
#include "consumers/mir/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/mir/stack-ask.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* The answer is there within a second, if hosts answer; what they wait for a connection comes on
 * top. */
#define DEADLINE_MS 900
#define PATIENCE_NS UINT64_C(5000000000)

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

struct mir_thread *snapshot_thread(struct snapshot *s, char *name)
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
	for (size_t i = 0; i < t->n_stack; i++)
		free(t->stack[i]);
	free(t->stack);
	free(t->title);
}

/* What another part says of the same thread. */
static void thread_join(struct mir_thread *to, struct mir_thread *from)
{
	for (size_t k = 0; k < SNAPSHOT_FRAMES; k++) {
		if (to->frames[k])
			continue;
		to->frames[k] = from->frames[k];
		from->frames[k] = NULL;
	}
	if (!to->stack) {
		to->stack = from->stack;
		to->n_stack = from->n_stack;
		from->stack = NULL;
		from->n_stack = 0;
	}
}

static int texts_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Is it, or the process that it is of, one that has ended while others go on? */
static bool has_gone(const struct snapshot *s, const char *name)
{
	char *process = s->lives && s->n_gone > 0 ? name_part(name, 3) : NULL;
	bool gone = process && bsearch(&process, s->gone, s->n_gone, sizeof(char *), texts_compare);

	free(process);
	return gone;
}

static void gone_settle(struct snapshot *s)
{
	size_t kept = 0;

	if (s->n_gone > 0)
		qsort(s->gone, s->n_gone, sizeof(char *), texts_compare);
	for (size_t i = 0; i < s->n_threads; i++) {
		if (has_gone(s, s->threads[i].name))
			thread_fini(&s->threads[i]);
		else
			s->threads[kept++] = s->threads[i];
	}
	s->n_threads = kept;
	kept = 0;
	for (size_t i = 0; i < s->n_members; i++) {
		if (has_gone(s, s->members[i].process))
			free(s->members[i].process);
		else
			s->members[kept++] = s->members[i];
	}
	s->n_members = kept;
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
		thread_join(last, t);
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

void snapshot_miss(struct mir_missing **list, size_t *n, const char *what, const char *why)
{
	*list = memory_room(*list, *n, sizeof(**list));
	(*list)[(*n)++] = (struct mir_missing){memory_copy(what), memory_copy(why)};
}

static void missing_take(struct snapshot *s, const struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);

	for (size_t i = 0; i < w->n_missing; i++)
		snapshot_miss(&s->missing, &s->n_missing, w->missing[i].leaf, w->missing[i].why);
	s->ended = w->processes == 0 && w->n_missing == 0;
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
		snapshot_thread(s, name_part(c.name, 4));
		if (!is_of_communicator(&c))
			continue;
		s->members = memory_room(s->members, s->n_members, sizeof(*s->members));
		s->members[s->n_members++] = (struct mir_member){
			c.comm, evspace_is_world(client, c.comm), name_part(c.name, 3)};
	}
	for (size_t i = 0; evspace_leaf(client, i, &leaf); i++)
		snapshot_thread(s, name_part(leaf.name, 2));
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
		t = snapshot_thread(s, name_part(ev.name, 4));
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

static void look_begin(struct snapshots *s, struct mir_look *look, const char *view)
{
	struct evspace_options options = {.run = s->options->run,
					  .view = view,
					  .deadline_ms = DEADLINE_MS,
					  .rate_hz = 1,
					  .wait = s->options->wait};

	*look = (struct mir_look){.client = NULL};
	look->client = evspace_open_on(s->connection, &options, on_news, look);
}

static void look_end(struct mir_look *look)
{
	evspace_close(look->client);
	look->client = NULL;
}

static void look_take(struct snapshot *s, struct mir_look *look,
		      void (*take)(struct snapshot *, struct evspace_client *))
{
	if (s->why || !look->client)
		return;
	if (look->come && evspace_next(look->client, 0) == 1) {
		take(s, look->client);
		return;
	}
	s->why = memory_copy(evspace_why(look->client));
	if (s->why[0])
		return;
	free(s->why);
	s->why = memory_copy("nobody has answered; evspace status says more");
}

static void missing_free(struct mir_missing *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].host);
		free(list[i].why);
	}
	free(list);
}

static void snapshot_fini(struct snapshot *s)
{
	for (size_t i = 0; i < s->n_threads; i++)
		thread_fini(&s->threads[i]);
	free(s->threads);
	for (size_t i = 0; i < s->n_members; i++)
		free(s->members[i].process);
	free(s->members);
	for (size_t i = 0; i < s->n_gone; i++)
		free(s->gone[i]);
	free(s->gone);
	missing_free(s->missing, s->n_missing);
	missing_free(s->unread, s->n_unread);
	free(s->why);
	*s = (struct snapshot){0};
}

static bool looks_come(const struct snapshots *s)
{
	for (size_t i = 0; i < 2; i++)
		if (s->looks[i].client && !s->looks[i].come && !s->looks[i].ended)
			return false;
	return s->stacks == NULL;
}

bool snapshots_run(struct snapshots *snapshots)
{
	struct snapshot *s = &snapshots->coming;

	if (s->since_ns == 0)
		return false;
	if (!looks_come(snapshots) && clock_mono_ns() - s->since_ns < PATIENCE_NS)
		return true;
	look_take(s, &snapshots->looks[0], classes_take);
	look_take(s, &snapshots->looks[1], frames_take);
	look_end(&snapshots->looks[0]);
	look_end(&snapshots->looks[1]);
	stack_ask_end(snapshots);
	gone_settle(s);
	threads_settle(s);
	members_settle(s);
	snapshot_fini(&snapshots->newest);
	snapshots->newest = *s;
	*s = (struct snapshot){0};
	return false;
}

const struct snapshot *snapshots_since(struct snapshots *snapshots, uint64_t since_ns,
				       unsigned depth)
{
	const struct snapshot *newest = &snapshots->newest;

	if (newest->since_ns >= since_ns && newest->depth >= depth)
		return newest;
	if (snapshots->coming.since_ns > 0)
		return NULL;
	snapshots->coming = (struct snapshot){.since_ns = clock_mono_ns(), .depth = depth};
	look_begin(snapshots, &snapshots->looks[0], "rates@thread");
	if (depth > 0)
		look_begin(snapshots, &snapshots->looks[1], "heartbeat");
	stack_ask(snapshots, depth, DEADLINE_MS);
	return NULL;
}

void snapshots_fini(struct snapshots *snapshots)
{
	look_end(&snapshots->looks[0]);
	look_end(&snapshots->looks[1]);
	stack_ask_end(snapshots);
	snapshot_fini(&snapshots->newest);
	snapshot_fini(&snapshots->coming);
}
