/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent and a consumer on one loop, and raw connections to them. */
#include "tests/peers.h"
#include "tree/link/link-hub.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tree/data/tuple.h"

#define WAIT_S 120

static char folder[64], certs[96], other_certs[96];

static int command(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int command(const char *format, ...)
{
	char line[512];
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	status = system(line);
	if (status != 0)
		tap_note("failed: %s", line);
	return status;
}

static int certs_make(const char *dir)
{
	const char *top = getenv("top_srcdir");

	top = top ? top : ".";
	return command("%s/deploy/certs init %s >/dev/null", top, dir) ||
	       command("%s/deploy/certs agent %s w0 w1 >/dev/null", top, dir) ||
	       command("%s/deploy/certs control %s bob >/dev/null", top, dir) ||
	       command("%s/deploy/certs observe %s alice >/dev/null", top, dir);
}

int peers_init(void)
{
	snprintf(folder, sizeof(folder), "%s/evspace-peers.XXXXXX",
		 getenv("TMPDIR") && strlen(getenv("TMPDIR")) < 30 ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	snprintf(certs, sizeof(certs), "%s/certs", folder);
	snprintf(other_certs, sizeof(other_certs), "%s/other", folder);
	if (certs_make(certs) == 0 && certs_make(other_certs) == 0)
		return 0;
	peers_fini();
	return -1;
}

int peers_fini(void)
{
	return command("rm -rf %s", folder);
}

const char *peers_certs(void)
{
	return certs;
}

const char *peers_other_certs(void)
{
	return other_certs;
}

const char *peers_path(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

int descriptors_count(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void watch_ready(struct link *link, void *arg)
{
	struct watch *watch = arg;

	watch->link = link;
	watch->ready++;
}

static void watch_frame(struct link *link, void *arg, const struct frame *frame)
{
	struct watch *watch = arg;

	watch->frames++;
	watch->body_bytes += frame->bytes;
	if (watch->on_frame)
		watch->on_frame(watch, link, frame);
}

static void watch_closed(struct link *link, void *arg, const struct error *why)
{
	struct watch *watch = arg;

	(void)link;
	watch->closed++;
	watch->why = *why;
}

const struct link_events watch_events = {watch_ready, watch_frame, watch_closed};

static void world_accepted(struct link *link, void *arg)
{
	struct world *w = arg;

	link_events_set(link, w->events, &w->served);
}

static void world_log(void *arg, const char *text)
{
	struct world *w = arg;

	w->log_lines++;
	snprintf(w->log, sizeof(w->log), "%s", text);
}

static struct link_listener *world_listen(struct world *w, const char *address)
{
	struct error e = {""};
	struct link_listener *l = link_listen(w->agent, address, world_accepted, w, &e);

	if (!l)
		tap_note("%s", e.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	return l;
}

void world_open(struct world *w)
{
	static const struct link_self agent = {"w0", 1000}, consumer = {"", 0};
	struct error e = {""};

	memset(w, 0, sizeof(*w));
	w->events = &watch_events;
	w->descriptors = descriptors_count();
	w->base = event_base_new();
	w->agent_tls = tls_new(certs, "w0", &e);
	w->consumer_tls = tls_new(certs, "alice", &e);
	if (!w->agent_tls || !w->consumer_tls)
		tap_note("%s", e.text);
	CU_ASSERT_FATAL(w->base && w->agent_tls && w->consumer_tls);
	w->agent = link_hub_new(w->base, w->agent_tls, &agent);
	w->consumer = link_hub_new(w->base, w->consumer_tls, &consumer);
	link_hub_log_set(w->agent, world_log, w);
	snprintf(w->local_address, sizeof(w->local_address), "unix:%s", peers_path("socket"));
	w->tcp = world_listen(w, "127.0.0.1:0");
	w->local = world_listen(w, w->local_address);
	w->port = link_listener_port(w->tcp);
	snprintf(w->tcp_address, sizeof(w->tcp_address), "127.0.0.1:%u", w->port);
}

void world_close(struct world *w)
{
	link_listener_free(w->tcp);
	link_listener_free(w->local);
	link_hub_free(w->agent);
	link_hub_free(w->consumer);
	tls_free(w->agent_tls);
	tls_free(w->consumer_tls);
	event_base_free(w->base);
	CU_ASSERT_EQUAL(descriptors_count(), w->descriptors);
}

struct link *world_dial(struct world *w, bool local, struct watch *watch)
{
	struct error e = {""};
	struct link *link = link_dial(w->consumer, local ? w->local_address : w->tcp_address, "w0",
				      &watch_events, watch, &e);

	if (!link)
		tap_note("%s", e.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(link);
	return link;
}

static bool late;

static void deadline(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	late = true;
}

void world_wait_begin(struct world *w)
{
	(void)w;
	late = false;
}

bool world_wait(struct world *w)
{
	static const struct timeval most = {WAIT_S, 0};
	struct event *timer = evtimer_new(w->base, deadline, NULL);

	event_add(timer, &most);
	event_base_loop(w->base, EVLOOP_ONCE);
	event_free(timer);
	return !late;
}

pid_t peer_spawn(void (*run)(void *arg), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid)
		return pid;
	alarm(WAIT_S);
	signal(SIGPIPE, SIG_IGN);
	run(arg);
	_exit(0);
}

static bool peer_ended(pid_t pid)
{
	static const struct timespec pause = {0, 1000000};

	if (waitpid(pid, NULL, WNOHANG) == pid)
		return true;
	nanosleep(&pause, NULL);
	return false;
}

void peer_wait(struct world *w, pid_t pid)
{
	while (!peer_ended(pid))
		event_base_loop(w->base, EVLOOP_NONBLOCK);
}

int raw_tcp(unsigned port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

int raw_local(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

size_t raw_hello(unsigned char *data, size_t room, unsigned version, unsigned oldest,
		 unsigned layout)
{
	Evspace__Hello hello = EVSPACE__HELLO__INIT;
	const Evspace__Frame frame = WIRE_FRAME(HELLO, hello, &hello);
	struct wire_front front = {0, 0};

	hello.version = version;
	hello.oldest = oldest;
	hello.tuple_layout = layout;
	hello.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	front.header_bytes = (uint32_t)evspace__frame__get_packed_size(&frame);
	CU_ASSERT_FATAL(wire_frame_bytes(&front) <= room);
	wire_frame_put(&front, &frame, data);
	return wire_frame_bytes(&front);
}

int send_ask(struct link *link, uint64_t wave)
{
	Evspace__Ask ask = EVSPACE__ASK__INIT;

	ask.wave = wave;
	return link_send(link, &WIRE_FRAME(ASK, ask, &ask), NULL);
}

int send_answer(struct link *link, unsigned runs, uint32_t tuples, int fill)
{
	Evspace__Answer answer = EVSPACE__ANSWER__INIT;
	struct batch body;
	int result;

	batch_init(&body);
	memset(batch_add(&body, RUN_PART, 0, 1, 1, 0), 0, sizeof(struct part));
	for (unsigned i = 0; i < runs; i++)
		memset(batch_add(&body, RUN_TUPLES, i, 1, tuples, 0), fill,
		       tuples * sizeof(struct tuple));
	result = link_send(link, &WIRE_FRAME(ANSWER, answer, &answer), &body);
	batch_fini(&body);
	return result;
}
