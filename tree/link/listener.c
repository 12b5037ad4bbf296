/* SPDX-License-Identifier: BSD-3-Clause */
/* The accepting side of links: listening sockets, and how many peers may be there without proof of
 * who they are. */
#include "tree/link/link-private.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tree/link/notify.h"

#define BACKLOG 512

/* Most connections that wait for a place, and most that are accepted in one turn of the loop. */
#define WAITING_MOST 448u
#define ACCEPT_MOST  64u

/* If one address takes this many places, peers from it get a tenth of the time: a silent crowd must
 * be through before honest peers in the queue give up. */
#define CROWD	    16u
#define CROWD_HURRY 10u

/** A connection that waits for a place. */
struct waiting {
	STAILQ_ENTRY(waiting) entry;
	int fd;
	union address_any from;
};

struct link_listener {
	struct link_hub *hub;
	link_accepted *accepted;
	void *arg;
	int fd;
	int spare; /* closed to accept, and drop, a connection when there are no descriptors */
	struct event acceptable;
	struct lobby lobby; /* those without proof */
	STAILQ_HEAD(, waiting) waiting;
	unsigned n_waiting;
	struct address address;
	struct stat file; /* of a Unix socket: to recognize our own */
};

void listener_release(struct link_listener *l, struct link *link)
{
	lobby_leave(&l->lobby, link);
	if (l->n_waiting)
		event_active(&l->acceptable, EV_READ, 0);
}

void listener_accepted(struct link_listener *l, struct link *link)
{
	lobby_know(&l->lobby, &link->origin);
	l->accepted(link, l->arg);
}

/** There are no descriptors: accept and drop a connection by the spare one, since it would wake us
 * for ever. Returns false if there was none (accept4(2) takes a descriptor first). */
static bool accept_drop(struct link_listener *l)
{
	struct error e;
	int fd;

	close(l->spare);
	fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		close(fd);
	l->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	errorf(&e, "too many open files; raise the limit: ulimit -n");
	hub_refused(l->hub, "a connection", &e);
	return true;
}

static int local_peer(struct link *link, struct error *e)
{
	struct peer *peer = &link->peer;
	struct ucred who;
	socklen_t room = sizeof(who);

	if (getsockopt(link->transport.fd, SOL_SOCKET, SO_PEERCRED, &who, &room) < 0)
		return errorf(e, "who it is cannot be found: %s", strerror(errno));
	snprintf(peer->where, sizeof(peer->where), "unix, pid %d, uid %u", (int)who.pid,
		 (unsigned)who.uid);
	snprintf(peer->name, sizeof(peer->name), "uid %u", (unsigned)who.uid);
	peer->local = true;
	peer->uid = (unsigned)who.uid;
	errno = EACCES;
	if (who.uid == geteuid() || who.uid == 0) {
		peer->roles = ROLE_AGENT | ROLE_OBSERVE | ROLE_CONTROL;
		return 0;
	}
	if (!allow_has(link->hub->allow, who.uid, who.gid, link->transport.fd))
		return errorf(e,
			      "this agent serves uid %u and root only, you are uid %u; its owner "
			      "can start it with --allow",
			      (unsigned)geteuid(), (unsigned)who.uid);
	peer->roles = ROLE_OBSERVE;
	return 0;
}

static void link_accept(struct link_listener *l, int fd, const union address_any *from)
{
	struct link *link = link_new(l->hub);
	SSL *ssl = NULL;
	struct error e;

	link->listener = l;
	link->origin = lobby_origin(from);
	link->proof_ms =
		l->hub->proof_ms / (lobby_from(&l->lobby, &link->origin) < CROWD ? 1 : CROWD_HURRY);
	lobby_enter(&l->lobby, link);
	if (!l->address.local) {
		address_format(from, link->peer.where, sizeof(link->peer.where));
		socket_tune(fd);
		ssl = tls_server(l->hub->tls, &e);
		if (!ssl) {
			close(fd);
			hub_refused(l->hub, link->peer.where, &e);
			link_bury(link);
			return;
		}
	}
	transport_init(&link->transport, fd, ssl);
	link_watch(link);
	if (l->address.local && local_peer(link, &e) < 0) {
		link->state = LINK_HELLO;
		link_refuse(link, EACCES, &e);
		return;
	}
	link_connected(link);
}

static struct waiting waiting_take(struct link_listener *l)
{
	struct waiting *first = STAILQ_FIRST(&l->waiting), taken = *first;

	STAILQ_REMOVE_HEAD(&l->waiting, entry);
	l->n_waiting--;
	free(first);
	return taken;
}

/* Drop the one that has waited longest: its peer has most likely given up. */
static void waiting_drop(struct link_listener *l)
{
	struct waiting w = waiting_take(l);
	char where[sizeof(((struct peer *)0)->where)];
	struct error e;

	close(w.fd);
	address_format(&w.from, where, sizeof(where));
	errorf(&e, "more than %u connections that have not said who they are wait", WAITING_MOST);
	hub_refused(l->hub, where, &e);
}

/* There is no place: let it wait, in the order of coming. */
static void waiting_add(struct link_listener *l, int fd, const union address_any *from)
{
	struct waiting *w = memory_new(1, sizeof(*w));

	if (l->n_waiting >= WAITING_MOST)
		waiting_drop(l);
	w->fd = fd;
	w->from = *from;
	STAILQ_INSERT_TAIL(&l->waiting, w, entry);
	l->n_waiting++;
}

static void connection_take(struct link_listener *l, int fd, const union address_any *from)
{
	struct in6_addr origin = lobby_origin(from);
	struct link *victim;
	struct error e;

	if (!lobby_place(&l->lobby, &origin, &victim)) {
		waiting_add(l, fd, from);
		return;
	}
	if (victim) {
		errorf(&e, "too many came from there or near it at once, and did not say who "
			   "they are");
		hub_refused(l->hub, victim->peer.where, &e);
		link_bury(victim);
	}
	link_accept(l, fd, from);
}

static void listener_acceptable(evutil_socket_t fd, short what, void *arg)
{
	struct link_listener *l = arg;

	(void)fd;
	(void)what;
	while (l->n_waiting && l->lobby.n < LOBBY_PLACES) {
		struct waiting w = waiting_take(l);

		link_accept(l, w.fd, &w.from);
	}
	for (unsigned i = 0; i < ACCEPT_MOST; i++) {
		union address_any from = {0};
		socklen_t bytes = sizeof(from);
		int accepted = accept4(l->fd, &from.any, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (accepted >= 0) {
			connection_take(l, accepted, &from);
		} else if (errno == EMFILE || errno == ENFILE) {
			if (!accept_drop(l))
				return;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			return;
		}
	}
}

/** Remove the socket file if a dead agent left it; fails if a live one serves it. */
static int local_clear(const struct address *a, struct error *e)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred who = {0};
	socklen_t room = sizeof(who);
	struct stat st;
	int result = -1;

	if (fd < 0)
		return errorf(e, "%s: %s", a->path, strerror(errno));
	if (lstat(a->path, &st) < 0) {
		result = errno == ENOENT ? 0 : errorf(e, "%s: %s", a->path, strerror(errno));
	} else if (!S_ISSOCK(st.st_mode)) {
		errno = EEXIST;
		errorf(e, "%s is there and no socket; remove it or choose another path", a->path);
	} else if (connect(fd, &a->at[0].any, a->bytes[0]) == 0 || errno == EAGAIN) {
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &room);
		errno = EADDRINUSE;
		errorf(e, "%s is in use by pid %d, an agent that serves this node already", a->path,
		       (int)who.pid);
	} else if (errno != ECONNREFUSED || unlink(a->path) < 0) {
		errorf(e, "%s: %s", a->path, strerror(errno));
	} else {
		result = 0;
	}
	close(fd);
	return result;
}

/** A socket file is safe only in a folder where nobody else can create one. */
static int local_folder_check(const struct address *a, struct error *e)
{
	char folder[sizeof(a->path)];
	char *slash;
	struct stat st;

	snprintf(folder, sizeof(folder), "%s", a->path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	if (stat(slash ? folder : ".", &st) < 0)
		return errorf(e, "%s: %s", slash ? folder : ".", strerror(errno));
	errno = EACCES;
	if ((st.st_uid != geteuid() && st.st_uid != 0) ||
	    ((st.st_mode & 022) && !(st.st_mode & S_ISVTX)))
		return errorf(e,
			      "%s: others may change this folder; use one of your own (mode 0700)",
			      slash ? folder : ".");
	return 0;
}

/** A socket that listens at one address; a file gets access for us alone. Returns it, or -1 with
 * errno. */
static int socket_listen(const union address_any *at, socklen_t bytes)
{
	int fd = socket(at->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int one = 1, result, saved;
	mode_t mask;

	if (fd < 0)
		return -1;
	if (at->any.sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	mask = umask(0177);
	result = bind(fd, &at->any, bytes);
	umask(mask);
	if (result == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

/* Let everybody connect: each peer is checked, and told if it is refused. */
static int listener_open(const struct link_listener *l, struct error *e)
{
	const struct address *a = &l->address;

	if (a->local && l->hub->allow && chmod(a->path, 0666) < 0)
		return errorf(e, "%s: %s", a->path, strerror(errno));
	return 0;
}

static int listener_bind(struct link_listener *l, const char *text, struct error *e)
{
	struct address *a = &l->address;

	for (size_t i = 0; i < a->n && l->fd < 0; i++)
		l->fd = notify_socket(&a->at[i]);
	if (l->fd >= 0)
		return listener_open(l, e);
	if (a->local && (local_folder_check(a, e) < 0 || local_clear(a, e) < 0))
		return -1;
	/* a host name may have addresses of a protocol that this host lacks */
	for (size_t i = 0; i < a->n && l->fd < 0; i++)
		l->fd = socket_listen(&a->at[i], a->bytes[i]);
	if (l->fd < 0 && errno == EADDRINUSE)
		return errorf(
			e, "port %u is in use (by another agent?): use --listen with another one",
			address_port(&a->at[0]));
	if (l->fd < 0)
		return errorf(e, "cannot listen at %s: %s", text, strerror(errno));
	if (a->local && lstat(a->path, &l->file) < 0)
		return errorf(e, "%s: %s", a->path, strerror(errno));
	return listener_open(l, e);
}

struct link_listener *link_listen(struct link_hub *hub, const char *address,
				  link_accepted *accepted, void *arg, struct error *e)
{
	struct link_listener *l = memory_new(1, sizeof(*l));

	*l = (struct link_listener){
		.hub = hub, .accepted = accepted, .arg = arg, .fd = -1, .spare = -1};
	lobby_init(&l->lobby);
	STAILQ_INIT(&l->waiting);
	event_assign(&l->acceptable, hub->base, -1, 0, listener_acceptable, l);
	if (address_parse(&l->address, address, true, e) < 0)
		goto fail;
	if (!l->address.local && !hub->tls) {
		errno = EACCES;
		errorf(e,
		       "to listen at %s an agent needs a certificate; make one: evspace-certs "
		       "agent",
		       address);
		goto fail;
	}
	l->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (listener_bind(l, address, e) < 0)
		goto fail;
	event_assign(&l->acceptable, hub->base, l->fd, EV_READ | EV_PERSIST, listener_acceptable,
		     l);
	event_add(&l->acceptable, NULL);
	return l;
fail:
	link_listener_free(l);
	return NULL;
}

int link_listener_renew(struct link_listener *l, struct error *e)
{
	char folder[sizeof(l->address.path)];
	int old = l->fd;
	struct stat st;

	snprintf(folder, sizeof(folder), "%s", l->address.path);
	if (!l->file.st_ino || lstat(l->address.path, &st) == 0 || errno != ENOENT ||
	    stat(dirname(folder), &st) < 0)
		return 0;
	l->fd = -1;
	if (listener_bind(l, l->address.path, e) < 0) {
		if (l->fd >= 0) {
			close(l->fd);
			unlink(l->address.path);
		}
		l->fd = old;
		return -1;
	}
	event_del(&l->acceptable);
	close(old);
	event_assign(&l->acceptable, l->hub->base, l->fd, EV_READ | EV_PERSIST, listener_acceptable,
		     l);
	event_add(&l->acceptable, NULL);
	return 1;
}

unsigned link_listener_port(const struct link_listener *l)
{
	union address_any at = {0};
	socklen_t bytes = sizeof(at);

	return getsockname(l->fd, &at.any, &bytes) < 0 ? 0 : address_port(&at);
}

void link_listener_free(struct link_listener *l)
{
	struct link *link, *next;
	int saved = errno;
	struct stat st;

	if (!l)
		return;
	if (l->file.st_ino && lstat(l->address.path, &st) == 0 && st.st_ino == l->file.st_ino &&
	    st.st_dev == l->file.st_dev)
		unlink(l->address.path);
	for (link = LIST_FIRST(&l->hub->links); link; link = next) {
		next = LIST_NEXT(link, entry);
		if (link->listener == l)
			link_bury(link);
	}
	while (l->n_waiting)
		close(waiting_take(l).fd);
	event_del(&l->acceptable);
	if (l->fd >= 0)
		close(l->fd);
	if (l->spare >= 0)
		close(l->spare);
	free(l);
	errno = saved;
}
