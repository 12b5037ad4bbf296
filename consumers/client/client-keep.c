/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes each frame that comes to an archive as it came, so that reading it leads a client to where
 * this one was. */
#include "consumers/client/client-keep.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/archive/archive-writer.h"
#include "consumers/client/client-replay.h"
#include "consumers/client/client.h"
#include "pathmap/base/memory.h"
#include "pathmap/texts.h"
#include "tree/data/clock.h"
#include "tree/data/columns-batch.h"

/* Synced after so many waves (leaves remember 63), so many bytes, or so long. */
#define SYNC_WAVES 24u
#define SYNC_BYTES ((size_t)1 << 20)
#define SYNC_NS	   UINT64_C(1000000000)

/* How often counts are kept. */
#define COUNTS_HZ 1.0

struct client_keep {
	char *folder;
	struct archive_writer *writer;
	struct pathmap_texts map;
	bool remapped;		       /* another one is in effect */
	struct evspace_client *counts; /* whose archive is within this one; NULL: none yet */
	bool counts_tried;
	/* what is on the disk, as it is said to agents */
	uint64_t have;
	Evspace__Owing *owing, **list;
	size_t n_owing;
	uint64_t synced_ns;
	unsigned waves; /* since then */
	uint64_t resumed, torn;
	unsigned named;	 /* bits of enum intervals_known, of the answer that is taken */
	bool is_its_own; /* of the execution that is in the archive something came, or it is new */
	Evspace__Opened *opened;  /* the last one; NULL: none */
	uint64_t turned_ns;	  /* when the present file was begun */
	uint64_t tuples, waiting; /* on the disk; not yet */
	struct archive_bound bound;
	bool failed;
	struct error fault;
};

/* With a bound it goes file by file, an eighth of it each, but not too small. */
#define FILE_PARTS 8u
#define FILE_LEAST ((uint64_t)64 << 10)
#define FILE_MOST  ((uint64_t)64 << 20)

static uint64_t file_most(const struct archive_bound *bound)
{
	uint64_t most = bound->bytes ? bound->bytes / FILE_PARTS : FILE_MOST;

	return most < FILE_LEAST ? FILE_LEAST : most > FILE_MOST ? FILE_MOST : most;
}

/* ---- what is on the disk ---- */

static void stand(struct client_keep *k, const struct evspace_client *c)
{
	free(k->owing);
	free(k->list);
	k->owing = memory_new(delivery_owed(c->delivery) + 1, sizeof(*k->owing));
	k->list = memory_new(delivery_owed(c->delivery) + 1, sizeof(*k->list));
	k->n_owing = delivery_owing(c->delivery, k->owing);
	for (size_t i = 0; i < k->n_owing; i++)
		k->list[i] = &k->owing[i];
	k->have = c->next_take - 1;
	k->synced_ns = clock_mono_ns();
	k->tuples += k->waiting;
	k->waiting = 0;
	k->waves = 0;
}

void client_keep_ask(const struct client_keep *k, Evspace__Ask *ask)
{
	ask->have = k->have;
	ask->n_owing = k->n_owing;
	ask->owing = k->list;
}

/* All that the files before it have said. */
static void snapshot(struct evspace_client *c)
{
	client_keep_opened(c, c->keep->opened);
	archive_writer_names(c->keep->writer, c->names);
}

/* Returns 0, or -1 with the fault. */
static int turn(struct evspace_client *c)
{
	struct client_keep *k = c->keep;
	uint64_t most = file_most(&k->bound);
	int turned;

	if (!k->opened || (!k->bound.bytes && !k->bound.ns))
		return 0;
	if (k->bound.ns && clock_mono_ns() - k->turned_ns >= k->bound.ns / FILE_PARTS)
		most = 1;
	turned = archive_writer_turn(k->writer, most, &k->fault);
	if (turned <= 0)
		return turned;
	k->turned_ns = clock_mono_ns();
	snapshot(c);
	if (archive_writer_sync(k->writer, &k->fault) < 0)
		return -1;
	archive_writer_drop(k->writer, &k->bound);
	return 0;
}

void client_keep_bound(struct evspace_client *c, const struct archive_bound *bound)
{
	c->keep->bound = *bound;
	c->keep->turned_ns = clock_mono_ns();
}

void client_keep_sync(struct evspace_client *c)
{
	struct client_keep *k = c->keep;
	struct error why;

	if (k->failed)
		return;
	if (archive_writer_sync(k->writer, &k->fault) == 0 && turn(c) == 0) {
		stand(k, c);
		return;
	}
	k->failed = true;
	errorf(&why,
	       "%s; what came before is whole and can be read, and this goes on behind it when it "
	       "is started again, with room",
	       k->fault.text);
	k->fault = why;
	client_fail(c, EVSPACE_DISK, why.text);
}

/* ---- life ---- */

struct client_keep *client_keep_new(struct evspace_client *c, const char *folder, struct error *e)
{
	struct client_keep *k = memory_new(1, sizeof(*k));
	struct archive_end end;

	k->folder = memory_copy(folder);
	k->writer = archive_writer_new(folder, e);
	if (k->writer && client_replay_resume(c, folder, &end, &k->torn, e) == 0 &&
	    archive_writer_begin(k->writer, &end, e) == 0) {
		k->resumed = k->tuples = c->counts.delivered;
		stand(k, c);
		/* the first wave at once: from then on the archive has an identity */
		k->synced_ns = 0;
		return k;
	}
	archive_writer_free(k->writer);
	free(k->folder);
	free(k);
	return NULL;
}

void client_keep_free(struct evspace_client *c)
{
	struct client_keep *k = c->keep;

	if (!k)
		return;
	client_keep_sync(c);
	archive_writer_free(k->writer);
	if (k->opened)
		evspace__opened__free_unpacked(k->opened, NULL);
	texts_fini(&k->map);
	free(k->owing);
	free(k->list);
	free(k->folder);
	free(k);
	c->keep = NULL;
}

void client_keep_map(struct evspace_client *c)
{
	Evspace__MapAsk ask = EVSPACE__MAP_ASK__INIT;
	Evspace__Frame *reply =
		client_beside(c, &WIRE_FRAME(MAP_ASK, map_ask, &ask), EVSPACE__FRAME__KIND_MAP);
	const Evspace__MapTexts *said = reply ? reply->map->texts : NULL;

	if (said) {
		texts_fini(&c->keep->map);
		texts_set(&c->keep->map, said->application, said->cluster, said->mapping);
		/* archives are passed on */
		texts_hide(&c->keep->map);
	}
	if (reply)
		evspace__frame__free_unpacked(reply, NULL);
}

struct client_kept client_kept(const struct evspace_client *c)
{
	const struct client_keep *k = c->keep;
	const char *counts = k->counts && k->counts->failed ? k->counts->why.text : NULL;

	return (struct client_kept){
		.bytes = archive_writer_written(k->writer),
		.tuples = k->tuples,
		.resumed = k->resumed,
		.torn = k->torn,
		.fault = k->failed ? k->fault.text : counts,
	};
}

/* ---- counts ---- */

static void on_counts(struct evspace_client *counts, enum evspace_news news, void *arg)
{
	(void)arg;
	while (news == EVSPACE_WAVE && evspace_next(counts, 0) > 0)
		;
}

int client_keep_counts(struct evspace_client *c, const struct evspace_options *options,
		       struct error *e)
{
	struct client_keep *k = c->keep;
	struct evspace_options beside = *options;
	const struct archive_bound bound = {k->bound.bytes / FILE_PARTS, k->bound.ns};
	char *folder;

	if (k->failed || k->counts_tried || c->define || strcmp(c->view, "events") != 0 ||
	    !*c->opened_run)
		return 0;
	k->counts_tried = true;
	beside.run = c->opened_run;
	beside.view = CLIENT_REPLAY_COUNTS_VIEW;
	beside.rate_hz = COUNTS_HZ;
	beside.window = 1;
	beside.budget = 0;
	beside.backlog = beside.hurry = beside.monitored = 0;
	folder = memory_format("%s/" CLIENT_REPLAY_COUNTS, k->folder);
	k->counts = client_keep_on(c->connection, &beside, folder, on_counts, e);
	free(folder);
	if (!k->counts)
		return -1;
	if (k->map.application)
		texts_set(&k->counts->keep->map, k->map.application, k->map.cluster,
			  k->map.mapping);
	client_keep_bound(k->counts, &bound);
	return 0;
}

void client_keep_counted(struct evspace_client *c)
{
	struct evspace_client *counts = c->keep->counts;
	uint64_t now = clock_mono_ns();

	if (!counts || c->keep->failed)
		return;
	/* of events no more waves are wanted */
	c->quiet = true;
	counts->due_ns = 0;
	client_pump(counts);
	connection_limit(c->connection, (int)c->deadline_ms + 1000);
	while (!c->stopping && !counts->failed && !c->connection->timed_out &&
	       counts->taken.asked_ns < now)
		connection_turn(c->connection);
	client_keep_sync(counts);
}

/* ---- what comes ---- */

/* All that says to which question these are the answers, and where the client is. */
void client_keep_opened(struct evspace_client *c, const Evspace__Opened *o)
{
	Evspace__Hello hello = EVSPACE__HELLO__INIT;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__Opened opened = *o;
	const struct archive_note nothing = {0};

	if (o != c->keep->opened) {
		c->keep->remapped |=
			c->keep->opened && c->keep->opened->generation != o->generation;
		if (c->keep->opened)
			evspace__opened__free_unpacked(c->keep->opened, NULL);
		c->keep->opened = (Evspace__Opened *)wire_copy(&o->base);
	}
	hello.version = hello.oldest = WIRE_VERSION;
	hello.tuple_layout = TUPLE_LAYOUT;
	hello.epoch_ns = c->epoch_ns;
	hello.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	client_open_fill(c, &open);
	archive_writer_add(c->keep->writer, &WIRE_FRAME(HELLO, hello, &hello), NULL, &nothing);
	archive_writer_map(c->keep->writer, &c->keep->map);
	archive_writer_add(c->keep->writer, &WIRE_FRAME(OPEN, open, &open), NULL, &nothing);
	archive_writer_add(c->keep->writer, &WIRE_FRAME(OPENED, opened, &opened), NULL, &nothing);
}

/* Say it anew, with the map as it is now. */
static void map_again(struct evspace_client *c, const struct pathmap_texts *map)
{
	struct client_keep *k = c->keep;

	if (map != &k->map) {
		texts_fini(&k->map);
		texts_set(&k->map, map->application, map->cluster, map->mapping);
	}
	k->remapped = false;
	if (k->opened && !k->failed)
		client_keep_opened(c, k->opened);
}

void client_keep_remap(struct evspace_client *c)
{
	struct client_keep *k = c->keep;

	if (!k->remapped)
		return;
	client_keep_map(c);
	if (!k->map.application)
		return;
	map_again(c, &k->map);
	if (k->counts)
		map_again(k->counts, &k->map);
}

void client_keep_named(struct evspace_client *c, enum intervals_known known)
{
	c->keep->named |= 1u << known;
}

/* Is what an answer has named of another execution alone than what the archive has? */
static void execution_check(struct evspace_client *c)
{
	struct client_keep *k = c->keep;
	bool another = k->named & 1u << INTERVALS_ANOTHER;

	k->is_its_own |= k->named & 1u << INTERVALS_KNOWN || k->resumed == 0;
	k->named = 0;
	if (!another || k->is_its_own || k->failed)
		return;
	k->failed = true;
	if (k->counts)
		k->counts->keep->failed = true;
	errorf(&k->fault,
	       "%s has an earlier execution of the run %s, to which nothing of this one was added; "
	       "take another folder",
	       k->folder, c->opened_run);
	client_fail(c, EVSPACE_WRONG, k->fault.text);
}

/* The body in columns. */
static void body_pack(const struct frame *frame, struct batch *body)
{
	batch_init(body);
	if (!frame->bytes)
		return;
	batch_append_columns(body, frame->buffer, frame->at, frame->bytes, frame->plain);
	columns_batch_pack(body);
}

/* What comes again is in no part that others are folded into. */
static bool has_fold(const struct batch *b)
{
	struct batch_cursor cursor = {0};
	struct run_view part;

	while (batch_next_part(b, &cursor, &part))
		if (part.run->flags & RUN_FOLD)
			return true;
	return false;
}

/* Say of the part behind which @cursor is that it has read what is left of it. */
static void part_fresh(struct part *part, const struct batch *b, struct batch_cursor cursor)
{
	struct run_view packed;
	struct run head;

	part->read = part->lost = part->discarded = 0;
	while (batch_next_packed(b, &cursor, &packed) && packed.run->kind != RUN_PART) {
		struct run_view view = columns_run_look(&packed, &head);

		if (view.run->kind != RUN_TUPLES)
			continue;
		part->read += view.run->count;
		if (view.run->flags & RUN_DISCARDED)
			part->discarded += view.lost;
		else
			part->lost += view.lost;
	}
}

/* The body without what the archive has: a host that has forgotten how far we were, or that we
 * have told to forget it, reads its elements from their beginning. */
static void body_fresh(const struct batch *came, struct batch *body)
{
	struct batch_cursor cursor = {0};
	struct run_view view;

	batch_init(body);
	while (batch_next_packed(came, &cursor, &view)) {
		struct part part;

		if (view.run->kind != RUN_PART || view.run->flags & RUN_MANY ||
		    view.part->filtered || view.part->reduced) {
			batch_keep(body, &view);
			continue;
		}
		part = *view.part;
		part_fresh(&part, came, cursor);
		*(struct part *)batch_add(body, RUN_PART, view.run->element, view.run->first, 1,
					  view.lost) = part;
		body->last->flags |= view.run->flags;
	}
	columns_batch_pack(body);
}

void client_keep_answer(struct evspace_client *c, const struct frame *frame,
			const struct client_answer *taken, uint64_t latency_ns)
{
	Evspace__Answer answer = *frame->header->answer;
	struct client_keep *k = c->keep;
	struct archive_note note = {0};
	struct batch body;

	execution_check(c);
	if (k->failed || (!taken && answer.n_names == 0 && answer.n_comms == 0))
		return;
	answer.clock_ns = latency_ns;
	answer.share = NULL;
	if (taken) {
		note = (struct archive_note){.wave = answer.wave,
					     .taken_ns = taken->wave.taken_ns,
					     .tuples = taken->sums.tuples,
					     .lost = taken->sums.lost,
					     .discarded = taken->sums.discarded};
		if (taken->sums.repeated && !has_fold(&taken->batch))
			body_fresh(&taken->batch, &body);
		else
			body_pack(frame, &body);
	} else {
		/* what it names alone */
		answer.wave = 0;
		answer.n_missing = 0;
		batch_init(&body);
	}
	archive_writer_add(k->writer, &WIRE_FRAME(ANSWER, answer, &answer),
			   body.bytes ? &body : NULL, &note);
	batch_fini(&body);
	k->waiting += note.tuples;
	k->waves += taken != NULL;
	if (k->waves >= SYNC_WAVES || archive_writer_waiting(k->writer) >= SYNC_BYTES ||
	    clock_mono_ns() - k->synced_ns >= SYNC_NS)
		client_keep_sync(c);
}
