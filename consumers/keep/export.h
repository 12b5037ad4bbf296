/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats of traces that an execution is exported to (docs/archives.md). */
#ifndef EVSPACE_EXPORT_H
#define EVSPACE_EXPORT_H

#include <stdio.h>

#include "consumers/keep/trace.h"
#include "pathmap/base/error.h"

/** Write the trace to @out. Returns 0, or -1 with @e. */
typedef int export_write(struct trace_run *t, const char *out, struct error *e);

export_write export_ctf, export_paje, export_perfetto;

/** The object with what writes OTF2, and its function: returns NULL, or what is wrong, which is
 * valid until the next call. @name says what an operation is called. */
#define EXPORT_OTF2_OBJECT "libevspace-otf2.so"
#define EXPORT_OTF2_SYMBOL "export_otf2"
typedef const char *export_otf2_function(struct trace_run *t, const char *out,
					 trace_name_function *name, trace_walk_function *walk);

/** What all threads have done in order of time, for formats that want that. */
enum export_kind { EXPORT_ENTER, EXPORT_LEAVE, EXPORT_SENT, EXPORT_RECEIVED };

struct export_record {
	int64_t ns;
	uint64_t nth; /* of a message: what no other one between its two on its communicator, with
		       * its tag, has; the same on both sides, as messages do not overtake;
		       * EXPORT_ALONE: the other side is not there, or not known */
	uint64_t bytes;
	uint32_t comm, seq_or_tag;
	int32_t peer, rank;
	uint32_t place; /* of the thread, from 0 */
	uint16_t op;
	uint16_t kind; /* enum export_kind */
};

#define EXPORT_ALONE UINT64_MAX

typedef void export_take(void *arg, const struct export_record *r);

/** Give all of them to @take, in order of time, and count messages that are alone, or of which one
 * side is not known; what has no room in memory is sorted beside the file @out. Returns 0, or -1
 * with @e. */
int export_records(struct trace_run *t, const char *out, export_take *take, void *arg,
		   struct error *e);

/** A text that names a message alike on both sides. */
#define EXPORT_MESSAGE 96
const char *export_message(char buf[EXPORT_MESSAGE], const struct export_record *r);

/** Close the file @out that was written to @f, whose name is for messages. Returns 0, or -1 with
 * @e. */
int export_close(FILE *f, const char *out, struct error *e);

/** Write @text between quotes; for each quote and each backslash in it, these. */
void export_quoted(FILE *f, const char *text, const char *quote, const char *backslash);

#endif
