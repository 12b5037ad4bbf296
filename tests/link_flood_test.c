/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what an agent lets its peers hold of it and keep it busy with: frames that are not whole,
 * very many at once. */
#include <dlfcn.h>
#include <endian.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tests/peers.h"
#include "tree/link/link-hub.h"
#include "tree/data/tuple.h"

/** An Open of somewhat more than so many bytes. */
static void send_open(struct link *link, size_t bytes)
{
	Evspace__Open open = EVSPACE__OPEN__INIT;

	open.view = memory_new(bytes + 1, 1);
	memset(open.view, 'x', bytes);
	CU_ASSERT_EQUAL(link_send(link, &WIRE_FRAME(OPEN, open, &open), NULL), 0);
	free(open.view);
}

/** A connection that has begun a frame of so many bytes, an Open. */
static int hoarder(uint32_t header_bytes)
{
	static const unsigned char kind[WIRE_KIND_BYTES] = {2 << 3 | 2};
	const uint32_t front[2] = {htole32(header_bytes), 0};
	unsigned char data[WIRE_HELLO_MAX];
	size_t n = raw_hello(data, sizeof(data), WIRE_VERSION, WIRE_OLDEST, TUPLE_LAYOUT);
	int fd = raw_local(peers_path("socket"));

	memcpy(data + n, front, sizeof(front));
	memcpy(data + n + sizeof(front), kind, sizeof(kind));
	n += sizeof(front) + sizeof(kind);
	CU_ASSERT_EQUAL(write(fd, data, n), (ssize_t)n);
	return fd;
}

/** Connections of a process that each begin a frame of so many bytes, a MapApply. */
struct wave_quota {
	const char *who;
	unsigned port, n;
	uint32_t bytes;
	int go; /* the read end of a pipe: when a byte comes, the first one ends its frame */
};

/* A varint of four bytes. */
static void length_put(unsigned char *to, uint32_t length)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)((length >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0));
}

static void quotas(void *arg)
{
	const struct wave_quota *h = arg;
	const uint32_t front[2] = {htole32(h->bytes), 0};
	unsigned char data[WIRE_HELLO_MAX], *rest = memory_new(h->bytes + 8, 1);
	size_t hello = raw_hello(data, sizeof(data), WIRE_VERSION, WIRE_OLDEST, TUPLE_LAYOUT);
	struct error e;
	struct tls *tls = tls_new(peers_certs(), h->who, &e);
	SSL *first = NULL;

	memcpy(data + hello, front, sizeof(front));
	/* A MapApply with one field that nobody knows. */
	rest[0] = 15 << 3 | 2;
	length_put(rest + 1, h->bytes - 5);
	rest[5] = 15 << 3 | 2;
	length_put(rest + 6, h->bytes - 10);
	memcpy(data + hello + sizeof(front), rest, WIRE_KIND_BYTES);
	for (unsigned i = 0; i < h->n; i++) {
		SSL *ssl = tls_client(tls, NULL, &e);

		SSL_set_fd(ssl, raw_tcp(h->port));
		if (SSL_connect(ssl) != 1)
			_exit(1);
		SSL_write(ssl, data, (int)(hello + sizeof(front) + WIRE_KIND_BYTES));
		first = first ? first : ssl;
	}
	while (read(h->go, data, 1) == 1)
		SSL_write(first, rest + WIRE_KIND_BYTES,
			  (int)(h->bytes + 7 - (h->bytes + 7) % 8) - 2);
}

static bool bob_is_out;

static void note_bob(struct link *link, void *arg, const struct error *why)
{
	bob_is_out = bob_is_out || strcmp(link_peer(link)->name, "bob") == 0;
	watch_events.closed(link, arg, why);
}

/** Who holds little altogether is not in the way, however large his frame is. */
static void who_hoards_makes_way(void)
{
	enum { MOST = 64 << 20, BOBS = 3300000, EACH = 3000000, HOARDERS = 30 };
	const int fit = (MOST - BOBS) / EACH;
	static struct link_events events;
	struct world w;
	struct watch mine = {0};
	struct wave_quota bob = {"bob", 0, 1, BOBS, -1}, alice = {"alice", 0, HOARDERS, EACH, -1};
	int go[2], stay[2];
	pid_t pids[2];

	world_open(&w);
	events = watch_events;
	events.closed = note_bob;
	w.events = &events;
	link_hub_proof_set(w.agent, 60000);
	CU_ASSERT_EQUAL_FATAL(pipe(go) | pipe(stay), 0);
	bob.port = alice.port = w.port;
	bob.go = go[0];
	alice.go = stay[0];
	pids[0] = peer_spawn(quotas, &bob);
	WAIT(&w, w.served.ready == 1);
	pids[1] = peer_spawn(quotas, &alice);
	WAIT(&w, w.served.ready == 1 + HOARDERS && w.served.closed == HOARDERS - fit);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.served.why.text, "of a frame that is not whole"));
	CU_ASSERT_FALSE(bob_is_out);
	CU_ASSERT_EQUAL(write(go[1], "", 1), 1);
	WAIT(&w, w.served.frames == 1 || bob_is_out);
	CU_ASSERT_EQUAL(w.served.frames, 1);
	/* Parents have room of their own. */
	world_dial(&w, true, &mine);
	WAIT(&w, mine.ready && w.served.ready == 2 + HOARDERS);
	link_parent_set(w.served.link, true);
	send_open(mine.link, 4 << 20);
	WAIT(&w, w.served.frames == 2 || mine.closed);
	CU_ASSERT_EQUAL(w.served.frames, 2);
	/* Who is none any more sends no more than a consumer. */
	link_parent_set(w.served.link, false);
	send_open(mine.link, 4 << 20);
	WAIT(&w, w.served.frames == 3 || mine.closed);
	CU_ASSERT_EQUAL(w.served.frames, 2);
	for (int i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		peer_wait(&w, pids[i]);
		close(go[i]);
		close(stay[i]);
	}
	world_close(&w);
}

/** A frame may not take for ever. */
static void a_frame_has_its_time(void)
{
	struct world w;
	struct watch mine = {0};
	int fd;

	world_open(&w);
	world_dial(&w, false, &mine);
	WAIT(&w, mine.ready);
	link_hub_proof_set(w.agent, 20);
	fd = hoarder(100);
	WAIT(&w, w.served.closed == 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.served.why.text, "did not end a frame within 0.12 s"));
	CU_ASSERT_EQUAL(mine.closed, 0);
	close(fd);
	world_close(&w);
}

/** What an observer sends is as large as an observer's questions are. */
static void observers_say_little(void)
{
	struct world w;
	struct watch mine = {0};

	world_open(&w);
	world_dial(&w, false, &mine);
	WAIT(&w, mine.ready);
	send_open(mine.link, 1 << 20);
	WAIT(&w, mine.closed && w.served.closed);
	CU_ASSERT_EQUAL(w.served.frames, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(mine.why.text, "a frame of kind 2 with a header of 10485"));
	world_close(&w);
}

enum { FLOOD = 600, TURN_FRAMES = 30 };

/* A flood on one of two links, each frame of which is much work. */
static struct {
	struct world *w;
	struct link *flooded, *other; /* where the frames come out */
	struct link *source, *from;   /* where they are sent */
	int frames, before;	      /* of the flood; and before the other's frame */
	bool answers;
} flood;

static _Atomic unsigned worked_ms;

/* The time, as if what was received had been work. */
int clock_gettime(clockid_t id, struct timespec *at)
{
	int (*real)(clockid_t, struct timespec *);
	unsigned ms = atomic_load(&worked_ms);
	int status;

	*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	status = real(id, at);
	at->tv_nsec += ms % 1000u * 1000000u;
	at->tv_sec += ms / 1000u + at->tv_nsec / 1000000000;
	at->tv_nsec %= 1000000000;
	return status;
}

static void much_work(struct watch *watch, struct link *link, const struct frame *frame)
{
	(void)watch;
	if (link == flood.other) {
		flood.before = flood.frames;
		return;
	}
	CU_ASSERT_EQUAL(flood.answers ? frame->header->error->scope : frame->header->ask->wave,
			(uint64_t)flood.frames + 1);
	/* The rest of its portion has been received. */
	if (flood.frames++ == 0) {
		link_send_ping(flood.from, 0);
		link_hub_flush(flood.answers ? flood.w->agent : flood.w->consumer);
	}
	atomic_fetch_add(&worked_ms, 1);
}

static void flood_begin(struct world *w, bool local, struct watch mine[2], bool answers)
{
	struct link *served[2], *dialled[2];

	world_open(w);
	if (answers)
		link_hub_unpacks_set(w->consumer, UNPACKS_ALWAYS);
	for (int i = 0; i < 2; i++) {
		mine[i] = (struct watch){.on_frame = much_work};
		dialled[i] = world_dial(w, local, &mine[i]);
		WAIT(w, mine[i].ready && w->served.ready == i + 1);
		served[i] = w->served.link;
	}
	w->served.on_frame = much_work;
	memset(&flood, 0, sizeof(flood));
	flood.w = w;
	flood.answers = answers;
	flood.before = -1;
	flood.flooded = answers ? dialled[0] : served[0];
	flood.other = answers ? dialled[1] : served[1];
	flood.source = answers ? served[0] : dialled[0];
	flood.from = answers ? served[1] : dialled[1];
}

static void flood_send(void)
{
	char text[301];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (unsigned i = 0; i < FLOOD; i++)
		CU_ASSERT_EQUAL(flood.answers ? link_send_error(flood.source, i + 1, EIO, text)
					      : send_ask(flood.source, i + 1),
				0);
}

/** Questions share records, answers are packed: thousands of frames may be there at once. */
static void a_flood_stops_nobody_else(void)
{
	struct watch mine[2];
	struct world w;
	bool local;

	FOR_BOTH(local)
	{
		for (int answers = 0; answers < 2; answers++) {
			flood_begin(&w, local, mine, answers);
			flood_send();
			WAIT(&w, flood.frames == FLOOD && flood.before >= 0);
			CU_ASSERT_TRUE(flood.before < TURN_FRAMES);
			world_close(&w);
		}
	}
}

/** What is left of a flood is dropped with its link. */
static void a_flood_ends_early(void)
{
	struct watch mine[2];
	struct world w;
	bool local;

	FOR_BOTH(local)
	{
		flood_begin(&w, local, mine, false);
		flood_send();
		WAIT(&w, flood.before >= 0);
		link_close(flood.flooded);
		WAIT(&w, mine[0].closed == 1);
		CU_ASSERT_TRUE(flood.frames < FLOOD);
		CU_ASSERT_EQUAL(mine[1].closed, 0);
		world_close(&w);
	}
}

enum { CROWD = 24, CROWD_FRAMES = 30 };

static void crowd_work(struct watch *watch, struct link *link, const struct frame *frame)
{
	(void)watch;
	(void)frame;
	if (link == flood.other) {
		flood.before = flood.frames;
		return;
	}
	flood.frames++;
	atomic_fetch_add(&worked_ms, 1);
}

/** A crowd that floods takes little longer than one. */
static void a_crowd_stops_nobody_else(void)
{
	struct watch mine[CROWD + 1];
	struct link *link[CROWD + 1];
	struct world w;
	bool local;

	FOR_BOTH(local)
	{
		world_open(&w);
		for (int i = 0; i <= CROWD; i++) {
			mine[i] = (struct watch){.frames = 0};
			link[i] = world_dial(&w, local, &mine[i]);
			WAIT(&w, mine[i].ready && w.served.ready == i + 1);
		}
		memset(&flood, 0, sizeof(flood));
		flood.before = -1;
		flood.other = w.served.link;
		w.served.on_frame = crowd_work;
		for (int i = 0; i < CROWD; i++) {
			for (unsigned k = 0; k < CROWD_FRAMES; k++)
				CU_ASSERT_EQUAL(send_ask(link[i], k + 1), 0);
		}
		link_send_ping(link[CROWD], 0);
		link_hub_flush(w.consumer);
		WAIT(&w, flood.before >= 0);
		/* One each, and what fits into one turn, and that once more. */
		CU_ASSERT_TRUE(flood.before < 60);
		WAIT(&w, flood.frames == CROWD * CROWD_FRAMES);
		world_close(&w);
	}
}

/** Who goes in the midst of its flood is heard to the end. */
static void a_flood_is_heard_to_its_end(void)
{
	struct watch mine[2];
	struct world w;
	bool local;

	FOR_BOTH(local)
	{
		flood_begin(&w, local, mine, false);
		flood_send();
		link_hub_flush(w.consumer);
		link_close(flood.source);
		WAIT(&w, w.served.closed == 1);
		CU_ASSERT_EQUAL(flood.frames, FLOOD);
		CU_ASSERT_EQUAL(mine[1].closed, 0);
		world_close(&w);
	}
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"of all that is not whole, who quotas it makes way", who_hoards_makes_way},
		{"a frame that does not end is given up", a_frame_has_its_time},
		{"observers say little", observers_say_little},
		{"a flood stops nobody else", a_flood_stops_nobody_else},
		{"who floods may go in the midst of it", a_flood_ends_early},
		{"a crowd that floods stops nobody else", a_crowd_stops_nobody_else},
		{"who floods and goes is heard to the end", a_flood_is_heard_to_its_end},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "link floods",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
