/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of threads: what each is in, in which region, and for how long already from which call
 * site. */
#ifndef EVSPACE_ROW_THREAD_H
#define EVSPACE_ROW_THREAD_H

#include "node-agent/source/row.h"

/** Call sites that one wave asks for. */
#define ROW_SITES 16u

/** Labels of call sites that a scope learns from one host: a process that says ever new addresses
 * leaves room for the names of others. */
#define ROW_SITE_LABELS 4096u

/** One look at threads. */
struct row_look {
	const struct source_host *host;
	struct clock_line line; /* of the ticks of the wave */
	uint64_t long_ago; /* who is in an operation since before this has its call site said */
	unsigned n_sites;  /* call sites that are not known yet: */
	struct {
		uint32_t row;
		uint64_t address;
	} sites[ROW_SITES];
};

/** Convert ticks of the clock of @row, which is another one, to those of @line: a wave has ticks of
 * one kind. */
void row_ticks(const struct source_host *host, const struct clock_line *line, const struct row *row,
	       struct tuple *tuples, uint32_t n);

/** Read row @at, of a thread: its state line or region, also what these were when its process died.
 * Returns 1, or 0: it is in none. For guarded reads. */
int row_thread(struct row_look *look, const struct row *row, uint32_t at, struct tuple *out);

/** Find out which call sites those are that @look did not know, for a turn's time but at least one:
 * the next look says them. */
void rows_sites(struct rows *rows, const struct row_look *look);

#endif
