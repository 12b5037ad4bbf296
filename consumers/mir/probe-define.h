/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests say of a probe: checked, and put together from several of them. */
#ifndef EVSPACE_PROBE_DEFINE_H
#define EVSPACE_PROBE_DEFINE_H

#include "consumers/mir/probe.h"

/** Is a metric's value that of single executions of a region? Else it grows, and is looked at now
 * and then. */
bool probe_is_of_executions(const struct probe *probe, const struct metric *metric);

/** Is it taken whenever the region has been executed, as the kernel says it? */
bool probe_triggers(const struct probe *probe, const struct metric *metric);

/** Is it taken now and then, and not what it has come to when somebody asks? */
bool probe_samples(const struct probe *probe, const struct metric *metric);

/** Is one of its values taken so; or is one taken when it is asked for? */
bool probe_is_sampled(const struct probe *probe);
bool probe_value_is_taken(const struct probe *probe);

/** Are its regions some of evspace.h, or functions? */
bool probe_is_of_program(const struct probe *probe);

/** Is a metric made of single calls, which no totals say? */
bool probe_is_of_calls(const struct probe *probe, const struct metric *metric);

/** It is what @defined says, which it borrows. */
void probe_define(struct probe *probe, struct mir_request *defined);

/** Complain of what cannot be measured so in @probe->defined, at its places. Sets the region. */
void probe_check(struct probe *probe, struct mir_request *request);

/** Have @to say what @from does, where that says something. */
void measuring_settle(struct mir_measuring *to, const struct mir_measuring *from);
void measuring_fini(struct mir_measuring *measuring);

/** Replace what @to says of metrics and entities by what @from does, if it says something. */
void request_settle(struct mir_request *to, const struct mir_request *from);

/** The owner has one more of what a probe is, or was, or is to be; or one less, which is freed. */
void definition_add(struct probe_owner *owner, struct mir_request *defined);
void definition_free(struct probe_owner *owner, struct mir_request *defined);

#endif
