/* SPDX-License-Identifier: BSD-3-Clause */
/* Words: operations, ranks and communicators as text for people, and CSV. */
#ifndef EVSPACE_WORDS_H
#define EVSPACE_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "consumers/client/evspace-client.h"

/** Room for a text about an operation. */
#define WORDS_TEXT 512

/** An operation. */
struct words_about {
	const char *op;
	uint16_t op_number;
	int32_t peer;
	uint32_t seq_or_tag, comm;
};

/** Write "late for 1.2 s: why", for a host that a wave lacks. */
void words_add_missing(char buf[WORDS_TEXT], const struct evspace_missing *missing);

/** Add how long an agent has waited for a core before this wave, if that is worth a word. */
void words_add_waited(char buf[WORDS_TEXT], const struct evspace_wave *wave);

/** Append a formatted text to @buf, cut at its size. */
void words_add(char buf[WORDS_TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Append "rank 3", "ranks 0-2, 5 and 12 more", for @n ranks in ascending order. */
void words_add_ranks(char buf[WORDS_TEXT], const int32_t *ranks, size_t n);

/** Append " from rank 3 (tag 7)", " #17 on the world", " of 4 requests with rank 2", or nothing. */
void words_add_about(char buf[WORDS_TEXT], const struct evspace_client *client,
		     const struct words_about *about);

/** Append " at solver.c:212" for the label of a call site; nothing if it is 0 or not known. */
void words_add_site(char buf[WORDS_TEXT], const struct evspace_client *client, uint32_t site);

/** Append ", root 3, MPI_SUM of MPI_INT", or what of that there is. */
void words_add_collective(char buf[WORDS_TEXT], const struct evspace_collective *collective);

/** Write "p2p", "p2p@world", "p2p@1a2b3c4d", or for monitors, by their view, "gather@rates". */
void words_class(char *buf, size_t room, const struct evspace_client *client, const char *group,
		 uint32_t comm);

/** Write "14:02:13.345678" for a Unix time in ns, in local time, with @digits decimals. */
void words_clock(char *buf, size_t room, int64_t ns, int digits);

/** Write @text as a field of comma-separated values, quoted if needed (RFC 4180). */
void words_csv(FILE *out, const char *text);

#endif
