/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays an entry agent with its leaves: each remembers the ranges of its waves as cursor files do.
 */
#include "tests/fake.h"
#include "tree/link/link-hub.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fake-words.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "tree/data/clock.h"
#include "tree/data/names.h"
#include "tree/data/op.h"

/* Waves of which a leaf can tell the ranges: an agent remembers the newest 63. */
#define WAVES 20000
#define KEPT  63

/* A leaf's part of one wave. */
struct made {
	bool made, forgotten;
	uint64_t from[FAKE_ELEMENTS], to[FAKE_ELEMENTS];
};

struct leaf {
	uint64_t head[FAKE_ELEMENTS], read[FAKE_ELEMENTS];
	struct made waves[WAVES];
	unsigned unacknowledged;
	uint64_t forgotten;  /* waves up to this one */
	uint64_t down_until; /* wave */
	uint64_t down_ns;    /* since when, CLOCK_MONOTONIC; 0: it is up */
};

static struct {
	const struct fake_script *script;
	struct event_base *base;
	struct link *link;
	uint64_t dice;
	struct leaf leaves[FAKE_LEAVES];
	bool named; /* on this link */
	unsigned char id[16];
	char run[64], view[64];
	Evspace__Frame *held;
	struct batch held_body;
	bool mute; /* what is sent gets lost */
} fake;

static struct fake_report *report;
static char folder[64], address[128];

static bool happens(unsigned percent)
{
	return random_below(&fake.dice, 100) < percent;
}

static void violate(const char *text, uint64_t a, uint64_t b)
{
	report->violations++;
	snprintf(report->violation, sizeof(report->violation), "%s (%llu, %llu)", text,
		 (unsigned long long)a, (unsigned long long)b);
}

/* ---- leaves ---- */

static bool is_over(uint64_t wave)
{
	return wave > fake.script->waves;
}

static bool names(const Evspace__Ask *ask, uint32_t leaf)
{
	for (size_t i = 0; i < ask->n_only; i++) {
		if (ask->only[i] == leaf)
			return true;
	}
	return ask->n_only == 0;
}

static uint64_t leaf_have(const Evspace__Ask *ask, uint32_t leaf)
{
	uint64_t have = ask->have;

	for (size_t i = 0; i < ask->n_owing; i++) {
		if (ask->owing[i]->leaf == leaf && ask->owing[i]->wave - 1 < have)
			have = ask->owing[i]->wave - 1;
	}
	return have;
}

static void leaf_forget(struct leaf *leaf, uint64_t have)
{
	for (; leaf->forgotten < have && leaf->forgotten < WAVES - 1; leaf->forgotten++) {
		struct made *m = &leaf->waves[leaf->forgotten + 1];

		leaf->unacknowledged -= m->made && !m->forgotten;
		m->forgotten = true;
	}
}

static void leaf_write(struct leaf *leaf, uint32_t index)
{
	for (unsigned e = 0; e < FAKE_ELEMENTS; e++) {
		leaf->head[e] += random_below(&fake.dice, 6);
		report->written[index][e] = leaf->head[e];
	}
}

/* The range of a wave: read now, or as it was read then. NULL: an empty part. */
static const struct made *leaf_read(struct leaf *leaf, const Evspace__Ask *ask, uint64_t wave,
				    uint32_t index)
{
	struct made *m = &leaf->waves[wave];

	if (m->forgotten)
		violate("a wave that it said it has is asked for", index, wave);
	if (m->made)
		return m;
	if (ask->n_only || leaf->unacknowledged >= KEPT)
		return NULL;
	if (!is_over(wave))
		leaf_write(leaf, index);
	m->made = true;
	leaf->unacknowledged++;
	for (unsigned e = 0; e < FAKE_ELEMENTS; e++) {
		m->from[e] = leaf->read[e];
		m->to[e] = leaf->read[e] = leaf->head[e];
	}
	return m;
}

static void put_part(struct batch *b, uint32_t leaf, uint64_t wave, const struct made *m,
		     bool again)
{
	struct batch runs;
	struct part *part, sum = {.clock = CLOCK_LINE_NS};

	batch_init(&runs);
	for (unsigned e = 0; m && e < FAKE_ELEMENTS; e++) {
		uint64_t lost = 0;

		if (again && happens(fake.script->odds.overwritten))
			lost = random_below(&fake.dice, m->to[e] - m->from[e] + 1);
		fake_words_run(&runs, &sum, leaf, e, m->from[e] + lost, m->to[e], lost);
	}
	sum.clock.base_ticks = clock_mono_ns();
	sum.clock.base_ns = (int64_t)sum.clock.base_ticks;
	sum.elements = FAKE_ELEMENTS;
	sum.processes = 1;
	part = batch_add(b, RUN_PART, leaf, wave, 1, 0);
	*part = sum;
	batch_link(b, &runs);
	batch_fini(&runs);
}

/* ---- answers ---- */

/* Who is away in this wave. A leaf that goes away does so for a while. */
static bool leaf_is_down(struct leaf *leaf, uint64_t wave, bool again)
{
	if (!again && !is_over(wave) && !leaf->down_ns && happens(fake.script->odds.down)) {
		leaf->down_ns = clock_mono_ns();
		leaf->down_until = wave + 1 + random_below(&fake.dice, 80);
	}
	if (leaf->down_ns && (wave >= leaf->down_until && !again))
		leaf->down_ns = 0;
	return leaf->down_ns != 0;
}

static void fill(const Evspace__Ask *ask, uint64_t wave, Evspace__Answer *a,
		 Evspace__Missing *missing, struct batch *body)
{
	bool again = ask->n_only > 0;

	for (uint32_t i = 1; i <= FAKE_LEAVES; i++) {
		struct leaf *leaf = &fake.leaves[i - 1];
		bool late =
			!is_over(wave) &&
			(happens(again ? fake.script->odds.late_again : fake.script->odds.late) ||
			 (again && ask->deadline_ms < fake.script->again_ms));
		const struct made *m;

		if (!names(ask, i))
			continue;
		if (leaf_is_down(leaf, wave, again)) {
			fake_words_miss(a, missing, i, MISSING_UNREACHABLE, leaf->down_ns);
			continue;
		}
		leaf_forget(leaf, leaf_have(ask, i));
		m = leaf_read(leaf, ask, wave, i - 1);
		if (late) {
			fake_words_miss(a, missing, i, MISSING_LATE, clock_mono_ns());
		} else {
			put_part(body, i, wave, m, again);
			a->leaves++;
		}
	}
}

static void send_answer(const Evspace__Answer *answer, const struct batch *body)
{
	if (!fake.mute)
		link_send(fake.link,
			  &WIRE_FRAME(ANSWER, answer, (Evspace__Answer *)(uintptr_t)answer), body);
}

/* Keep an answer back until the next one was sent. */
static void hold(const Evspace__Answer *a, struct batch *body)
{
	const Evspace__Frame frame = WIRE_FRAME(ANSWER, answer, (Evspace__Answer *)(uintptr_t)a);
	size_t bytes;
	uint8_t *packed;

	bytes = evspace__frame__get_packed_size(&frame);
	packed = malloc(bytes);
	evspace__frame__pack(&frame, packed);
	fake.held = evspace__frame__unpack(NULL, bytes, packed);
	free(packed);
	batch_link(&fake.held_body, body);
}

static void held_drop(void)
{
	if (fake.held)
		evspace__frame__free_unpacked(fake.held, NULL);
	fake.held = NULL;
	batch_clear(&fake.held_body);
}

static void answer(const Evspace__Ask *ask, uint64_t wave)
{
	const struct fake_odds *odds = &fake.script->odds;
	Evspace__Missing missing[FAKE_LEAVES], *list[FAKE_LEAVES];
	Evspace__Answer a = EVSPACE__ANSWER__INIT;
	struct batch body;

	batch_init(&body);
	a.scope = ask->scope;
	a.wave = wave;
	a.again = ask->n_only > 0;
	a.missing = list;
	a.sent_ns = clock_mono_ns();
	a.cpu_us = 5;
	if (!fake.named)
		fake_words_names(&a);
	fake.named = true;
	fill(ask, wave, &a, missing, &body);
	if (!fake.held && !a.again && !a.n_names && !is_over(wave) && happens(odds->held)) {
		hold(&a, &body);
	} else {
		send_answer(&a, &body);
		if (happens(odds->twice))
			send_answer(&a, &body);
		if (fake.held)
			send_answer(fake.held->answer, &fake.held_body);
		held_drop();
	}
	batch_fini(&body);
}

static void check_ask(const Evspace__Ask *ask)
{
	uint64_t under_way = ask->wave + ask->count - 1 - ask->have;

	if (ask->wave == 0 || ask->count == 0 || ask->count > 64 || ask->wave + ask->count > WAVES)
		violate("an ask for impossible waves", ask->wave, ask->count);
	if (fake.script->window && ask->count > fake.script->window)
		violate("an ask for more waves than the map allows", ask->wave, ask->count);
	if (ask->n_only == 0 && ask->have >= ask->wave)
		violate("a wave that it has is asked for", ask->have, ask->wave);
	if (ask->n_only == 0 && under_way > report->under_way_most)
		report->under_way_most = (unsigned)under_way;
}

void fake_cut(void)
{
	link_close(fake.link);
	fake.link = NULL;
}

static void asked(const Evspace__Ask *ask)
{
	bool cut;

	report->asks++;
	if (fake.script->ask && fake.script->ask(fake.link, ask))
		return;
	check_ask(ask);
	/* Sometimes the connection breaks, and then sometimes with all that was sent last. */
	cut = !is_over(ask->wave) && happens(fake.script->odds.cut);
	fake.mute = cut && happens(50);
	for (uint32_t i = 0; i < ask->count; i++)
		answer(ask, ask->wave + i);
	fake.mute = false;
	if (cut)
		fake_cut();
}

/* ---- opening ---- */

static void opened(const Evspace__Open *open)
{
	static Evspace__Leaf leaves[FAKE_LEAVES], *list[FAKE_LEAVES];
	static char texts[FAKE_LEAVES][16];
	Evspace__Opened o = EVSPACE__OPENED__INIT;

	for (uint32_t i = 0; i < FAKE_LEAVES; i++) {
		evspace__leaf__init(&leaves[i]);
		snprintf(texts[i], sizeof(texts[i]), "/c/n%u", i + 1);
		leaves[i].index = i + 1;
		leaves[i].name = texts[i];
		list[i] = &leaves[i];
	}
	o.scope = open->scope;
	o.run = (char *)(uintptr_t) "the-run";
	o.n_leaves = fake.script->lone ? 1 : FAKE_LEAVES;
	o.leaves = list;
	o.reading = fake.script->latest ? READ_LATEST : READ_STREAM;
	o.entry = (char *)(uintptr_t) "fake";
	o.window = fake.script->window;
	link_send(fake.link, &WIRE_FRAME(OPENED, opened, &o), NULL);
}

static void asked_to_open(const Evspace__Open *open)
{
	if (report->opens++ == 0) {
		memcpy(fake.id, open->id.data, open->id.len < 16 ? open->id.len : 16);
		snprintf(fake.view, sizeof(fake.view), "%s", open->view);
		report->same_id = open->id.len == 16;
	} else {
		report->same_id = report->same_id && open->id.len == 16 &&
				  memcmp(fake.id, open->id.data, 16) == 0 &&
				  strcmp(fake.view, open->view) == 0 &&
				  strcmp(open->run, "the-run") == 0;
	}
	if (!fake.script->open || !fake.script->open(fake.link, open))
		opened(open);
}

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
	const Evspace__Frame *f = frame->header;

	(void)arg;
	if (fake.script->frame && fake.script->frame(link, f))
		return;
	if (link != fake.link)
		return;
	if (f->kind_case == EVSPACE__FRAME__KIND_OPEN)
		asked_to_open(f->open);
	else if (f->kind_case == EVSPACE__FRAME__KIND_ASK)
		asked(f->ask);
	else if (f->kind_case == EVSPACE__FRAME__KIND_CLOSE)
		report->closes++;
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
	(void)arg;
	(void)why;
	if (link == fake.link)
		fake.link = NULL;
}

static const struct link_events events = {.frame = on_frame, .closed = on_closed};

static void on_accepted(struct link *link, void *arg)
{
	(void)arg;
	report->connections++;
	fake.link = link;
	fake.named = false;
	held_drop();
	link_events_set(link, &events, NULL);
}

/* ---- the process ---- */

static void fake_run(const struct fake_script *script, int ready)
{
	static const struct link_self self = {.name = "fake"};
	struct link_hub *hub;
	struct error e;

	signal(SIGPIPE, SIG_IGN);
	fake.script = script;
	fake.dice = script->seed * 2654435761u + 1;
	batch_init(&fake.held_body);
	fake.base = event_base_new();
	hub = link_hub_new(fake.base, NULL, &self);
	if (!link_listen(hub, address, on_accepted, NULL, &e)) {
		tap_note("%s", e.text);
		_exit(1);
	}
	if (write(ready, "", 1) != 1)
		_exit(1);
	event_base_dispatch(fake.base);
	_exit(0);
}

pid_t fake_start(const struct fake_script *script, const char **at)
{
	int ready[2];
	char c;
	pid_t pid;

	if (!report)
		report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
			      /* cppcheck-suppress invalidFunctionArg ; anonymous memory */
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(report != MAP_FAILED && pipe(ready) == 0);
	memset(report, 0, sizeof(*report));
	if (!folder[0]) {
		snprintf(folder, sizeof(folder), "/tmp/evspace-fake.XXXXXX");
		CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
		snprintf(address, sizeof(address), "unix:%s/agent.sock", folder);
	}
	*at = address;
	fflush(stdout);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		close(ready[0]);
		fake_run(script, ready[1]);
	}
	close(ready[1]);
	CU_ASSERT_EQUAL_FATAL(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

void fake_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

const struct fake_report *fake_report(void)
{
	return report;
}

int fake_clean(void)
{
	char path[160];

	if (!folder[0])
		return 0;
	snprintf(path, sizeof(path), "%s/agent.sock", folder);
	unlink(path);
	return rmdir(folder);
}

void fake_answer(struct link *link, uint64_t wave, uint64_t first, uint32_t n)
{
	Evspace__Answer a = EVSPACE__ANSWER__INIT;
	struct part *part, sum = {.clock = CLOCK_LINE_NS};
	struct batch body, runs;

	batch_init(&body);
	batch_init(&runs);
	a.scope = 1;
	a.wave = wave;
	a.leaves = 1;
	if (!fake.named)
		fake_words_names(&a);
	fake.named = true;
	fake_words_run(&runs, &sum, 1, 0, first, first + n, 0);
	sum.elements = 1;
	part = batch_add(&body, RUN_PART, 1, wave, 1, 0);
	*part = sum;
	batch_link(&body, &runs);
	fake.link = link;
	send_answer(&a, &body);
	batch_fini(&body);
	batch_fini(&runs);
}
