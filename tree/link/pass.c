/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs and checks passes: an end and names on lines, with an ECDSA signature by a certificate. */
#include "tree/link/pass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* No other text that an agent's key signs begins with this. */
#define TITLE "evspace pass 1\n"

/* Most passes that are kept; one for the largest tree of a map takes a few hundred bytes. */
#define BOOK_MOST 65536u

struct pass_entry {
	char *text;
	struct plan_pass pass;
	UT_hash_handle hh;
};

struct pass_book {
	const struct tls *tls;
	struct pass_entry *entries;
	int64_t until;		    /* when its passes end */
	ProtobufCBinaryData signer; /* the certificate to check them by */
};

/* "TITLE, until, node, above…", each on a line. Names have no line ends in them. */
static char *pass_text(int64_t until, const char *node, const char *const *above, size_t n)
{
	char *text, *longer;

	text = memory_format(TITLE "%lld\n%s\n", (long long)until, node);
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

	if (!sign ||
	    EVP_DigestSignInit_ex(sign, NULL, "SHA256", NULL, NULL, tls_key(tls), NULL) != 1 ||
	    EVP_DigestSign(sign, NULL, &pass->signature.len, pass->said.data, pass->said.len) != 1)
		abort();
	pass->signature.data = memory_new(pass->signature.len, 1);
	if (EVP_DigestSign(sign, pass->signature.data, &pass->signature.len, pass->said.data,
			   pass->said.len) != 1)
		abort();
	EVP_MD_CTX_free(sign);
}

static struct plan_pass pass_pack(const struct tls *tls, char *text)
{
	Evspace__Pass message = EVSPACE__PASS__INIT;
	struct plan_pass pass;

	message.said.data = (unsigned char *)text;
	message.said.len = strlen(text);
	pass_sign(tls, &message);
	pass.bytes = evspace__pass__get_packed_size(&message);
	pass.data = memory_new(pass.bytes, 1);
	evspace__pass__pack(&message, pass.data);
	free(message.signature.data);
	return pass;
}

/* ---- the book ---- */

static void book_clear(struct pass_book *book)
{
	struct pass_entry *en, *next;

	for (en = book->entries; en; en = next) {
		next = en->hh.next;
		HASH_DEL(book->entries, en);
		free(en->text);
		free(en->pass.data);
		free(en);
	}
	OPENSSL_free(book->signer.data);
	book->signer.data = NULL;
	book->signer.len = 0;
}

/* Empty it if its passes are not of today, or not of the agent's present certificate. */
static void book_renew(struct pass_book *book)
{
	int64_t until = ((int64_t)time(NULL) / PASS_DAY + PASS_DAYS + 1) * PASS_DAY;
	unsigned char *der = NULL;
	int length = i2d_X509(tls_certificate(book->tls), &der);

	if (length < 0)
		abort();
	if (book->until == until && HASH_COUNT(book->entries) < BOOK_MOST &&
	    book->signer.len == (size_t)length &&
	    memcmp(book->signer.data, der, (size_t)length) == 0) {
		OPENSSL_free(der);
		return;
	}
	book_clear(book);
	book->until = until;
	book->signer = (ProtobufCBinaryData){(size_t)length, der};
}

struct pass_book *pass_book_new(const struct tls *tls)
{
	struct pass_book *book = memory_new(1, sizeof(*book));

	book->tls = tls;
	return book;
}

void pass_book_free(struct pass_book *book)
{
	if (!book)
		return;
	book_clear(book);
	free(book);
}

ProtobufCBinaryData pass_signer(struct pass_book *book)
{
	book_renew(book);
	return book->signer;
}

struct plan_pass pass_new(struct pass_book *book, const char *node, const char *const *above,
			  size_t n)
{
	struct pass_entry *en;
	char *text;

	book_renew(book);
	text = pass_text(book->until, node, above, n);
	HASH_FIND_STR(book->entries, text, en);
	if (en) {
		free(text);
	} else {
		en = memory_new(1, sizeof(*en));
		en->text = text;
		en->pass = pass_pack(book->tls, text);
		HASH_ADD_KEYPTR(hh, book->entries, text, strlen(text), en);
	}
	return (struct plan_pass){(unsigned char *)memory_copy_bytes(en->pass.data, en->pass.bytes),
				  en->pass.bytes};
}

/* ---- checking ---- */

/* Is @name, with a line end, at *@at? Moves *@at past it. */
static bool line_is(const unsigned char **at, const unsigned char *end, const char *name)
{
	size_t n = strlen(name);

	if ((size_t)(end - *at) <= n || memcmp(*at, name, n) != 0 || (*at)[n] != '\n')
		return false;
	*at += n + 1;
	return true;
}

/* The text at *@at up to the line end; moves *@at past that. NULL: there is no line end. */
static const unsigned char *line_end(const unsigned char **at, const unsigned char *end)
{
	const unsigned char *next = memchr(*at, '\n', (size_t)(end - *at));

	if (next)
		*at = next + 1;
	return next;
}

/* A Unix time, 0 if it is not valid. */
static int64_t line_time(const unsigned char **at, const unsigned char *end)
{
	const unsigned char *digit = *at, *last = line_end(at, end);
	int64_t value = 0;

	if (!last || last - digit > 12)
		return 0;
	for (; digit < last; digit++) {
		if (*digit < '0' || *digit > '9')
			return 0;
		value = value * 10 + (*digit - '0');
	}
	return value;
}

static int said_check(const ProtobufCBinaryData *said, const struct pass_claim *claim,
		      int64_t *until, struct error *e)
{
	const unsigned char *at = said->data, *end = at + said->len;
	size_t n = strlen(TITLE);

	if (said->len < n || memcmp(at, TITLE, n) != 0)
		return errorf(e, "its pass is of another version, or none");
	at += n;
	*until = line_time(&at, end);
	if (*until <= (int64_t)time(NULL))
		return errorf(e, "its pass is over; look again, or is a clock wrong?");
	if (!line_is(&at, end, claim->node))
		return errorf(e, "its pass is for another node");
	while (!line_is(&at, end, claim->peer)) {
		if (!line_end(&at, end))
			return errorf(e, "its pass is not for it");
	}
	return 0;
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

/* Would the signer be accepted as an agent, and has it signed this? */
static int signer_check(const struct tls *tls, const Evspace__Pass *pass, X509 *cert,
			struct peer *who, struct error *e)
{
	if (!tls_accepts(tls, cert, NULL, false, e))
		return error_prefix(e, "the signer of its pass is");
	if (tls_peer_read(cert, who, e) < 0)
		return -1;
	if (!(who->roles & ROLE_AGENT))
		return errorf(e, "%s, which signed its pass, is not an agent", who->name);
	if (!is_signed(pass, cert))
		return errorf(e, "its pass is not signed by %s", who->name);
	return 0;
}

static int pass_verify(const struct tls *tls, const Evspace__Pass *pass,
		       const ProtobufCBinaryData *signer, char *name, size_t room, struct error *e)
{
	const unsigned char *der = signer->data;
	X509 *cert = signer->len ? d2i_X509(NULL, &der, (long)signer->len) : NULL;
	struct peer who = {0};
	int rc;

	ERR_clear_error();
	if (!cert)
		return errorf(e, "its pass has no certificate");
	rc = signer_check(tls, pass, cert, &who, e);
	snprintf(name, room, "%s", who.name);
	limits_free(who.limits);
	X509_free(cert);
	return rc;
}

int pass_check(const struct tls *tls, const struct pass_claim *claim, char *name, size_t room,
	       int64_t *until, struct error *e)
{
	const ProtobufCBinaryData *data = &claim->pass;
	Evspace__Pass *pass = NULL;
	int rc = -1;

	if (data->len && data->len <= WIRE_PASS_MAX && claim->signer.len <= WIRE_PASS_MAX)
		pass = evspace__pass__unpack(NULL, data->len, data->data);
	if (!pass)
		errorf(e, "it has no pass");
	else if (said_check(&pass->said, claim, until, e) == 0)
		rc = pass_verify(tls, pass, &claim->signer, name, room, e);
	if (pass)
		evspace__pass__free_unpacked(pass, NULL);
	errno = EACCES;
	return rc;
}
