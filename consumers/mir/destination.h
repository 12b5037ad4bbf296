/* SPDX-License-Identifier: BSD-3-Clause */
/* Where values and events go by themselves: files and sockets below a folder, a host that is
 * stated, and elements of the run. Whoever is slow there, or gone, holds up nobody: some of it
 * waits, the rest is dropped and counted. */
#ifndef EVSPACE_DESTINATION_H
#define EVSPACE_DESTINATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "consumers/mir/request.h"
#include "tree/link/tls.h"

/** Most bytes that wait for one; a single document may be larger. */
#define DESTINATION_WAITING ((size_t)1 << 20)

/** Most at once: each may have a descriptor. */
#define DESTINATIONS_MAX 256u

/** Most elements of the run that are made, which stay when no probe has them any more. */
#define DESTINATION_ELEMENTS 64u

struct event_base;
struct mir_tuple;
struct probe_owner;

/** One that is open. */
struct destination;

/** All of them. Zeroed at first, but for the loop and what is stated. */
struct destinations {
	LIST_HEAD(, destination) list;
	unsigned n;
	struct event_base *base;
	const char *run; /* that elements are made in; NULL: none */
	struct {
		char *uri, *owner;
	} elements[DESTINATION_ELEMENTS]; /* that were, and for whom: "" has no name */
	unsigned n_elements;
	const char *folder; /* that files and sockets are below; NULL: none */
	/* a host that documents are posted to: */
	char *host;	     /* as destinations name it, "HOST:PORT"; NULL: none */
	char *name, *number; /* that its certificate has; its address */
	uint16_t port;
	struct tls *tls; /* who we are */
};

/** Is the folder a whole path, as requests have it? And read "[NAME=]HOST:PORT", the host that
 * documents may be posted to (NULL: none), with the certificate @identity of the folder @dir
 * (access_identity()). Returns 0, or -1 with @e. It may wait for the host's name to be looked up.
 */
int destinations_begin(struct destinations *all, const char *text, const char *dir,
		       const char *identity, struct error *e);

void destinations_fini(struct destinations *all);

/** The destination with that URI, which all who name it share, or NULL after a complaint. Nobody
 * has more, of those that he has named first, than what that leaves for others. */
struct destination *destination_join(struct destinations *all, const char *uri,
				     const struct probe_owner *owner, const struct mir_place *place,
				     struct mir_request *request);

/** One less has it. NULL is fine. */
void destination_leave(struct destination *destination);

/** He goes: what he has named first, and others still have, is nobody's. */
void destinations_forget(struct destinations *all, const struct probe_owner *owner);

/** Send a document, or @count lines. What there is no room for is dropped. */
void destination_say(struct destination *destination, const char *text, size_t n, unsigned count);

/** Is it an element? These take no events. Or an archive, which takes nothing else? */
bool destination_is_element(const char *uri);
bool destination_is_archive(const char *uri);

/** Open the folder of an archive, which is made if there is none. Returns it, or -1 with errno. */
int destination_archive(const struct destination *destination);

/** Does it take values, instead of documents? */
bool destination_takes_values(const struct destination *destination);

/** Add a value to an element, whose oldest is overwritten. */
void destination_value(struct destination *destination, const struct mir_tuple *tuple);

/** Does something wait for one that takes what comes? */
bool destinations_wait(const struct destinations *all);

/** How many were dropped so far. */
uint64_t destination_dropped(const struct destination *destination);

/** The part of a `file:` URI below @folder; NULL: it is not below it. */
const char *destination_below(const char *folder, const char *uri);

/** Open the folder @path below @folder, without links. Returns it, or -1 with errno. */
int destination_folder(const char *folder, const char *path);

#endif
