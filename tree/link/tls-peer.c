/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads who a peer is from its certificate: name, roles, and their limits. */
#include "tree/link/tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <openssl/x509v3.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "pathmap/base/utf8.h"
#include "pathmap/base/memory.h"

#define URI_PREFIX "evspace:"

static const char *ia5_text(const ASN1_IA5STRING *s)
{
	const char *text = (const char *)ASN1_STRING_get0_data(s);

	return strlen(text) == (size_t)ASN1_STRING_length(s) ? text : "";
}

/** Read one of our URIs. Returns -1 if it is not understood, since it may be a limit. */
static int uri_read(const char *uri, struct peer *peer)
{
	static const struct {
		const char *name;
		unsigned roles;
	} roles[] = {
		{"agent", ROLE_AGENT},
		{"observe", ROLE_OBSERVE},
		{"control", ROLE_CONTROL | ROLE_OBSERVE},
	};

	if (!strncmp(uri, "role=", strlen("role="))) {
		/* an unknown role, of another version, gives no right here */
		for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
			if (!strcmp(uri + strlen("role="), roles[i].name))
				peer->roles |= roles[i].roles;
		return 0;
	}
	return limits_add(&peer->limits, uri);
}

/** Read the roles, limits and the first DNS name from a certificate's alternative names. */
static int names_read(X509 *cert, struct peer *peer, struct error *e)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	int result = 0;

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
		const char *uri;

		if (name->type == GEN_DNS && !peer->name[0])
			snprintf(peer->name, sizeof(peer->name), "%s", ia5_text(name->d.dNSName));
		if (name->type != GEN_URI)
			continue;
		uri = ia5_text(name->d.uniformResourceIdentifier);
		if (!uri[0])
			result = errorf(e, "its certificate has a URI that is not text");
		if (!strncmp(uri, URI_PREFIX, strlen(URI_PREFIX)) &&
		    uri_read(uri + strlen(URI_PREFIX), peer) < 0)
			result = errorf(e,
					"its certificate is limited in a way that is not known "
					"here (\"%.64s\"); update EventSpace, or make another one "
					"with evspace-certs",
					uri);
	}
	GENERAL_NAMES_free(names);
	return result;
}

static void until_read(X509 *cert, struct peer *peer)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm))
		strftime(peer->until, sizeof(peer->until), "%Y-%m-%d %H:%M:%S UTC", &tm);
}

int tls_peer_read(X509 *cert, struct peer *peer, struct error *e)
{
	int understood;

	peer->roles = 0;
	peer->name[0] = '\0';
	limits_free(peer->limits);
	peer->limits = NULL;
	understood = names_read(cert, peer, e);
	if (!(peer->roles & ROLE_AGENT)) {
		X509_NAME *subject = X509_get_subject_name(cert);

		peer->name[0] = '\0';
		X509_NAME_get_text_by_NID(subject, NID_commonName, peer->name, sizeof(peer->name));
	}
	utf8_clean(peer->name);
	for (char *c = peer->name; *c; c++)
		if (*c == ' ')
			*c = '_';
	until_read(cert, peer);
	errno = EACCES;
	if (understood < 0)
		return -1;
	if ((peer->roles & ROLE_AGENT) && peer->limits)
		return errorf(e, "the certificate of agent \"%s\" has limits; an agent has none",
			      peer->name);
	if (!peer->roles)
		return errorf(
			e,
			"the certificate of \"%s\" gives no role; make one with evspace-certs "
			"agent, observe or control",
			peer->name);
	return 0;
}

int tls_peer(SSL *ssl, struct peer *peer, struct error *e)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);

	peer->roles = 0;
	errno = EACCES;
	if (!cert || SSL_get_verify_result(ssl) != X509_V_OK)
		return errorf(e, "no certificate that was verified");
	return tls_peer_read(cert, peer, e);
}

bool tls_peer_is(SSL *ssl, const char *name)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);
	unsigned flags = X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;

	return cert && name[0] && X509_check_host(cert, name, 0, flags, NULL) == 1;
}

/* ---- limits ---- */

static bool list_has(char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(list[i], name))
			return true;
	}
	return false;
}

static void list_add(char ***list, size_t *n, const char *name)
{
	*list = memory_room(*list, *n, sizeof(char *));
	(*list)[(*n)++] = memory_copy(name);
}

static void list_free(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

int limits_add(struct limits **limits, const char *text)
{
	bool user = !strncmp(text, "user=", 5), run = !strncmp(text, "run=", 4);

	if (!user && !run)
		return -1;
	if (!*limits)
		*limits = memory_new(1, sizeof(**limits));
	if (user)
		list_add(&(*limits)->users, &(*limits)->n_users, text + 5);
	else
		list_add(&(*limits)->runs, &(*limits)->n_runs, text + 4);
	return 0;
}

void limits_free(struct limits *limits)
{
	if (!limits)
		return;
	list_free(limits->users, limits->n_users);
	list_free(limits->runs, limits->n_runs);
	free(limits);
}

bool limits_run(const struct limits *limits, const char *run)
{
	return !limits || !limits->n_runs || list_has(limits->runs, limits->n_runs, run);
}

bool limits_user(char *const *users, size_t n, const char *name, unsigned uid)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", uid);
	return n == 0 || list_has(users, n, number) || (name[0] && list_has(users, n, name));
}

const char *limits_own_name(void)
{
	static char name[64];
	static bool asked;
	const struct passwd *user;

	/* asked once, since users may come from a remote directory */
	if (!asked) {
		/* cppcheck-suppress getpwuidCalled */ /* other threads look up hosts only */
		user = getpwuid(geteuid());
		snprintf(name, sizeof(name), "%s", user ? user->pw_name : "");
	}
	asked = true;
	return name;
}

bool limits_own_user(char *const *users, size_t n)
{
	return n == 0 || limits_user(users, n, limits_own_name(), (unsigned)geteuid());
}
