/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests listening: sockets that are taken, crowds, peers that say nothing, or something else. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/peers.h"
#include "tree/link/link-hub.h"
#include "tree/data/clock.h"
#include "tree/data/tuple.h"

/** Listening fails with this text. */
static void listen_fails(struct world *w, const char *address, const char *text)
{
	struct error e = {""};
	struct link_listener *l = link_listen(w->agent, address, NULL, NULL, &e);

	CU_ASSERT_PTR_NULL(l);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, text));
	if (!strstr(e.text, text))
		tap_note("it says: %s", e.text);
	link_listener_free(l);
}

static void addresses_that_are_taken(void)
{
	struct world w;
	char path[160], text[64];
	struct stat st;

	world_open(&w);
	snprintf(text, sizeof(text), "port %u is in use (by another agent?): use --listen", w.port);
	listen_fails(&w, w.tcp_address, text);
	snprintf(text, sizeof(text), "is in use by pid %d", (int)getpid());
	listen_fails(&w, w.local_address, text);
	listen_fails(&w, "127.0.0.1", "is not an address");
	listen_fails(&w, "127.0.0.1:70000", "is not an address");
	listen_fails(&w, "192.0.2.1:7440", "cannot listen at 192.0.2.1:7440");
	listen_fails(&w, "unix:/nonexistent/agent.sock", "/nonexistent: No such file");
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	memcpy(path, "unix:/", 6);
	listen_fails(&w, path, "use a shorter folder");
	snprintf(path, sizeof(path), "unix:%s", peers_path("certs/ca.pem"));
	listen_fails(&w, path, "is there and no socket");
	CU_ASSERT_EQUAL(stat(w.local_address + 5, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 0777, 0600);
	world_close(&w);
	CU_ASSERT_EQUAL(stat(peers_path("socket"), &st), -1);
}

static void leaves_a_socket(void *arg)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", (const char *)arg);
	_exit(bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 1) < 0 ? 1 : 0);
}

static void a_dead_agents_socket_is_replaced(void)
{
	static char path[256];
	struct world w;
	struct watch mine = {0};
	int status;

	snprintf(path, sizeof(path), "%s", peers_path("socket"));
	CU_ASSERT_EQUAL(waitpid(peer_spawn(leaves_a_socket, path), &status, 0) > 0, 1);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	world_open(&w);
	world_dial(&w, true, &mine);
	WAIT(&w, mine.ready);
	world_close(&w);
}

static void a_socket_that_was_removed_is_made_again(void)
{
	struct world w;
	struct watch mine = {0};
	struct error e;

	world_open(&w);
	CU_ASSERT_EQUAL(link_listener_renew(w.local, &e), 0);
	CU_ASSERT_EQUAL(link_listener_renew(w.tcp, &e), 0);
	CU_ASSERT_EQUAL(unlink(w.local_address + strlen("unix:")), 0);
	CU_ASSERT_EQUAL(link_listener_renew(w.local, &e), 1);
	CU_ASSERT_EQUAL(link_listener_renew(w.local, &e), 0);
	world_dial(&w, true, &mine);
	WAIT(&w, mine.ready);
	world_close(&w);
	CU_ASSERT_EQUAL(access(peers_path("socket"), F_OK), -1);
}

static void folders_of_others_are_not_used(void)
{
	struct world w;
	char address[256];

	world_open(&w);
	CU_ASSERT_EQUAL(mkdir(peers_path("open"), 0700), 0);
	CU_ASSERT_EQUAL(chmod(peers_path("open"), 0777), 0);
	snprintf(address, sizeof(address), "unix:%s", peers_path("open/socket"));
	listen_fails(&w, address, "others may change this folder");
	world_close(&w);
}

static void another_user(void *arg)
{
	unsigned char data[1024];
	int fd;

	if (setgid(65534) < 0 || setuid(65534) < 0)
		_exit(1);
	fd = raw_local(arg);
	while (read(fd, data, sizeof(data)) > 0) {
	}
}

static void other_users_are_refused(void)
{
	static char path[256];
	struct world w;
	pid_t pid;

	if (geteuid() != 0) {
		tap_skip("needs root, to be somebody else");
		return;
	}
	world_open(&w);
	snprintf(path, sizeof(path), "%s", peers_path("socket"));
	CU_ASSERT_EQUAL(chmod(path, 0666), 0);
	CU_ASSERT_EQUAL(chmod(peers_path("."), 0711), 0);
	pid = peer_spawn(another_user, path);
	WAIT(&w, w.log_lines == 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.log, "uid 65534: this agent serves uid 0 and root only"));
	peer_wait(&w, pid);
	CU_ASSERT_EQUAL(chmod(peers_path("."), 0700), 0);
	world_close(&w);
}

static void a_crowd_is_served(void)
{
	enum { CROWD = 200 };
	static struct watch mine[CROWD];
	struct world w;
	int ready = 0;

	world_open(&w);
	/* Two hundred handshakes, in one process, may take a slow machine longer. */
	link_hub_proof_set(w.agent, 60000);
	link_hub_proof_set(w.consumer, 60000);
	memset(mine, 0, sizeof(mine));
	for (int i = 0; i < CROWD; i++)
		world_dial(&w, i % 4 == 0, &mine[i]);
	WAIT(&w, w.served.ready == CROWD);
	for (int i = 0; i < CROWD; i++) {
		WAIT(&w, mine[i].ready || mine[i].closed);
		ready += mine[i].ready;
	}
	CU_ASSERT_EQUAL(ready, CROWD);
	CU_ASSERT_EQUAL(w.log_lines, 0);
	world_close(&w);
}

/* A hundred connections from 127.0.0.2 that say nothing; for each that is dropped comes another
 * one. */
static void floods(void *arg)
{
	enum { OPEN = 100 };
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(*(const uint16_t *)arg)};
	struct sockaddr_in from = {.sin_family = AF_INET};
	int fds[OPEN];

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	for (unsigned i = 0;; i++) {
		if (i >= OPEN) {
			struct pollfd oldest = {.fd = fds[i % OPEN], .events = POLLIN};

			poll(&oldest, 1, -1);
			close(oldest.fd);
		}
		fds[i % OPEN] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (bind(fds[i % OPEN], (struct sockaddr *)&from, sizeof(from)) < 0)
			_exit(1);
		connect(fds[i % OPEN], (struct sockaddr *)&to, sizeof(to));
	}
}

/* Nobody else notices. */
static void a_flood_from_one_address(void)
{
	enum { CLIENTS = 6, PLACES = 64 };
	struct watch mine[CLIENTS] = {{0}};
	uint64_t begun, longest = 0;
	struct world w;
	uint16_t port;
	int before;
	pid_t pid;

	world_open(&w);
	before = descriptors_count();
	port = (uint16_t)w.port;
	pid = peer_spawn(floods, &port);
	WAIT(&w, descriptors_count() >= before + PLACES && w.log_lines > 0);
	for (int i = 0; i < CLIENTS; i++) {
		begun = clock_mono_ns();
		world_dial(&w, false, &mine[i]);
		WAIT(&w, mine[i].ready || mine[i].closed);
		CU_ASSERT_EQUAL(mine[i].ready, 1);
		longest = clock_mono_ns() - begun > longest ? clock_mono_ns() - begun : longest;
	}
	kill(pid, SIGKILL);
	tap_note("%d clients let in, each within %u ms; %lu of the flood dropped", CLIENTS,
		 (unsigned)(longest / 1000000), link_hub_refused(w.agent));
	CU_ASSERT_TRUE(link_hub_refused(w.agent) > 0);
	peer_wait(&w, pid);
	world_close(&w);
}

static void many_without_proof(void)
{
	enum { MUTE = 100 };
	struct world w;
	struct watch mine = {0};
	int mute[MUTE], before;

	world_open(&w);
	link_hub_proof_set(w.agent, 60000); /* none goes while they are counted */
	before = descriptors_count();
	for (int i = 0; i < MUTE; i++)
		mute[i] = raw_tcp(w.port);
	WAIT(&w, descriptors_count() == before + 2 * MUTE);
	for (int i = 0; i < 10; i++)
		event_base_loop(w.base, EVLOOP_NONBLOCK);
	CU_ASSERT_EQUAL(descriptors_count(), before + 2 * MUTE);
	CU_ASSERT_EQUAL(w.log_lines, 0);
	/* The Unix socket has places of its own. */
	world_dial(&w, true, &mine);
	WAIT(&w, mine.ready);
	/* Places become free when the mute ones go. */
	for (int i = 0; i < MUTE; i++)
		close(mute[i]);
	world_dial(&w, false, &mine);
	WAIT(&w, mine.ready == 2);
	world_close(&w);
}

static void who_says_nothing_is_dropped(void)
{
	struct world w;
	struct watch mine = {0};
	char byte = 22;
	int fd[3];

	world_open(&w);
	link_hub_proof_set(w.agent, 50);
	fd[0] = raw_tcp(w.port);
	fd[1] = raw_tcp(w.port);
	fd[2] = raw_local(peers_path("socket"));
	CU_ASSERT_EQUAL(write(fd[1], &byte, 1), 1); /* the beginning of a TLS record */
	WAIT(&w, link_hub_refused(w.agent) == 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.log, "the peer did not say who it is within 0.05 s"));
	CU_ASSERT_EQUAL(w.log_lines, 1);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	/* Who has proved himself is not under that time any more. */
	link_hub_proof_set(w.agent, 30000);
	world_dial(&w, false, &mine);
	WAIT(&w, mine.ready && w.served.ready);
	CU_ASSERT_EQUAL(mine.closed, 0);
	world_close(&w);
}

static void garbage_does_no_harm(void)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: w0\r\n\r\n";
	static char noise[100000];
	struct world w;
	struct watch mine = {0}, before = {0};
	struct link *link;
	uint64_t began;
	int fd;

	world_open(&w);
	link = world_dial(&w, false, &before);
	WAIT(&w, before.ready);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * i >> 3);
	began = clock_mono_ns();
	for (unsigned long i = 0; i < 30; i++) {
		fd = raw_tcp(w.port);
		CU_ASSERT_TRUE(send(fd, i % 2 ? http : noise, i % 2 ? sizeof(http) : sizeof(noise),
				    MSG_NOSIGNAL) > 0);
		WAIT(&w, link_hub_refused(w.agent) == i + 1);
		close(fd);
	}
	CU_ASSERT_PTR_NOT_NULL(
		strstr(w.log, "the peer does not speak TLS; is it a program of EventSpace?"));
	/* Once a second for each of a few causes, however many come. */
	CU_ASSERT_TRUE(w.log_lines <= 10 * (1 + (int)((clock_mono_ns() - began) / 1000000000)));
	world_dial(&w, false, &mine);
	WAIT(&w, mine.ready);
	send_ask(link, 1);
	WAIT(&w, w.served.frames == 1);
	world_close(&w);
}

/** Say @bytes to the agent's Unix socket; it answers with an Error frame that has @text. */
static void answers_with(const unsigned char *data, size_t bytes, const char *text)
{
	static unsigned char answer[4096];
	struct world w;
	size_t got = 0, hello;
	ssize_t n;
	int fd;

	world_open(&w);
	fd = raw_local(peers_path("socket"));
	CU_ASSERT_EQUAL(write(fd, data, bytes), (ssize_t)bytes);
	WAIT(&w, link_hub_refused(w.agent) == 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.log, text));
	CU_ASSERT_EQUAL(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while ((n = read(fd, answer + got, sizeof(answer) - 1 - got)) != 0) {
		if (n > 0)
			got += (size_t)n;
		else
			event_base_loop(w.base, EVLOOP_ONCE);
	}
	answer[got] = '\0';
	hello = answer[0] + 8u;
	hello = (hello + 7) & ~(size_t)7;
	/* The agent's hello, then the error: its text is in the frame as it is. */
	CU_ASSERT_TRUE(got > hello && memmem(answer + hello, got - hello, text, strlen(text)));
	if (!memmem(answer, got, text, strlen(text)))
		tap_note("the log says: %s", w.log);
	close(fd);
	world_close(&w);
}

static void other_versions_are_told(void)
{
	unsigned char data[8192] = {0};
	char text[128];
	size_t n;

	n = raw_hello(data, sizeof(data), 99, 98, TUPLE_LAYOUT);
	snprintf(text, sizeof(text),
		 "the peer speaks versions 98 to 99 of the wire protocol, this side %u to %u",
		 WIRE_OLDEST, WIRE_VERSION);
	answers_with(data, n, text);
	n = raw_hello(data, sizeof(data), 0, 0, TUPLE_LAYOUT);
	snprintf(text, sizeof(text),
		 "the peer speaks versions 0 to 0 of the wire protocol, this side %u to %u",
		 WIRE_OLDEST, WIRE_VERSION);
	answers_with(data, n, text);
	n = raw_hello(data, sizeof(data), WIRE_VERSION, WIRE_OLDEST, 77);
	answers_with(data, n, "the peer has tuple layout 77, this side 1");
	n = raw_hello(data, sizeof(data), WIRE_VERSION, WIRE_OLDEST, TUPLE_LAYOUT);
	data[8] = 3 << 3 | 2; /* Frame.opened */
	data[0] = 2;
	data[9] = 0;
	answers_with(data, n, "the peer did not begin with a hello");
	memset(data, 0, sizeof(data));
	data[1] = 0x10; /* a header of 4096 bytes: with its front more than a hello may have */
	answers_with(data, 8, "a frame of 4104 bytes where 4096 are allowed");
	memset(data, 0x7f, sizeof(data));
	answers_with(data, 64, "a header of 2139062143 bytes");
	memset(data, 0xff, sizeof(data));
	answers_with(data, 64, "a compressed piece where none was asked for");
}

static void newer_versions_that_still_speak_ours_are_fine(void)
{
	unsigned char data[256];
	struct world w;
	size_t n;
	int fd;

	world_open(&w);
	fd = raw_local(peers_path("socket"));
	n = raw_hello(data, sizeof(data), 99, WIRE_VERSION, TUPLE_LAYOUT);
	CU_ASSERT_EQUAL(write(fd, data, n), (ssize_t)n);
	WAIT(&w, w.served.ready == 1);
	close(fd);
	world_close(&w);
}

static void out_of_descriptors_is_survived(void)
{
	struct rlimit limit, old;
	struct world w;
	struct watch mine = {0};
	int fd[2];

	world_open(&w);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &old), 0);
	fd[0] = raw_tcp(w.port);
	fd[1] = raw_local(peers_path("socket"));
	limit = old;
	limit.rlim_cur = (rlim_t)fd[1] + 1;
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	WAIT(&w, link_hub_refused(w.agent) == 2);
	CU_ASSERT_EQUAL(event_base_loop(w.base, EVLOOP_NONBLOCK), 0);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &old), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.log, "too many open files; raise the limit: ulimit -n"));
	CU_ASSERT_EQUAL(link_hub_refused(w.agent), 2);
	CU_ASSERT_EQUAL(w.log_lines, 1);
	close(fd[0]);
	close(fd[1]);
	world_dial(&w, false, &mine);
	WAIT(&w, mine.ready);
	world_close(&w);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"addresses that are taken, or none", addresses_that_are_taken},
		{"a dead agent's socket is replaced", a_dead_agents_socket_is_replaced},
		{"a socket that was removed is made again",
		 a_socket_that_was_removed_is_made_again},
		{"no socket in folders that others can change", folders_of_others_are_not_used},
		{"other users are refused", other_users_are_refused},
		{"200 connections at once are served", a_crowd_is_served},
		{"nobody else notices a flood from one address", a_flood_from_one_address},
		{"many without proof wait", many_without_proof},
		{"who says nothing is dropped", who_says_nothing_is_dropped},
		{"garbage does no harm and fills no log", garbage_does_no_harm},
		{"other versions are told which are spoken", other_versions_are_told},
		{"newer versions that speak ours are fine",
		 newer_versions_that_still_speak_ours_are_fine},
		{"out of descriptors: said, survived, no spinning", out_of_descriptors_is_survived},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "listener",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
