/* SPDX-License-Identifier: BSD-3-Clause */
/* A source on the fixture's store, which reads the waves that a case asks for. */
#ifndef EVSPACE_TESTS_SOURCE_BED_H
#define EVSPACE_TESTS_SOURCE_BED_H

#include "node-agent/source/row.h"
#include "node-agent/source/source.h"
#include "tree/data/batch.h"
#include "tree/data/names.h"
#include "tree/data/tuple.h"

/** Of the maker's element of 16 as many can be read. */
#define SOURCE_BED_HELD 15u

/** Of the case: its host, the place that it is, what is known and the last wave. */
extern struct source_host source_bed_host;
extern struct plan_place source_bed_place;
extern struct names *source_bed_names;
extern struct batch source_bed_batch;

/** Before and after each case. */
void source_bed_begin(void);
void source_bed_end(void);

/** Open the store. The maker's host is this one, whatever the node is called. */
void source_bed_look(void);

/** The same; whatever goes is told to @streams, which is made empty. */
void source_bed_look_and_tell(struct rows_list *streams);

/** Discard what is below number @below of an element. */
void source_bed_discard(const struct segment *s, uint32_t element, uint64_t below);

/** A scope over everything; static. */
Evspace__Open source_bed_asked(enum reading reading);
struct stage *source_bed_open(const Evspace__Open *open);

/** Take in all that there is, as the loop does, and read a wave. Returns what reading returns. */
int source_bed_read(struct stage *source, const struct ask *ask, struct error *e);

/** Read a wave. Returns the tuples in it, and in *@last (may be NULL) the last of them. */
uint64_t source_bed_wave(struct stage *source, const struct ask *ask, struct part *part,
			 struct tuple *last);

#endif
