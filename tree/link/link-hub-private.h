/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of links share: a hub's inside. Nobody else includes this. */
#ifndef EVSPACE_LINK_HUB_PRIVATE_H
#define EVSPACE_LINK_HUB_PRIVATE_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "tree/data/arena.h"
#include "tree/link/link-hub.h"
#include "tree/link/rate-limit.h"
#include "tree/link/resolver.h"

struct link;

/** What a link may send, and with whom it shares the memory for frames that are not whole. */
enum link_part {
	PART_CONSUMER, /* who dialled us: asks what consumers ask, unless it is found to be a */
	PART_PARENT,   /* … an agent that may stand above us */
	PART_CHILD,    /* we have dialled it: it answers */
	LINK_PARTS,
};

/** One text of refusal, so that it is not said more than once a second. */
struct refusal {
	char text[160];
	uint64_t said_ns, pause_ns; /* when; how long it is not said again */
	unsigned long unsaid;
};

#define REFUSALS 16

struct link_hub {
	struct event_base *base;
	struct tls *tls;
	char *name, boot_id[64];
	int64_t epoch_ns;
	struct event flush; /* active while the queue is not empty: runs last in a round */
	TAILQ_HEAD(link_queue, link) queue;
	LIST_HEAD(link_list, link) links, dead;
	struct event turn; /* due while some links are paused */
	TAILQ_HEAD(link_paused, link) paused;
	unsigned n_paused;
	struct resolver *resolver;
	struct arena arena;
	unsigned char *scratch;	       /* LINK_RECEIVE bytes, made when first needed */
	size_t unfinished[LINK_PARTS]; /* bytes of frames that are not whole */
	unsigned calls;		       /* callbacks under way: nothing is freed */
	bool flushing;
	unsigned proof_ms;
	link_log *log;
	void *log_arg;
	struct refusal refusals[REFUSALS];
	struct rate_limit
		rationed; /* of causes that are not in there: who invents them fills no log */
	bool foreign;
	enum wire_unpacks unpacks;
	const struct allow *allow;
	unsigned long refused;
};

void hub_queue(struct link_hub *hub, struct link *link);
void hub_unqueue(struct link_hub *hub, struct link *link);
/** Log that somebody was not let in, unless the same was said within the last second. */
void hub_refused(struct link_hub *hub, const char *where, const struct error *why);

#endif
