/* SPDX-License-Identifier: BSD-3-Clause */
/* The audit: a line in the agent's log for each control action: who, from where, what, and how
 * it went. */
#ifndef EVSPACE_AUDIT_H
#define EVSPACE_AUDIT_H

#include "tree/link/link.h"
#include "tree/link/rate-limit.h"
#include "tree/wire/wire.h"

/** Text of peers, such as names of runs, is quoted and cut in all of these (utf8_quote()). */

/** Room for the text of a command. */
#define AUDIT_WHAT 600

/** Write the peer's name and address: "control (10.0.0.1:4711)". Returns @buf. */
const char *audit_who(const struct peer *peer, char *buf, size_t n);

/** Write what a command does: "switch p2p@world to off in run "st"", or "discard …". Returns
 * @buf. */
const char *audit_order(const Evspace__SwitchAsk *ask, const char *run, char *buf, size_t n);

/** The same for applying a map. */
const char *audit_map(const Evspace__MapApply *apply);

/** Log, at the entry agent, that it was done; @outcome says how far. @nothing: there was nothing
 * to do. */
void audit_done(const char *who, const char *what, bool nothing, const char *outcome);

/** Log that it failed, and why; at most as often as @rates allow @peer, whose name that is. */
void audit_failed(struct rate_limits *rates, const char *peer, const char *who, const char *what,
		  const char *why);

/** The same for a @peer that was refused. */
void audit_refused(struct rate_limits *rates, const struct peer *peer, const char *what,
		   const char *why);

/** Log that its sender left before all hosts had answered; @outcome says how far it went. */
void audit_left(const char *who, const char *what, const char *outcome);

/** Log what a command from another agent did on this host. @relay is that agent, by audit_who(),
 * which uses its certificate and connection. Only that agent's word says who sent the command. */
void audit_carried(const char *relay, const Evspace__SwitchAsk *ask, const Evspace__Host *host,
		   const char *run);

#endif
