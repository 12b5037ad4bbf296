/* SPDX-License-Identifier: BSD-3-Clause */
/* Documents that are posted to the one host that is stated for that, with certificates on both
 * sides. */
#include "consumers/mir/destination-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/http.h>

#include "consumers/mir/access.h"
#include "pathmap/base/memory.h"
#include "tree/link/address.h"

/* How long it may take to answer one. */
#define ANSWER_S 10

/* A POST. It outlives its destination until libevent has said how it has ended. */
struct destination_visit {
	struct destination *of; /* NULL: it is gone */
	struct evhttp_connection *connection;
};

int destinations_begin(struct destinations *all, const char *text, const char *dir,
		       const char *identity, struct error *e)
{
	const char *equals = text ? strchr(text, '=') : NULL, *where = equals ? equals + 1 : text;
	const char *colon = where ? strrchr(where, ':') : NULL;
	struct address a;
	char number[128];

	if (all->folder && all->folder[0] != '/')
		return errorf(e, "--deliver %.200s: write the whole path, as requests have it",
			      all->folder);
	if (!text)
		return 0;
	if (strncmp(where, "unix:", 5) == 0 || !colon || equals == text)
		return errorf(e, "--post %.200s: write HOST:PORT, or NAME=HOST:PORT", text);
	if (address_parse(&a, where, false, e) < 0)
		return -1;
	all->tls = access_identity(dir, identity, e);
	if (!all->tls)
		return -1;
	address_format(&a.at[0], number, sizeof(number));
	*strrchr(number, ':') = '\0';
	all->number = number[0] == '[' ? memory_copy_bytes(number + 1, strlen(number) - 2)
				       : memory_copy(number);
	all->port = (uint16_t)address_port(&a.at[0]);
	all->name = equals ? memory_copy_bytes(text, (size_t)(equals - text))
			   : memory_copy_bytes(where, (size_t)(colon - where));
	all->host = memory_format("%s:%u", all->name, all->port);
	return 0;
}

void destinations_fini(struct destinations *all)
{
	free(all->host);
	free(all->name);
	free(all->number);
	for (unsigned i = 0; i < all->n_elements; i++) {
		free(all->elements[i].uri);
		free(all->elements[i].owner);
	}
	tls_free(all->tls);
}

/* Is it taken, or refused for good? Else why it is tried again. */
static const char *trouble(struct evhttp_request *request, bool *refused)
{
	int code = request ? evhttp_request_get_response_code(request) : 0;
	static char text[64];

	*refused = code >= 400 && code < 500;
	if (code == 0)
		return "no answer";
	snprintf(text, sizeof(text), "answers %d", code);
	return code >= 200 && code < 300 ? NULL : text;
}

static void on_answer(struct evhttp_request *request, void *arg)
{
	struct destination_visit *v = arg;
	struct destination *d = v->of;
	bool refused;
	const char *why = trouble(request, &refused);

	free(v);
	if (!d)
		return;
	d->visit = NULL;
	if (!why || refused)
		destination_next(d, refused);
	if (why)
		destination_rest(d, why);
	else
		destination_post(d);
}

static struct evhttp_connection *connection_make(struct destination *d, struct error *e)
{
	struct destinations *all = d->all;
	struct evhttp_connection *connection;
	struct bufferevent *bev;
	SSL *ssl;

	if (tls_refresh(all->tls, e) < 0 || !(ssl = tls_client(all->tls, all->name, e)))
		return NULL;
	/* libevent asks for more when the socket has some, not when OpenSSL has */
	SSL_set_read_ahead(ssl, 0);
	bev = bufferevent_openssl_socket_new(all->base, -1, ssl, BUFFEREVENT_SSL_CONNECTING,
					     BEV_OPT_CLOSE_ON_FREE);
	if (!bev)
		abort();
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	connection = evhttp_connection_base_bufferevent_new(all->base, NULL, bev, all->number,
							    all->port);
	if (!connection)
		abort();
	evhttp_connection_set_timeout(connection, ANSWER_S);
	evhttp_connection_free_on_completion(connection);
	return connection;
}

void destination_post(struct destination *d)
{
	const struct destination_text *t = STAILQ_FIRST(&d->texts);
	struct evhttp_connection *connection;
	struct evhttp_request *request;
	struct evkeyvalq *headers;
	struct error e;

	if (d->visit || !t)
		return;
	connection = connection_make(d, &e);
	if (!connection) {
		destination_rest(d, e.text);
		return;
	}
	d->visit = memory_new(1, sizeof(*d->visit));
	*d->visit = (struct destination_visit){d, connection};
	request = evhttp_request_new(on_answer, d->visit);
	if (!request)
		abort();
	headers = evhttp_request_get_output_headers(request);
	evhttp_add_header(headers, "Host", d->all->host);
	evhttp_add_header(headers, "Content-Type", "application/xml");
	evhttp_add_header(headers, "Connection", "close");
	evbuffer_add(evhttp_request_get_output_buffer(request), t->text, t->n);
	if (evhttp_make_request(connection, request, EVHTTP_REQ_POST, d->path) < 0) {
		/* it is freed, and so is its request */
		free(d->visit);
		d->visit = NULL;
		destination_rest(d, "no connection");
	}
}

void destination_post_end(struct destination *d)
{
	if (d->visit)
		d->visit->of = NULL;
	d->visit = NULL;
}
