/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what is known of names; each lookup runs in a thread. */
#include "tree/link/resolver.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "tree/data/clock.h"

#define AT_ONCE	       16u  /* lookups that began within the last second */
#define THREADS_MOST   128u /* also those that take longer */
#define LONG_NS	       UINT64_C(1000000000)
#define NAMES_MOST     (2 * PLAN_PLACES) /* names that are kept */
#define NOT_FOUND_NS   UINT64_C(10000000000)
#define DOUBT_AGAIN_NS UINT64_C(5000000000)

/** What is known of one name. */
struct name_known {
	TAILQ_ENTRY(name_known) entry;	       /* the oldest first */
	TAILQ_ENTRY(name_known) looking_entry; /* while `looking` */
	char *text;
	struct address address; /* n is 0 if nothing was found, … */
	struct error why;	/* … then this says why */
	uint64_t looked_ns;	/* end of the last lookup, 0: none yet */
	uint64_t began_ns;	/* start of the present one */
	bool doubted, looking, queued;
	bool telling; /* its waiters are being told, and may ask for other names */
	LIST_HEAD(, resolver_wait) waits;
};

/** One lookup: the thread owns it until it is done. */
struct resolver_look {
	STAILQ_ENTRY(resolver_look) entry;
	struct looks *looks;
	struct name_known *known; /* not for the thread */
	char *text;
	struct address address;
	struct error why;
};

/** Shared by threads and the loop; the last one to let go frees it. */
struct looks {
	pthread_mutex_t lock;
	unsigned users;
	int done_fd; /* an eventfd: readable when there is something in: */
	STAILQ_HEAD(, resolver_look) done;
};

struct resolver {
	struct event_base *base;
	TAILQ_HEAD(, name_known) names;
	TAILQ_HEAD(names_looking, name_known) looking; /* in the order of their start */
	unsigned n_names, n_looking;
	struct looks *looks; /* NULL: no lookup yet */
	struct event *done;
	struct event *patience; /* set while names are queued: some lookups will have taken long */
};

/* ---- threads ---- */

static void look_free(struct resolver_look *look)
{
	free(look->text);
	free(look);
}

/* Call it with the lock held; it unlocks. */
static void looks_let_go(struct looks *looks)
{
	bool last = --looks->users == 0;
	struct resolver_look *look;

	pthread_mutex_unlock(&looks->lock);
	if (!last)
		return;
	while ((look = STAILQ_FIRST(&looks->done))) {
		STAILQ_REMOVE_HEAD(&looks->done, entry);
		look_free(look);
	}
	pthread_mutex_destroy(&looks->lock);
	close(looks->done_fd);
	free(looks);
}

static void look_end(struct resolver_look *look)
{
	struct looks *looks = look->looks;

	pthread_mutex_lock(&looks->lock);
	STAILQ_INSERT_TAIL(&looks->done, look, entry);
	(void)eventfd_write(looks->done_fd, 1);
	looks_let_go(looks);
}

static void *look_run(void *arg)
{
	struct resolver_look *look = arg;

	address_parse(&look->address, look->text, false, &look->why);
	look_end(look);
	return NULL;
}

/* block signals, which are for the loop */
static int look_start(struct resolver_look *look)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	int code;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&thread, &attr, look_run, look);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return code;
}

/* ---- the loop ---- */

static void known_tell(struct name_known *known)
{
	struct resolver_wait *wait;

	known->telling = true;
	while ((wait = LIST_FIRST(&known->waits))) {
		resolver_forget(wait);
		wait->found(wait->arg, &known->address, known->address.n ? NULL : &known->why);
	}
	known->telling = false;
}

static void look_take(struct resolver *r, struct resolver_look *look)
{
	struct name_known *known = look->known;

	r->n_looking--;
	TAILQ_REMOVE(&r->looking, known, looking_entry);
	known->looking = false;
	known->looked_ns = clock_mono_ns();
	/* keep the last address, which may still be right, and look it up again */
	known->doubted = look->address.n == 0;
	if (look->address.n || !known->address.n) {
		known->address = look->address;
		known->why = look->why;
	}
	look_free(look);
	known_tell(known);
}

static void known_look(struct resolver *r, struct name_known *known)
{
	struct resolver_look *look = memory_new(1, sizeof(*look));
	int code;

	*look = (struct resolver_look){
		.looks = r->looks, .known = known, .text = memory_copy(known->text)};
	known->looking = true;
	known->began_ns = clock_mono_ns();
	TAILQ_INSERT_TAIL(&r->looking, known, looking_entry);
	r->n_looking++;
	pthread_mutex_lock(&r->looks->lock);
	r->looks->users++;
	pthread_mutex_unlock(&r->looks->lock);
	code = look_start(look);
	if (code == 0)
		return;
	errorf(&look->why, "no thread to look a name up: %s", strerror(code));
	look_end(look);
}

/* May another lookup begin? Lookups that take long do not hold up others. */
static bool looks_have_room(const struct resolver *r)
{
	const struct name_known *known;
	uint64_t now = clock_mono_ns();
	unsigned n = 0;

	TAILQ_FOREACH_REVERSE(known, &r->looking, names_looking, looking_entry)
	{
		if (n == AT_ONCE || now - known->began_ns > LONG_NS)
			break;
		n++;
	}
	return n < AT_ONCE && r->n_looking < THREADS_MOST;
}

static void queue_run(struct resolver *r)
{
	static const struct timeval soon = {.tv_usec = LONG_NS / 4000};
	struct name_known *known;

	TAILQ_FOREACH (known, &r->names, entry) {
		if (!known->queued)
			continue;
		if (!looks_have_room(r)) {
			evtimer_add(r->patience, &soon);
			return;
		}
		known->queued = false;
		known_look(r, known);
	}
}

static void looks_take_long(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	queue_run(arg);
}

static void looks_done(evutil_socket_t fd, short what, void *arg)
{
	STAILQ_HEAD(, resolver_look) done = STAILQ_HEAD_INITIALIZER(done);
	struct resolver *r = arg;
	struct resolver_look *look;
	eventfd_t n;

	(void)what;
	(void)eventfd_read(fd, &n);
	pthread_mutex_lock(&r->looks->lock);
	STAILQ_CONCAT(&done, &r->looks->done);
	pthread_mutex_unlock(&r->looks->lock);
	while ((look = STAILQ_FIRST(&done))) {
		STAILQ_REMOVE_HEAD(&done, entry);
		look_take(r, look);
	}
	queue_run(r);
}

static int looks_begin(struct resolver *r, struct error *e)
{
	struct looks *looks;

	if (r->looks)
		return 0;
	looks = memory_new(1, sizeof(*looks));
	looks->users = 1;
	STAILQ_INIT(&looks->done);
	pthread_mutex_init(&looks->lock, NULL);
	looks->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (looks->done_fd < 0) {
		free(looks);
		return errorf(e, "no name can be looked up: %s", strerror(errno));
	}
	r->looks = looks;
	r->done = event_new(r->base, looks->done_fd, EV_READ | EV_PERSIST, looks_done, r);
	r->patience = evtimer_new(r->base, looks_take_long, r);
	if (!r->done || !r->patience)
		abort();
	event_add(r->done, NULL);
	return 0;
}

/* ---- names ---- */

static struct name_known *known_find(const struct resolver *r, const char *text)
{
	struct name_known *known;

	TAILQ_FOREACH (known, &r->names, entry) {
		if (strcmp(known->text, text) == 0)
			break;
	}
	return known;
}

static void known_drop(struct resolver *r, struct name_known *known)
{
	TAILQ_REMOVE(&r->names, known, entry);
	r->n_names--;
	free(known->text);
	free(known);
}

/* Drop a name that nobody waits for, if there are too many. */
static void known_make_room(struct resolver *r)
{
	struct name_known *known;

	TAILQ_FOREACH (known, &r->names, entry) {
		if (r->n_names < NAMES_MOST)
			return;
		if (!known->looking && !known->queued && !known->telling) {
			known_drop(r, known);
			return;
		}
	}
}

static struct name_known *known_get(struct resolver *r, const char *text)
{
	struct name_known *known = known_find(r, text);

	if (known)
		return known;
	known_make_room(r);
	r->n_names++;
	known = memory_new(1, sizeof(*known));
	known->text = memory_copy(text);
	LIST_INIT(&known->waits);
	TAILQ_INSERT_TAIL(&r->names, known, entry);
	return known;
}

static bool known_is_due(const struct name_known *known)
{
	uint64_t ago = clock_mono_ns() - known->looked_ns;

	if (!known->looked_ns)
		return true;
	return known->address.n ? known->doubted && ago > DOUBT_AGAIN_NS : ago > NOT_FOUND_NS;
}

int resolver_find(struct resolver *r, const char *text, struct address *address,
		  struct resolver_wait *wait, struct error *e)
{
	struct name_known *known;

	if (address_check(text, false, e) < 0)
		return -1;
	if (address_read(address, text) == 0)
		return 1;
	if (looks_begin(r, e) < 0)
		return -1;
	known = known_get(r, text);
	if (!known->looking && !known->queued && known_is_due(known)) {
		known->queued = true;
		queue_run(r);
	}
	if (known->looking || known->queued) {
		wait->waiting = true;
		LIST_INSERT_HEAD(&known->waits, wait, entry);
		return 0;
	}
	*address = known->address;
	if (address->n)
		return 1;
	errno = EHOSTUNREACH;
	return errorf(e, "%s", known->why.text);
}

void resolver_forget(struct resolver_wait *wait)
{
	if (wait->waiting)
		LIST_REMOVE(wait, entry);
	wait->waiting = false;
}

void resolver_doubt(struct resolver *r, const char *text)
{
	struct name_known *known = known_find(r, text);

	if (known)
		known->doubted = true;
}

struct resolver *resolver_new(struct event_base *base)
{
	struct resolver *r = memory_new(1, sizeof(*r));

	r->base = base;
	TAILQ_INIT(&r->names);
	TAILQ_INIT(&r->looking);
	return r;
}

void resolver_free(struct resolver *r)
{
	struct name_known *known;
	struct resolver_wait *wait;

	if (!r)
		return;
	while ((known = TAILQ_FIRST(&r->names))) {
		while ((wait = LIST_FIRST(&known->waits)))
			resolver_forget(wait);
		known_drop(r, known);
	}
	if (r->looks) {
		event_free(r->done);
		event_free(r->patience);
		pthread_mutex_lock(&r->looks->lock);
		looks_let_go(r->looks);
	}
	free(r);
}
