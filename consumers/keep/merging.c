/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives what archives name a name of the merged one: the same for the same, whichever archive it is
 * in. */
#include "consumers/keep/merging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-replay.h"
#include "consumers/client/delivery.h"
#include "consumers/client/namesakes.h"
#include "pathmap/base/memory.h"
#include "tree/data/tellers.h"

/* "/A/a0/…" of the run solver-2 is "/solver-2.A/a0/…", if there are several. */
static char *text_of(const struct merging *m, const struct merged_archive *s, const char *text)
{
	const char *rest = *text == '/' ? text + 1 : text;

	if (!m->runs)
		return memory_copy(text);
	return memory_format("/%s%s%s", s->run, *rest == '/' ? "" : ".", rest);
}

/* What stays of a name when its node moves to another cluster: "/a0/…", behind its run. Within a
 * run each node has a name of its own. */
static char *key_of(const struct merging *m, const struct merged_archive *s, const char *text)
{
	const char *node = *text ? strchr(text + 1, '/') : NULL;

	return memory_format("%s%s", m->runs ? s->run : "", node ? node : text);
}

uint32_t merging_comm(const struct merged_archive *s, uint32_t comm)
{
	uint32_t id;
	char *text;

	if (!s->other || comm == 0)
		return comm;
	text = memory_format("%08x %s", comm, s->run);
	id = label_id(text, strlen(text));
	free(text);
	return id;
}

struct merged_host *merging_host(struct merging *m, const struct merged_archive *s, uint32_t index)
{
	struct client_replayed r = client_replayed(s->client);
	const struct delivery_leaf *leaf = delivery_leaf_at(r.delivery, index);
	const char *name = leaf ? leaf->name : "/?/?";
	struct merged_host *h;
	char *key = key_of(m, s, name);

	HASH_FIND_STR(m->hosts, key, h);
	if (!h) {
		h = memory_new(1, sizeof(*h));
		h->key = key;
		h->text = text_of(m, s, name);
		m->by_index = memory_room(m->by_index, m->n_hosts, sizeof(struct merged_host *));
		m->by_index[m->n_hosts] = h;
		h->index = ++m->n_hosts;
		h->part.clock = CLOCK_LINE_NS;
		batch_init(&h->runs);
		HASH_ADD_KEYPTR(hh, m->hosts, h->key, strlen(h->key), h);
	} else {
		free(key);
	}
	return h;
}

/* Its id is one of the host @h, if it has none. */
static void element_learn(struct merging *m, struct merged_element *of, const struct name *name,
			  char *text, struct merged_host *h)
{
	if (!of->id) {
		of->leaf = h->index;
		of->id = name_id(h->index, h->names++);
	}
	if (h->names <= NAME_LOCAL_MAX && h->index <= NAME_PLACE_MAX &&
	    names_hear(m->names,
		       &(struct name){of->id, name->rank, name->level, name->channel, text}) == 0)
		return;
	errno = ENOBUFS;
	m->rc = errorf(m->e, "there are too many elements for one archive");
}

/* The element of a run in the archive; @h: the host that it was read on. */
struct merged_element *merging_element(struct merging *m, struct merged_archive *s, uint32_t id,
				       struct merged_host *h)
{
	const struct name *name = names_find(client_replayed(s->client).names, id);
	struct merged_known *known;
	char *text, *key;

	if (!name)
		return NULL;
	HASH_FIND(hh, s->known, &id, sizeof(id), known);
	text = text_of(m, s, name->text);
	if (known && strcmp(known->text, text) == 0) {
		free(text);
		known->of = merged_self(known->of);
		return known->of;
	}
	key = key_of(m, s, name->text);
	if (known && namesakes_renamed(known->text, text))
		merged_call(&m->merged, known->of, key);
	if (!known) {
		known = memory_new(1, sizeof(*known));
		known->id = id;
		HASH_ADD(hh, s->known, id, sizeof(id), known);
	}
	known->of = merged_get(&m->merged, key);
	free(key);
	free(known->text);
	known->text = text;
	element_learn(m, known->of, name, text, h);
	return known->of;
}

void merging_comms(struct merging *m, const struct merged_archive *s)
{
	const struct names *names = client_replayed(s->client).names;

	m->talk = (struct names_talk){
		.teller = tellers_number(names_tellers(m->names), s->run),
		.comms = NAMES_COMM_MAX,
		.members = NAMES_MEMBERS_MAX,
		.moves = NAMES_MEMBERS_MAX,
	};
	for (size_t i = 0; i < names_comm_count(names); i++) {
		struct name_comm comm = *names_comm_at(names, i);

		if (!comm.label) {
			comm.id = merging_comm(s, comm.id);
			comm.parent = merging_comm(s, comm.parent);
		}
		names_comm_hear(m->names, &m->talk, &comm);
	}
}
