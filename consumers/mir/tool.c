/* SPDX-License-Identifier: BSD-3-Clause */
/* Tools that send documents. */
#include "consumers/mir/tool.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tree/link/address.h"

#define CHUNK 65536

/* ---- one of them ---- */

static void on_deliver(struct probe_owner *owner, const char *text, size_t n)
{
	struct tool *tool = (struct tool *)(void *)owner;

	/* who does not read what it has asked for misses some of it */
	if (tool->n_unread < TOOL_UNREAD)
		tool_say(tool, text, n);
}

struct tool *tool_new(struct tools *tools, int fd, bool socket)
{
	struct tool *tool = memory_new(1, sizeof(*tool));

	tool->owner.deliver = on_deliver;
	tool->fd = fd;
	tool->socket = socket;
	LIST_INSERT_HEAD(tools, tool, link);
	return tool;
}

void tool_read(struct tool *tool)
{
	static char bytes[CHUNK];
	ssize_t n = read(tool->fd, bytes, sizeof(bytes));

	if (n > 0)
		framing_add(&tool->framing, bytes, (size_t)n);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0 && !tool->socket)
		fprintf(stderr, "evspace mir: cannot read: %s\n", strerror(errno));
	tool->ended |= n <= 0;
	tool->gone |= n < 0;
}

void tool_flush(struct tool *tool)
{
	ssize_t n = tool->n_unread > 0 ? send(tool->fd, tool->unread, tool->n_unread,
					      MSG_NOSIGNAL | MSG_DONTWAIT)
				       : 0;

	if (n < 0 && errno != EINTR && errno != EAGAIN)
		tool->gone = tool->ended = true;
	if (n <= 0)
		return;
	tool->n_unread -= (size_t)n;
	memmove(tool->unread, tool->unread + n, tool->n_unread);
}

void tool_say(struct tool *tool, const char *text, size_t n)
{
	if (!tool->socket) {
		fwrite(text, 1, n, stdout);
		fflush(stdout);
		return;
	}
	if (tool->n_unread + n > tool->room) {
		char *more = memory_new(2 * (tool->n_unread + n), 1);

		if (tool->n_unread > 0)
			memcpy(more, tool->unread, tool->n_unread);
		free(tool->unread);
		tool->unread = more;
		tool->room = 2 * (tool->n_unread + n);
	}
	memcpy(tool->unread + tool->n_unread, text, n);
	tool->n_unread += n;
	tool_flush(tool);
}

short tool_events(const struct tool *tool)
{
	short events = tool->n_unread > 0 ? POLLOUT : 0;

	if (!tool->ended && tool->n_unread < TOOL_UNREAD)
		events |= POLLIN;
	return events;
}

void tool_free(struct tool *tool)
{
	LIST_REMOVE(tool, link);
	framing_fini(&tool->framing);
	if (tool->fd != STDIN_FILENO)
		close(tool->fd);
	free(tool->unread);
	free(tool);
}

/* ---- all of them ---- */

int tools_listen(const char *address, struct error *e)
{
	struct address a;
	struct stat left;
	mode_t mask;
	int fd;

	if (address_parse(&a, address, true, e) < 0)
		return -1;
	if (!a.local)
		return errorf(e, "%.200s: tools connect by unix:PATH alone", address);
	if (address_is_served(a.path))
		return errorf(e, "%.200s: somebody listens there already", address);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* what a dead one has left; nothing else is removed */
	if (lstat(a.path, &left) == 0 && S_ISSOCK(left.st_mode))
		unlink(a.path);
	mask = umask(0177);
	if (fd < 0 || bind(fd, &a.at[0].any, a.bytes[0]) < 0 || listen(fd, TOOLS_MAX) < 0) {
		errorf(e, "%.200s: %s", address, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	umask(mask);
	return fd;
}

void tools_accept(struct tools *tools, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred who = {.uid = (uid_t)-1};
	socklen_t bytes = sizeof(who);
	const struct tool *tool;
	unsigned n = 0;

	if (fd < 0)
		return;
	LIST_FOREACH (tool, tools, link)
		n++;
	if (n >= TOOLS_MAX || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) < 0 ||
	    (who.uid != geteuid() && who.uid != 0))
		close(fd);
	else
		tool_new(tools, fd, true);
}
