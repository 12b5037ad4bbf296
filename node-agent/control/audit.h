/* SPDX-License-Identifier: BSD-3-Clause */
/* The audit: a line in the agent's log for every control action: who, from where, what, and what
 * came of it. */
#ifndef EVSPACE_AUDIT_H
#define EVSPACE_AUDIT_H

#include "tree/link/link.h"
#include "tree/link/rate-limit.h"
#include "tree/wire/wire.h"

/** What others say, the names of runs among it, is quoted and cut in all of these (utf8_quote()).
 */

/** Room for what was asked for, in words. */
#define AUDIT_WHAT 600

/** "control (10.0.0.1:4711)": who is at the other end, and where. Returns @buf. */
const char *audit_who(const struct peer *peer, char *buf, size_t n);

/** What an order says: "switch p2p@world to off in run "st"", or "discard …". Returns @buf. */
const char *audit_order(const Evspace__SwitchAsk *ask, const char *run, char *buf, size_t n);

/** The same of a map that is to be applied. */
const char *audit_map(const Evspace__MapApply *apply);

/** Done, by its entry agent; @outcome says how far. @nothing: there was nothing to do it to. */
void audit_done(const char *who, const char *what, bool nothing, const char *outcome);

/** Not done, and why: no more often than @rate allows. */
void audit_failed(struct rate_limit *rate, const char *who, const char *what, const char *why);

/** The same of who is at the other end, and was refused. */
void audit_refused(struct rate_limit *rate, const struct peer *peer, const char *what,
		   const char *why);

/** Who asked has left before all hosts had answered; @outcome says how far it had come. */
void audit_left(const char *who, const char *what, const char *outcome);

/**
 * What an order has done on this host that came from another agent. @relay is that agent, as
 * audit_who() has it of its certificate and connection; who has asked for it is what it says.
 */
void audit_carried(const char *relay, const Evspace__SwitchAsk *ask, const Evspace__Host *host,
		   const char *run);

#endif
