/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is every tuple accounted for? Compares what `evspace events --json` printed (on stdin) with the
 * counters in the segments of the run's folder: in each element no number comes twice or was never
 * written, and in each class of operations delivered + lost = written, where lost is what the
 * consumer said (an argument CLASS=LOST, or all=LOST for one consumer of all classes).
 */
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment.h"
#include "node-agent/segment/segment-read.h"

/* One element, known by its name without cluster and node: "rank0/t0/p2p". */
struct element {
	char name[96];
	char channel[16];
	uint64_t *numbers; /* delivered, as they came */
	size_t n, room;
	bool in_segment;
	uint64_t written; /* the head of the ring */
	uint64_t counted; /* the thread's counter of the class */
	UT_hash_handle hh;
};

struct total {
	uint64_t written, delivered;
};

static struct element *elements;
static int faults;

static struct element *element_get(const char *name)
{
	struct element *e;

	HASH_FIND_STR(elements, name, e);
	if (e)
		return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		abort();
	snprintf(e->name, sizeof(e->name), "%s", name);
	snprintf(e->channel, sizeof(e->channel), "%s",
		 strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
	HASH_ADD_STR(elements, name, e);
	return e;
}

static void fault(const char *name, const char *text, uint64_t a, uint64_t b)
{
	if (++faults <= 20)
		printf("%s: %s (%" PRIu64 ", %" PRIu64 ")\n", name, text, a, b);
}

/* ---- what was delivered ---- */

/* "/4W/w0/rank3/t0/p2p" without its first two parts. */
static const char *name_short(const char *name)
{
	for (int slashes = 0; *name; name++)
		if (*name == '/' && ++slashes == 3)
			return name + 1;
	return name;
}

static void take_tuple(struct element *e, uint64_t number)
{
	if (e->n == e->room) {
		e->room = e->room ? 2 * e->room : 1024;
		e->numbers = realloc(e->numbers, e->room * sizeof(*e->numbers));
		if (!e->numbers)
			abort();
	}
	e->numbers[e->n++] = number;
}

static void take_line(const char *line)
{
	json_error_t error;
	json_t *o = json_loads(line, 0, &error);
	const json_t *name = json_object_get(o, "name"), *number = json_object_get(o, "number");

	if (!o) {
		printf("no JSON: %s: %.200s\n", error.text, line);
		faults++;
	} else if (json_is_string(name) && json_is_integer(number)) {
		take_tuple(element_get(name_short(json_string_value(name))),
			   (uint64_t)json_integer_value(number));
	}
	json_decref(o);
}

/* ---- what was written ---- */

/* How many tuples the counts say that the thread has written to @channel. */
static uint64_t calls_recorded(const struct segment *s, uint32_t thread, unsigned channel)
{
	struct segment_sum sum = {.calls = 0};

	segment_channel_sum(s, thread, channel, &sum);
	return sum.calls - sum.skipped;
}

static void take_element(const struct segment *s, const struct segment_element *entry)
{
	const struct element_ring *ring = segment_ring(s, entry);
	const struct segment_thread *thread;
	char name[96];
	struct element *e;

	if (!ring)
		return;
	if (entry->thread == SEGMENT_NO_THREAD)
		snprintf(name, sizeof(name), "rank%d/overflow/overflow", s->header->rank);
	else
		snprintf(name, sizeof(name), "rank%d/t%u/%s", s->header->rank, entry->thread,
			 channel_name(entry->channel));
	e = element_get(name);
	e->in_segment = true;
	e->written = e->counted = element_head(ring);
	thread = entry->thread == SEGMENT_NO_THREAD ? NULL : segment_thread(s, entry->thread);
	if (thread && entry->channel < CHANNEL_MAX)
		e->counted = calls_recorded(s, entry->thread, entry->channel);
}

static int is_segment(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, SEGMENT_SUFFIX) == 0;
}

static int take_segments(const char *dir)
{
	struct dirent **names;
	int n = scandir(dir, &names, is_segment, alphasort);

	for (int i = 0; i < n; i++) {
		struct segment s;
		struct error e;

		if (segment_open(&s, dir, names[i]->d_name, &e) < 0) {
			printf("%s\n", e.text);
			faults++;
		} else {
			for (uint32_t k = 0; k < segment_elements(&s); k++)
				if (segment_element(&s, k))
					take_element(&s, segment_element(&s, k));
			segment_close(&s);
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return n;
}

/* ---- the comparison ---- */

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The counter of a process that was killed may be one behind, or ahead. */
static void element_check(struct element *e)
{
	uint64_t twice = 0;

	if (e->n)
		qsort(e->numbers, e->n, sizeof(*e->numbers), compare);
	for (size_t i = 1; i < e->n; i++)
		twice += e->numbers[i] == e->numbers[i - 1];
	if (twice)
		fault(e->name, "tuples delivered twice; of", twice, e->n);
	if (!e->in_segment)
		fault(e->name, "is in no segment; delivered", e->n, 0);
	else if (e->n && e->numbers[e->n - 1] >= e->written)
		fault(e->name, "a number that was not written; written", e->numbers[e->n - 1],
		      e->written);
	if (e->counted > e->written + 1 || e->written > e->counted + 1)
		fault(e->name, "the class's counter is not what was written", e->counted,
		      e->written);
}

static struct total total_of(const char *class)
{
	struct element *e, *next;
	struct total t = {0, 0};

	HASH_ITER(hh, elements, e, next)
	{
		if (strcmp(class, "all") != 0 && strcmp(class, e->channel) != 0)
			continue;
		t.written += e->written;
		t.delivered += e->n;
	}
	return t;
}

/* @arg is CLASS=LOST. */
static void class_check(char *arg)
{
	char *lost = strchr(arg, '=');
	uint64_t n;
	struct total t;

	if (!lost) {
		fault(arg, "is not CLASS=LOST", 0, 0);
		return;
	}
	*lost++ = '\0';
	n = strtoull(lost, NULL, 10);
	t = total_of(arg);
	printf("%s: %" PRIu64 " written, %" PRIu64 " delivered, %" PRIu64 " lost\n", arg, t.written,
	       t.delivered, n);
	if (t.delivered + n != t.written)
		fault(arg, "delivered + lost is not what was written", t.delivered + n, t.written);
}

int main(int argc, char **argv)
{
	struct element *e, *next;
	char *line = NULL;
	size_t room = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: account RUN-FOLDER all=LOST|CLASS=LOST... <EVENTS.json\n");
		return 2;
	}
	while (getline(&line, &room, stdin) > 0)
		take_line(line);
	free(line);
	if (take_segments(argv[1]) <= 0)
		fault(argv[1], "holds no segments", 0, 0);
	for (int i = 2; i < argc; i++)
		class_check(argv[i]);
	HASH_ITER(hh, elements, e, next)
	{
		element_check(e);
		HASH_DEL(elements, e);
		free(e->numbers);
		free(e);
	}
	if (faults)
		printf("%d faults\n", faults);
	return faults > 0;
}
