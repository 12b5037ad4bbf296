/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer with a certificate that is good and intentions that are not:
 *
 *	hostile client HOST:PORT DIR NAME SEED SECONDS	dials, and says frames at random
 *	hostile child HOST:PORT DIR NODE SEED SECONDS	listens, and answers so
 *	hostile forger HOST:PORT DIR NODE SEED SECONDS	the same, refuses with a line of a log,
 *						has a live run that would be a path
 *	hostile glutton HOST:PORT DIR NODE SEED SECONDS	the same, answers waves with few bytes that
 *are as many tuples as a wave may have hostile deep HOST:PORT DIR NAME		says what would
 *exhaust a stack, once each way hostile deepchild HOST:PORT DIR NODE SEED SECONDS	listens, and
 *answers so hostile hoard HOST:PORT DIR NAME N	N connections that each begin the largest header
 *						that they may, until told on stdin to end
 *	hostile deaf HOST:PORT DIR NAME RUN VIEW
 *		opens a view, and stops itself; when it goes on, it asks and reads nothing
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

#include "pathmap/base/memory.h"
#include "tests/random-frame.h"
#include "tests/random.h"
#include "tests/speech.h"
#include "tree/link/address.h"
#include "tree/data/clock.h"
#include "tree/data/columns-batch.h"
#include "tree/data/names.h"
#include "tree/data/part.h"
#include "tree/wire/deframer.h"
#include "tree/link/tls.h"
#include "tree/data/tuple.h"

#define DEEP 17440 /* 74 kB of places */

static struct address target;
static struct tls *tls;
static const char *name;
static unsigned char *out;
static bool forges;
static bool swaps;		       /* answers each question as if it were another one */
static Evspace__Frame__KindCase asked; /* what is answered */
static enum wire_unpacks unpacks;
static bool gluts;
static uint32_t place;	      /* where its part of the tree is */
static struct batch gluttony; /* of a wave: its part, and what that brings */

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "hostile: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- a connection ---- */

static bool hello_say(struct speech *l, const char *node)
{
	Evspace__Hello hello = EVSPACE__HELLO__INIT;
	const Evspace__Frame frame = WIRE_FRAME(HELLO, hello, &hello);

	hello.version = WIRE_VERSION;
	hello.oldest = WIRE_OLDEST;
	hello.tuple_layout = TUPLE_LAYOUT;
	hello.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	hello.name = (char *)(uintptr_t)node;
	hello.unpacks = unpacks;
	return speech_say(l, out, speech_put(&frame, NULL, out));
}

static bool link_dial(struct speech *l, const char *node)
{
	int fd = socket(target.at[0].any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct error e;

	if (fd < 0)
		die("socket");
	/* What is not connected cannot shake hands. */
	(void)connect(fd, &target.at[0].any, target.bytes[0]);
	return speech_begin(l, fd, tls_client(tls, NULL, &e)) && hello_say(l, node);
}

static int tell(unsigned long connections)
{
	const struct speech_counts *c = &speech_counts;

	printf("%lu frames on %lu connections: %lu writes of many, %lu fragments, %lu in pieces, "
	       "%lu "
	       "of them damaged\n",
	       c->frames, connections, c->writes_of_many, c->fragments, c->pieces, c->damaged);
	return c->frames == 0;
}

static bool is_time(uint64_t end_ns)
{
	return clock_mono_ns() < end_ns;
}

/* ---- one that asks ---- */

/* What is asked, more of what does something. */
static const unsigned char questions[] = {2,  2,  2,  4,  4,  4, 4, 6, 6, 8, 8,	 10, 10,
					  12, 12, 13, 14, 15, 1, 3, 5, 7, 9, 11, 16};

static void client_speak(struct speech *l, struct random_frame *r, uint64_t end_ns)
{
	for (unsigned left = (unsigned)random_below(&r->dice, 400); left > 0 && is_time(end_ns);
	     left--) {
		size_t n;

		r->scope = 1 + (uint32_t)random_below(&r->dice, 4);
		r->wave = 1 + random_below(&r->dice, 5);
		n = random_frame(r, questions[random_below(&r->dice, sizeof(questions))], out);
		/* Nobody has asked for pieces of who asks. */
		if (!speech_frame(l, &r->dice, out, n, !random_below(&r->dice, 2000)) ||
		    !speech_drain(l))
			return;
	}
	if (!speech_flush(l))
		return;
	/* It goes in the middle of a frame, sometimes. */
	if (random_below(&r->dice, 2))
		speech_say(l, out, 1 + (size_t)random_below(&r->dice, 20));
}

static int client(struct random_frame *r, uint64_t end_ns, const char *node)
{
	unsigned long connections = 0;

	while (is_time(end_ns)) {
		struct speech l;

		/* So that answers are compressed, or not. */
		unpacks = (enum wire_unpacks)random_below(&r->dice, 3);
		if (link_dial(&l, node))
			client_speak(&l, r, end_ns);
		connections++;
		speech_end(&l);
	}
	return tell(connections);
}

/* ---- one that answers ---- */

static const unsigned char replies[] = {3, 3, 3, 5, 5, 5, 5, 7, 7, 9, 9, 11, 11, 12, 14, 16, 2, 6};

static uint32_t frame_scope(const Evspace__Frame *f)
{
	switch (f->kind_case) {
	case EVSPACE__FRAME__KIND_OPEN:
		return f->open->scope;
	case EVSPACE__FRAME__KIND_ASK:
		return f->ask->scope;
	case EVSPACE__FRAME__KIND_STATUS_ASK:
		return f->status_ask->scope;
	case EVSPACE__FRAME__KIND_SWITCH_ASK:
		return f->switch_ask->scope;
	default:
		return 1;
	}
}

static size_t refuse(uint32_t scope)
{
	static char text[] = "x\nevspace agent: audit: mallory (127.0.0.1:1): switch all to off";
	Evspace__Error error = EVSPACE__ERROR__INIT;
	const Evspace__Frame frame = WIRE_FRAME(ERROR, error, &error);

	error.scope = scope;
	error.code = EXDEV; /* ranks are here that a new map puts elsewhere */
	error.text = text;
	return speech_put(&frame, NULL, out);
}

static size_t run_forge(uint32_t scope)
{
	static char no_run[] = "../none";
	Evspace__Status status = EVSPACE__STATUS__INIT;
	Evspace__Run run = EVSPACE__RUN__INIT, *runs = &run;
	const Evspace__Frame frame = WIRE_FRAME(STATUS, status, &status);

	run.name = no_run;
	run.processes = run.alive = 1;
	status.scope = scope;
	status.node = (char *)(uintptr_t)name;
	status.wire = WIRE_VERSION;
	status.n_runs = 1;
	status.runs = &runs;
	return speech_put(&frame, NULL, out);
}

/* ---- one that brings more than any other ---- */

static void glut_fill(uint64_t wave, size_t left)
{
	struct part *part;

	batch_clear(&gluttony);
	part = batch_add(&gluttony, RUN_PART, place, wave, 1, 0);
	*part = (struct part){.clock = CLOCK_LINE_NS, .read = left, .written = left * wave};
	for (uint64_t n; left > 0; left -= n) {
		n = left < UINT16_MAX ? left : UINT16_MAX;
		memset(batch_add(&gluttony, RUN_TUPLES, name_id(place, 0), 0, (uint32_t)n, 0), 0,
		       n * sizeof(struct tuple));
	}
	columns_batch_pack(&gluttony);
}

static bool glut_wave(struct speech *l, uint32_t scope, uint64_t wave)
{
	static size_t most = BATCH_PLAIN_MOST / sizeof(struct tuple);
	Evspace__Answer answer = EVSPACE__ANSWER__INIT;
	const Evspace__Frame frame = WIRE_FRAME(ANSWER, answer, &answer);

	/* whatever another one brings with it is more than a wave may have */
	glut_fill(wave, most);
	if (gluttony.plain > BATCH_PLAIN_MOST) {
		most -= (gluttony.plain - BATCH_PLAIN_MOST - 1) / sizeof(struct tuple) + 1;
		glut_fill(wave, most);
	}
	answer.scope = scope;
	answer.wave = wave;
	answer.leaves = 1;
	return speech_say(l, out, speech_put(&frame, &gluttony, out));
}

/* Returns false when it is over. */
static bool glut(struct speech *l, const Evspace__Frame *f)
{
	Evspace__Opened opened = EVSPACE__OPENED__INIT;
	const Evspace__Frame frame = WIRE_FRAME(OPENED, opened, &opened);
	bool goes_on = true;

	if (f->kind_case == EVSPACE__FRAME__KIND_OPEN) {
		place = f->open->place->index;
		opened.scope = f->open->scope;
		goes_on = speech_say(l, out, speech_put(&frame, NULL, out));
	} else if (f->kind_case == EVSPACE__FRAME__KIND_ASK) {
		for (uint32_t i = 0; goes_on && i < f->ask->count; i++)
			goes_on = glut_wave(l, f->ask->scope, f->ask->wave + i);
	}
	return goes_on;
}

static size_t reply(struct random_frame *r, unsigned deep)
{
	unsigned kind = replies[random_below(&r->dice, sizeof(replies))];

	if (forges || swaps)
		return (asked == EVSPACE__FRAME__KIND_STATUS_ASK) == forges ? run_forge(r->scope)
									    : refuse(r->scope);
	/* Other kinds than a child's are refused for their length. */
	for (unsigned i = 0; deep && i < random_rounds(); i++) {
		if (random_round_kind(i) == EVSPACE__FRAME__KIND_STATUS)
			return random_round(i, deep, out);
	}
	return kind == EVSPACE__FRAME__KIND_ANSWER ? random_answer(r, out)
						   : random_frame(r, kind, out);
}

/* What is told apart by what it says alone is said as it is. */
static bool reply_say(struct speech *l, struct random_frame *r, unsigned deep, bool packs)
{
	size_t n = reply(r, deep);

	if (!deep && !forges && !swaps)
		return speech_frame(l, &r->dice, out, n, packs && random_below(&r->dice, 2));
	speech_counts.frames++;
	return speech_say(l, out, n);
}

/* Answer all that is asked, each with some frames. */
static void child_speak(struct speech *l, struct random_frame *r, uint64_t end_ns, unsigned deep)
{
	struct frame frame;
	struct error e;
	bool packs = false;
	int n = 0, found;

	while (is_time(end_ns)) {
		size_t room;
		unsigned char *to = deframer_room(&l->in, &room);

		n = SSL_read(l->ssl, to, (int)room);
		if (n <= 0) {
			if (SSL_get_error(l->ssl, n) != SSL_ERROR_WANT_READ)
				return;
			ERR_clear_error();
			if (!speech_flush(l))
				return;
			speech_wait(l, 100);
			continue;
		}
		deframer_filled(&l->in, (size_t)n);
		while ((found = deframer_next(&l->in, &frame, &e)) > 0) {
			const Evspace__Frame *f = frame.header;

			if (f->kind_case == EVSPACE__FRAME__KIND_HELLO) {
				packs = f->hello->unpacks != UNPACKS_NEVER;
				continue;
			}
			if (gluts && !glut(l, f))
				return;
			if (gluts)
				continue;
			asked = f->kind_case;
			r->scope = frame_scope(f);
			r->wave = f->kind_case == EVSPACE__FRAME__KIND_ASK ? f->ask->wave : 1;
			for (size_t i = forges ? 1 : random_below(&r->dice, 4); i > 0 || deep;
			     i--) {
				if (!reply_say(l, r, deep, packs) || !random_below(&r->dice, 500))
					return;
			}
		}
		if (found < 0)
			return;
	}
}

static int child(struct random_frame *r, uint64_t end_ns, unsigned deep)
{
	int door = socket(target.at[0].any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	unsigned long connections = 0;
	struct pollfd p = {.fd = door, .events = POLLIN};
	struct error e;

	setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(door, &target.at[0].any, target.bytes[0]) < 0 || listen(door, 16) < 0)
		die("listen");
	puts("here");
	fflush(stdout);
	while (is_time(end_ns)) {
		struct speech l;

		if (poll(&p, 1, 100) != 1)
			continue;
		if (speech_begin(&l, accept(door, NULL, NULL), tls_server(tls, &e)) &&
		    hello_say(&l, name))
			child_speak(&l, r, end_ns, deep);
		connections++;
		speech_end(&l);
	}
	return tell(connections);
}

/* ---- what is too deep, what is never whole ---- */

static int deep(void)
{
	for (unsigned i = 0; i < random_rounds(); i++) {
		struct speech l;
		size_t n;

		if (!link_dial(&l, ""))
			die("no connection");
		n = random_round(i, DEEP, out);
		speech_say(&l, out, n);
		while (speech_drain(&l)) {
			if (!speech_wait(&l, SPEECH_PATIENCE))
				die("it goes on listening");
		}
		speech_end(&l);
	}
	printf("%u ways were refused\n", random_rounds());
	return 0;
}

/* An Open of which the last byte does not come. */
static int wave_quota(unsigned n)
{
	static const uint32_t front[2] = {WIRE_HEADER_MAX - 8, 0};
	struct speech *l = memory_new(n, sizeof(*l));
	unsigned open = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!link_dial(&l[i], ""))
			die("no connection");
		memset(out, 0, RANDOM_FRAME_BYTES);
		memcpy(out, front, sizeof(front));
		out[sizeof(front)] = 2 << 3 | 2;
		for (unsigned k = 0; k < 7 && speech_say(&l[i], out, RANDOM_FRAME_BYTES); k++)
			memset(out, 0, RANDOM_FRAME_BYTES);
		open += speech_drain(&l[i]);
	}
	printf("%u held\n", open);
	fflush(stdout);
	while (getchar() != EOF) {
	}
	for (unsigned i = 0; i < n; i++)
		speech_end(&l[i]);
	free(l);
	return 0;
}

/* ---- what does not read ---- */

/* Unlike speech_say(), it reads nothing to make room. */
static bool deaf_say(struct speech *l, const Evspace__Frame *frame)
{
	struct pollfd p = {.fd = l->fd, .events = POLLOUT};
	size_t said = 0, bytes = speech_put(frame, NULL, out);

	while (said < bytes) {
		int n = SSL_write(l->ssl, out + said, (int)(bytes - said));

		if (n > 0)
			said += (size_t)n;
		else if (SSL_get_error(l->ssl, n) != SSL_ERROR_WANT_WRITE ||
			 poll(&p, 1, SPEECH_PATIENCE) != 1)
			return false;
		ERR_clear_error();
	}
	return true;
}

/* What it asks besides waves: the map, as that is long. */
#define DEAF_MAPS 8

/* Asks as the commands do, but that it takes nothing of what comes. */
static int deaf(char *run, char *view)
{
	Evspace__MapAsk map = EVSPACE__MAP_ASK__INIT;
	const Evspace__Frame maps = WIRE_FRAME(MAP_ASK, map_ask, &map);
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	const Evspace__Frame opens = WIRE_FRAME(OPEN, open, &open);
	const Evspace__Frame asks = WIRE_FRAME(ASK, ask, &ask);
	unsigned char id[16] = {7};
	struct speech l;

	open.scope = ask.scope = 1;
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.run = run;
	open.view = view;
	open.folds = true;
	open.sampled = true;
	ask.count = 1;
	ask.deadline_ms = 20000;
	if (!link_dial(&l, "") || !deaf_say(&l, &opens))
		die("no connection");
	/* let others look who is there */
	raise(SIGSTOP);
	for (ask.wave = 1; deaf_say(&l, &asks); ask.wave++) {
		for (unsigned i = 0; i < DEAF_MAPS && deaf_say(&l, &maps); i++)
			;
	}
	printf("dropped after it had asked for %lu waves\n", (unsigned long)ask.wave - 1);
	speech_end(&l);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 4 ? argv[1] : "";
	struct random_frame r = {.dice = argc > 5 ? strtoul(argv[5], NULL, 10) : 0};
	uint64_t end_ns = clock_mono_ns() +
			  (argc > 6 ? strtoul(argv[6], NULL, 10) : 0) * UINT64_C(1000000000);
	struct error e;

	if (argc < 5 || address_parse(&target, argv[2], false, &e) < 0 ||
	    !(tls = tls_new(argv[3], argv[4], &e))) {
		fprintf(stderr, "hostile: %s\n", argc < 5 ? "see its source" : e.text);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	name = argv[4];
	out = memory_new(2 * RANDOM_FRAME_BYTES, 1);
	if (!strcmp(what, "client"))
		return client(&r, end_ns, argc > 7 ? argv[7] : "");
	forges = !strcmp(what, "forger");
	swaps = !strcmp(what, "swapper");
	gluts = !strcmp(what, "glutton");
	if (!strcmp(what, "child") || forges || swaps || gluts)
		return child(&r, end_ns, 0);
	if (!strcmp(what, "deepchild"))
		return child(&r, end_ns, DEEP);
	if (!strcmp(what, "deep"))
		return deep();
	if (!strcmp(what, "hoard") && argc == 6)
		return wave_quota((unsigned)strtoul(argv[5], NULL, 10));
	if (!strcmp(what, "deaf") && argc == 7)
		return deaf(argv[5], argv[6]);
	return 2;
}
