/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of sources that answers to sirreq had, for the calls in them. */
#ifndef EVSPACE_UNITS_H
#define EVSPACE_UNITS_H

#include <stdio.h>

#include "consumers/mir/probe.h"

/** Most that an owner has. */
#define UNITS_MAX 4000u

struct sir_unit {
	LIST_ENTRY(sir_unit) link;
	uint32_t id;
	char *name; /* without its folder, as call sites have it */
};

/** Write those of a document of SIR, or a part of one, for units_note(). It takes time. */
void units_say(FILE *out, const char *text, size_t n);

/** Keep those that units_say() has written. */
void units_note(struct probe_owner *owner, const char *text, size_t n);

/** The name of the source that the region with that id is in; NULL: it is not known. */
const char *units_name(const struct probe_owner *owner, const char *id);

void units_free(struct probe_owner *owner);

#endif
