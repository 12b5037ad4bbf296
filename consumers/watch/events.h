/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats of evspace events: text, JSON or CSV. */
#ifndef EVSPACE_EVENTS_H
#define EVSPACE_EVENTS_H

#include <stdio.h>

#include "consumers/client/evspace-client.h"

/** Functions that write to @out, each one kind of record, in lines of at most @width characters; 0:
 * no limit. Each may do nothing. */
struct events_format {
	const char *begin; /* written first, "" for nothing */
	void (*event)(const struct evspace_client *client, const struct evspace_event *event,
		      size_t width, FILE *out);
	void (*loss)(const struct evspace_loss *loss, size_t width, FILE *out);
	void (*total)(const struct evspace_client *client, const struct evspace_total *total,
		      size_t width, FILE *out);
	void (*typed)(const struct evspace_typed *typed, size_t width, FILE *out);
	void (*figure)(const struct evspace_figure *figure, size_t width, FILE *out);
	/* The counts of all, at the end. */
	void (*summary)(const struct evspace_counts *counts, uint64_t sampled, FILE *out);
};

extern const struct events_format events_text, events_json, events_csv;

/** Of tuples of programs' own elements, and of figures of their fields. (typed-format.c) */
void typed_text(const struct evspace_typed *typed, size_t width, FILE *out);
void typed_json(const struct evspace_typed *typed, size_t width, FILE *out);
void typed_none(const struct evspace_typed *typed, size_t width, FILE *out);
void figure_text_write(const struct evspace_figure *figure, size_t width, FILE *out);
void figure_json_write(const struct evspace_figure *figure, size_t width, FILE *out);
void figure_csv_write(const struct evspace_figure *figure, size_t width, FILE *out);

#endif
