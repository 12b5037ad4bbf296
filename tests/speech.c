/* SPDX-License-Identifier: BSD-3-Clause */
/* Says frames over TLS as no program of ours would, and as ours do under load. */
#include "tests/speech.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>

#include "tests/random.h"
#include "tree/data/clock.h"
#include "tree/wire/wire.h"

/* So much is gathered at most. */
#define GATHERED_MOST (64u << 10)
/* Fragments of a frame; the rest comes as it is. */
#define FRAGMENTS_MOST 200

struct speech_counts speech_counts;

/* Wait until there is something to read, or room to write. False: neither within @ms. */
static bool wait_for(const struct speech *s, short what, int ms)
{
	struct pollfd p = {.fd = s->fd, .events = what};

	return poll(&p, 1, ms) == 1;
}

size_t speech_put(const Evspace__Frame *frame, const struct batch *body, unsigned char *to)
{
	struct wire_front front = {0, body ? (uint32_t)body->bytes : 0};

	front.header_bytes = (uint32_t)evspace__frame__get_packed_size(frame);
	to = wire_frame_put(&front, frame, to);
	for (size_t i = 0; body && i < body->n; i++) {
		memcpy(to, body->extents[i].buffer->data + body->extents[i].at,
		       body->extents[i].bytes);
		to += body->extents[i].bytes;
	}
	return wire_frame_bytes(&front);
}

bool speech_wait(const struct speech *s, int ms)
{
	return wait_for(s, POLLIN, ms);
}

/* Do what the last call of OpenSSL wanted. False: it is over. */
static bool again(const struct speech *s, int result, int ms)
{
	int why = SSL_get_error(s->ssl, result);

	ERR_clear_error();
	if (why == SSL_ERROR_WANT_READ)
		return wait_for(s, POLLIN, ms);
	return why == SSL_ERROR_WANT_WRITE && wait_for(s, POLLOUT, ms);
}

void speech_end(struct speech *s)
{
	SSL_free(s->ssl);
	if (s->fd >= 0)
		close(s->fd);
	deframer_fini(&s->in);
	arena_fini(&s->arena);
	bytes_free(&s->gathered);
	packer_free(s->packer);
}

bool speech_begin(struct speech *s, int fd, SSL *ssl)
{
	int result;

	*s = (struct speech){.fd = fd, .ssl = ssl};
	arena_init(&s->arena, 64u << 20);
	deframer_init(&s->in, &s->arena, &wire_child_limits);
	if (!ssl || fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || !SSL_set_fd(ssl, fd))
		return false;
	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	while ((result = SSL_do_handshake(ssl)) != 1) {
		if (!again(s, result, SPEECH_PATIENCE))
			return false;
	}
	return true;
}

bool speech_drain(struct speech *s)
{
	char data[16384];
	int n;

	while ((n = SSL_read(s->ssl, data, sizeof(data))) > 0) {
	}
	n = SSL_get_error(s->ssl, n);
	ERR_clear_error();
	return n == SSL_ERROR_WANT_READ;
}

bool speech_say(struct speech *s, const unsigned char *data, size_t bytes)
{
	uint64_t began = clock_mono_ns();

	while (bytes > 0) {
		int n = SSL_write(s->ssl, data, (int)bytes), why;

		if (n > 0) {
			data += n;
			bytes -= (size_t)n;
			continue;
		}
		why = SSL_get_error(s->ssl, n);
		ERR_clear_error();
		if ((why != SSL_ERROR_WANT_WRITE && why != SSL_ERROR_WANT_READ) ||
		    clock_mono_ns() - began > SPEECH_PATIENCE * UINT64_C(1000000))
			return false;
		/* Both sides full would be for ever. */
		if (!speech_drain(s))
			return false;
		wait_for(s, POLLOUT | POLLIN, 20);
	}
	return true;
}

bool speech_flush(struct speech *s)
{
	bool said = speech_say(s, s->gathered.data + s->gathered.at, bytes_held(&s->gathered));

	speech_counts.writes_of_many += bytes_held(&s->gathered) > 0;
	bytes_consume(&s->gathered, bytes_held(&s->gathered));
	return said;
}

static void add(struct bytes *to, const unsigned char *data, size_t bytes)
{
	memcpy(bytes_reserve(to, bytes), data, bytes);
	bytes_commit(to, bytes);
}

/* Records of a few bytes each. */
static bool say_fragments(struct speech *s, uint64_t *dice, const unsigned char *data, size_t bytes)
{
	for (unsigned i = 0; bytes > 0 && i < FRAGMENTS_MOST; i++) {
		size_t n = 1 + (size_t)random_below(dice, random_below(dice, 2) ? 8 : 300);

		n = n < bytes ? n : bytes;
		if (!speech_say(s, data, n))
			return false;
		data += n;
		bytes -= n;
		speech_counts.fragments++;
	}
	return speech_say(s, data, bytes);
}

/* As @times in pieces that refer to those before them; now and then they are not what they say, or
 * another frame comes in the midst of one. */
static bool say_pieces(struct speech *s, uint64_t *dice, const unsigned char *data, size_t bytes,
		       size_t times)
{
	bool damaged = random_below(dice, 200) == 0, said;
	struct bytes out = {0};
	size_t half = (size_t)random_below(dice, bytes);

	if (!s->packer)
		s->packer = packer_new();
	for (size_t i = 0; i < times; i++) {
		packer_put(s->packer, data, half, &out);
		if (random_below(dice, 2))
			packer_flush(s->packer, &out);
		packer_put(s->packer, data + half, bytes - half, &out);
	}
	packer_flush(s->packer, &out);
	if (damaged && bytes_held(&out))
		out.data[out.at +
			 random_below(dice, random_below(dice, 2) ? 8 : bytes_held(&out))] ^=
			(unsigned char)(1 + random_below(dice, 255));
	if (random_below(dice, 10) == 0) {
		packer_end(s->packer, &out);
		packer_free(s->packer);
		s->packer = NULL;
	}
	said = random_below(dice, 2) ? speech_say(s, out.data + out.at, bytes_held(&out))
				     : say_fragments(s, dice, out.data + out.at, bytes_held(&out));
	bytes_free(&out);
	speech_counts.pieces++;
	speech_counts.damaged += damaged;
	return said;
}

bool speech_frame(struct speech *s, uint64_t *dice, const unsigned char *frame, size_t bytes,
		  bool packs)
{
	/* The same over and over, as much as a portion may be, or more in a piece. */
	size_t most = GATHERED_MOST / bytes + 1;
	size_t times = random_below(dice, 100) ? 1 : 1 + (size_t)random_below(dice, most);
	unsigned way = (unsigned)random_below(dice, 8);

	speech_counts.frames += times;
	if (way < 3 || times > 1) {
		for (size_t i = 0; i < times && !packs; i++)
			add(&s->gathered, frame, bytes);
		if (!packs)
			return random_below(dice, 16) && bytes_held(&s->gathered) < GATHERED_MOST
				       ? true
				       : speech_flush(s);
	}
	if (!speech_flush(s))
		return false;
	if (packs && (way < 4 || times > 1))
		return say_pieces(s, dice, frame, bytes, times);
	return way < 6 ? say_fragments(s, dice, frame, bytes) : speech_say(s, frame, bytes);
}
