/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources that are written back with the regions of probes in them. */
#ifndef EVSPACE_WRITEBACK_H
#define EVSPACE_WRITEBACK_H

#include "consumers/mir/probe.h"

/** Most sources of one owner. */
#define WRITEBACKS_MAX 1000u

/** A source, and where it is written. */
struct writeback {
	LIST_ENTRY(writeback) link;
	char *in;  /* its name (sir.h) */
	char *out; /* below the folder for such sources; NULL: it is for others to include */
	const char *below; /* the folder that it has to be in; NULL: any. Borrowed */
	uint32_t id;	   /* code_source_id() */
};

/** Check what a sirreq wants to have written, or complain. */
void writebacks_check(const struct probes *probes, const struct probe_owner *owner,
		      struct mir_request *request);

/** Its answer is there: keep what it wants to have written for its owner's next `flush`. */
void writebacks_note(const struct probes *probes, struct probe_owner *owner,
		     const struct mir_request *request);

/** Is that the id of a region (SIR)? */
bool writeback_is_id(const char *text);

/** Is it of a source that the owner has written back? */
bool writebacks_have(const struct probe_owner *owner, const char *id);

/** Write all sources of an owner, with the regions of its probes, or complain; @folder: for what is
 * fetched (fetch.h). It takes as long as compiling does. */
void writebacks_write(const struct probes *probes, const struct probe_owner *owner,
		      const char *folder, struct mir_request *request);

void writebacks_free(struct probe_owner *owner);

#endif
