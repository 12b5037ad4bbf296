/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs passes, and checks them: names on lines, an ECDSA signature, and the signer's certificate.
 */
#include "tree/pass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "pathmap/memory.h"

/* No other text that an agent's key signs begins so. */
#define TITLE "evspace pass 1\n"

/* "TITLE, node, above…", each on a line. Names have no line ends in them. */
static char *pass_text(const char *node, const char *const *above, size_t n)
{
	char *text, *longer;

	text = memory_format(TITLE "%s\n", node);
	for (size_t i = 0; i < n; i++) {
		longer = memory_format("%s%s\n", text, above[i]);
		free(text);
		text = longer;
	}
	return text;
}

static void pass_sign(const struct tls *tls, Evspace__Pass *pass)
{
	EVP_MD_CTX *sign = EVP_MD_CTX_new();
	int length;

	if (!sign ||
	    EVP_DigestSignInit_ex(sign, NULL, "SHA256", NULL, NULL, tls_key(tls), NULL) != 1 ||
	    EVP_DigestSign(sign, NULL, &pass->signature.len, pass->said.data, pass->said.len) != 1)
		abort();
	pass->signature.data = memory_new(pass->signature.len, 1);
	if (EVP_DigestSign(sign, pass->signature.data, &pass->signature.len, pass->said.data,
			   pass->said.len) != 1)
		abort();
	EVP_MD_CTX_free(sign);
	length = i2d_X509(tls_certificate(tls), &pass->certificate.data);
	if (length < 0)
		abort();
	pass->certificate.len = (size_t)length;
}

struct plan_pass pass_new(const struct tls *tls, const char *node, const char *const *above,
			  size_t n)
{
	Evspace__Pass message = EVSPACE__PASS__INIT;
	struct plan_pass pass;

	message.said.data = (unsigned char *)pass_text(node, above, n);
	message.said.len = strlen((char *)message.said.data);
	pass_sign(tls, &message);
	pass.bytes = evspace__pass__get_packed_size(&message);
	pass.data = memory_new(pass.bytes, 1);
	evspace__pass__pack(&message, pass.data);
	free(message.said.data);
	free(message.signature.data);
	OPENSSL_free(message.certificate.data);
	return pass;
}

/* Is @name, with the line's end, what stands at *@at? Then *@at is behind it. */
static bool line_is(const unsigned char **at, const unsigned char *end, const char *name)
{
	size_t n = strlen(name);

	if ((size_t)(end - *at) <= n || memcmp(*at, name, n) != 0 || (*at)[n] != '\n')
		return false;
	*at += n + 1;
	return true;
}

static bool names_peer(const ProtobufCBinaryData *said, const char *node, const char *peer)
{
	const unsigned char *at = said->data, *end = at + said->len, *next;
	size_t n = strlen(TITLE);

	if (said->len < n || memcmp(at, TITLE, n) != 0)
		return false;
	at += n;
	if (!line_is(&at, end, node))
		return false;
	while (!line_is(&at, end, peer)) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (!next)
			return false;
		at = next + 1;
	}
	return true;
}

static bool is_signed(const Evspace__Pass *pass, X509 *cert)
{
	EVP_MD_CTX *check = EVP_MD_CTX_new();
	bool good;

	if (!check)
		abort();
	good = EVP_DigestVerifyInit_ex(check, NULL, "SHA256", NULL, NULL, X509_get0_pubkey(cert),
				       NULL) == 1 &&
	       EVP_DigestVerify(check, pass->signature.data, pass->signature.len, pass->said.data,
				pass->said.len) == 1;
	EVP_MD_CTX_free(check);
	ERR_clear_error();
	return good;
}

/* Would who has signed be let in as an agent, and has it? */
static int signer_check(const struct tls *tls, const Evspace__Pass *pass, X509 *cert,
			struct peer *who, struct error *e)
{
	if (!tls_accepts(tls, cert, NULL, false, e))
		return error_prefix(e, "who signed its pass is");
	if (tls_peer_read(cert, who, e) < 0)
		return -1;
	if (!(who->roles & ROLE_AGENT))
		return errorf(e, "%s, who signed its pass, is no agent", who->name);
	if (!is_signed(pass, cert))
		return errorf(e, "its pass is not signed by %s", who->name);
	return 0;
}

static int pass_verify(const struct tls *tls, const Evspace__Pass *pass, char *signer, size_t room,
		       struct error *e)
{
	const unsigned char *der = pass->certificate.data;
	X509 *cert = d2i_X509(NULL, &der, (long)pass->certificate.len);
	struct peer who = {0};
	int rc;

	ERR_clear_error();
	if (!cert)
		return errorf(e, "its pass has no certificate");
	rc = signer_check(tls, pass, cert, &who, e);
	snprintf(signer, room, "%s", who.name);
	limits_free(who.limits);
	X509_free(cert);
	return rc;
}

int pass_check(const struct tls *tls, const ProtobufCBinaryData *data, const char *node,
	       const char *peer, char *signer, size_t room, struct error *e)
{
	Evspace__Pass *pass = data->len ? evspace__pass__unpack(NULL, data->len, data->data) : NULL;
	int rc = -1;

	if (!pass)
		errorf(e, "it has no pass");
	else if (!names_peer(&pass->said, node, peer))
		errorf(e, "its pass is not for it");
	else
		rc = pass_verify(tls, pass, signer, room, e);
	if (pass)
		evspace__pass__free_unpacked(pass, NULL);
	errno = EACCES;
	return rc;
}
