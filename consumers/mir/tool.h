/* SPDX-License-Identifier: BSD-3-Clause */
/* Tools that send documents: a file or standard input, or whoever connects to a socket. */
#ifndef EVSPACE_TOOL_H
#define EVSPACE_TOOL_H

#include <event2/event.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "consumers/mir/errand.h"
#include "consumers/mir/framing.h"
#include "consumers/mir/probe.h"
#include "pathmap/base/error.h"

/** Most tools at once, and bytes that one may leave unread before no more is taken from it. */
#define TOOLS_MAX   64
#define TOOL_UNREAD ((size_t)1 << 20)

struct tool {
	struct probe_owner owner; /* first: its address is the tool's */
	LIST_ENTRY(tool) link;
	int fd;
	struct event *readable, *writable;
	bool socket; /* answers go there, too; else to standard output */
	bool ended;  /* no more comes */
	bool gone;   /* nor is anything read */
	bool wrong;  /* an answer has said what is wrong */
	struct framing framing;
	struct errand *errand;	     /* its document that is being answered; NULL: none is */
	char *unread;		     /* answers that it has not taken yet: */
	size_t read, n_unread, room; /* behind so many bytes that it has */
};

/** All of them. */
struct tools {
	LIST_HEAD(, tool) list;
	struct event_base *base;
	struct stat file; /* of the socket; zeroed: there is none */
};

/** One that sends by @fd, which it takes. */
struct tool *tool_new(struct tools *tools, int fd, bool socket);

/** Take its next document, once the last one is answered and the answers are read. Returns false if
 * there is none: then it is waited for. */
bool tool_next(struct tool *tool, struct framed *framed);

/** Has whoever waits for an answer at a socket gone? One that only sends no more has not. */
bool tool_has_left(const struct tool *tool);

/** An errand_done() for a tool: write the answer, to standard output, or as soon as it is taken. */
void tool_answer(void *tool, const char *text, size_t n, bool wrong);

void tool_free(struct tool *tool);

/** Listen at "unix:PATH", for programs of this user alone, or at "HOST:PORT". Returns the socket,
 * or -1 with @e. */
int tools_listen(struct tools *tools, const char *address, struct error *e);

/** Remove the socket of a "unix:PATH", before it is closed, if it is not another one's by now. */
void tools_unlisten(const struct tools *tools, const char *address);

/** Take who connects, if it is of this user and there is room. */
void tools_accept(struct tools *tools, int listener);

#endif
