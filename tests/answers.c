/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a view's answer what the events say? Compares, exactly, what `evspace view --json` printed of
 *a run with what `evspace events --json` printed of the same:
 *
 *	answers sizes|durations|sent|received|nodes|counts|times|largest=K EVENTS VIEW
 *
 * Figures are compared over all names that they are under, so that any level will do.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "tree/data/bin.h"
#include "tree/stage/message.h"
#include "tree/data/op.h"

#define KEY 160

/* What has this key: by the events, and by the view. */
struct entry {
	char key[KEY];
	uint64_t n[2], sum[2];
	UT_hash_handle hh;
};

struct home {
	int32_t rank;
	char node[64];
	UT_hash_handle hh;
};

enum { EVENTS, VIEW };

static const char *what;
static unsigned most; /* of `largest` */
static struct entry *entries;
static struct home *homes;
static uint64_t *sizes[2];
static size_t n_sizes[2];

static void note(int side, const char *key, uint64_t n, uint64_t sum)
{
	struct entry *e;

	HASH_FIND_STR(entries, key, e);
	if (!e) {
		e = calloc(1, sizeof(*e));
		if (!e)
			abort();
		snprintf(e->key, sizeof(e->key), "%s", key);
		HASH_ADD_STR(entries, key, e);
	}
	e->n[side] += n;
	e->sum[side] += sum;
}

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static uint32_t comm(const json_t *object)
{
	return (uint32_t)strtoul(text(object, "comm"), NULL, 16);
}

static uint16_t flag(const json_t *object, const char *key, uint16_t bit)
{
	return json_is_true(json_object_get(object, key)) ? bit : 0;
}

static struct tuple tuple_of(const json_t *o)
{
	return (struct tuple){
		.start = number(o, "start_ns"),
		.end = number(o, "end_ns"),
		.bytes = number(o, "bytes"),
		.peer = json_is_null(json_object_get(o, "peer")) ? TUPLE_NO_PEER
								 : (int32_t)number(o, "peer"),
		.comm = comm(o),
		.op = op_find(text(o, "op")),
		.flags = (uint16_t)(flag(o, "running", TUPLE_RUNNING) |
				    flag(o, "completion", TUPLE_COMPLETION) |
				    flag(o, "failed", TUPLE_FAILED) |
				    flag(o, "cancelled", TUPLE_CANCELLED)),
	};
}

/* ---- the events ---- */

static const char *end_of(int32_t rank, char buf[64])
{
	struct home *home = NULL;

	if (strcmp(what, "nodes") == 0)
		HASH_FIND(hh, homes, &rank, sizeof(rank), home);
	snprintf(buf, 64, "rank%d", rank);
	return home ? home->node : buf;
}

static void note_message(const struct tuple *t, int32_t rank)
{
	enum message message = message_of(t);
	char key[KEY], from[64], to[64];

	if (message == MESSAGE_NONE ||
	    (message == MESSAGE_RECEIVED) != (strcmp(what, "received") == 0))
		return;
	snprintf(key, sizeof(key), "%s to %s",
		 end_of(message == MESSAGE_SENT ? rank : t->peer, from),
		 end_of(message == MESSAGE_SENT ? t->peer : rank, to));
	note(EVENTS, key, 1, t->bytes);
}

static void note_size(int side, uint64_t size)
{
	sizes[side] = realloc(sizes[side], (n_sizes[side] + 1) * sizeof(uint64_t));
	if (!sizes[side])
		abort();
	sizes[side][n_sizes[side]++] = size;
}

static void take_event(const json_t *o)
{
	struct tuple t = tuple_of(o);
	char key[KEY];

	if (strcmp(text(o, "type"), "tuple") != 0 || t.flags & TUPLE_RUNNING)
		return;
	if (strcmp(what, "sizes") == 0) {
		snprintf(key, sizeof(key), "%s on %x from %" PRIu64, text(o, "op"), t.comm,
			 bin_low(bin_number(t.bytes)));
		note(EVENTS, key, 1, t.bytes);
	} else if (strcmp(what, "durations") == 0) {
		/* how long exactly depends on how well the clock was known */
		if (!(t.flags & TUPLE_COMPLETION))
			note(EVENTS, text(o, "op"), 1, 0);
	} else if (strcmp(what, "counts") == 0) {
		note(EVENTS, text(o, "name"), 1, t.bytes);
	} else if (strcmp(what, "times") == 0) {
		note(EVENTS, text(o, "name"), 1, t.end - t.start);
	} else if (most) {
		note_size(EVENTS, t.bytes);
	} else {
		note_message(&t, (int32_t)json_integer_value(json_object_get(o, "rank")));
	}
}

static void take_home(const json_t *o)
{
	int32_t rank = (int32_t)json_integer_value(json_object_get(o, "rank"));
	const char *name = text(o, "name"), *end = strstr(name, "/rank");
	struct home *home;

	HASH_FIND(hh, homes, &rank, sizeof(rank), home);
	if (home || !end)
		return;
	home = calloc(1, sizeof(*home));
	if (!home)
		abort();
	home->rank = rank;
	snprintf(home->node, sizeof(home->node), "%.*s", (int)(end - name), name);
	HASH_ADD(hh, homes, rank, sizeof(home->rank), home);
}

/* ---- the view ---- */

/* Each wave has all sums so far. */
static void forget(void)
{
	for (struct entry *e = entries; e; e = e->hh.next)
		e->n[VIEW] = e->sum[VIEW] = 0;
}

static void take_record(const json_t *o)
{
	const char *type = text(o, "type");
	char key[KEY];

	if (strcmp(type, "wave") == 0) {
		forget();
	} else if (strcmp(type, "bin") == 0) {
		snprintf(key, sizeof(key), "%s on %x from %" PRIu64, text(o, "op"), comm(o),
			 number(o, "low"));
		if (strcmp(what, "durations") == 0)
			note(VIEW, text(o, "op"), number(o, "count"), 0);
		else
			note(VIEW, key, number(o, "count"), number(o, "sum"));
	} else if (strcmp(type, "cell") == 0) {
		snprintf(key, sizeof(key), "%s to %s", text(o, "from"), text(o, "to"));
		note(VIEW, key, number(o, "calls"), number(o, "bytes"));
	} else if (strcmp(type, "rate") == 0) {
		snprintf(key, sizeof(key), "%s/%s", text(o, "name"), text(o, "channel"));
		note(VIEW, key, number(o, "calls"),
		     number(o, strcmp(what, "times") == 0 ? "time_ns" : "bytes"));
	} else if (strcmp(type, "tuple") == 0) {
		note_size(VIEW, number(o, "bytes"));
	}
}

/* ---- both ---- */

static int each(const char *path, void (*take)(const json_t *o))
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	int lines = 0;

	if (!in) {
		perror(path);
		return -1;
	}
	while (getline(&line, &room, in) > 0) {
		json_t *o = json_loads(line, 0, NULL);

		if (!o) {
			printf("%s: no JSON: %s", path, line);
			lines = -1;
			break;
		}
		lines++;
		take(o);
		json_decref(o);
	}
	free(line);
	fclose(in);
	return lines;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

static int sizes_differ(void)
{
	for (int side = 0; side < 2; side++)
		if (n_sizes[side] > 1)
			qsort(sizes[side], n_sizes[side], sizeof(uint64_t), compare);
	for (unsigned i = 0; i < most; i++) {
		if (i < n_sizes[EVENTS] && i < n_sizes[VIEW] && sizes[EVENTS][i] == sizes[VIEW][i])
			continue;
		printf("the largest but %u differs, of %zu and %zu\n", i, n_sizes[EVENTS],
		       n_sizes[VIEW]);
		return 1;
	}
	return 0;
}

/* Of a time the clock of the moment makes ns, which is known ever better. */
static bool is_about(uint64_t a, uint64_t b)
{
	uint64_t apart = a > b ? a - b : b - a;

	return strcmp(what, "times") == 0 ? apart <= a / 100 : apart == 0;
}

static int entries_differ(void)
{
	unsigned faults = 0;

	for (struct entry *e = entries; e; e = e->hh.next) {
		if (e->n[EVENTS] == e->n[VIEW] && is_about(e->sum[EVENTS], e->sum[VIEW]))
			continue;
		if (faults++ < 20)
			printf("%s: %" PRIu64 " of %" PRIu64 " by the events, %" PRIu64
			       " of %" PRIu64 " by the view\n",
			       e->key, e->n[EVENTS], e->sum[EVENTS], e->n[VIEW], e->sum[VIEW]);
	}
	printf("%u keys compared\n", HASH_COUNT(entries));
	return faults > 0 || HASH_COUNT(entries) == 0;
}

int main(int argc, char **argv)
{
	struct entry *e, *next;
	struct home *home, *next_home;
	int result;

	if (argc != 4)
		return 2;
	what = argv[1];
	if (strncmp(what, "largest=", 8) == 0)
		most = (unsigned)strtoul(what + 8, NULL, 10);
	if (each(argv[2], take_home) < 0 || each(argv[2], take_event) < 0 ||
	    each(argv[3], take_record) < 0)
		return 2;
	result = most ? sizes_differ() : entries_differ();
	HASH_ITER(hh, entries, e, next)
	{
		HASH_DEL(entries, e);
		free(e);
	}
	HASH_ITER(hh, homes, home, next_home)
	{
		HASH_DEL(homes, home);
		free(home);
	}
	free(sizes[EVENTS]);
	free(sizes[VIEW]);
	return result;
}
