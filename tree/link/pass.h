/* SPDX-License-Identifier: BSD-3-Clause */
/* A pass: a text signed by an entry agent that allows certain agents to stand above a node. */
#ifndef EVSPACE_PASS_H
#define EVSPACE_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/plan/plan.h"
#include "tree/link/tls.h"
#include "tree/wire/wire.h"

/**
 * Only the entry knows an applied map, which may put agents above a node where the node's own map
 * does not have them. So the entry signs their names with the key of its certificate, and the pass
 * goes down with the node's place, through any hands. It says only "by the map of ENTRY, NODE may
 * be asked by these agents until then"; the agent that shows it must be one of them, by
 * certificate. A pass is valid for PASS_DAYS to one day more, so that the passes of an old map end,
 * although hosts' clocks may differ by hours; asking again gives a new one each day. The
 * certificate to check it by goes with the place, once for all passes below.
 */
#define PASS_DAYS 30
#define PASS_DAY  86400 /* seconds */

/** Passes signed by the agent of @tls, which is borrowed: each text once, until the next day or
 * another certificate. */
struct pass_book;
struct pass_book *pass_book_new(const struct tls *tls);
/** NULL is fine. */
void pass_book_free(struct pass_book *book);

/** Sign that the @n agents @above may stand above @node. The caller frees the pass's data. */
struct plan_pass pass_new(struct pass_book *book, const char *node, const char *const *above,
			  size_t n);

/** The certificate for today's passes, DER; owned by the book, valid until the next pass_new(). */
ProtobufCBinaryData pass_signer(struct pass_book *book);

/** A pass to check for @peer. */
struct pass_claim {
	ProtobufCBinaryData pass, signer; /* as received */
	const char *node, *peer;
};

/**
 * Does the pass say that the peer may stand above the node, and is it signed by the certificate in
 * the claim? Then @name (of @room bytes) is set to its signer's name, and *@until to the Unix time
 * at which it ends. Returns 0, or -1 with EACCES and @e: it is missing, damaged, another node's, or
 * over; does not name the peer; or its signer would not be accepted as an agent. Checks the
 * signature last, as that is costly.
 */
int pass_check(const struct tls *tls, const struct pass_claim *claim, char *name, size_t room,
	       int64_t *until, struct error *e);

#endif
