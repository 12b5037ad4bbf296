/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests links between an agent and a consumer, over both transports: what is sent arrives. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/peers.h"
#include "tree/link/link-hub.h"
#include "tree/link/rate-limit.h"
#include "tree/data/tuple.h"

static void both_know_each_other(void)
{
	struct world w;
	struct watch mine;
	bool local;

	FOR_BOTH(local)
	{
		struct link *link;
		const struct peer *agent, *consumer;

		world_open(&w);
		mine = (struct watch){0};
		link = world_dial(&w, local, &mine);
		WAIT(&w, mine.ready && w.served.ready);
		agent = link_peer(link);
		consumer = link_peer(w.served.link);
		CU_ASSERT_STRING_EQUAL(agent->name, "w0");
		CU_ASSERT_EQUAL(agent->roles, ROLE_AGENT);
		CU_ASSERT_EQUAL(agent->local, local);
		CU_ASSERT_EQUAL(consumer->local, local);
		CU_ASSERT_EQUAL(link_hello(link)->epoch_ns, 1000);
		/* Who asks sends no pieces. */
		CU_ASSERT_EQUAL(link_hello(link)->unpacks, UNPACKS_NEVER);
		CU_ASSERT_EQUAL(link_hello(w.served.link)->unpacks, UNPACKS_SLOW);
		CU_ASSERT_STRING_EQUAL(link_hello(link)->boot_id,
				       link_hello(w.served.link)->boot_id);
		if (local) {
			CU_ASSERT_EQUAL(consumer->roles, ROLE_AGENT | ROLE_OBSERVE | ROLE_CONTROL);
			CU_ASSERT_PTR_NOT_NULL(strstr(consumer->where, "unix, pid "));
			CU_ASSERT_STRING_EQUAL(consumer->until, "");
		} else {
			CU_ASSERT_EQUAL(consumer->roles, ROLE_OBSERVE);
			CU_ASSERT_STRING_EQUAL(consumer->name, "alice");
			CU_ASSERT_PTR_NOT_NULL(strstr(consumer->where, "127.0.0.1:"));
			CU_ASSERT_PTR_NOT_NULL(strstr(consumer->until, "UTC"));
		}
		link_close(link);
		WAIT(&w, w.served.closed);
		CU_ASSERT_STRING_EQUAL(w.served.why.text, "the peer closed the connection");
		world_close(&w);
	}
}

/** Send back what came. */
static void echo(struct watch *watch, struct link *link, const struct frame *frame)
{
	struct batch body;

	(void)watch;
	batch_init(&body);
	if (frame->buffer)
		batch_append(&body, frame->buffer, frame->at, frame->bytes);
	CU_ASSERT_EQUAL(link_send(link, frame->header, &body), 0);
	batch_fini(&body);
}

static void check_fill(struct watch *watch, struct link *link, const struct frame *frame)
{
	const unsigned char *end = frame->buffer->data + frame->at + frame->bytes;

	(void)link;
	CU_ASSERT_EQUAL(end[-1], watch->frames);
	CU_ASSERT_EQUAL(end[-(ptrdiff_t)sizeof(struct tuple) * 1000], watch->frames);
}

static void big_frames_come_whole(void)
{
	struct world w;
	bool local;

	FOR_BOTH(local)
	{
		struct watch mine = {.on_frame = check_fill};

		world_open(&w);
		world_dial(&w, local, &mine);
		WAIT(&w, mine.ready && w.served.ready);
		for (int i = 1; i <= 3; i++)
			CU_ASSERT_EQUAL(send_answer(w.served.link, 5, 50000, i), 0);
		WAIT(&w, mine.frames == 3 || mine.closed);
		CU_ASSERT_TRUE(mine.body_bytes > 3u * 5 * 50000 * sizeof(struct tuple));
		CU_ASSERT_EQUAL(link_waiting(w.served.link), 0);
		link_close(mine.link);
		world_close(&w);
	}
}

#define TURNS 50

/* Another link of the same hub, on which frames come meanwhile: all headers are in one arena. */
static struct watch beside;

static void take_in_turns(struct watch *watch, struct link *link, const struct frame *frame)
{
	Evspace__Error error = EVSPACE__ERROR__INIT;

	CU_ASSERT_EQUAL_FATAL(frame->header->kind_case, EVSPACE__FRAME__KIND_ANSWER);
	CU_ASSERT_EQUAL_FATAL(frame->header->answer->wave, 7);
	CU_ASSERT_STRING_EQUAL(frame->header->answer->missing[0]->text, "w3");
	error.text = (char *)(uintptr_t) "something else, which is as long as what is in an answer";
	error.scope = 3;
	if (watch->frames <= TURNS)
		CU_ASSERT_EQUAL(link_send(beside.link, &WIRE_FRAME(ERROR, error, &error), NULL), 0);
	if (beside.frames < TURNS)
		link_frame_again(link);
}

static void a_frame_that_is_taken_in_turns_stays(void)
{
	struct world w;
	bool local;

	FOR_BOTH(local)
	{
		struct watch mine = {.on_frame = take_in_turns};
		struct link *served;
		Evspace__Answer answer = EVSPACE__ANSWER__INIT;
		Evspace__Missing missing = EVSPACE__MISSING__INIT, *list = &missing;

		answer.wave = 7;
		answer.n_missing = 1;
		answer.missing = &list;
		missing.text = (char *)(uintptr_t) "w3";
		world_open(&w);
		world_dial(&w, local, &mine);
		WAIT(&w, mine.ready && w.served.ready);
		served = w.served.link;
		w.served.on_frame = echo;
		beside = (struct watch){0};
		world_dial(&w, local, &beside);
		WAIT(&w, beside.ready && w.served.link != served);
		CU_ASSERT_EQUAL(link_send(served, &WIRE_FRAME(ANSWER, answer, &answer), NULL), 0);
		WAIT(&w, beside.frames == TURNS || mine.closed);
		link_close(mine.link);
		link_close(beside.link);
		world_close(&w);
	}
}

static void check_order(struct watch *watch, struct link *link, const struct frame *frame)
{
	(void)link;
	CU_ASSERT_EQUAL(frame->header->ask->wave, (uint64_t)watch->frames);
}

static void small_frames_come_in_order_and_share_records(void)
{
	enum { FRAMES = 20000 };
	struct world w;
	bool local;

	FOR_BOTH(local)
	{
		struct watch mine = {0};
		struct link *link;
		uint64_t sent, before, received;

		world_open(&w);
		w.served.on_frame = check_order;
		link = world_dial(&w, local, &mine);
		WAIT(&w, mine.ready);
		link_bytes(link, &before, &received);
		for (uint64_t i = 1; i <= FRAMES; i++)
			CU_ASSERT_EQUAL(send_ask(link, i), 0);
		WAIT(&w, w.served.frames == FRAMES || mine.closed);
		link_bytes(link, &sent, &received);
		/* 16 bytes a frame, and what TLS adds is next to nothing when they share records.
		 */
		CU_ASSERT_TRUE(sent - before < FRAMES * 17);
		link_close(link);
		world_close(&w);
	}
}

/* The bodies that a test holds on to. */
static struct batch held;

static void hold(struct watch *watch, struct link *link, const struct frame *frame)
{
	(void)watch;
	(void)link;
	batch_append(&held, frame->buffer, frame->at, frame->bytes);
}

static void bodies_can_be_held(void)
{
	enum { FRAMES = 300 };
	struct world w;
	struct watch mine = {0};
	struct batch_cursor cursor = {0};
	struct run_view view;
	struct link *link;
	unsigned tuples = 0;

	world_open(&w);
	batch_init(&held);
	w.served.on_frame = hold;
	link = world_dial(&w, false, &mine);
	WAIT(&w, mine.ready);
	for (int i = 0; i < FRAMES; i++)
		CU_ASSERT_EQUAL(send_answer(link, 1, 40, i), 0);
	WAIT(&w, w.served.frames == FRAMES);
	link_close(link);
	WAIT(&w, w.served.closed);
	while (batch_next(&held, &cursor, &view)) {
		if (view.run->kind != RUN_TUPLES)
			continue;
		CU_ASSERT_EQUAL(view.records[0], tuples / 40 % 256);
		CU_ASSERT_EQUAL(view.records[40 * sizeof(struct tuple) - 1], tuples / 40 % 256);
		tuples += view.run->count;
	}
	CU_ASSERT_EQUAL(tuples, FRAMES * 40);
	batch_fini(&held);
	world_close(&w);
}

static void close_here(struct watch *watch, struct link *link, const struct frame *frame)
{
	(void)watch;
	(void)frame;
	CU_ASSERT_EQUAL(link_send_error(link, 0, EPERM, "not with \033[31myou"), 0);
	link_close(link);
}

static void an_error_is_read_though_the_link_closes(void)
{
	struct world w;
	bool local;

	FOR_BOTH(local)
	{
		struct watch mine = {0};
		struct link *link;

		world_open(&w);
		w.served.on_frame = close_here;
		link = world_dial(&w, local, &mine);
		WAIT(&w, mine.ready);
		/* The agent never reads most of this: a plain close() would reset the connection.
		 */
		for (int i = 0; i < 5000; i++)
			CU_ASSERT_EQUAL(send_ask(link, 1), 0);
		WAIT(&w, mine.closed);
		CU_ASSERT_EQUAL(w.served.frames, 1);
		CU_ASSERT_EQUAL(w.served.closed, 0);
		CU_ASSERT_EQUAL(mine.frames, 1);
		CU_ASSERT_STRING_EQUAL(mine.why.text,
				       "the agent closed the connection: not with ?[31myou");
		world_close(&w);
	}
}

static void who_does_not_read_is_dropped(void)
{
	struct world w;
	struct watch other = {0};
	unsigned char hello[256];
	size_t n;
	int fd, sent = 0;

	world_open(&w);
	w.served.on_frame = echo;
	fd = raw_local(peers_path("socket"));
	n = raw_hello(hello, sizeof(hello), WIRE_VERSION, WIRE_OLDEST, TUPLE_LAYOUT);
	CU_ASSERT_EQUAL(write(fd, hello, n), (ssize_t)n);
	WAIT(&w, w.served.ready == 1);
	while (send_answer(w.served.link, 1, 50000, 0) == 0 && sent < 100) {
		CU_ASSERT_TRUE(link_waiting(w.served.link) < 72u << 20);
		link_hub_flush(w.agent);
		sent++;
	}
	CU_ASSERT_EQUAL(errno, ENOBUFS);
	CU_ASSERT_TRUE(sent > 30);
	CU_ASSERT_EQUAL(send_ask(w.served.link, 1), -1);
	CU_ASSERT_EQUAL(errno, EPIPE);
	CU_ASSERT_EQUAL(w.served.closed, 0);
	WAIT(&w, w.served.closed == 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.served.why.text, "the peer does not read"));
	close(fd);
	world_dial(&w, true, &other);
	WAIT(&w, other.ready);
	send_ask(other.link, 1);
	WAIT(&w, other.frames == 1);
	world_close(&w);
}

/** A child process that is killed while it sends. */
static void sends_half_a_frame(void *arg)
{
	/* a header of 192 KiB, of an Open */
	static const unsigned char front[] = {0, 0, 3, 0, 0, 0, 0, 0, 2 << 3 | 2};
	int fd = raw_local(arg);
	unsigned char data[4096] = {0};
	size_t n = raw_hello(data, sizeof(data), WIRE_VERSION, WIRE_OLDEST, TUPLE_LAYOUT);

	/* The agent's hello; unread, it would make the end a reset. */
	if (read(fd, data + n, sizeof(data) - n) <= 0)
		return;
	memset(data + n, 0, sizeof(data) - n);
	memcpy(data + n, front, sizeof(front));
	while (write(fd, data, sizeof(data)) > 0)
		pause();
}

static void peers_may_be_killed(void)
{
	static char path[256];
	struct world w;
	pid_t pid;

	world_open(&w);
	snprintf(path, sizeof(path), "%s", peers_path("socket"));
	pid = peer_spawn(sends_half_a_frame, path);
	WAIT(&w, w.served.ready == 1);
	kill(pid, SIGKILL);
	WAIT(&w, w.served.closed == 1);
	CU_ASSERT_STRING_EQUAL(w.served.why.text, "the peer closed the connection");
	peer_wait(&w, pid);
	world_close(&w);
}

/** Closing the sockets that are connected to @port will reset their connections. */
static void reset_when_closed(unsigned port)
{
	static const struct linger now = {1, 0};

	for (int fd = 3; fd < 64; fd++) {
		struct sockaddr_in to = {0};
		socklen_t room = sizeof(to);

		if (getpeername(fd, (struct sockaddr *)&to, &room) == 0 &&
		    to.sin_family == AF_INET && ntohs(to.sin_port) == port)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	}
}

static void a_reset_is_said(void)
{
	struct world w;
	struct watch mine = {0};

	world_open(&w);
	world_dial(&w, false, &mine);
	WAIT(&w, mine.ready && w.served.ready);
	reset_when_closed(w.port);
	link_hub_free(w.consumer);
	w.consumer = NULL;
	WAIT(&w, w.served.closed == 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.served.why.text, "Connection reset by peer"));
	world_close(&w);
}

static void links_close_in_any_callback(void)
{
	struct world w;
	struct watch mine[8] = {{0}};
	unsigned ready = 0;

	world_open(&w);
	w.served.on_frame = close_here;
	for (unsigned i = 0; i < 8; i++)
		world_dial(&w, i % 2, &mine[i]);
	WAIT(&w, w.served.ready == 8);
	for (unsigned i = 0; i < 8; i++) {
		WAIT(&w, mine[i].ready);
		ready += (unsigned)mine[i].ready;
		send_ask(mine[i].link, 1);
	}
	CU_ASSERT_EQUAL(ready, 8);
	for (unsigned i = 0; i < 8; i++)
		WAIT(&w, mine[i].closed == 1);
	world_close(&w);
}

static void nobody_there(void)
{
	struct world w;
	struct watch mine = {0};
	struct error e;

	world_open(&w);
	link_listener_free(w.tcp);
	link_listener_free(w.local);
	w.tcp = w.local = NULL;
	CU_ASSERT_PTR_NULL(link_dial(w.consumer, w.local_address, NULL, &watch_events, &mine, &e));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "no agent listens at unix:"));
	if (link_dial(w.consumer, w.tcp_address, NULL, &watch_events, &mine, &e)) {
		WAIT(&w, mine.closed == 1);
		e = mine.why;
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "no agent listens at 127.0.0.1:"));
	CU_ASSERT_PTR_NULL(link_dial(w.consumer, "w0", NULL, &watch_events, &mine, &e));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "\"w0\" is not an address; write HOST:PORT"));
	mine.closed = 0;
	CU_ASSERT_PTR_NOT_NULL(
		link_dial(w.consumer, "no-such-host.invalid:1", NULL, &watch_events, &mine, &e));
	WAIT(&w, mine.closed == 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(mine.why.text, "no host \"no-such-host.invalid\""));
	/* It is known now. */
	CU_ASSERT_PTR_NULL(
		link_dial(w.consumer, "no-such-host.invalid:1", NULL, &watch_events, &mine, &e));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "no host \"no-such-host.invalid\""));
	world_close(&w);
}

/* A peer whose lines are earned back makes room: what was not said of it is said with the others.
 */
static void unsaid_lines_are_kept(void)
{
	static struct rate_limits all;
	unsigned long unsaid = 0;
	struct rate_limit *mine = rate_limit_of(&all, "mine");

	while (rate_limit_take(mine, &unsaid)) {
	}
	mine->since_ns -= UINT64_C(3600000000000);
	CU_ASSERT_PTR_EQUAL(rate_limit_of(&all, "another"), mine);
	CU_ASSERT(rate_limit_take(&all.others, &unsaid) && unsaid == 1);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"both sides know each other", both_know_each_other},
		{"big frames come whole", big_frames_come_whole},
		{"a frame that is taken in turns stays as it is",
		 a_frame_that_is_taken_in_turns_stays},
		{"small frames come in order and share records",
		 small_frames_come_in_order_and_share_records},
		{"bodies can be held after the link is gone", bodies_can_be_held},
		{"an error is read though the link closes",
		 an_error_is_read_though_the_link_closes},
		{"who does not read is dropped, others are served", who_does_not_read_is_dropped},
		{"a peer is killed in the middle of a frame", peers_may_be_killed},
		{"a reset is said", a_reset_is_said},
		{"links close in any callback", links_close_in_any_callback},
		{"nobody there: said at once", nobody_there},
		{"lines that were not said are counted", unsaid_lines_are_kept},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "link",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
