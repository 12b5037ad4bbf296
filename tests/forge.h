/* SPDX-License-Identifier: BSD-3-Clause */
/* Forges certificates that deploy/certs does not make, signed by its CA or by themselves. */
#ifndef EVSPACE_TESTS_FORGE_H
#define EVSPACE_TESTS_FORGE_H

/** What to put in. Times are seconds from now. */
struct forgery {
	const char *dir;   /* with ca.pem and ca.key; NAME.pem and NAME.key go there, too */
	const char *name;  /* file and common name */
	const char *names; /* "DNS:w0,URI:evspace:role=agent", NULL for none */
	const char *group; /* of the key: "P-256" … */
	long from, until;
	int self_signed;
};

/** Write the certificate and its key. Returns 0, or -1. */
int forge(const struct forgery *f);

#endif
