/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums a run up from its segments, which outlive the program. */
#include "consumers/cli/options.h"
#include "consumers/run/summary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/segment/segment-class.h"
#include "node-agent/control/switch.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/source/accounting.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/signature.h"

/* Tuples copied out of a ring at a time. */
#define CHUNK 256

/* The state of the work, in one struct: a guarded reader must hold nothing that a jump would
 * leak. */
struct summary_look {
	struct summary *summary;
	const struct store_segment *s;
	const struct summary_span *span;
	struct summary_process *process;
	struct clock_line line; /* to CLOCK_MONOTONIC */
	struct tuple chunk[CHUNK];
	uint64_t events;
};

/* ---- operations ---- */

static struct summary_op op_of(const struct summary_look *look, const struct tuple *tuple,
			       uint32_t thread)
{
	struct summary_op op = {.tuple = *tuple};
	int64_t start = clock_line_ns(&look->line, tuple->start), end;

	end = tuple->flags & TUPLE_RUNNING ? (int64_t)look->span->ended_ns
					   : clock_line_ns(&look->line, tuple->end);
	op.tuple.peer = signature_peer(tuple);
	snprintf(op.name, sizeof(op.name), "%s/t%u", look->s->name, thread);
	op.start_ns = start - (int64_t)look->span->began_ns;
	op.duration_ns = end > start ? (uint64_t)(end - start) : 0;
	return op;
}

/* Keep the longest, longest first. Returns the number kept. */
static size_t op_rank(struct summary_op *ops, size_t n, size_t max, const struct summary_op *op)
{
	size_t at = n;

	while (at > 0 && ops[at - 1].duration_ns < op->duration_ns)
		at--;
	if (at == max)
		return n;
	if (n < max)
		n++;
	memmove(&ops[at + 1], &ops[at], (n - 1 - at) * sizeof(*ops));
	ops[at] = *op;
	return n;
}

/* Start and end of MPI are always slow, and a completion lasts since the start of its request. */
static bool may_be_slow(const struct tuple *tuple, unsigned channel)
{
	return channel != CHANNEL_ENV && channel != CHANNEL_COMPLETION &&
	       !(tuple->flags & TUPLE_COMPLETION);
}

static void look_at_tuple(struct summary_look *look, const struct tuple *tuple, uint32_t thread)
{
	struct summary *sum = look->summary;
	const struct summary_op *last = &sum->slowest[SUMMARY_SLOWEST - 1];
	struct summary_op op;

	/* fast path: most are not among the slowest */
	if (sum->n_slowest == SUMMARY_SLOWEST &&
	    (double)(tuple->end - tuple->start) * look->line.ns_per_tick <=
		    (double)last->duration_ns)
		return;
	op = op_of(look, tuple, thread);
	sum->n_slowest = op_rank(sum->slowest, sum->n_slowest, SUMMARY_SLOWEST, &op);
}

/* ---- a segment ---- */

static void look_at_ring(struct summary_look *look, const struct element_ring *ring, uint32_t i,
			 const struct segment_element *entry)
{
	uint64_t head = element_head(ring), from = 0;
	uint64_t first = accounting_first(&look->s->segment, i, entry, ring, head);
	struct element_range range;
	uint64_t gone;
	int64_t last;

	if (head > entry->capacity - 1)
		from = head - (entry->capacity - 1);
	while (from < head) {
		element_read(ring, entry->capacity, from, head, look->chunk, CHUNK, &range);
		if (!range.count)
			break;
		last = clock_line_ns(&look->line, look->chunk[range.count - 1].end);
		if (last > look->process->last_ns)
			look->process->last_ns = last;
		for (uint32_t k = 0; k < range.count; k++)
			if (may_be_slow(&look->chunk[k], entry->channel))
				look_at_tuple(look, &look->chunk[k], entry->thread);
		from = range.first + range.count;
		gone = first < range.first ? 0 : first < from ? first - range.first : range.count;
		look->summary->discarded += gone;
		look->summary->kept += range.count - gone;
	}
}

static void look_at_elements(struct summary_look *look)
{
	const struct segment *s = &look->s->segment;
	struct summary *sum = look->summary;

	for (uint32_t i = 0; i < segment_elements(s); i++) {
		const struct segment_element *entry = segment_element(s, i);
		const struct element_ring *ring;
		struct segment_element copy;
		uint64_t head;

		if (!entry)
			continue;
		memcpy(&copy, entry, sizeof(copy));
		ring = segment_ring(s, &copy);
		if (!ring)
			continue;
		head = element_head(ring);
		look->events += head;
		if (copy.thread == SEGMENT_NO_THREAD)
			sum->overflowed += head;
		else
			look_at_ring(look, ring, i, &copy);
	}
}

/* Of one thread, or of all beyond the reserve. */
static void look_at_counts(struct summary_look *look, uint32_t thread)
{
	struct summary *sum = look->summary;

	for (unsigned c = 0; c < CHANNEL_MAX; c++) {
		struct segment_sum counts = {.calls = 0};

		segment_channel_sum(&look->s->segment, thread, c, &counts);
		sum->channel_events[c] += counts.calls - counts.skipped;
		sum->channel_calls[c] += counts.calls;
		sum->channel_bytes[c] += counts.bytes;
	}
}

static void look_at_threads(struct summary_look *look)
{
	const struct segment *s = &look->s->segment;
	struct summary *sum = look->summary;
	struct summary_op op;
	struct tuple tuple;

	look_at_counts(look, s->layout.threads_max);
	for (uint32_t i = 0; i < segment_threads(s); i++) {
		const struct segment_thread *thread = segment_thread(s, i);

		look_at_counts(look, i);
		sum->polls += thread ? atomic_load(&thread->state.polls) : 0;
		if (!thread || !segment_state(thread, &tuple))
			continue;
		op = op_of(look, &tuple, i);
		look->process->inside = true;
		look->process->aborts |= strcmp(op_name(tuple.op), "MPI_Abort") == 0;
		sum->all_stuck++;
		sum->n_stuck = op_rank(sum->stuck, sum->n_stuck, SUMMARY_STUCK, &op);
	}
}

static int look_at_segment(void *arg)
{
	struct summary_look *look = arg;
	const struct segment *s = &look->s->segment;
	const struct segment_header *said = &s->said;
	const struct summary_span *span = look->span;
	uint64_t born = said->born.mono_ns;

	look->process->world = said->world;
	look->process->world_size = said->world_size;
	look->process->finished = atomic_load(&s->header->finished) != 0;
	look->summary->notes |= atomic_load(&s->header->note);
	if (!look->summary->removed[0])
		memcpy(look->summary->removed, said->removed, sizeof(said->removed));
	look->summary->inside += atomic_load(&s->header->inside);
	look->summary->left += atomic_load(&s->header->left);
	look->line = clock_line_through(said->clock_kind, said->born,
					clock_pair_take(said->clock_kind), 0);
	look_at_elements(look);
	look_at_threads(look);
	look->summary->written += look->events;
	look->summary->cost_ns += look->events * segment_cost(s) / 1000;
	if (span->ended_ns > born)
		look->summary->life_ns += span->ended_ns - born;
	return 0;
}

/* ---- all of them ---- */

static int compare_processes(const void *a, const void *b)
{
	const struct summary_process *x = a, *y = b;

	if (x->world != y->world)
		return x->world < y->world ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void count_worlds(struct summary *summary)
{
	for (size_t i = 0; i < summary->n_processes; i++) {
		if (i && summary->processes[i].world == summary->processes[i - 1].world)
			continue;
		summary->worlds++;
		summary->expected += (size_t)summary->processes[i].world_size;
	}
}

void summary_init(struct summary *summary, const struct store *store, const char *run,
		  const struct summary_span *span)
{
	const struct store_segment *s;
	const struct store_refusal *r;
	struct summary_look *look = memory_new(1, sizeof(*look));
	size_t n = 0;

	memset(summary, 0, sizeof(*summary));
	TAILQ_FOREACH (s, &store->segments, link)
		n++;
	summary->processes = memory_new(n + 1, sizeof(*summary->processes));
	summary->classes = classes_new();
	look->summary = summary;
	look->span = span;
	TAILQ_FOREACH (s, &store->segments, link) {
		if (strcmp(s->run, run) != 0)
			continue;
		look->s = s;
		look->events = 0;
		look->process = &summary->processes[summary->n_processes++];
		look->process->rank = s->rank;
		look->process->world_size = 1;
		memcpy(look->process->host, s->host, sizeof(s->host));
		summary->alive += s->alive;
		(void)segment_guarded(look_at_segment, look);
		look->process->died = !look->process->finished && !s->alive;
		(void)switch_read(s, summary->classes);
	}
	free(look);
	qsort(summary->processes, summary->n_processes, sizeof(*summary->processes),
	      compare_processes);
	count_worlds(summary);
	TAILQ_FOREACH (r, &store->refusals, link)
		if (r->rank >= 0 && strcmp(r->run, run) == 0)
			interval_set_add(r->unwanted ? &summary->unwanted : &summary->refused,
					 (uint64_t)r->rank, (uint64_t)r->rank + 1);
}

void summary_fini(struct summary *summary)
{
	interval_set_fini(&summary->unwanted);
	interval_set_fini(&summary->refused);
	free(summary->processes);
	summary->processes = NULL;
	classes_free(summary->classes);
	summary->classes = NULL;
}

/* ---- missing ranks ---- */

/* The first process of the @i-th world; *end is after its last. */
static const struct summary_process *world_begin(const struct summary *summary, size_t i,
						 const struct summary_process **end)
{
	const struct summary_process *all = summary->processes, *stop = all + summary->n_processes;
	const struct summary_process *p = all;

	for (;; p = *end, i--) {
		for (*end = p; *end < stop && (*end)->world == p->world;)
			++*end;
		if (i == 0 || p == stop)
			return p;
	}
}

char *summary_missing(const struct summary *summary, size_t i, size_t *count)
{
	const struct summary_process *end, *p = world_begin(summary, i, &end);
	const struct interval_set *here[] = {&summary->unwanted, &summary->refused};
	struct interval_set ranks = {0};
	char *text = memory_copy("");

	*count = 0;
	if (p < end && p->world_size > 0)
		interval_set_add(&ranks, 0, (uint64_t)p->world_size);
	for (; p < end; p++)
		if (p->rank >= 0)
			interval_set_remove(&ranks, (uint64_t)p->rank, (uint64_t)p->rank + 1);
	/* worlds that a program spawns are collected, whatever is said of ranks */
	for (size_t of = 0; i == 0 && of < 2; of++)
		for (size_t k = 0; k < here[of]->n; k++)
			interval_set_remove(&ranks, here[of]->items[k].from, here[of]->items[k].to);
	for (size_t k = 0; k < ranks.n; k++) {
		char range[INTERVAL_TEXT], *longer;

		interval_text(range, ranks.items[k].from, ranks.items[k].to);
		longer = memory_format("%s%s%s", text, *text ? ", " : "", range);
		free(text);
		text = longer;
		*count += ranks.items[k].to - ranks.items[k].from;
	}
	interval_set_fini(&ranks);
	return text;
}

/* Did @a die before @b, as far as that is known? */
static bool is_before(const struct summary_process *a, const struct summary_process *b)
{
	return a->aborts != b->aborts ? a->aborts : a->last_ns < b->last_ns;
}

const struct summary_process *summary_died_first(const struct summary *summary)
{
	const struct summary_process *first = NULL;

	for (size_t i = 0; i < summary->n_processes; i++) {
		const struct summary_process *p = &summary->processes[i];

		if (p->died && (p->aborts || !p->inside) && (!first || is_before(p, first)))
			first = p;
	}
	return first;
}

bool summary_lacks_rank(const struct summary *summary, int32_t rank)
{
	bool ought = false;

	if (interval_set_have(&summary->unwanted, (uint64_t)rank) ||
	    interval_set_have(&summary->refused, (uint64_t)rank))
		return false;
	for (size_t i = 0; i < summary->n_processes; i++) {
		if (summary->processes[i].rank == rank)
			return false;
		ought |= summary->processes[i].world_size > rank;
	}
	return ought;
}

/* "w1" and "w1.cluster.example" are the same host to a launcher. */
static bool same_host(const char *a, const char *b)
{
	size_t n = strcspn(a, "."), m = strcspn(b, ".");

	return !strcmp(a, b) || (n == m && !strncmp(a, b, n) && (!a[n] || !b[m]));
}

bool summary_has_host(const struct summary *summary, const char *host)
{
	char own[256] = "";

	gethostname(own, sizeof(own) - 1);
	if (same_host(host, own) || !strcmp(host, "localhost") || !strncmp(host, "127.", 4) ||
	    !strcmp(host, "::1"))
		return true;
	for (size_t i = 0; i < summary->n_processes; i++)
		if (same_host(host, summary->processes[i].host))
			return true;
	return false;
}

/* ---- other hosts ---- */

void elsewhere_ask(struct elsewhere *elsewhere, const char *run)
{
	const struct evspace_options options = {.connect = NULL};
	Evspace__StatusAsk all = EVSPACE__STATUS_ASK__INIT;
	enum evspace_failure failure;
	struct error e;

	all.all = true;
	elsewhere->run = run;
	elsewhere->reply = options_ask_once(&options, &WIRE_FRAME(STATUS_ASK, status_ask, &all),
					    EVSPACE__FRAME__KIND_STATUS, &failure, &e);
}

void elsewhere_fini(struct elsewhere *elsewhere)
{
	if (elsewhere->reply)
		evspace__frame__free_unpacked(elsewhere->reply, NULL);
	elsewhere->reply = NULL;
}

static enum elsewhere_state status_look(const Evspace__Status *status, const char *run,
					unsigned *processes, const char **why)
{
	if (status->why) {
		*why = status->text;
		return ELSEWHERE_SILENT;
	}
	for (size_t i = 0; i < status->n_runs; i++)
		if (strcmp(status->runs[i]->name, run) == 0)
			*processes += status->runs[i]->processes;
	return ELSEWHERE_HELD;
}

enum elsewhere_state elsewhere_of(const struct elsewhere *elsewhere, const char *host,
				  unsigned *processes, const char **why)
{
	const Evspace__Status *all = elsewhere->reply ? elsewhere->reply->status : NULL;

	*processes = 0;
	*why = "";
	for (size_t i = 0; all && i < all->n_below; i++)
		if (same_host(all->below[i]->node, host))
			return status_look(all->below[i], elsewhere->run, processes, why);
	return ELSEWHERE_UNKNOWN;
}
