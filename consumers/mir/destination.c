/* SPDX-License-Identifier: BSD-3-Clause */
/* Destinations: what waits for them, and those that are files and sockets. */
#include "consumers/mir/destination-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "node-agent/pastset/evspace-element.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"
#include "tree/link/address.h"

/* When to try one again that takes nothing. */
#define AGAIN_S 1

/* Most bytes of a file. */
#define FILE_MOST ((off_t)1 << 30)

/* ---- what waits ---- */

/* Connect to a socket, through its folder. Returns 0, or -1 with errno. */
static int socket_connect(struct destination *d)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int there = destination_open(d->all->folder, d->path, O_PATH | O_NOFOLLOW, 0), rc = -1,
	    saved;
	struct stat st;

	if (there < 0)
		return -1;
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d", there);
	d->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	errno = ENOTSOCK;
	if (d->fd >= 0 && fstat(there, &st) == 0 && S_ISSOCK(st.st_mode))
		rc = connect(d->fd, (struct sockaddr *)(void *)&at, sizeof(at));
	saved = errno;
	close(there);
	if (rc < 0 && d->fd >= 0) {
		close(d->fd);
		d->fd = -1;
	}
	errno = saved;
	return rc;
}

void destination_next(struct destination *d, bool dropped)
{
	struct destination_text *t = STAILQ_FIRST(&d->texts);

	STAILQ_REMOVE_HEAD(&d->texts, link);
	d->waiting -= t->n;
	d->sent = 0;
	d->dropped += dropped ? t->count : 0;
	free(t);
	if (dropped || !d->told)
		return;
	fprintf(stderr, "evspace mir: %s takes what comes again; %llu are dropped so far\n", d->uri,
		(unsigned long long)d->dropped);
	d->told = false;
}

void destination_rest(struct destination *d, const char *why)
{
	const struct timeval after = {.tv_sec = AGAIN_S};

	if (!d->told)
		fprintf(stderr, "evspace mir: %s: %s; what comes waits, up to %zu KiB\n", d->uri,
			why, DESTINATION_WAITING >> 10);
	d->told = true;
	event_add(d->again, &after);
}

static void on_event(evutil_socket_t fd, short what, void *arg);

static void writable_wait(struct destination *d)
{
	if (!d->writable)
		d->writable = event_new(d->all->base, d->fd, EV_WRITE, on_event, d);
	if (!d->writable || event_add(d->writable, NULL) < 0)
		abort();
}

/* Whoever was there is gone; who comes next gets all of what waits. */
static void socket_close(struct destination *d)
{
	if (d->writable)
		event_free(d->writable);
	d->writable = NULL;
	close(d->fd);
	d->fd = -1;
	d->sent = 0;
}

/* Has it all that it may have? Who empties it has more. */
static bool file_is_full(const struct destination *d)
{
	struct stat st;

	return !d->socket && fstat(d->fd, &st) == 0 && st.st_size >= FILE_MOST;
}

/* Write what can be written. */
static void stream_run(struct destination *d)
{
	struct destination_text *t;

	if (d->fd < 0 && socket_connect(d) < 0) {
		destination_rest(d, strerror(errno));
		return;
	}
	while ((t = STAILQ_FIRST(&d->texts))) {
		ssize_t n;

		if (d->sent == 0 && file_is_full(d)) {
			destination_rest(d, "it has 1 GiB, which is the most");
			return;
		}
		n = d->socket ? send(d->fd, t->text + d->sent, t->n - d->sent, MSG_NOSIGNAL)
			      : write(d->fd, t->text + d->sent, t->n - d->sent);
		if (n < 0 && errno == EAGAIN) {
			writable_wait(d);
			return;
		}
		if (n < 0 && errno != EINTR) {
			int why = errno;

			if (d->socket)
				socket_close(d);
			destination_rest(d, strerror(why));
			return;
		}
		d->sent += n > 0 ? (size_t)n : 0;
		if (d->sent == t->n)
			destination_next(d, false);
	}
}

static void destination_run(struct destination *d)
{
	if (STAILQ_EMPTY(&d->texts))
		return;
	if (!d->socket && d->fd < 0)
		destination_post(d);
	else
		stream_run(d);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	destination_run(arg);
}

void destination_say(struct destination *d, const char *text, size_t n, unsigned count)
{
	bool idle = STAILQ_EMPTY(&d->texts);
	struct destination_text *t;

	if (!idle && d->waiting + n > DESTINATION_WAITING) {
		d->dropped += count;
		return;
	}
	t = memory_new(1, sizeof(*t) + n);
	t->n = n;
	t->count = count;
	memcpy(t->text, text, n);
	STAILQ_INSERT_TAIL(&d->texts, t, link);
	d->waiting += n;
	/* else it is waited for already */
	if (idle)
		destination_run(d);
}

bool destinations_wait(const struct destinations *all)
{
	const struct destination *d;

	LIST_FOREACH (d, &all->list, link)
		if (!STAILQ_EMPTY(&d->texts) && !d->told)
			return true;
	return false;
}

uint64_t destination_dropped(const struct destination *d)
{
	return d->dropped;
}

/* ---- which ---- */

static bool file_find(struct destination *d, const struct mir_place *place, struct mir_request *r)
{
	bool archived;

	d->path = destination_below(d->all->folder, d->uri);
	archived = d->path && destination_is_archived(d);
	if (d->path && !archived)
		d->fd = destination_open(d->all->folder, d->path,
					 O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0600);
	if (!d->path)
		request_complain(
			r, place,
			"%.200s is not below the folder of --deliver; write file://%.200s/NAME",
			d->uri, d->all->folder);
	else if (archived)
		request_complain(r, place, "%.200s is in an archive; take another folder", d->uri);
	else if (d->fd < 0)
		request_complain(r, place, "%.200s: %s", d->uri, strerror(errno));
	return d->fd >= 0;
}

/* That nobody is there yet is no fault. */
static bool socket_find(struct destination *d, const struct mir_place *place, struct mir_request *r)
{
	d->socket = true;
	d->path = destination_path(d->all->folder, d->uri + strlen("unix:"));
	if (!d->path)
		request_complain(
			r, place,
			"%.200s is not below the folder of --deliver; write unix:%.200s/NAME",
			d->uri, d->all->folder);
	return d->path != NULL;
}

/* Most archives at once: each has a program that writes it, with one of the four views that all of
 * this user's consumers have of their own, and probes need some. */
#define ARCHIVES_MOST 2u

static bool archive_find(struct destination *d, const struct mir_place *place,
			 struct mir_request *r)
{
	const struct destination *other;
	unsigned n = 0;
	int folder;

	d->path = destination_path(d->all->folder, d->uri + strlen("archive:"));
	if (!d->path) {
		request_complain(r, place,
				 "%.200s is not below the folder of --deliver; write "
				 "archive:%.200s/NAME",
				 d->uri, d->all->folder);
		return false;
	}
	/* it is one of them by now */
	LIST_FOREACH (other, &d->all->list, link)
		n += destination_is_archive(other->uri);
	if (n > ARCHIVES_MOST) {
		request_complain(r, place, "there are %u archives already; take one of these",
				 ARCHIVES_MOST);
		return false;
	}
	if (destination_has_others(d)) {
		request_complain(r, place,
				 "%.200s: files there are destinations; take another name", d->uri);
		return false;
	}
	folder = destination_archive(d);
	if (folder < 0)
		request_complain(r, place, "%.200s: %s", d->uri, strerror(errno));
	else
		close(folder);
	return folder >= 0;
}

static bool host_find(struct destination *d, const struct mir_place *place, struct mir_request *r)
{
	const char *at = d->uri + strlen("https://");
	size_t n = d->all->host ? strlen(d->all->host) : 0;

	if (!d->all->host)
		request_complain(r, place,
				 "nothing is posted to other hosts; who started evspace mir says "
				 "--post HOST:PORT, the one that it may be");
	else if (strncmp(at, d->all->host, n) != 0 || (at[n] && at[n] != '/') ||
		 strpbrk(at, " \t\r\n"))
		request_complain(r, place,
				 "%.200s is not at the host of --post; write https://%.200s/NAME",
				 d->uri, d->all->host);
	else
		d->path = at[n] ? at + n : "/";
	return d->path != NULL;
}

static bool destination_find(struct destination *d, const struct mir_place *place,
			     struct mir_request *r)
{
	if (strncmp(d->uri, "https://", strlen("https://")) == 0)
		return host_find(d, place, r);
	if (destination_is_element(d->uri))
		return destination_element_find(d, place, r);
	if (!d->all->folder) {
		request_complain(r, place,
				 "no destinations; who started evspace mir says --deliver DIR, or "
				 "--post HOST:PORT");
		return false;
	}
	if (strncmp(d->uri, "unix:", strlen("unix:")) == 0)
		return socket_find(d, place, r);
	if (destination_is_archive(d->uri))
		return archive_find(d, place, r);
	return file_find(d, place, r);
}

static struct destination_share share_of(const struct destinations *all,
					 const struct probe_owner *owner)
{
	struct destination_share share = {all->n, 0};
	const struct destination *d;

	LIST_FOREACH (d, &all->list, link)
		share.own += d->owner == owner;
	return share;
}

static struct destination *destination_new(struct destinations *all, const char *uri,
					   const struct probe_owner *owner)
{
	struct destination *d = memory_new(1, sizeof(*d));

	all->n++;
	*d = (struct destination){.all = all, .fd = -1, .uri = memory_copy(uri), .owner = owner};
	STAILQ_INIT(&d->texts);
	LIST_INSERT_HEAD(&all->list, d, link);
	d->again = evtimer_new(all->base, on_event, d);
	if (!d->again)
		abort();
	return d;
}

struct destination *destination_join(struct destinations *all, const char *uri,
				     const struct probe_owner *owner, const struct mir_place *place,
				     struct mir_request *request)
{
	struct destination_share share;
	struct destination *d;

	/* it is told in lines of the log */
	if (utf8_has_controls(uri)) {
		request_complain(request, place,
				 "the destination has control characters; leave them out");
		return NULL;
	}
	LIST_FOREACH (d, &all->list, link)
		if (strcmp(d->uri, uri) == 0)
			break;
	if (d) {
		d->users++;
		return d;
	}
	share = share_of(all, owner);
	if (destination_share_is_full(&share, DESTINATIONS_MAX)) {
		request_complain(request, place,
				 "there are %u destinations, and %u of them are yours: no tool has "
				 "more than what it leaves for others; take one of these",
				 share.n, share.own);
		return NULL;
	}
	d = destination_new(all, uri, owner);
	d->users = 1;
	if (destination_find(d, place, request))
		return d;
	destination_leave(d);
	return NULL;
}

void destination_leave(struct destination *d)
{
	if (!d || --d->users > 0)
		return;
	destination_post_end(d);
	d->dropped = 0;
	while (!STAILQ_EMPTY(&d->texts))
		destination_next(d, true);
	if (d->dropped > 0)
		fprintf(stderr, "evspace mir: %s: %llu that waited are dropped\n", d->uri,
			(unsigned long long)d->dropped);
	event_free(d->again);
	if (d->writable)
		event_free(d->writable);
	if (d->fd >= 0)
		close(d->fd);
	evspace_element_close(d->element);
	LIST_REMOVE(d, link);
	d->all->n--;
	free(d->uri);
	free(d);
}

void destinations_forget(struct destinations *all, const struct probe_owner *owner)
{
	struct destination *d;

	LIST_FOREACH (d, &all->list, link)
		d->owner = d->owner == owner ? NULL : d->owner;
}
