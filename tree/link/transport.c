/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets with and without TLS; OpenSSL works on memory, the socket is ours. */
#include "tree/link/transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/err.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* Most bytes encrypted before the socket takes them, and most plain bytes of a TLS record. */
#define FLUSH_CHUNK	(256u << 10)
#define RECORD_PLAIN	(16u << 10)
#define RECORD_OVERHEAD 64u

/* --- OpenSSL's view of a transport: a BIO over memory ------------------------------------- */

static int bio_read(BIO *bio, char *data, size_t room, size_t *got)
{
	struct transport *t = BIO_get_data(bio);
	size_t n = t->in_bytes < room ? t->in_bytes : room;

	BIO_clear_retry_flags(bio);
	*got = n;
	if (!n) {
		BIO_set_retry_read(bio);
		return 0;
	}
	memcpy(data, t->in, n);
	t->in += n;
	t->in_bytes -= n;
	return 1;
}

static int bio_write(BIO *bio, const char *data, size_t n, size_t *done)
{
	struct transport *t = BIO_get_data(bio);

	memcpy(bytes_reserve(&t->out, n), data, n);
	bytes_commit(&t->out, n);
	*done = n;
	return 1;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
	(void)bio;
	(void)number;
	(void)pointer;
	return command == BIO_CTRL_FLUSH;
}

/** Made once per process, never freed, since OpenSSL's cleanup at exit does not include it. */
static BIO_METHOD *transport_method(void)
{
	static BIO_METHOD *method;

	if (method)
		return method;
	method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "evspace transport");
	if (!method || !BIO_meth_set_read_ex(method, bio_read) ||
	    !BIO_meth_set_write_ex(method, bio_write) || !BIO_meth_set_ctrl(method, bio_ctrl))
		abort();
	return method;
}

void transport_init(struct transport *t, int fd, SSL *ssl)
{
	BIO *bio;

	*t = (struct transport){.fd = fd, .ssl = ssl};
	if (!ssl)
		return;
	bio = BIO_new(transport_method());
	if (!bio)
		abort();
	BIO_set_data(bio, t);
	BIO_set_init(bio, 1);
	SSL_set_bio(ssl, bio, bio);
}

void transport_fini(struct transport *t)
{
	SSL_free(t->ssl);
	t->ssl = NULL;
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	t->in_bytes = 0;
	free(t->kept);
	t->kept = NULL;
	bytes_free(&t->plain);
	bytes_free(&t->out);
}

/** The meaning of a failed call of OpenSSL: 0 to retry later, -1 with @e. Empties OpenSSL's error
 * queue, as the next call requires. */
static int tls_result(struct transport *t, int result, const char *where, struct error *e)
{
	switch (SSL_get_error(t->ssl, result)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		errno = ECONNRESET;
		return errorf(e, "%s closed the connection", where);
	default:
		tls_explain(t->ssl, where, e);
		errno = EPROTO;
		return -1;
	}
}

int transport_handshake(struct transport *t, const char *where, struct error *e)
{
	int result;

	if (!t->ssl)
		return 1;
	ERR_clear_error();
	result = SSL_do_handshake(t->ssl);
	return result == 1 ? 1 : tls_result(t, result, where, e);
}

static ssize_t socket_receive(struct transport *t, void *data, size_t room, const char *where,
			      struct error *e)
{
	ssize_t n;

	do {
		n = stamp_receive(&t->stamp, t->fd, data, room);
	} while (n < 0 && errno == EINTR);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)))
		return n > 0 ? n : 0;
	if (n < 0)
		return errorf(e, "the connection to %s is broken: %s", where, strerror(errno));
	errno = ECONNRESET;
	return errorf(e, "%s closed the connection", where);
}

int transport_fill(struct transport *t, unsigned char *scratch, size_t room, const char *where,
		   struct error *e)
{
	ssize_t n;

	if (!t->ssl)
		return 1;
	n = socket_receive(t, scratch, room, where, e);
	if (n <= 0)
		return (int)n;
	free(t->kept);
	t->kept = NULL;
	t->in = scratch;
	t->in_bytes = (size_t)n;
	t->received += (uint64_t)n;
	return 1;
}

ssize_t transport_read(struct transport *t, void *data, size_t room, const char *where,
		       struct error *e)
{
	size_t got;
	ssize_t n;

	if (t->ssl) {
		if (SSL_read_ex(t->ssl, data, room, &got))
			return (ssize_t)got;
		return tls_result(t, 0, where, e);
	}
	n = socket_receive(t, data, room, where, e);
	if (n > 0)
		t->received += (uint64_t)n;
	return n;
}

bool transport_more(const struct transport *t)
{
	return t->ssl && (t->in_bytes || SSL_has_pending(t->ssl));
}

void transport_keep(struct transport *t)
{
	if (t->kept || !t->in_bytes)
		return;
	t->kept = memory_copy_bytes(t->in, t->in_bytes);
	t->in = (const unsigned char *)t->kept;
}

/** Returns 1: all of @b is sent, 0: the socket is full, -1. */
static int socket_send(struct transport *t, struct bytes *b)
{
	while (bytes_held(b)) {
		ssize_t n;

		/* what is encrypted first takes its time */
		if (t->leaves)
			t->left_ns = clock_mono_ns();
		t->leaves = false;
		n = send(t->fd, b->data + b->at, bytes_held(b), MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
		t->sent += (uint64_t)n;
		bytes_consume(b, (size_t)n);
	}
	return 1;
}

/** Encrypt up to FLUSH_CHUNK of what waits. */
static int encrypt(struct transport *t)
{
	size_t n = bytes_held(&t->plain), done;

	n = n < FLUSH_CHUNK ? n : FLUSH_CHUNK;
	bytes_reserve(&t->out, n + (n / RECORD_PLAIN + 1) * RECORD_OVERHEAD);
	if (!SSL_write_ex(t->ssl, t->plain.data + t->plain.at, n, &done)) {
		ERR_clear_error();
		errno = EPROTO;
		return -1;
	}
	bytes_consume(&t->plain, done);
	return 0;
}

int transport_flush(struct transport *t, const char *where, struct error *e)
{
	struct bytes *out = t->ssl ? &t->out : &t->plain;
	int result;

	do {
		if (t->ssl && bytes_held(&t->plain) && bytes_held(out) < FLUSH_CHUNK &&
		    encrypt(t) < 0)
			return errorf(e, "the connection to %s is broken: TLS", where);
		result = socket_send(t, out);
		if (result < 0)
			return errorf(e, "the connection to %s is broken: %s", where,
				      strerror(errno));
	} while (result && bytes_held(&t->plain));
	return result;
}

int transport_shutdown(struct transport *t)
{
	int result = transport_flush(t, "", NULL);

	if (result <= 0)
		return result;
	if (t->ssl && SSL_is_init_finished(t->ssl)) {
		SSL_shutdown(t->ssl);
		ERR_clear_error();
		result = socket_send(t, &t->out);
	}
	if (result > 0 && shutdown(t->fd, SHUT_WR) < 0)
		result = -1;
	return result;
}
