/* SPDX-License-Identifier: BSD-3-Clause */
/* A pass: what an entry agent has signed, that certain agents may stand above a node. */
#ifndef EVSPACE_PASS_H
#define EVSPACE_PASS_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/plan.h"
#include "tree/tls.h"
#include "tree/wire.h"

/**
 * An applied map is known to the entry only, and it may put agents above a node that the node's own
 * map does not let stand there. So the entry signs, with the key of its certificate, who they are;
 * the pass goes down with the place, through whichever hands, and counts for as long as the entry's
 * certificate does. It says nothing but "by the map of ENTRY, NODE may be asked by these agents":
 * who holds it must be one of them, by certificate.
 */

/** Sign that the @n agents @above may stand above @node. The pass's data are the caller's to free.
 */
struct plan_pass pass_new(const struct tls *tls, const char *node, const char *const *above,
			  size_t n);

/**
 * Does @pass say that @peer may stand above @node? @signer gets the name of who has signed it.
 * Returns 0, or -1 with EACCES and @e: it is none, damaged, another node's, does not name @peer, or
 * is signed by nobody who would be let in as an agent.
 */
int pass_check(const struct tls *tls, const ProtobufCBinaryData *pass, const char *node,
	       const char *peer, char *signer, size_t room, struct error *e);

#endif
