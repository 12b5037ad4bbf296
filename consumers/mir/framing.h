/* SPDX-License-Identifier: BSD-3-Clause */
/* Documents out of a stream of bytes, one by one, whatever each of them is like. */
#ifndef EVSPACE_FRAMING_H
#define EVSPACE_FRAMING_H

#include <stdbool.h>
#include <stddef.h>

/** Most bytes of a document. */
#define FRAMING_MAX ((size_t)16 << 20)

/** What has come and is not taken yet. Zeroed at first. */
struct framing {
	char *text;
	size_t n, room;
	size_t seen;	 /* of these, looked at */
	size_t taken;	 /* by the last framing_next() */
	size_t clear;	 /* of these, looked through for a 0 byte */
	size_t searched; /* markup.h: of what begins at `seen`, for its end */
	char quote;
	char root[32];	   /* the document's first element; "": none so far */
	bool rooted;	   /* it has begun */
	bool stray, typed; /* there is text before that; a document type */
	bool large;	   /* the document has more than FRAMING_MAX bytes: they are dropped */
};

/** A document: valid until the next call. */
struct framed {
	const char *text;
	size_t n;
	bool large; /* it was larger than FRAMING_MAX, and is not here */
};

/** Add @n bytes that came. */
void framing_add(struct framing *framing, const char *bytes, size_t n);

/**
 * Take the next document: up to the end of its first element, a 0 byte, the beginning of a request
 * (which is in no other one), or @all there is. Returns false if none is whole.
 */
bool framing_next(struct framing *framing, bool all, struct framed *framed);

/** Free what it holds. */
void framing_fini(struct framing *framing);

#endif
