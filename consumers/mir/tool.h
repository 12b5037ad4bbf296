/* SPDX-License-Identifier: BSD-3-Clause */
/* Tools that send documents: a file or standard input, or whoever connects to a socket. */
#ifndef EVSPACE_TOOL_H
#define EVSPACE_TOOL_H

#include <sys/queue.h>
#include <sys/types.h>

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
	bool socket; /* answers go there, too; else to standard output */
	bool ended;  /* no more comes */
	bool gone;   /* nor is anything read */
	struct framing framing;
	char *unread; /* answers that it has not taken yet */
	size_t n_unread, room;
};

LIST_HEAD(tools, tool);

/** One that sends by @fd, which it takes. */
struct tool *tool_new(struct tools *tools, int fd, bool socket);

/** Read what has come. */
void tool_read(struct tool *tool);

/** Write an answer: to standard output, or as soon as it is taken. */
void tool_say(struct tool *tool, const char *text, size_t n);

/** Write what it takes now of what is unread. */
void tool_flush(struct tool *tool);

/** What to wait for (poll(2)); 0: nothing. */
short tool_events(const struct tool *tool);

void tool_free(struct tool *tool);

/** Listen at "unix:PATH", for programs of this user alone. Returns the socket, or -1 with @e. */
int tools_listen(const char *address, struct error *e);

/** Take who connects, if it is of this user and there is room. */
void tools_accept(struct tools *tools, int listener);

#endif
