/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints what the segments of a folder hold, as JSON, one object a line: counts per operation in
 * the form of tests/apps (--counts), every tuple (--tuples), communicators (--comms), the segment's
 * own numbers (--headers), its elements (--elements); or, as plain text, what was sent and what was
 * received (--messages).
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment.h"
#include "node-agent/segment/segment-read.h"
#include "tree/data/op.h"
#include "tree/data/signature.h"

enum what { HEADERS, COUNTS, TUPLES, COMMS, MESSAGES, ELEMENTS };

struct count {
	uint64_t calls, bytes, completions, completed_bytes;
};

static struct count counts[UINT16_MAX + 1];
static uint64_t held;

static void tuple_print(const struct segment *s, const struct segment_element *element,
			const struct tuple *t)
{
	printf("{\"rank\":%d,\"thread\":%u,\"channel\":\"%s\",\"op\":\"%s\",\"start\":%" PRIu64
	       ",\"end\":%" PRIu64 ",\"bytes\":%" PRIu64
	       ",\"peer\":%d,\"tag\":%u,\"comm\":%u,\"flags\":%u}\n",
	       s->header->rank, element->thread, channel_name(element->channel), op_name(t->op),
	       t->start, t->end, t->bytes, signature_peer(t), t->seq_or_tag, t->comm, t->flags);
}

/* Which operations send, and which receive; of requests it is known when they are complete. */
static int is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return 1;
	return 0;
}

static void message_print(const struct segment *s, const struct tuple *t)
{
	static const char *const sends[] = {
		"MPI_Send",   "MPI_Bsend",  "MPI_Ssend",  "MPI_Rsend",	  "MPI_Isend",
		"MPI_Ibsend", "MPI_Issend", "MPI_Irsend", "MPI_Sendrecv", "MPI_Sendrecv_replace",
		"pvm_send",   "pvm_psend",  NULL};
	static const char *const later_sends[] = {"MPI_Send_init", "MPI_Bsend_init",
						  "MPI_Ssend_init", "MPI_Rsend_init", NULL};
	static const char *const receives[] = {"MPI_Recv",  "MPI_Mrecv", "pvm_recv", "pvm_nrecv",
					       "pvm_trecv", "pvm_precv", NULL};
	static const char *const later_receives[] = {
		"MPI_Irecv",	"MPI_Imrecv",		"MPI_Recv_init",
		"MPI_Sendrecv", "MPI_Sendrecv_replace", NULL};
	const char *op = op_name(t->op);
	int rank = s->header->rank, completed = t->flags & TUPLE_COMPLETION;

	if (t->peer == TUPLE_NO_PEER || t->flags & (TUPLE_FAILED | TUPLE_CANCELLED))
		return;
	if (is_one_of(op, completed ? later_sends : sends))
		printf("sent %d %d %u %u %" PRIu64 "\n", rank, t->peer, t->seq_or_tag, t->comm,
		       t->bytes);
	else if (is_one_of(op, completed ? later_receives : receives))
		printf("received %d %d %u %u %" PRIu64 "\n", t->peer, rank, t->seq_or_tag, t->comm,
		       t->bytes);
}

static void tuple_count(const struct tuple *t)
{
	struct count *c = &counts[t->op];

	if (t->flags & TUPLE_COMPLETION) {
		c->completions++;
		c->completed_bytes += t->bytes;
	} else {
		c->calls++;
		c->bytes += t->bytes;
	}
}

/* Every tuple that the element still holds, counted in `held`. Returns how many are lost. */
static uint64_t element_look(const struct segment *s, const struct segment_element *element,
			     enum what what)
{
	struct tuple *tuples = calloc(element->capacity, sizeof(*tuples));
	const struct element_ring *ring = segment_ring(s, element);
	struct element_range range = {0, 0, 0};

	if (ring && tuples)
		element_read(ring, element->capacity, 0, element_head(ring), tuples,
			     element->capacity, &range);
	for (uint32_t i = 0; i < range.count; i++) {
		if (what == TUPLES)
			tuple_print(s, element, &tuples[i]);
		if (what == MESSAGES)
			message_print(s, &tuples[i]);
		tuple_count(&tuples[i]);
	}
	free(tuples);
	held += range.count;
	return range.lost;
}

static void counts_print(const struct segment *s)
{
	for (unsigned op = 0; op <= UINT16_MAX; op++) {
		const struct count *c = &counts[op];

		if (!c->calls && !c->completions)
			continue;
		printf("{\"rank\":%d,%s\"op\":\"%s\",\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64,
		       s->header->rank, s->header->parent ? "\"spawned\":1," : "",
		       op_name((uint16_t)op), c->calls, c->bytes);
		if (c->completions)
			printf(",\"completions\":%" PRIu64 ",\"completed_bytes\":%" PRIu64,
			       c->completions, c->completed_bytes);
		printf("}\n");
	}
}

static void comms_print(const struct segment *s)
{
	for (uint32_t i = 0; i < segment_comms(s); i++) {
		const struct segment_comm *c = segment_comm(s, i);

		if (!c)
			continue;
		printf("{\"rank\":%d,\"comm\":%u,\"parent\":%u,\"members\":[", s->header->rank,
		       c->id, c->parent);
		for (uint32_t k = 0; k < c->size; k++)
			printf("%s%d", k ? "," : "", segment_member(s, c, k));
		printf("]}\n");
	}
}

static void elements_print(const struct segment *s)
{
	for (uint32_t i = 0; i < segment_elements(s); i++) {
		const struct segment_element *e = segment_element(s, i);
		const _Atomic uint64_t *lifetime = segment_lifetime(s, i);

		if (e && e->thread != SEGMENT_NO_THREAD)
			printf("{\"rank\":%d,\"thread\":%u,\"channel\":\"%s\",\"capacity\":%u,"
			       "\"lifetime_ns\":%" PRIu64 "}\n",
			       s->header->rank, e->thread, channel_name(e->channel), e->capacity,
			       lifetime ? atomic_load(lifetime) : 0);
	}
}

static void header_print(const struct segment *s, uint64_t lost)
{
	uint64_t events = 0, polls = 0;
	char notes[512];

	for (uint32_t i = 0; i < segment_threads(s); i++) {
		const struct segment_thread *t = segment_thread(s, i);

		for (unsigned c = 0; t && c < CHANNEL_MAX; c++) {
			struct segment_sum sum = {.calls = 0};

			segment_channel_sum(s, i, c, &sum);
			events += sum.calls - sum.skipped;
		}
		polls += t ? atomic_load(&t->state.polls) : 0;
	}
	printf("{\"rank\":%d,\"world_size\":%d,\"world\":%u,\"threads\":%u,\"elements\":%u,"
	       "\"events\":%" PRIu64 ",\"held\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"polls\":%" PRIu64
	       ",\"cost_ps\":%u,\"finished\":%u,\"alive\":%d,\"notes\":\"%s\"}\n",
	       s->header->rank, s->header->world_size, s->header->world, segment_threads(s),
	       segment_elements(s), events, held, lost, polls, s->header->cost_ps,
	       atomic_load(&s->header->finished), segment_alive(s),
	       segment_notes(atomic_load(&s->header->note), s->said.removed, notes, sizeof(notes)));
}

static void segment_print(const struct segment *s, enum what what)
{
	uint64_t lost = 0;

	memset(counts, 0, sizeof(counts));
	held = 0;
	for (uint32_t i = 0; i < segment_elements(s); i++)
		if (segment_element(s, i))
			lost += element_look(s, segment_element(s, i), what);
	if (what == COUNTS)
		counts_print(s);
	else if (what == COMMS)
		comms_print(s);
	else if (what == ELEMENTS)
		elements_print(s);
	else if (what == HEADERS)
		header_print(s, lost);
}

static int is_segment(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, SEGMENT_SUFFIX) == 0;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"--headers", "--counts",   "--tuples",
					    "--comms",	 "--messages", "--elements"};
	struct dirent **names_found;
	enum what what = HEADERS;
	int n, status = 0;

	for (int i = 0; argc > 2 && i < 6; i++)
		if (strcmp(argv[2], names[i]) == 0)
			what = (enum what)i;
	n = argc < 2 ? -1 : scandir(argv[1], &names_found, is_segment, alphasort);
	if (n < 0) {
		fprintf(stderr, "usage: segdump DIR "
				"[--headers|--counts|--tuples|--comms|--messages|--elements]\n");
		return 2;
	}
	for (int i = 0; i < n; i++) {
		struct segment s;
		struct error e;

		if (segment_open(&s, argv[1], names_found[i]->d_name, &e) == 0) {
			segment_print(&s, what);
			segment_close(&s);
		} else {
			fprintf(stderr, "segdump: %s\n", e.text);
			status = 1;
		}
		free(names_found[i]);
	}
	free(names_found);
	return status;
}
