/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests who is let in over TLS, who is not, and what both sides are told. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <netinet/in.h>
#include <unistd.h>

#include <openssl/err.h>

#include "tests/forge.h"
#include "tests/peers.h"
#include "tree/link/link-hub.h"

#define HOUR 3600L

#define AGENT_NAMES "DNS:w0,URI:evspace:role=agent"

/** Is this part of the text? If not, show it. */
static void says(const char *text, const char *part)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
	if (!strstr(text, part))
		tap_note("it says: %s", text);
}

/* --- loading an identity ------------------------------------------------------------------ */

static void loads_or_says(const char *dir, const char *name, const char *text)
{
	struct error e = {""};
	struct tls *tls = tls_new(dir, name, &e);

	if (text) {
		CU_ASSERT_PTR_NULL(tls);
		says(e.text, text);
		CU_ASSERT_PTR_NULL(strchr(e.text, '\n'));
	} else {
		CU_ASSERT_PTR_NOT_NULL_FATAL(tls);
		CU_ASSERT_TRUE(tls_expires_in(tls) > 300 * 24 * HOUR);
	}
	tls_free(tls);
}

static void forged(const char *name, const char *names, const char *group, long from, long until)
{
	struct forgery f = {peers_certs(), name, names, group, from, until, 0};

	CU_ASSERT_EQUAL_FATAL(forge(&f), 0);
}

static void identities_are_checked_when_loaded(void)
{
	char key[256], other[256];

	loads_or_says(peers_certs(), "w0", NULL);
	loads_or_says(peers_certs(), "w7", "w7.pem: No such file or directory; make it with: ");
	loads_or_says(peers_certs(), "../w0", "is not a name of a certificate");
	loads_or_says("/nonexistent", "w0", "/nonexistent/ca.pem: No such file");

	forged("late", AGENT_NAMES, "P-256", -2 * HOUR, -HOUR);
	loads_or_says(peers_certs(), "late",
		      "late.pem has expired; make a new one with: evspace-certs");
	forged("early", AGENT_NAMES, "P-256", HOUR, 2 * HOUR);
	loads_or_says(peers_certs(), "early", "early.pem is not valid yet; set this host's clock");
	forged("strong", AGENT_NAMES, "P-384", -HOUR, HOUR);
	loads_or_says(peers_certs(), "strong", "P-256");

	forged("open", AGENT_NAMES, "P-256", -HOUR, HOUR);
	snprintf(key, sizeof(key), "%s", peers_path("certs/open.key"));
	CU_ASSERT_EQUAL(chmod(key, 0644), 0);
	loads_or_says(peers_certs(), "open", "open.key can be read by others; chmod 600");
	CU_ASSERT_EQUAL(chmod(key, 0600), 0);
	snprintf(other, sizeof(other), "%s", peers_path("certs/early.key"));
	CU_ASSERT_EQUAL(rename(other, key), 0);
	loads_or_says(peers_certs(), "open", "open.key is not the key of ");
	CU_ASSERT_EQUAL(truncate(key, 0), 0);
	loads_or_says(peers_certs(), "open", "open.key is not the key of ");
	CU_ASSERT_EQUAL(truncate(peers_path("certs/open.pem"), 10), 0);
	loads_or_says(peers_certs(), "open", "open.pem: no certificate");
}

/* --- links with other identities ---------------------------------------------------------- */

/** Dial the agent as @who of @dir, expecting the node @name. Returns why it failed. */
static const char *dial_as(struct world *w, const char *dir, const char *who, const char *name)
{
	static const struct link_self self = {"", 0};
	static struct watch mine;
	struct error e = {""};
	struct tls *tls = tls_new(dir, who, &e);
	struct link_hub *hub;

	if (!tls)
		tap_note("%s", e.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tls);
	hub = link_hub_new(w->base, tls, &self);
	mine = (struct watch){0};
	CU_ASSERT_PTR_NOT_NULL(link_dial(hub, w->tcp_address, name, &watch_events, &mine, &e));
	WAIT(w, mine.closed || mine.ready);
	link_hub_free(hub);
	tls_free(tls);
	return mine.ready ? "ready" : mine.why.text;
}

static void roles_are_given_by_certificates(void)
{
	struct world w;

	world_open(&w);
	CU_ASSERT_STRING_EQUAL(dial_as(&w, peers_certs(), "bob", "w0"), "ready");
	CU_ASSERT_EQUAL(link_peer(w.served.link)->roles, ROLE_OBSERVE | ROLE_CONTROL);
	CU_ASSERT_STRING_EQUAL(link_peer(w.served.link)->name, "bob");
	WAIT(&w, w.served.closed == 1);
	forged("nobody", "URI:evspace:role=king", "P-256", -HOUR, HOUR);
	says(dial_as(&w, peers_certs(), "nobody", "w0"),
	     "the agent refused: the certificate of \"nobody\" gives no role; make one with");
	WAIT(&w, w.log_lines == 1);
	says(w.log, "refused 127.0.0.1:");
	CU_ASSERT_EQUAL(w.served.ready, 1);
	world_close(&w);
}

static void names_and_authorities_are_checked(void)
{
	struct world w;

	world_open(&w);
	says(dial_as(&w, peers_certs(), "alice", "w1"), "its certificate has another name");
	WAIT(&w, w.log_lines == 1);
	says(w.log, "the peer refused: our certificate is not valid there");
	says(dial_as(&w, peers_other_certs(), "alice", "w0"), "use certificates of one CA");
	WAIT(&w, w.log_lines == 2);
	says(w.log, "use certificates of one CA on all hosts");
	CU_ASSERT_EQUAL(w.served.ready, 0);
	CU_ASSERT_EQUAL(link_hub_refused(w.agent), 2);
	world_close(&w);
}

static void nobody_cares(struct link *link, void *arg)
{
	(void)link;
	(void)arg;
}

/** A second agent whose hub says it is @called but whose certificate is @cert's. */
static const char *dial_agent_called(const char *called, const char *cert, const char *expect)
{
	static char text[1024];
	struct link_self self = {called, 0};
	struct world w;
	struct error e = {""};
	struct watch mine = {0};
	struct tls *tls = tls_new(peers_certs(), cert, &e);
	struct link_listener *tcp;
	struct link_hub *hub;
	char address[64];

	world_open(&w);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tls);
	hub = link_hub_new(w.base, tls, &self);
	tcp = link_listen(hub, "localhost:0", nobody_cares, NULL, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tcp);
	snprintf(address, sizeof(address), "localhost:%u", link_listener_port(tcp));
	CU_ASSERT_PTR_NOT_NULL(link_dial(w.consumer, address, expect, &watch_events, &mine, &e));
	WAIT(&w, mine.closed);
	snprintf(text, sizeof(text), "%s", mine.why.text);
	link_listener_free(tcp);
	link_hub_free(hub);
	tls_free(tls);
	world_close(&w);
	return text;
}

static void agents_are_who_they_say(void)
{
	says(dial_agent_called("w1", "w0", NULL),
	     "the agent calls itself \"w1\" but its certificate is for \"w0\"");
	says(dial_agent_called("w1", "w0", "w0"), "this is agent \"w1\", not \"w0\"");
	forged("server", "DNS:w0,URI:evspace:role=observe", "P-256", -HOUR, HOUR);
	says(dial_agent_called("w0", "server", "w0"), "\"server\" is not an agent");
	says(dial_agent_called("w0", "alice", NULL), "its certificate is for another purpose");
}

static void consumers_are_no_agents(void)
{
	static const struct link_self self = {"w0", 0};
	struct world w;
	struct link_hub *hub;
	struct watch mine = {0};
	struct error e;

	world_open(&w);
	hub = link_hub_new(w.base, w.consumer_tls, &self);
	CU_ASSERT_PTR_NOT_NULL(link_dial(hub, w.tcp_address, NULL, &watch_events, &mine, &e));
	WAIT(&w, mine.closed);
	says(mine.why.text, "\"alice\" says it is agent \"w0\"");
	link_hub_free(hub);
	world_close(&w);
}

/* --- peers that are not ours -------------------------------------------------------------- */

/** What a TLS client or server of another make does. */
struct raw {
	unsigned port;
	const char *cert; /* of peers_certs(), NULL: none */
	int version;
	int listener; /* for servers */
	int verdict;  /* for servers: what they find in any certificate */
};

static int verdict;

static int verify(int ok, X509_STORE_CTX *store)
{
	(void)ok;
	X509_STORE_CTX_set_error(store, verdict);
	return verdict == X509_V_OK;
}

static SSL *raw_ssl(const struct raw *raw, const SSL_METHOD *method, int fd)
{
	SSL_CTX *ctx = SSL_CTX_new(method);
	char path[512];
	SSL *ssl;

	SSL_CTX_set_max_proto_version(ctx, raw->version);
	if (raw->cert) {
		snprintf(path, sizeof(path), "%s/%s.pem", peers_certs(), raw->cert);
		SSL_CTX_use_certificate_file(ctx, path, SSL_FILETYPE_PEM);
		snprintf(path, sizeof(path), "%s/%s.key", peers_certs(), raw->cert);
		SSL_CTX_use_PrivateKey_file(ctx, path, SSL_FILETYPE_PEM);
	}
	ssl = SSL_new(ctx);
	SSL_set_fd(ssl, fd);
	return ssl;
}

static void raw_client(void *arg)
{
	struct raw *raw = arg;
	SSL *ssl = raw_ssl(raw, TLS_client_method(), raw_tcp(raw->port));
	char c;

	if (SSL_connect(ssl) == 1)
		SSL_read(ssl, &c, 1);
}

static void raw_server(void *arg)
{
	struct raw *raw = arg;
	SSL *ssl = raw_ssl(raw, TLS_server_method(), accept(raw->listener, NULL, NULL));
	char c;

	verdict = raw->verdict;
	SSL_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, verify);
	SSL_accept(ssl);
	/* The alert must be read before the end: wait for the other side to go. */
	while (read(SSL_get_fd(ssl), &c, 1) > 0) {
	}
}

static void refuses(const char *cert, int version, const char *text)
{
	struct world w;
	struct raw raw = {.cert = cert, .version = version};
	pid_t pid;

	world_open(&w);
	raw.port = w.port;
	pid = peer_spawn(raw_client, &raw);
	WAIT(&w, w.log_lines == 1);
	says(w.log, text);
	CU_ASSERT_EQUAL(w.served.ready + w.served.closed, 0);
	peer_wait(&w, pid);
	world_close(&w);
}

static void strangers_are_refused(void)
{
	refuses(NULL, TLS1_3_VERSION,
		"the peer is not accepted: it showed no certificate; make one");
	refuses("alice", TLS1_2_VERSION, "the peer is not accepted: it does not speak TLS 1.3");
	refuses("late", TLS1_3_VERSION,
		"the peer is not accepted: its certificate has expired; make");
	forged("early", AGENT_NAMES, "P-256", HOUR, 2 * HOUR);
	refuses("early", TLS1_3_VERSION, "its certificate is not valid yet; set the clocks");
}

/** What the consumer says when a server's verdict on its certificate is @verdict_code. */
static void is_told(int verdict_code, const char *text)
{
	struct world w;
	struct raw raw = {.cert = "w0", .version = TLS1_3_VERSION, .verdict = verdict_code};
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t room = sizeof(at);
	struct watch mine = {0};
	char address[64];
	struct error e;
	pid_t pid;

	world_open(&w);
	raw.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CU_ASSERT_EQUAL(bind(raw.listener, (struct sockaddr *)&at, sizeof(at)), 0);
	CU_ASSERT_EQUAL(listen(raw.listener, 4), 0);
	getsockname(raw.listener, (struct sockaddr *)&at, &room);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(at.sin_port));
	pid = peer_spawn(raw_server, &raw);
	CU_ASSERT_PTR_NOT_NULL(link_dial(w.consumer, address, "w0", &watch_events, &mine, &e));
	WAIT(&w, mine.closed);
	says(mine.why.text, text);
	close(raw.listener);
	peer_wait(&w, pid);
	world_close(&w);
}

static void alerts_become_words(void)
{
	is_told(X509_V_ERR_CERT_HAS_EXPIRED, "the agent refused: our certificate has expired; make "
					     "a new one with evspace-certs");
	is_told(X509_V_ERR_CERT_NOT_YET_VALID,
		"the agent refused: our certificate is not valid there");
	is_told(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
		"the agent refused: our certificate is from another CA");
	is_told(X509_V_ERR_INVALID_PURPOSE,
		"the agent refused: our certificate is for another purpose");
	is_told(X509_V_ERR_CERT_REVOKED, "the agent refused: our certificate was revoked");
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"identities are checked when loaded", identities_are_checked_when_loaded},
		{"roles are given by certificates", roles_are_given_by_certificates},
		{"names and CAs are checked", names_and_authorities_are_checked},
		{"agents are who they say", agents_are_who_they_say},
		{"consumers are no agents", consumers_are_no_agents},
		{"no certificate, TLS 1.2, expired, not yet valid", strangers_are_refused},
		{"the client is told why it was refused", alerts_become_words},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "tls",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
