/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies what elements of programs hold into messages: each file may be cut short meanwhile. */
#include "node-agent/control/element-report.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/pastset/pastset-clock.h"
#include "node-agent/segment/segment-read.h"
#include "pathmap/base/memory.h"

/* Bounds of an answer: bytes of tuples, and elements that are listed. */
#define ANSWER_BYTES	65536u
#define ANSWER_ELEMENTS 1024u

struct element_copying {
	const struct store_element *from;
	const Evspace__ElementAsk *ask;
	Evspace__ElementTuples *to;
};

/* From the first on that is wanted and still there. */
static void tuples_copy(const struct element_copying *c)
{
	const struct pastset *file = &c->from->file;
	const uint32_t bytes = file->fields.bytes;
	uint64_t number = c->ask->from > c->to->oldest ? c->ask->from : c->to->oldest, ticks;
	uint64_t most = ANSWER_BYTES / bytes, end;
	struct pastset_clock clock;

	most = c->ask->most < most ? c->ask->most : most;
	if (number >= c->to->written)
		return;
	end = c->to->written;
	most = most < end - number ? most : end - number;
	/* the writer may be overwriting the oldest; one that lies has nobody look for long */
	end = end - number > 2 * most ? number + 2 * most : end;
	c->to->tuples.data = memory_new(most, bytes);
	c->to->times_ns = memory_new(most, sizeof(*c->to->times_ns));
	pastset_clock_init(&clock, &file->said);
	for (; c->to->n_times_ns < most && number < end; number++) {
		if (pastset_read(file, number, &ticks, c->to->tuples.data + c->to->tuples.len)) {
			if (c->to->n_times_ns == 0)
				c->to->first = number;
			c->to->times_ns[c->to->n_times_ns++] =
				pastset_clock_ns(&clock, &file->said, ticks);
			c->to->tuples.len += bytes;
		} else if (c->to->n_times_ns > 0) {
			return;
		}
	}
}

static int element_say(void *arg)
{
	const struct element_copying *c = arg;

	c->to->written = pastset_head(&c->from->file);
	c->to->oldest = pastset_oldest(&c->from->file, c->to->written);
	if (c->ask->most > 0 && *c->ask->run && *c->ask->name)
		tuples_copy(c);
	return 0;
}

static Evspace__ElementTuples *element_report(const struct store_element *m,
					      const Evspace__ElementAsk *ask)
{
	Evspace__ElementTuples *to = memory_new(1, sizeof(*to));
	struct element_copying copying = {m, ask, to};

	evspace__element_tuples__init(to);
	to->run = memory_copy(m->run);
	to->name = memory_copy(m->file.said.name);
	to->fields = memory_copy(m->file.said.fields);
	to->program = memory_copy(m->file.said.program);
	to->host = memory_copy(m->file.said.host);
	to->born_ns = m->file.said.born_real_ns;
	to->serial = m->serial;
	to->capacity = m->file.said.capacity;
	to->wait_ms = m->file.said.wait_ms;
	to->big_endian = htobe16(1) == 1;
	if (segment_guarded(element_say, &copying) == 0)
		return to;
	evspace__element_tuples__free_unpacked(to, NULL);
	return NULL;
}

void element_reports_init(struct element_reports *r, const struct store *store,
			  const struct limits *limits, const Evspace__ElementAsk *ask)
{
	const struct store_element *m;

	TAILQ_FOREACH (m, &store->elements, link) {
		if ((*ask->run && strcmp(ask->run, m->run) != 0) ||
		    (*ask->name && strcmp(ask->name, m->file.said.name) != 0) ||
		    m->serial <= ask->after || !rights_within(limits, m->run))
			continue;
		if (r->n == ANSWER_ELEMENTS) {
			r->list[r->n - 1]->more = true;
			break;
		}
		r->list = memory_room(r->list, r->n, sizeof(*r->list));
		r->list[r->n] = element_report(m, ask);
		r->n += r->list[r->n] != NULL;
	}
}

void element_reports_fini(struct element_reports *r)
{
	for (size_t i = 0; i < r->n; i++)
		evspace__element_tuples__free_unpacked(r->list[i], NULL);
	free(r->list);
}

bool element_way(struct plan_place *all, const char *node)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->n_children; i++) {
		if (element_way(all->children[i], node))
			all->children[kept++] = all->children[i];
		else
			plan_way_free(all->children[i]);
	}
	all->n_children = kept;
	return kept > 0 || strcmp(all->node, node) == 0;
}
