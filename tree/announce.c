/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over what has come to be known since the last answer. */
#include "tree/announce.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/memory.h"

/* What an answer announces is at most this large, so that its header has room; the rest goes with
 * the next. */
#define ANNOUNCE_NAMES (4u << 20)
#define ANNOUNCE_COMMS (2u << 20)

_Static_assert(ANNOUNCE_NAMES + ANNOUNCE_COMMS < WIRE_HEADER_MAX, "announcements fit a header");

/* Bytes that the fields of an announcement take beside its text or members, at most. */
#define ANNOUNCE_EACH 40u

/* Returns how many bytes they take. */
static size_t fill_names(struct announce *an, const struct names *names, Evspace__Answer *a)
{
	size_t all = names_count(names) - an->names, count = 0, bytes = 0;

	for (; count < all && bytes < ANNOUNCE_NAMES; count++)
		bytes += ANNOUNCE_EACH + strlen(names_at(names, an->names + count)->text);
	if (count == 0)
		return 0;
	an->name_items = memory_new(count, sizeof(*an->name_items));
	an->name_list = memory_new(count, sizeof(*an->name_list));
	for (size_t i = 0; i < count; i++) {
		const struct name *n = names_at(names, an->names + i);
		Evspace__Name *m = &an->name_items[i];

		evspace__name__init(m);
		m->id = n->id;
		m->level = n->level;
		m->rank = n->rank;
		m->channel = n->channel;
		m->text = n->text;
		an->name_list[i] = m;
	}
	a->n_names = count;
	a->names = an->name_list;
	an->names += count;
	return bytes;
}

void announce_comm(Evspace__Comm *m, const struct name_comm *c)
{
	evspace__comm__init(m);
	m->id = c->id;
	m->parent = c->parent;
	m->size = c->size;
	m->world = c->world;
	m->n_members = c->members ? c->size : 0;
	m->members = c->members;
	m->label = c->label ? c->label : m->label;
}

/* @bytes are taken by names. */
static void fill_comms(struct announce *an, const struct names *names, size_t bytes,
		       Evspace__Answer *a)
{
	size_t all = names_comm_count(names) - an->comms, count = 0;

	for (; count < all; count++) {
		const struct name_comm *c = names_comm_at(names, an->comms + count);

		/* A world rank takes five bytes at most; one alone goes whatever its size. */
		bytes += ANNOUNCE_EACH + (c->members ? 5 * (size_t)c->size : 0) +
			 (c->label ? strlen(c->label) : 0);
		if ((count > 0 || a->n_names > 0) && bytes > ANNOUNCE_NAMES + ANNOUNCE_COMMS)
			break;
	}
	if (count == 0)
		return;
	an->comm_items = memory_new(count, sizeof(*an->comm_items));
	an->comm_list = memory_new(count, sizeof(*an->comm_list));
	for (size_t i = 0; i < count; i++) {
		const struct name_comm *c = names_comm_at(names, an->comms + i);
		Evspace__Comm *m = &an->comm_items[i];

		announce_comm(m, c);
		an->comm_list[i] = m;
	}
	a->n_comms = count;
	a->comms = an->comm_list;
	an->comms += count;
}

void announce_fill(struct announce *an, const struct names *names, Evspace__Answer *a)
{
	fill_comms(an, names, fill_names(an, names, a), a);
}

void announce_clear(struct announce *an)
{
	free(an->name_items);
	free(an->name_list);
	free(an->comm_items);
	free(an->comm_list);
	an->name_items = NULL;
	an->name_list = NULL;
	an->comm_items = NULL;
	an->comm_list = NULL;
}
