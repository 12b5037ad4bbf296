/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs ssh for each target in one loop, talks to deploy/host there, and notes the result. */
#include "consumers/deploy/deploy.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "consumers/cli/subprocess.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"
#include "tree/data/clock.h"

/* ---- why a host could not be reached, and what to do ---- */

/* Messages of ssh, in the order in which they are searched, and what to do. */
static const struct {
	const char *said;
	const char *advice;
} advices[] = {
	{"HOST IDENTIFICATION HAS CHANGED",
	 "wrong host key: it is not the one that your known_hosts has. If the host was installed "
	 "anew, forget the old one (ssh-keygen -R HOST); else somebody may stand in between"},
	{"Host key verification failed",
	 "its host key is not known: log in once by hand (ssh HOST) and compare it"},
	{"Permission denied", "it does not let us in: is your key there (ssh-copy-id HOST) and in "
			      "your agent (ssh-add)?"},
	{"Could not resolve hostname",
	 "no such host; say in cluster.map which it is: deploy ssh { host NAME; }"},
	{"timed out", "nobody answers there"},
	{"No route to host", "there is no way to it"},
	{"Connection refused", "no sshd listens there; another port: deploy ssh { port N; }"},
	{"eval: not found", "it has no usable /bin/sh"},
	{"head: not found", "it has no head(1); install coreutils there"},
	{"sha256sum: not found", "it has no sha256sum(1); install coreutils there"},
};

/* The reason in @said, which ssh or the host's shell has written on stderr; @otherwise if it has
 * none. For the caller to free(). */
static char *said_words(const struct target *post, const char *said, const char *otherwise)
{
	char *copy = memory_copy(said), *line = subprocess_last_line(copy), *text = NULL;

	for (size_t i = 0; !text && i < sizeof(advices) / sizeof(advices[0]); i++)
		if (strstr(said, advices[i].said))
			text = memory_format("%s (ssh to %s: %s)", advices[i].advice, post->host,
					     line);
	if (!text && line)
		text = memory_format("%s: %s", otherwise, line);
	free(copy);
	return text ? text : memory_copy(otherwise);
}

/* ---- dialogues ---- */

/* Most time between two lines of a host, which waits 30 s for agents, and 15 s for their end. */
#define PATIENCE_S 60

/* Most time for a login, after ssh has connected, for which it has its own timeout. */
#define LOGIN_S 15

/* Most bytes of ssh's stderr, and of a line from a host. */
#define WORDS_MOST 4096

struct parallel;

/* A target under way. */
struct talk {
	struct parallel *dispatch;
	struct target *post;
	struct bufferevent *io, *errors;
	struct event *limit;
	pid_t pid;
	bool greeted; /* deploy/host has begun: earlier lines are from the login */
	uint64_t begun_ns;
	const struct bundle_file **needed;
	size_t n_needed;
	char said[WORDS_MOST]; /* by ssh */
	size_t n_said;
};

struct parallel {
	struct targets *posts;
	const struct parallel_way *way;
	struct event_base *base;
	struct event *signals[2];
	struct talk *talks; /* one for each target */
	size_t next, under_way;
	bool stopped;
};

static void parallel_more(struct parallel *d);

/* ---- end ---- */

static void talk_end(struct talk *t, enum target_result result, const char *text)
{
	struct parallel *d = t->dispatch;
	struct target *post = t->post;

	post->result = result;
	post->text = memory_copy(text);
	utf8_clean(post->text);
	post->seconds = (double)(clock_mono_ns() - t->begun_ns) / 1e9;
	if (t->io)
		bufferevent_free(t->io);
	if (t->errors)
		bufferevent_free(t->errors);
	if (t->limit)
		event_free(t->limit);
	free(t->needed);
	if (t->pid > 0) {
		/* the ssh that leads through the gateway is in its group */
		kill(-t->pid, SIGTERM);
		while (waitpid(t->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	*t = (struct talk){.dispatch = d, .post = post};
	d->under_way--;
	d->way->done(d->way->arg, post);
	parallel_more(d);
}

/* It did not report its end: ssh's message says why. */
static void talk_broken(struct talk *t, const char *otherwise)
{
	char *text = said_words(t->post, t->said, otherwise);

	talk_end(t, TARGET_FAILED, text);
	free(text);
}

static void talk_patience(struct talk *t, unsigned seconds)
{
	struct timeval tv = {.tv_sec = (time_t)seconds};

	event_add(t->limit, &tv);
}

static void talk_limit(evutil_socket_t fd, short what, void *arg)
{
	struct talk *t = arg;
	char text[100];

	(void)fd;
	(void)what;
	snprintf(text, sizeof(text), "no answer within %u s",
		 t->greeted ? PATIENCE_S : t->dispatch->way->timeout_s + LOGIN_S);
	talk_broken(t, text);
}

/* ---- lines from the host ---- */

static const struct bundle_file *talk_file(const struct talk *t, const char *name)
{
	const struct bundle *all[TARGET_PARCELS];
	const struct bundle_file *file = NULL;

	target_parcels(t->post, all);
	for (size_t i = 0; !file && i < TARGET_PARCELS; i++)
		file = all[i] ? bundle_find(all[i], name) : NULL;
	return file;
}

static void talk_need(struct talk *t, const char *name)
{
	const struct bundle_file *file = talk_file(t, name);

	if (!file)
		return;
	t->needed = memory_room(t->needed, t->n_needed, sizeof(*t->needed));
	t->needed[t->n_needed++] = file;
}

/* On a slow connection, bytes that leave count as a sign of life. */
static void talk_sent(struct evbuffer *out, const struct evbuffer_cb_info *info, void *arg)
{
	(void)out;
	if (info->n_deleted > 0)
		talk_patience(arg, PATIENCE_S);
}

static void talk_send(struct talk *t)
{
	evbuffer_add_cb(bufferevent_get_output(t->io), talk_sent, t);
	for (size_t i = 0; i < t->n_needed; i++) {
		evbuffer_add_reference(bufferevent_get_output(t->io), t->needed[i]->bytes,
				       t->needed[i]->size, NULL, NULL);
		t->post->bytes += t->needed[i]->size;
	}
}

/* Returns false when the dialogue has ended. */
static bool talk_line(struct talk *t, char *line)
{
	static const struct {
		const char *word;
		enum target_result result;
	} results[] = {{"up", TARGET_UP},
		       {"same", TARGET_SAME},
		       {"down", TARGET_DOWN},
		       {"absent", TARGET_ABSENT},
		       {"fail", TARGET_FAILED}};
	char *rest = line;
	const char *word;

	if (!t->greeted) {
		t->greeted = strcmp(line, "evspace-host 1") == 0;
		return true;
	}
	word = strsep(&rest, " ");
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		if (strcmp(word, results[i].word) == 0) {
			talk_end(t, results[i].result, rest ? rest : "");
			return false;
		}
	}
	if (strcmp(word, "need") == 0 && rest)
		talk_need(t, rest);
	else if (strcmp(word, "ready") == 0)
		talk_send(t);
	return true;
}

static void talk_read(struct bufferevent *io, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(io);
	struct talk *t = arg;
	bool goes_on = true;
	char *line;

	talk_patience(t, PATIENCE_S);
	while (goes_on && (line = evbuffer_readln(in, NULL, EVBUFFER_EOL_LF)) != NULL) {
		goes_on = talk_line(t, line);
		free(line);
	}
	if (goes_on && evbuffer_get_length(in) > WORDS_MOST)
		talk_end(t, TARGET_FAILED, "its answer cannot be understood");
}

static void talk_event(struct bufferevent *io, short what, void *arg)
{
	/* the peer may say why it reads no more */
	if (what & BEV_EVENT_WRITING)
		bufferevent_disable(io, EV_WRITE);
	else if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		talk_broken(arg, "the connection broke");
}

static void talk_errors(struct bufferevent *errors, void *arg)
{
	struct talk *t = arg;
	struct evbuffer *in = bufferevent_get_input(errors);
	int n = evbuffer_remove(in, t->said + t->n_said, sizeof(t->said) - 1 - t->n_said);

	t->n_said += n > 0 ? (size_t)n : 0;
	evbuffer_drain(in, evbuffer_get_length(in));
}

/* ---- start ---- */

static struct bufferevent *talk_stream(struct talk *t, int fd, bufferevent_data_cb read,
				       bufferevent_event_cb event)
{
	struct bufferevent *stream;

	evutil_make_socket_nonblocking(fd);
	stream = bufferevent_socket_new(t->dispatch->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!stream)
		abort();
	bufferevent_setcb(stream, read, NULL, event, t);
	bufferevent_enable(stream, EV_READ | EV_WRITE);
	return stream;
}

static void talk_begin(struct talk *t)
{
	struct subprocess_way way;
	int io[2], errors[2], rc;
	char text[160];

	t->begun_ns = clock_mono_ns();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, io) < 0) {
		talk_end(t, TARGET_FAILED, strerror(errno));
		return;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, errors) < 0) {
		close(io[0]);
		close(io[1]);
		talk_end(t, TARGET_FAILED, strerror(errno));
		return;
	}
	/* in a session of its own, so that ssh does not ask on the terminal, and ends with its
	 * helpers */
	way = (struct subprocess_way){.fds = {io[1], io[1], errors[1]}, .session = true};
	rc = subprocess_start(t->post->argv, &way, &t->pid) < 0 ? errno : 0;
	t->pid = rc ? 0 : t->pid;
	close(io[1]);
	close(errors[1]);
	t->io = talk_stream(t, io[0], talk_read, talk_event);
	t->errors = talk_stream(t, errors[0], talk_errors, NULL);
	t->limit = evtimer_new(t->dispatch->base, talk_limit, t);
	if (rc != 0 || !t->limit) {
		snprintf(text, sizeof(text), "cannot start %s: %s%s", t->post->argv[0],
			 strerror(rc), rc == ENOENT ? "; install openssh-client" : "");
		talk_end(t, TARGET_FAILED, text);
		return;
	}
	talk_patience(t, t->dispatch->way->timeout_s + LOGIN_S);
	bufferevent_write(t->io, t->post->header, strlen(t->post->header));
}

/* ---- all targets ---- */

static void parallel_more(struct parallel *d)
{
	while (!d->stopped && d->next < d->posts->n && d->under_way < d->way->at_once) {
		d->under_way++;
		talk_begin(&d->talks[d->next++]);
	}
	if (d->under_way == 0 && (d->stopped || d->next == d->posts->n))
		event_base_loopbreak(d->base);
}

static void parallel_signal(evutil_socket_t number, short what, void *arg)
{
	struct parallel *d = arg;

	(void)number;
	(void)what;
	d->stopped = true;
	for (size_t i = 0; i < d->next; i++)
		if (d->talks[i].io)
			talk_end(&d->talks[i], TARGET_FAILED, "broken off");
}

static void parallel_init(struct parallel *d, struct targets *posts, const struct parallel_way *way)
{
	static const int numbers[] = {SIGINT, SIGTERM};

	*d = (struct parallel){.posts = posts, .way = way, .base = event_base_new()};
	d->talks = memory_new(posts->n, sizeof(*d->talks));
	for (size_t i = 0; i < posts->n; i++)
		d->talks[i] = (struct talk){.dispatch = d, .post = &posts->posts[i]};
	for (size_t i = 0; i < 2; i++) {
		d->signals[i] =
			d->base ? evsignal_new(d->base, numbers[i], parallel_signal, d) : NULL;
		if (!d->signals[i] || evsignal_add(d->signals[i], NULL) < 0)
			abort();
	}
	signal(SIGPIPE, SIG_IGN);
}

int parallel_run(struct targets *posts, const struct parallel_way *way)
{
	struct parallel d;

	parallel_init(&d, posts, way);
	parallel_more(&d);
	if (d.under_way > 0)
		event_base_dispatch(d.base);
	for (size_t i = 0; i < 2; i++)
		event_free(d.signals[i]);
	event_base_free(d.base);
	free(d.talks);
	return d.stopped ? -1 : 0;
}
