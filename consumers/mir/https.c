/* SPDX-License-Identifier: BSD-3-Clause */
/* The server for tools elsewhere: libevent's evhttp over TLS connections of this project's kind. */
#include "consumers/mir/https.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "consumers/mir/answer.h"
#include "pathmap/base/memory.h"

/* Seconds to prove who one is; to send a document, or to take an answer and send the next; and in
 * which it is seen that somebody who waits for an answer has gone. */
#define PROOF_S	  5
#define REQUEST_S 20
#define GONE_S	  1

#define HEADERS_MAX 16384

/* Seconds without taking who connects, when there is no descriptor for them. */
#define REST_S 1

struct https {
	struct event_base *base;
	struct evhttp *http;
	struct event *rest; /* of the listener */
	struct evconnlistener *listener;
	struct tls *tls;
	https_ask *ask;
	void *arg;
	unsigned n;					 /* connections */
	size_t unread;					 /* bytes of all of them */
	TAILQ_HEAD(https_callers, https_caller) callers; /* the oldest first */
	LIST_HEAD(, https_visit) visits;
};

/** A connection. It is freed with its SSL, which is the last of it. */
struct https_caller {
	TAILQ_ENTRY(https_caller) link;
	struct https *https;
	struct bufferevent *bev;
	SSL *ssl;
	struct event *deadline;
	struct https_visit *visit; /* its request that is being answered */
	size_t unread;		   /* bytes that have come since its last document was read */
	bool proven;		   /* its second deadline runs */
	bool cut;		   /* it ends */
};

/** A request that is being answered. */
struct https_visit {
	LIST_ENTRY(https_visit) link;
	struct https *https;
	struct evhttp_request *request; /* without a connection if the caller is gone */
	struct errand *errand;
	char *name; /* whose it is */
};

/* ---- connections ---- */

static int caller_index = -1;

static void caller_free(void *ssl, void *of, CRYPTO_EX_DATA *data, int index, long argl, void *argp)
{
	struct https_caller *c = of;

	(void)ssl;
	(void)data;
	(void)index;
	(void)argl;
	(void)argp;
	if (!c)
		return;
	event_free(c->deadline);
	TAILQ_REMOVE(&c->https->callers, c, link);
	c->https->unread -= c->unread;
	if (c->https->n-- == HTTPS_MAX && c->https->listener)
		evconnlistener_enable(c->https->listener);
	free(c);
}

static void visit_leave(struct https_visit *v, const char *why);

/* Whose listener it is: libevent has errors told with an argument of evhttp's. */
static struct https *listening;

/* It would be told at once again, without an end. */
static void on_listen_error(struct evconnlistener *listener, void *arg)
{
	const struct timeval after = {.tv_sec = REST_S};
	static bool told;

	(void)arg;
	if (!told)
		fprintf(stderr,
			"evspace mir: cannot take who connects: %s; it goes on, from now "
			"on without a word\n",
			strerror(errno));
	told = true;
	evconnlistener_disable(listener);
	event_add(listening->rest, &after);
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
	const struct https *https = arg;

	(void)fd;
	(void)what;
	if (https->n < HTTPS_MAX)
		evconnlistener_enable(https->listener);
}

static void caller_wait(const struct https_caller *c, int seconds)
{
	const struct timeval after = {.tv_sec = seconds};

	event_add(c->deadline, &after);
}

/* evhttp frees what is at its end. */
static void caller_cut(struct https_caller *c)
{
	c->cut = true;
	shutdown(bufferevent_getfd(c->bev), SHUT_RDWR);
}

/* Nothing of it is kept any more. */
static void caller_read(struct https_caller *c)
{
	c->https->unread -= c->unread;
	c->unread = 0;
}

/* evhttp keeps what comes until a document is whole: of too much, the largest one goes. */
static void on_input(struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
	struct https_caller *c = arg, *most = c;
	struct https *https = c->https;

	(void)input;
	if (c->cut)
		return;
	c->unread += info->n_added;
	https->unread += info->n_added;
	if (https->unread <= HTTPS_BODIES)
		return;
	TAILQ_FOREACH (c, &https->callers, link)
		most = c->unread > most->unread ? c : most;
	caller_read(most);
	caller_cut(most);
}

/* Has it closed its end? evhttp reads nothing, and so does not see it, until there is an answer. */
static bool caller_has_left(const struct https_caller *c)
{
	struct pollfd at = {.fd = bufferevent_getfd(c->bev), .events = POLLRDHUP};

	return poll(&at, 1, 0) > 0;
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct https_caller *c = arg;

	(void)fd;
	(void)what;
	if (c->visit && !caller_has_left(c))
		caller_wait(c, GONE_S);
	else if (c->visit)
		visit_leave(c->visit, "you have gone");
	else if (!c->proven && SSL_is_init_finished(c->ssl)) {
		c->proven = true;
		caller_wait(c, REQUEST_S - PROOF_S);
	} else {
		caller_cut(c);
	}
}

/* One more comes, who has not proved who it is: the oldest one of too many such goes. */
static void callers_thin(struct https *https)
{
	struct https_caller *c, *oldest = NULL;
	unsigned n = 0;

	TAILQ_FOREACH (c, &https->callers, link) {
		if (c->cut || SSL_is_init_finished(c->ssl))
			continue;
		n++;
		oldest = oldest ? oldest : c;
	}
	if (n >= HTTPS_UNPROVEN)
		caller_cut(oldest);
}

static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
	struct https *https = arg;
	struct https_caller *c = memory_new(1, sizeof(*c));
	struct error e;

	if (tls_refresh(https->tls, &e) < 0)
		fprintf(stderr, "evspace mir: %s\n", e.text);
	c->https = https;
	c->ssl = tls_server(https->tls, &e);
	c->deadline = evtimer_new(base, on_deadline, c);
	/* without one, evhttp would answer in plain text */
	if (!c->ssl || !c->deadline || !SSL_set_ex_data(c->ssl, caller_index, c))
		abort();
	/* libevent asks for more when the socket has some, not when OpenSSL has */
	SSL_set_read_ahead(c->ssl, 0);
	c->bev = bufferevent_openssl_socket_new(base, -1, c->ssl, BUFFEREVENT_SSL_ACCEPTING,
						BEV_OPT_CLOSE_ON_FREE);
	if (!c->bev)
		abort();
	bufferevent_openssl_set_allow_dirty_shutdown(c->bev, 1);
	if (!evbuffer_add_cb(bufferevent_get_input(c->bev), on_input, c))
		abort();
	caller_wait(c, PROOF_S);
	callers_thin(https);
	TAILQ_INSERT_TAIL(&https->callers, c, link);
	if (++https->n == HTTPS_MAX)
		evconnlistener_disable(https->listener);
	return c->bev;
}

static struct https_caller *caller_of(struct evhttp_request *request)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	SSL *ssl =
		connection
			? bufferevent_openssl_get_ssl(evhttp_connection_get_bufferevent(connection))
			: NULL;

	return ssl ? SSL_get_ex_data(ssl, caller_index) : NULL;
}

/* ---- answers ---- */

static void reply(struct evhttp_request *request, int code, const char *reason, const char *text,
		  size_t n)
{
	struct https_caller *c = caller_of(request);

	if (c) {
		c->proven = true;
		caller_read(c);
		caller_wait(c, REQUEST_S);
	}
	evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
			  "application/xml");
	if (evbuffer_add(evhttp_request_get_output_buffer(request), text, n) < 0)
		abort();
	evhttp_send_reply(request, code, reason, NULL);
}

static void refuse(struct evhttp_request *request, int code, const char *reason, const char *why)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		abort();
	fputs("<errors><error>", out);
	answer_text(out, why);
	fputs("</error></errors>\n", out);
	if (fclose(out) != 0)
		abort();
	reply(request, code, reason, text, n);
	free(text);
}

static void visit_free(struct https_visit *v)
{
	struct https_caller *c = caller_of(v->request);

	if (c)
		c->visit = NULL;
	LIST_REMOVE(v, link);
	free(v->name);
	free(v);
}

/* There is no answer. */
static void visit_leave(struct https_visit *v, const char *why)
{
	struct evhttp_request *request = v->request;

	errand_drop(v->errand);
	visit_free(v);
	refuse(request, HTTP_SERVUNAVAIL, "Service Unavailable", why);
}

/* Who takes nothing has it kept: of too much, with @n more, the largest one goes. */
static void answers_bound(const struct https *https, size_t n)
{
	struct https_caller *c, *most;
	size_t all, its, most_n;

	do {
		all = n;
		most = NULL;
		most_n = 0;
		TAILQ_FOREACH (c, &https->callers, link) {
			its = c->cut ? 0 : evbuffer_get_length(bufferevent_get_output(c->bev));
			all += its;
			most = its > most_n ? c : most;
			most_n = its > most_n ? its : most_n;
		}
		if (all > HTTPS_ANSWERS && most)
			caller_cut(most);
	} while (all > HTTPS_ANSWERS && most);
}

static void on_answer(void *arg, const char *text, size_t n, bool wrong)
{
	struct https_visit *v = arg;
	struct evhttp_request *request = v->request;

	(void)wrong;
	answers_bound(v->https, n);
	visit_free(v);
	reply(request, HTTP_OK, "OK", text, n);
}

/* ---- requests ---- */

/* Who asks, if its certificate is still good. */
static int peer_read(struct evhttp_request *request, const struct https *https, struct peer *peer,
		     struct error *e)
{
	const struct https_caller *c = caller_of(request);
	char *where = NULL;
	ev_uint16_t port = 0;

	if (!c)
		return errorf(e, "the connection is gone");
	evhttp_connection_get_peer(evhttp_request_get_connection(request), &where, &port);
	snprintf(peer->where, sizeof(peer->where), "%s:%u", where ? where : "?", port);
	if (tls_is_outdated(https->tls, c->ssl) && !tls_trusts(https->tls, c->ssl, e))
		return -1;
	return tls_peer(c->ssl, peer, e);
}

/* How many are being answered with the certificate of that name? */
static unsigned visits_of(const struct https *https, const char *name)
{
	const struct https_visit *v;
	unsigned n = 0;

	LIST_FOREACH (v, &https->visits, link)
		n += strcmp(v->name, name) == 0;
	return n;
}

static void document_ask(struct https *https, struct evhttp_request *request,
			 const struct peer *peer)
{
	struct evbuffer *body = evhttp_request_get_input_buffer(request);
	struct https_visit *v = memory_new(1, sizeof(*v));
	struct https_caller *c = caller_of(request);
	struct error e;

	v->https = https;
	v->name = memory_copy(peer->name);
	v->request = request;
	LIST_INSERT_HEAD(&https->visits, v, link);
	v->errand = https->ask(https->arg, peer, (const char *)evbuffer_pullup(body, -1),
			       evbuffer_get_length(body), on_answer, v, &e);
	/* an errand has what it says */
	evbuffer_drain(body, evbuffer_get_length(body));
	if (c)
		caller_read(c);
	if (!v->errand) {
		visit_free(v);
		refuse(request, 403, "Forbidden", e.text);
	} else if (c) {
		c->visit = v;
		caller_wait(c, GONE_S);
	}
}

static void on_post(struct evhttp_request *request, void *arg)
{
	struct peer peer = {0};
	struct error e;

	if (evbuffer_get_length(evhttp_request_get_input_buffer(request)) == 0)
		refuse(request, HTTP_BADREQUEST, "Bad Request", "no body; POST a document");
	else if (peer_read(request, arg, &peer, &e) < 0)
		refuse(request, 403, "Forbidden", e.text);
	else if (visits_of(arg, peer.name) >= HTTPS_VISITS)
		refuse(request, HTTP_SERVUNAVAIL, "Service Unavailable",
		       "too many requests with this certificate wait for their answers; ask again "
		       "when one has come");
	else
		document_ask(arg, request, &peer);
	limits_free(peer.limits);
}

/* ---- all of it ---- */

struct https *https_new(struct event_base *base, int fd, struct tls *tls, https_ask *ask, void *arg)
{
	struct https *https = memory_new(1, sizeof(*https));
	struct evhttp_bound_socket *bound;

	if (caller_index < 0)
		caller_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, caller_free);
	*https = (struct https){.base = base, .tls = tls, .ask = ask, .arg = arg};
	TAILQ_INIT(&https->callers);
	https->http = evhttp_new(base);
	bound = https->http ? evhttp_accept_socket_with_handle(https->http, fd) : NULL;
	if (!bound || caller_index < 0)
		abort();
	https->listener = evhttp_bound_socket_get_listener(bound);
	https->rest = evtimer_new(base, on_rest, https);
	if (!https->rest)
		abort();
	listening = https;
	evconnlistener_set_error_cb(https->listener, on_listen_error);
	evhttp_set_bevcb(https->http, on_connection, https);
	evhttp_set_allowed_methods(https->http, EVHTTP_REQ_POST);
	evhttp_set_max_headers_size(https->http, HEADERS_MAX);
	evhttp_set_max_body_size(https->http, (ev_ssize_t)FRAMING_MAX);
	if (evhttp_set_cb(https->http, "/", on_post, https) < 0)
		abort();
	return https;
}

void https_free(struct https *https)
{
	struct https_visit *v;

	if (!https)
		return;
	while ((v = LIST_FIRST(&https->visits)))
		visit_leave(v, "evspace mir ends");
	https->listener = NULL;
	event_free(https->rest);
	evhttp_free(https->http);
	/* libevent frees connections in its loop */
	event_base_loop(https->base, EVLOOP_NONBLOCK);
	tls_free(https->tls);
	free(https);
}
