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

static void tool_flush(struct tool *tool)
{
	ssize_t n = tool->n_unread > 0 ? send(tool->fd, tool->unread + tool->read, tool->n_unread,
					      MSG_NOSIGNAL | MSG_DONTWAIT)
				       : 0;

	if (n < 0 && errno != EINTR && errno != EAGAIN) {
		tool->gone = tool->ended = true;
		tool->n_unread = 0;
	}
	if (n > 0) {
		tool->n_unread -= (size_t)n;
		tool->read = tool->n_unread > 0 ? tool->read + (size_t)n : 0;
	}
	if (tool->n_unread > 0)
		event_add(tool->writable, NULL);
}

static void tool_say(struct tool *tool, const char *text, size_t n)
{
	if (!tool->socket) {
		fwrite(text, 1, n, stdout);
		fflush(stdout);
		return;
	}
	if (tool->read + tool->n_unread + n > tool->room) {
		char *more = memory_new(2 * (tool->n_unread + n), 1);

		if (tool->n_unread > 0)
			memcpy(more, tool->unread + tool->read, tool->n_unread);
		free(tool->unread);
		tool->unread = more;
		tool->read = 0;
		tool->room = 2 * (tool->n_unread + n);
	}
	memcpy(tool->unread + tool->read + tool->n_unread, text, n);
	tool->n_unread += n;
	tool_flush(tool);
}

static void on_deliver(struct probe_owner *owner, const char *text, size_t n)
{
	struct tool *tool = (struct tool *)(void *)owner;

	/* who does not read what it has asked for misses some of it */
	if (tool->n_unread < TOOL_UNREAD)
		tool_say(tool, text, n);
}

void tool_answer(void *arg, const char *text, size_t n, bool wrong)
{
	struct tool *tool = arg;

	tool->errand = NULL;
	tool->wrong |= wrong;
	tool_say(tool, text, n);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	static char bytes[CHUNK];
	struct tool *tool = arg;
	ssize_t n = read(fd, bytes, sizeof(bytes));

	(void)what;
	if (n > 0)
		framing_add(&tool->framing, bytes, (size_t)n);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0 && !tool->socket)
		fprintf(stderr, "evspace mir: cannot read: %s\n", strerror(errno));
	tool->ended |= n <= 0;
	tool->gone |= n < 0;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	tool_flush(arg);
}

struct tool *tool_new(struct tools *tools, int fd, bool socket)
{
	struct tool *tool = memory_new(1, sizeof(*tool));

	tool->owner.deliver = on_deliver;
	tool->fd = fd;
	tool->socket = socket;
	tool->readable = event_new(tools->base, fd, EV_READ, on_readable, tool);
	tool->writable = event_new(tools->base, fd, EV_WRITE, on_writable, tool);
	if (!tool->readable || !tool->writable)
		abort();
	LIST_INSERT_HEAD(&tools->list, tool, link);
	return tool;
}

bool tool_next(struct tool *tool, struct framed *framed)
{
	if (tool->gone || tool->errand || tool->n_unread >= TOOL_UNREAD)
		return false;
	if (framing_next(&tool->framing, tool->ended, framed))
		return true;
	if (!tool->ended)
		event_add(tool->readable, NULL);
	return false;
}

bool tool_has_left(const struct tool *tool)
{
	struct pollfd at = {.fd = tool->fd};

	return tool->socket && tool->errand && poll(&at, 1, 0) > 0 &&
	       (at.revents & (POLLHUP | POLLERR));
}

void tool_free(struct tool *tool)
{
	LIST_REMOVE(tool, link);
	errand_drop(tool->errand);
	event_free(tool->readable);
	event_free(tool->writable);
	framing_fini(&tool->framing);
	if (tool->fd != STDIN_FILENO)
		close(tool->fd);
	free(tool->unread);
	free(tool);
}

/* ---- all of them ---- */

static int listen_at(const union address_any *at, socklen_t bytes)
{
	int fd = socket(at->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
	mode_t mask;

	if (fd < 0)
		return -1;
	if (at->any.sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	mask = umask(0177);
	if (bind(fd, &at->any, bytes) < 0 || listen(fd, TOOLS_MAX) < 0) {
		close(fd);
		fd = -1;
	}
	umask(mask);
	return fd;
}

int tools_listen(struct tools *tools, const char *address, struct error *e)
{
	struct address a;
	struct stat left;
	int fd = -1;

	descriptors_raise();
	if (address_parse(&a, address, true, e) < 0)
		return -1;
	if (a.local && address_is_served(a.path))
		return errorf(e, "%.200s: somebody listens there already", address);
	/* what a dead one has left; nothing else is removed */
	if (a.local && lstat(a.path, &left) == 0 && S_ISSOCK(left.st_mode))
		unlink(a.path);
	for (size_t i = 0; i < a.n && fd < 0; i++)
		fd = listen_at(&a.at[i], a.bytes[i]);
	if (fd >= 0 && a.local)
		(void)lstat(a.path, &tools->file);
	return fd < 0 ? errorf(e, "%.200s: %s", address, strerror(errno)) : fd;
}

void tools_unlisten(const struct tools *tools, const char *address)
{
	const char *path = address + strlen("unix:");
	struct stat now;

	if (tools->file.st_ino && lstat(path, &now) == 0 && now.st_ino == tools->file.st_ino &&
	    now.st_dev == tools->file.st_dev)
		unlink(path);
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
	LIST_FOREACH (tool, &tools->list, link)
		n++;
	if (n >= TOOLS_MAX || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) < 0 ||
	    (who.uid != geteuid() && who.uid != 0))
		close(fd);
	else
		tool_new(tools, fd, true);
}
