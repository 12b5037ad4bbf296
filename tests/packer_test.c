/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests compressed connections: what is packed comes out as it was, and nobody is harmed by what a
 * peer makes up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#include "pathmap/base/memory.h"
#include "tests/peers.h"
#include "tree/link/link-hub.h"
#include "tests/random.h"
#include "tree/wire/deframer.h"
#include "tree/wire/packer.h"
#include "tree/data/tuple.h"

/* ---- what comes out ---- */

/** A frame as bytes: an Answer of @tuples tuples that look like real ones, or an Ask. */
static unsigned char *frame_bytes(uint64_t wave, uint32_t tuples, size_t *bytes)
{
	Evspace__Answer answer = EVSPACE__ANSWER__INIT;
	const Evspace__Frame frame = WIRE_FRAME(ANSWER, answer, &answer);
	size_t records = tuples * sizeof(struct tuple);
	struct wire_front front;
	unsigned char *data, *to;
	struct batch batch;

	batch_init(&batch);
	memset(batch_add(&batch, RUN_PART, 0, wave, 1, 0), 0, sizeof(struct part));
	if (tuples) {
		struct tuple *t = batch_add(&batch, RUN_TUPLES, 5, wave, tuples, 0);

		memset(t, 0, records);
		for (uint32_t i = 0; i < tuples; i++)
			t[i].start = wave * 1000003 + i * 977;
	}
	answer.wave = wave;
	front.header_bytes = (uint32_t)evspace__frame__get_packed_size(&frame);
	front.body_bytes = (uint32_t)batch.bytes;
	*bytes = wire_frame_bytes(&front);
	data = memory_new(*bytes, 1);
	to = wire_frame_put(&front, &frame, data);
	for (size_t i = 0; i < batch.n; i++) {
		const struct extent *x = &batch.extents[i];

		memcpy(to, x->buffer->data + x->at, x->bytes);
		to += x->bytes;
	}
	batch_fini(&batch);
	return data;
}

static const uint32_t sizes[] = {0, 1, 3000, 0, 65535, 2, 7000, 100, 100, 0, 40000, 5};
#define FRAMES (sizeof(sizes) / sizeof(sizes[0]))

/** All frames behind each other; every third is plain, and now and then the packer begins anew. */
static struct bytes stream_new(void)
{
	struct packer *p = NULL;
	struct bytes out = {0};

	for (size_t i = 0; i < FRAMES; i++) {
		size_t bytes;
		unsigned char *data = frame_bytes(i, sizes[i], &bytes);

		if (i % 3 == 2) {
			memcpy(bytes_reserve(&out, bytes), data, bytes);
			bytes_commit(&out, bytes);
		} else {
			p = p ? p : packer_new();
			packer_put(p, data, bytes / 2, &out);
			packer_put(p, data + bytes / 2, bytes - bytes / 2, &out);
			packer_flush(p, &out);
		}
		if (i % 5 == 4 && p) {
			packer_end(p, &out);
			packer_free(p);
			p = NULL;
		}
		free(data);
	}
	packer_free(p);
	return out;
}

static void check_frame(const struct frame *frame, size_t i)
{
	size_t bytes;
	unsigned char *data = frame_bytes(i, sizes[i], &bytes);

	CU_ASSERT_EQUAL_FATAL(frame->header->kind_case, EVSPACE__FRAME__KIND_ANSWER);
	CU_ASSERT_EQUAL(frame->header->answer->wave, i);
	CU_ASSERT_EQUAL(frame->at % 8, 0);
	CU_ASSERT_TRUE_FATAL(frame->bytes < bytes);
	CU_ASSERT_EQUAL(
		memcmp(frame->buffer->data + frame->at, data + bytes - frame->bytes, frame->bytes),
		0);
	free(data);
}

/** Feed @data in pieces of at most @chunk. Returns the frames in it, -1 and @e if it is refused. */
static int feed(const unsigned char *data, size_t bytes, size_t chunk, bool check, struct error *e)
{
	struct deframer d;
	struct arena arena;
	struct frame frame;
	int frames = 0, result = 0;

	arena_init(&arena, 1 << 20);
	deframer_init(&d, &arena, &wire_child_limits);
	d.unpacks = true;
	while (bytes && result >= 0) {
		size_t room, n = bytes < chunk ? bytes : chunk;
		unsigned char *to = deframer_room(&d, &room);

		n = n < room ? n : room;
		memcpy(to, data, n);
		deframer_filled(&d, n);
		data += n;
		bytes -= n;
		while ((result = deframer_next(&d, &frame, e)) > 0) {
			if (check)
				check_frame(&frame, (size_t)frames);
			frames++;
		}
	}
	CU_ASSERT_TRUE(result < 0 || !check || !deframer_partial(&d));
	deframer_rest(&d);
	deframer_fini(&d);
	arena_fini(&arena);
	return result < 0 ? -1 : frames;
}

static void frames_come_out_as_they_were(void)
{
	static const size_t chunks[] = {1, 7, 8, 100, 1447, 16384, SIZE_MAX};
	struct bytes stream = stream_new();
	struct error e;

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++)
		CU_ASSERT_EQUAL(feed(stream.data, stream.used, chunks[i], true, &e), FRAMES);
	bytes_free(&stream);
}

/* ---- on a connection ---- */

static void check_fill(struct watch *watch, struct link *link, const struct frame *frame)
{
	(void)link;
	CU_ASSERT_EQUAL(frame->buffer->data[frame->at + frame->bytes - 1], watch->frames);
}

/** Send some answers to a consumer that wants @unpacks. Returns the bytes on the wire. */
static uint64_t answers_sent(enum wire_unpacks unpacks, bool local)
{
	struct watch mine = {.on_frame = check_fill};
	uint64_t sent, before, received;
	struct world w;

	world_open(&w);
	link_hub_unpacks_set(w.consumer, unpacks);
	world_dial(&w, local, &mine);
	WAIT(&w, mine.ready && w.served.ready);
	link_bytes(w.served.link, &before, &received);
	for (int i = 1; i <= 6; i++) {
		CU_ASSERT_EQUAL(send_answer(w.served.link, 1, i % 2 ? 50000 : 1, i), 0);
		/* Both sides give up what they keep, and go on. */
		if (i == 4)
			link_hub_rest(w.agent);
	}
	WAIT(&w, mine.frames == 6 || mine.closed);
	link_bytes(w.served.link, &sent, &received);
	CU_ASSERT_TRUE(link_unpacked(mine.link) > 3 * 50000 * sizeof(struct tuple));
	world_close(&w);
	return sent - before;
}

static void links_compress_for_those_who_ask(void)
{
	const uint64_t plain = 3 * 50000 * sizeof(struct tuple);

	for (int local = 0; local < 2; local++) {
		CU_ASSERT_TRUE(answers_sent(UNPACKS_NEVER, local) > plain);
		/* Nothing here is slow. */
		CU_ASSERT_TRUE(answers_sent(UNPACKS_SLOW, local) > plain);
		CU_ASSERT_TRUE(answers_sent(UNPACKS_ALWAYS, local) < plain / 100);
	}
}

/** A peer of version 3 says nothing of pieces in its hello. */
static void older_peers_get_none(void)
{
	struct wire_front front;
	unsigned char data[4096];
	struct world w;
	size_t n;
	int fd;

	world_open(&w);
	fd = raw_local(peers_path("socket"));
	n = raw_hello(data, sizeof(data), 3, 3, TUPLE_LAYOUT);
	CU_ASSERT_EQUAL(write(fd, data, n), (ssize_t)n);
	WAIT(&w, w.served.ready == 1);
	CU_ASSERT_EQUAL(send_answer(w.served.link, 1, 50, 1), 0);
	link_hub_flush(w.agent);
	n = (size_t)read(fd, data, sizeof(data));
	CU_ASSERT_TRUE_FATAL(n > 50 * sizeof(struct tuple) && n < sizeof(data));
	for (size_t at = 0; at < n; at += wire_frame_bytes(&front)) {
		front = wire_front_get(data + at);
		CU_ASSERT_FALSE_FATAL(wire_front_is_piece(&front));
	}
	close(fd);
	world_close(&w);
}

/* ---- what a peer makes up ---- */

/** A piece of @bytes of @plain, made with a window of 2^@window, that says it unpacks to @says. */
static size_t piece_new(unsigned char *to, size_t room, const void *plain, size_t bytes,
			size_t says, int window)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_inBuffer in = {plain, bytes, 0};
	ZSTD_outBuffer out = {to + WIRE_FRONT_BYTES, room - WIRE_FRONT_BYTES - 8, 0};

	ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window);
	CU_ASSERT_EQUAL_FATAL(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0);
	ZSTD_freeCCtx(context);
	memset(to + WIRE_FRONT_BYTES + out.pos, 0, 8);
	wire_piece_put(out.pos, says, to);
	return WIRE_FRONT_BYTES + wire_pad(out.pos);
}

static void refused_as(const unsigned char *data, size_t bytes, const char *text)
{
	struct error e = {""};

	CU_ASSERT_EQUAL(feed(data, bytes, SIZE_MAX, false, &e), -1);
	CU_ASSERT_EQUAL(errno, EPROTO);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, text));
	if (!strstr(e.text, text))
		tap_note("said: %s", e.text);
}

static void bombs_are_refused(void)
{
	static unsigned char zeros[64 << 20], piece[WIRE_PIECE_PACKED];
	size_t n = piece_new(piece, sizeof(piece), zeros, sizeof(zeros), WIRE_PIECE_PLAIN, 17);

	/* 64 MiB in a few KiB: no more of it is unpacked than it says, and that is no frame. */
	CU_ASSERT_TRUE(n < 8192);
	refused_as(piece, n, "a header of 0 bytes");
	wire_piece_put(n - WIRE_FRONT_BYTES, sizeof(zeros), piece);
	refused_as(piece, n, "unpack to 67108864 (1 to");
	/* More memory than a window may take. */
	n = piece_new(piece, sizeof(piece), zeros, 4096, 4096, 27);
	refused_as(piece, n, "too much memory");
}

static void lies_are_refused(void)
{
	static unsigned char piece[WIRE_PIECE_PACKED];
	size_t bytes, n;
	unsigned char *data = frame_bytes(1, 100, &bytes);
	struct error e;

	n = piece_new(piece, sizeof(piece), data, bytes, bytes, 17);
	CU_ASSERT_EQUAL(feed(piece, n, SIZE_MAX, false, &e), 1);
	n = piece_new(piece, sizeof(piece), data, bytes, bytes - 8, 17);
	refused_as(piece, n, "longer than it says");
	n = piece_new(piece, sizeof(piece), data, bytes, bytes + 8, 17);
	refused_as(piece, n, "shorter than it says");
	/* A piece in a piece. */
	bytes = piece_new(data, bytes, "piece", 6, 6, 17);
	n = piece_new(piece, sizeof(piece), data, bytes, bytes, 17);
	refused_as(piece, n, "where none was asked for");
	free(data);
	data = frame_bytes(1, 100, &bytes);
	/* A frame that is begun in a piece goes on in one. */
	n = piece_new(piece, sizeof(piece), data, bytes / 2, bytes / 2, 17);
	memcpy(piece + n, data, bytes);
	refused_as(piece, n + bytes, "another one has begun");
	memset(piece, 0x55, sizeof(piece));
	wire_piece_put(800, 1000, piece);
	refused_as(piece, 808, "damaged");
	wire_piece_put(0, 1000, piece);
	refused_as(piece, 808, "a piece of 0 bytes");
	wire_piece_put(WIRE_PIECE_PACKED + 1, 1000, piece);
	refused_as(piece, 808, "(1 to");
	free(data);
}

static long memory_most(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/** Let somebody in who says a hello, and then all of @what. */
static int somebody_says(struct world *w, const struct bytes *what)
{
	int fd = raw_local(peers_path("socket")), before = w->served.ready;
	unsigned char hello[4096];
	size_t n = raw_hello(hello, sizeof(hello), WIRE_VERSION, WIRE_VERSION, TUPLE_LAYOUT);

	CU_ASSERT_EQUAL(write(fd, hello, n), (ssize_t)n);
	WAIT(w, w->served.ready == before + 1);
	CU_ASSERT_EQUAL(write(fd, what->data, what->used), (ssize_t)what->used);
	return fd;
}

/** Whoever asks has no body to send: an answer of 64 MiB is not even begun to be unpacked. */
static void a_bomb_takes_no_memory(void)
{
	static const unsigned char zeros[WIRE_PIECE_PLAIN];
	struct packer *p = packer_new();
	struct bytes bomb = {0};
	unsigned char *head;
	struct world w;
	long before;
	size_t n;
	int fd;

	head = frame_bytes(1, 0, &n);
	((uint32_t *)(void *)head)[1] = WIRE_BODY_MAX;
	packer_put(p, head, n, &bomb);
	for (unsigned i = 0; i < WIRE_BODY_MAX / sizeof(zeros); i++)
		packer_put(p, zeros, sizeof(zeros), &bomb);
	packer_flush(p, &bomb);
	CU_ASSERT_TRUE(bomb.used < 64 << 10);
	world_open(&w);
	before = memory_most();
	fd = somebody_says(&w, &bomb);
	WAIT(&w, w.served.closed == 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(w.served.why.text, "a compressed piece where none was asked for"));
	CU_ASSERT_EQUAL(w.served.frames, 0);
	CU_ASSERT_TRUE(memory_most() - before < 16 << 10);
	close(fd);
	world_close(&w);
	packer_free(p);
	bytes_free(&bomb);
	free(head);
}

static void noise_is_survived(void)
{
	struct bytes stream = stream_new();
	uint64_t seed = 7;
	struct error e;

	for (int i = 0; i < 200; i++) {
		size_t at = random_below(&seed, stream.used);
		unsigned char was = stream.data[at];

		stream.data[at] ^= (unsigned char)(1 + random_below(&seed, 255));
		feed(stream.data, stream.used, 1 + random_below(&seed, 65536), false, &e);
		stream.data[at] = was;
	}
	CU_ASSERT_EQUAL(feed(stream.data, stream.used, SIZE_MAX, true, &e), FRAMES);
	bytes_free(&stream);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"frames come out of pieces as they were", frames_come_out_as_they_were},
		{"links compress for those who ask", links_compress_for_those_who_ask},
		{"peers of version 3 get no pieces", older_peers_get_none},
		{"bombs are refused", bombs_are_refused},
		{"pieces that lie are refused", lies_are_refused},
		{"a bomb takes no memory", a_bomb_takes_no_memory},
		{"noise is survived", noise_is_survived},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "packer",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
