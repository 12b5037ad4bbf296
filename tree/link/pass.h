/* SPDX-License-Identifier: BSD-3-Clause */
/* A pass: what an entry agent has signed, that certain agents may stand above a node. */
#ifndef EVSPACE_PASS_H
#define EVSPACE_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/plan/plan.h"
#include "tree/link/tls.h"
#include "tree/wire/wire.h"

/**
 * An applied map is known to the entry only, and it may put agents above a node that the node's own
 * map does not let stand there. So the entry signs, with the key of its certificate, who they are;
 * the pass goes down with the place, through whichever hands. It says nothing but "by the map of
 * ENTRY, NODE may be asked by these agents until then": who holds it must be one of them, by
 * certificate. It counts for PASS_DAYS to one day more, so that the pass of a map that counts no
 * more ends, and that hosts' clocks may differ by hours; what is asked anew gets a new one each
 * day. The certificate that they are checked by goes beside the place, once for all passes below.
 */
#define PASS_DAYS 30
#define PASS_DAY  86400 /* seconds */

/** What the agent of @tls, which stays the caller's, has signed: each text once, until the next day
 * or another certificate. */
struct pass_book;
struct pass_book *pass_book_new(const struct tls *tls);
/** NULL is fine. */
void pass_book_free(struct pass_book *book);

/** Sign that the @n agents @above may stand above @node. The pass's data are the caller's to free.
 */
struct plan_pass pass_new(struct pass_book *book, const char *node, const char *const *above,
			  size_t n);

/** The certificate for those of today, DER; the book's, valid until one is signed. */
ProtobufCBinaryData pass_signer(struct pass_book *book);

/** What there is to be said for @peer. */
struct pass_claim {
	ProtobufCBinaryData pass, signer; /* as they came */
	const char *node, *peer;
};

/**
 * Does the pass say that the peer may stand above the node, by the certificate of who signed it?
 * Then
 * @name (of @room bytes) gets the name of that, and *@until the Unix time at which it ends. Returns
 * 0, or -1 with EACCES and @e: it is none, damaged, another node's, over, does not name the peer,
 * or is signed by nobody who would be let in as an agent. Costs a signature's check only when all
 * else is right.
 */
int pass_check(const struct tls *tls, const struct pass_claim *claim, char *name, size_t room,
	       int64_t *until, struct error *e);

#endif
