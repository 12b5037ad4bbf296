/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of TLS in words that a user can act on: alerts, certificate checks, garbage. */
#include "tree/link/tls.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* OpenSSL reports alert N that the peer sent as reason 1000 + N (ssl.h, SSL_AD_REASON_OFFSET). */
#define ALERT_REASON(alert) (SSL_AD_REASON_OFFSET + (alert))

#define RENEW "make a new one with evspace-certs"

/** An error number of OpenSSL and its words. */
struct words {
	long number;
	const char *text;
};

/** Why we refuse the peer's certificate (X509_verify_cert_error_string(3)). */
static const struct words verify_words[] = {
	{X509_V_ERR_CERT_HAS_EXPIRED, "its certificate has expired; " RENEW " --force"},
	{X509_V_ERR_CERT_REVOKED, "its certificate was revoked; " RENEW},
	{X509_V_ERR_CERT_NOT_YET_VALID,
	 "its certificate is not valid yet; set the clocks of both hosts right"},
	{X509_V_ERR_HOSTNAME_MISMATCH, "its certificate has another name; cluster.map must name "
				       "the node as its certificate does "
				       "(evspace-certs agent DIR NODE)"},
	{X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
	 "its certificate is from a CA that is not ours; use certificates of one CA on all hosts"},
	{X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
	 "its certificate is from a CA that is not ours; use certificates of one CA on all hosts"},
	{X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
	 "its certificate is from a CA that is not ours; use certificates of one CA on all hosts"},
	{X509_V_ERR_CERT_SIGNATURE_FAILURE,
	 "its certificate is from another CA of the same name (evspace-certs init was run again?); "
	 "use certificates of one CA on all hosts"},
	{X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
	 "its certificate is from a CA that is not ours; use certificates of one CA on all hosts"},
	{X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
	 "it signed its certificate itself; " RENEW " from the CA of the other hosts"},
	{X509_V_ERR_INVALID_PURPOSE,
	 "its certificate is for another purpose (an agent's is made by: evspace-certs agent)"},
};

/** Alerts by which the peer refused us (RFC 8446 section 6.2). */
static const struct words alert_words[] = {
	{ALERT_REASON(SSL_AD_CERTIFICATE_EXPIRED),
	 "our certificate has expired; " RENEW " --force"},
	{ALERT_REASON(SSL_AD_BAD_CERTIFICATE),
	 "our certificate is not valid there: not yet valid by its clock, or the wrong name; check "
	 "the clocks, or " RENEW},
	{ALERT_REASON(SSL_AD_UNKNOWN_CA),
	 "our certificate is from another CA; use certificates of one CA on all hosts"},
	{ALERT_REASON(SSL_AD_DECRYPT_ERROR), "our certificate is from another CA of the same name; "
					     "use certificates of one CA on all hosts"},
	{ALERT_REASON(SSL_AD_CERTIFICATE_REQUIRED),
	 "we showed no certificate; make one with evspace-certs observe"},
	{ALERT_REASON(SSL_AD_HANDSHAKE_FAILURE),
	 "no common algorithm (P-256 certificates are needed); " RENEW},
	{ALERT_REASON(SSL_AD_PROTOCOL_VERSION), "TLS 1.3 is needed; update OpenSSL"},
	{ALERT_REASON(SSL_AD_UNSUPPORTED_CERTIFICATE),
	 "our certificate is for another purpose; " RENEW},
	{ALERT_REASON(SSL_AD_CERTIFICATE_REVOKED), "our certificate was revoked; " RENEW},
	{ALERT_REASON(SSL_AD_CERTIFICATE_UNKNOWN), "our certificate cannot be read there; " RENEW},
	{ALERT_REASON(SSL_AD_ACCESS_DENIED), "our certificate gives no right there; " RENEW},
};

/** Errors of the peer before there is any certificate. */
static const struct words reason_words[] = {
	{SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE,
	 "it showed no certificate; make one for it with evspace-certs observe"},
	{SSL_R_UNSUPPORTED_PROTOCOL, "it does not speak TLS 1.3; update its OpenSSL"},
	{SSL_R_WRONG_SSL_VERSION, "it does not speak TLS 1.3; update its OpenSSL"},
	{SSL_R_NO_SHARED_CIPHER, "no common algorithm; both sides need TLS 1.3 with AES-GCM"},
	{SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM,
	 "no common algorithm; certificates need P-256 keys: " RENEW},
	{SSL_R_NO_SUITABLE_KEY_SHARE, "no common algorithm; both sides need P-256"},
	{SSL_R_NO_SUITABLE_GROUPS, "no common algorithm; both sides need P-256"},
	{SSL_R_WRONG_SIGNATURE_TYPE, "its certificate has no P-256 key; " RENEW},
};

static const char *words_find(const struct words *list, size_t n, long number)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].number == number)
			return list[i].text;
	return NULL;
}

const char *tls_verify_text(long code)
{
	const char *text = words_find(verify_words, ARRAY_SIZE(verify_words), code);

	return text ? text : X509_verify_cert_error_string(code);
}

/** Does this failure mean that the peer does not speak TLS? */
static int reason_is_garbage(int reason)
{
	switch (reason) {
	case SSL_R_HTTP_REQUEST:
	case SSL_R_HTTPS_PROXY_REQUEST:
	case SSL_R_WRONG_VERSION_NUMBER:
	case SSL_R_UNKNOWN_PROTOCOL:
	case SSL_R_UNEXPECTED_MESSAGE:
	case SSL_R_BAD_RECORD_TYPE:
	case SSL_R_PACKET_LENGTH_TOO_LONG:
	case SSL_R_RECORD_LENGTH_MISMATCH:
	case SSL_R_LENGTH_MISMATCH:
	case SSL_R_LENGTH_TOO_SHORT:
	case SSL_R_EXCESSIVE_MESSAGE_SIZE:
		return 1;
	default:
		return 0;
	}
}

const char *tls_says(void)
{
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	ERR_clear_error();
	return text ? text : "unknown reason";
}

void tls_explain(SSL *ssl, const char *where, struct error *e)
{
	unsigned long code = ERR_peek_last_error();
	int reason = ERR_GET_REASON(code);
	long verified = SSL_get_verify_result(ssl);
	const char *text;

	ERR_clear_error();
	if (ERR_GET_LIB(code) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET &&
	    reason < SSL_AD_REASON_OFFSET + 256) {
		text = words_find(alert_words, ARRAY_SIZE(alert_words), reason);
		if (text)
			errorf(e, "%s refused: %s", where, text);
		else
			errorf(e, "%s refused: TLS alert %d (%s)", where,
			       reason - SSL_AD_REASON_OFFSET,
			       SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET));
		return;
	}
	if (verified != X509_V_OK) {
		errorf(e, "%s is not accepted: %s", where, tls_verify_text(verified));
		return;
	}
	text = words_find(reason_words, ARRAY_SIZE(reason_words), reason);
	if (text)
		errorf(e, "%s is not accepted: %s", where, text);
	else if (reason_is_garbage(reason) && !SSL_is_init_finished(ssl))
		errorf(e, "%s does not speak TLS; is it %s?", where,
		       SSL_is_server(ssl) ? "a program of EventSpace" : "an agent's port");
	else
		errorf(e, "%s: TLS failed: %s", where,
		       code ? ERR_reason_error_string(code) : "unknown reason");
}
