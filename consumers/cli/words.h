/* SPDX-License-Identifier: BSD-3-Clause */
/* Words: how operations, ranks and communicators are put for people, and texts for programs. */
#ifndef EVSPACE_WORDS_H
#define EVSPACE_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "consumers/client/evspace-client.h"

/** Room for what is said of an operation. */
#define WORDS_TEXT 512

/** What an operation has to do with. */
struct words_about {
	const char *op;
	uint16_t op_number;
	int32_t peer;
	uint32_t seq_or_tag, comm;
};

/** "late for 1.2 s: why": of a host that a wave lacks. */
void words_add_missing(char buf[WORDS_TEXT], const struct evspace_missing *missing);

/** Put a formatted text behind the one in @buf, cut at its size. */
void words_add(char buf[WORDS_TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Add "rank 3", "ranks 0-2, 5 and 12 more" of @n ranks in ascending order. */
void words_add_ranks(char buf[WORDS_TEXT], const int32_t *ranks, size_t n);

/** Add " from rank 3 (tag 7)", " #17 on the world", " of 4 requests with rank 2", or nothing. */
void words_add_about(char buf[WORDS_TEXT], const struct evspace_client *client,
		     const struct words_about *about);

/** Write "p2p", "p2p@world", "gather@rates" (the monitors', by their view) or "p2p@1a2b3c4d". */
void words_class(char *buf, size_t room, const struct evspace_client *client, const char *group,
		 uint32_t comm);

/** "14:02:13.345678" of a Unix time in ns, in local time, with @digits behind the point. */
void words_clock(char *buf, size_t room, int64_t ns, int digits);

/** Write @text as a field of comma-separated values, quoted where needed (RFC 4180). */
void words_csv(FILE *out, const char *text);

#endif
