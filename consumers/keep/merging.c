/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives what archives name a name of the merged one: the same for the same, whichever archive it is
 * in. */
#include "consumers/keep/merging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/archive/archive-writer.h"
#include "consumers/cli/options.h"
#include "consumers/client/client-replay.h"
#include "consumers/client/delivery.h"
#include "consumers/client/evspace-client.h"
#include "consumers/client/namesakes.h"
#include "pathmap/base/memory.h"
#include "tree/data/columns-batch.h"
#include "tree/data/op.h"
#include "tree/data/tellers.h"

/* A chunk has so much at most: what is read by element reads chunks. */
#define SYNC_BYTES ((size_t)1 << 20)
#define SYNC_WAVES 24u

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

	/* a run of a forged archive may be called anything */
	return memory_format("%s\n%s", m->runs ? s->run : "", node ? node : text);
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

struct merged_host *merging_part(struct merging *m, const struct merged_archive *s,
				 const struct run_view *view)
{
	struct merged_host *h = merging_host(m, s, view->run->element);
	const struct part *part = view->part;
	struct part *to = &h->part;

	to->elements = part->elements;
	to->cpu_us = part->cpu_us;
	to->written = part->written;
	to->cost_ns = part->cost_ns;
	to->processes = part->processes;
	to->unreadable = part->unreadable;
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
	    names_hear(m->names, &(struct name){of->id, name->rank, name->level, name->channel,
						text, name->born}) == 0)
		return;
	errno = ENOBUFS;
	m->rc = errorf(m->e, "there are too many elements for one archive");
}

/* Is it of the same execution as what came before? Of a program's own element, tuples tell. */
static void execution_check(struct merging *m, const struct merged_archive *s,
			    struct merged_element *of, const struct name *name)
{
	if (name->channel >= CHANNEL_PROGRAMS || !name->born)
		return;
	if (!of->born)
		of->born = name->born;
	errno = EINVAL;
	if (of->born != name->born)
		m->rc = errorf(m->e,
			       "%s: %s is of another execution of that run than what came before; "
			       "merge archives of one execution, or of runs with different names",
			       s->folder, name->text);
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
		execution_check(m, s, known->of, name);
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
	execution_check(m, s, known->of, name);
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

/* ---- reading ---- */

int merging_open(struct merging *m, struct merged_archive *s)
{
	char *address = memory_format(CLIENT_REPLAY "%s", s->folder), why[512];
	const struct evspace_options look = {.connect = address, .view = m->view};
	enum evspace_failure failure;

	s->client = evspace_open(&look, &failure, why, sizeof(why));
	free(address);
	if (!s->client && strncmp(why, s->folder, strlen(s->folder)) == 0)
		return errorf(m->e, "%s", why);
	if (!s->client)
		return errorf(m->e, "%s: %s", s->folder, why);
	if (!s->run)
		s->run = memory_copy(evspace_run(s->client));
	return 0;
}

int merging_next(struct merging *m, struct merged_archive *s)
{
	int rc = options_interrupted() ? -1 : evspace_next(s->client, -1);

	if (options_interrupted())
		return errorf(m->e, "interrupted");
	return rc < 0 ? errorf(m->e, "%s", evspace_why(s->client)) : rc;
}

void merging_close(struct merged_archive *s)
{
	struct merged_known *known, *next;

	HASH_ITER(hh, s->known, known, next)
	{
		HASH_DEL(s->known, known);
		free(known->text);
		free(known);
	}
	evspace_close(s->client);
	s->client = NULL;
}

/* ---- writing ---- */

void merging_begin(struct merging *m)
{
	Evspace__Hello hello = EVSPACE__HELLO__INIT;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__Opened opened = EVSPACE__OPENED__INIT;
	Evspace__Leaf *leaves = memory_new(m->n_hosts + 1, sizeof(*leaves));
	Evspace__Leaf **list = memory_new(m->n_hosts + 1, sizeof(*list));
	const struct archive_note nothing = {0};

	hello.version = hello.oldest = WIRE_VERSION;
	hello.tuple_layout = TUPLE_LAYOUT;
	hello.epoch_ns = m->epoch_ns;
	hello.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	/* without an identity: nobody can go on with it */
	open.run = opened.run = m->run;
	open.view = (char *)(uintptr_t)m->view;
	open.backlog = m->whole;
	opened.reading = m->reading;
	opened.leaves = list;
	opened.n_leaves = m->n_hosts;
	for (uint32_t i = 0; i < m->n_hosts; i++) {
		list[i] = &leaves[i];
		evspace__leaf__init(&leaves[i]);
		leaves[i].index = m->by_index[i]->index;
		leaves[i].name = m->by_index[i]->text;
	}
	archive_writer_add(m->to, &WIRE_FRAME(HELLO, hello, &hello), NULL, &nothing);
	archive_writer_map(m->to, &m->map);
	archive_writer_add(m->to, &WIRE_FRAME(OPEN, open, &open), NULL, &nothing);
	archive_writer_add(m->to, &WIRE_FRAME(OPENED, opened, &opened), NULL, &nothing);
	archive_writer_names(m->to, m->names);
	free(list);
	free(leaves);
}

static void host_emit(struct merging *m, struct merged_host *h, struct batch *body)
{
	struct part *part = batch_add(body, RUN_PART, h->index, m->wave, 1, 0);

	*part = h->part;
	batch_link(body, &h->runs);
	h->part.read = h->part.lost = h->part.discarded = 0;
	h->lined = false;
}

void merging_wave(struct merging *m, bool last)
{
	Evspace__Answer answer = EVSPACE__ANSWER__INIT;
	struct archive_note note = {.wave = ++m->wave, .taken_ns = m->taken_ns};
	struct batch body;
	struct merged_host *h;

	batch_init(&body);
	for (h = m->hosts; h; h = h->hh.next) {
		note.tuples += h->part.read;
		note.lost += h->part.lost;
		note.discarded += h->part.discarded;
		if (last && h->owes)
			continue;
		answer.leaves++;
		host_emit(m, h, &body);
	}
	answer.wave = m->wave;
	answer.sent_ns = (uint64_t)m->taken_ns - (uint64_t)m->epoch_ns;
	m->tuples += note.tuples;
	columns_batch_pack(&body);
	archive_writer_add(m->to, &WIRE_FRAME(ANSWER, answer, &answer), &body, &note);
	batch_fini(&body);
	m->bytes = 0;
	if (m->rc == 0 &&
	    (last || m->wave % SYNC_WAVES == 1 || archive_writer_waiting(m->to) >= SYNC_BYTES))
		m->rc = archive_writer_sync(m->to, m->e);
}

/* ---- the end ---- */

void merging_fini(struct merging *m)
{
	struct merged_host *h, *next;

	for (unsigned i = 0; i < m->n; i++) {
		merging_close(&m->sources[i]);
		free(m->sources[i].run);
	}
	HASH_ITER(hh, m->hosts, h, next)
	{
		HASH_DEL(m->hosts, h);
		batch_fini(&h->runs);
		free(h->text);
		free(h->key);
		free(h);
	}
	free(m->by_index);
	free(m->sources);
	merged_fini(&m->merged);
	texts_fini(&m->map);
	names_free(m->names);
	archive_writer_free(m->to);
}
