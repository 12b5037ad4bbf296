/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a run: who waits for whom, from the events of sends, receives and waits. */
#ifndef EVSPACE_MESSAGES_H
#define EVSPACE_MESSAGES_H

#include "consumers/analysis/message-flow.h"
#include "consumers/colop/attendance.h"

struct evspace_client;
struct messages;

/** @attendance is borrowed. */
struct messages *messages_new(struct attendance *attendance);
void messages_free(struct messages *messages);

/** Take the wave of @client, from its first record on. */
void messages_take(struct messages *messages, struct evspace_client *client);

/** Nothing more comes. */
void messages_end(struct messages *messages);

const struct message_counts *messages_counts(const struct messages *messages);
/** Receives of which it is not known who has waited for them (message-wait.h). */
uint64_t messages_unknown(const struct messages *messages);
/** Events of messages that are not matched, as a side has no rank in the program's first world. */
uint64_t messages_foreign(const struct messages *messages);

const struct message_flows *messages_flows(const struct messages *messages);

#endif
