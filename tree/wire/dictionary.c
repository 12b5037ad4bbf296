/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects names and communicators that were learnt since the last answer. */
#include "tree/wire/dictionary.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/names-comm.h"

/* Most bytes that an answer announces: more would delay its receiver. */
#define DICTIONARY_NAMES (1u << 20)
#define DICTIONARY_ALL	 (2u << 20)
/* Most communicators of an answer: the receiver may have to compare each with many. */
#define DICTIONARY_COMMS 4096u

/* Bounds of the bytes of an announcement besides its text or members, and of an answer besides its
 * lists. */
#define DICTIONARY_EACH	 40u
#define DICTIONARY_FRAME 256u

static size_t name_bytes(const char *text)
{
	return DICTIONARY_EACH + strlen(text);
}

/* a world rank takes five bytes at most */
static size_t comm_bytes(size_t members, const char *label)
{
	return DICTIONARY_EACH + 5 * members + (label ? strlen(label) : 0);
}

/* Returns how many bytes of @room they take. */
static size_t fill_names(struct dictionary *an, const struct names *names, size_t room,
			 Evspace__Answer *a)
{
	size_t all = names_count(names) - an->names, count = 0, bytes = 0;

	room = room < DICTIONARY_NAMES ? room : DICTIONARY_NAMES;
	for (; count < all; count++) {
		size_t more = name_bytes(names_at(names, an->names + count)->text);

		if (more > room - bytes)
			break;
		bytes += more;
	}
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
		m->born = n->born;
		an->name_list[i] = m;
	}
	a->n_names = count;
	a->names = an->name_list;
	an->names += count;
	return bytes;
}

void dictionary_comm(Evspace__Comm *m, const struct name_comm *c)
{
	evspace__comm__init(m);
	m->id = c->id;
	m->parent = c->parent;
	m->size = c->size;
	m->world = c->world;
	m->n_members = c->members ? c->size : 0;
	m->members = c->members;
	m->label = c->label ? c->label : m->label;
	m->disputed = c->disputed;
}

void dictionary_take(Evspace__Comm *const *comms, size_t n, struct names *names,
		     struct names_talk *talk)
{
	for (size_t i = 0; i < n; i++) {
		const Evspace__Comm *m = comms[i];
		const struct name_comm c = {
			.id = m->id,
			.parent = m->parent,
			.size = m->size,
			.members = m->n_members == m->size ? m->members : NULL,
			.world = m->world,
			.label = m->label[0] ? m->label : NULL,
			.disputed = m->disputed,
		};

		names_comm_hear(names, talk, &c);
	}
}

/* Names have taken @bytes of @room already. */
static void fill_comms(struct dictionary *an, struct names *names, size_t room, size_t bytes,
		       Evspace__Answer *a)
{
	size_t all = names_comm_count(names) - an->comms, count = 0;

	for (; count < all && count < DICTIONARY_COMMS; count++) {
		const struct name_comm *c = names_comm_at(names, an->comms + count);
		bool alone = count == 0 && a->n_names == 0;

		bytes += comm_bytes(c->members ? c->size : 0, c->label);
		/* the first one is sent whatever its size */
		if (bytes > room || (!alone && bytes > DICTIONARY_ALL))
			break;
	}
	if (count == 0)
		return;
	an->comm_items = memory_new(count, sizeof(*an->comm_items));
	an->comm_list = memory_new(count, sizeof(*an->comm_list));
	for (size_t i = 0; i < count; i++) {
		const struct name_comm *c = names_comm_at(names, an->comms + i);
		Evspace__Comm *m = &an->comm_items[i];

		dictionary_comm(m, c);
		an->comm_list[i] = m;
	}
	a->n_comms = count;
	a->comms = an->comm_list;
	an->comms += count;
	names_comm_said(names, an->comms);
}

void dictionary_fill(struct dictionary *an, struct names *names, Evspace__Answer *a)
{
	size_t taken, room;

	if (an->names == names_count(names) && an->comms == names_comm_count(names))
		return;
	taken = evspace__answer__get_packed_size(a) + DICTIONARY_FRAME;
	room = taken < WIRE_HEADER_MAX ? WIRE_HEADER_MAX - taken : 0;
	fill_comms(an, names, room, fill_names(an, names, room, a), a);
}

void dictionary_clear(struct dictionary *an)
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

int dictionary_check(const Evspace__Answer *answer, struct error *e)
{
	size_t bytes = 0;

	for (size_t i = 0; i < answer->n_names && bytes <= DICTIONARY_NAMES; i++)
		bytes += name_bytes(answer->names[i]->text);
	if (bytes <= DICTIONARY_NAMES && answer->n_comms <= DICTIONARY_COMMS) {
		for (size_t i = 0; i < answer->n_comms && bytes <= DICTIONARY_ALL; i++)
			bytes += comm_bytes(answer->comms[i]->n_members, answer->comms[i]->label);
		if (bytes <= DICTIONARY_ALL || answer->n_names + answer->n_comms == 1)
			return 0;
	}
	errno = EPROTO;
	return errorf(e, "refused: its answer announces %zu names and %zu communicators at once",
		      answer->n_names, answer->n_comms);
}
