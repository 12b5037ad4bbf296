/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does to an agent's port what somebody without the right certificate can do, and says what came of
 * it on stdout:
 *
 *	attacker crowd HOST:PORT N	N connections, all at once, that say nothing, until closed
 *	attacker flood HOST:PORT N	N connections, 200 at a time, that say what is no TLS
 *	attacker drip HOST:PORT		one that says a byte of a handshake every 20 ms
 *	attacker alerts HOST:PORT	one for each alert that there might be in TLS
 *	attacker record HOST:PORT PORT FILE	passes one connection on, keeps what the client said
 *	attacker orders HOST:PORT DIR NAME	asks for all that a certificate NAME might not allow
 *	attacker agent HOST:PORT DIR NAME	the same as agent NAME
 *	attacker large HOST:PORT DIR NAME	as agent NAME selects by 300 patterns, asks with a
 *			part of 600 kB, and orders 65 classes at once, and 1,025 functions
 *	attacker defines HOST:PORT DIR NAME	as NAME defines views: of 10,000 stages, with zeros,
 *			nested; and one that is right
 *	attacker again HOST:PORT DIR NAME RUN	as NAME defines views of RUN, many of one id
 *	attacker frames HOST:PORT DIR NAME ELSEWHERE	asks for all that there is, also for parts
 *of trees at the address ELSEWHERE, and prints all that comes as it is
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tests/attacker-orders.h"
#include "tree/link/address.h"
#include "tree/data/clock.h"

#define AT_ONCE	    200
#define DRIP_MS	    20
#define CONNECT_MS  60000
#define NOISE_BYTES 64

static struct address target;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "attacker: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A connection that is under way. */
static int knock(void)
{
	int fd = socket(target.at[0].any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		die("socket");
	if (connect(fd, &target.at[0].any, target.bytes[0]) < 0 && errno != EINPROGRESS &&
	    errno != EAGAIN)
		die("connect");
	return fd;
}

/* One that is there. */
static int enter(void)
{
	int fd = knock();
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	if (poll(&p, 1, CONNECT_MS) != 1)
		die("nobody accepts");
	return fd;
}

/* Has the other side ended it? What it says is of no interest. */
static bool is_over(int fd)
{
	char data[4096];
	ssize_t n;

	while ((n = recv(fd, data, sizeof(data), 0)) > 0) {
	}
	return n == 0 || (errno != EAGAIN && errno != EINTR);
}

/* ---- crowd ---- */

/* Wait until all that are still open have been closed by the other side. */
static void crowd_wait(struct pollfd *all, int n)
{
	int open = n;

	while (open > 0) {
		if (poll(all, (nfds_t)n, CONNECT_MS) <= 0)
			die("it keeps some for ever");
		for (int i = 0; i < n; i++) {
			if (all[i].fd < 0 || !all[i].revents || !is_over(all[i].fd))
				continue;
			close(all[i].fd);
			all[i].fd = -1;
			open--;
		}
	}
}

static int crowd(int n)
{
	struct pollfd *all = memory_new((size_t)n, sizeof(*all));
	uint64_t began = clock_mono_ns();

	for (int i = 0; i < n; i++)
		all[i] = (struct pollfd){.fd = knock(), .events = POLLIN};
	puts("here");
	fflush(stdout);
	crowd_wait(all, n);
	printf("all %d were closed within %llu ms\n", n,
	       (unsigned long long)(clock_mono_ns() - began) / 1000000u);
	free(all);
	return 0;
}

/* ---- flood ---- */

static int flood(int n)
{
	static const char noise[NOISE_BYTES] = "GET / HTTP/1.1\r\n\r\n";
	struct pollfd all[AT_ONCE];
	int begun = 0, ended = 0;

	for (int i = 0; i < AT_ONCE; i++)
		all[i].fd = -1;
	while (ended < n) {
		for (int i = 0; i < AT_ONCE && begun < n; i++) {
			if (all[i].fd >= 0)
				continue;
			all[i] = (struct pollfd){.fd = knock(), .events = POLLIN | POLLOUT};
			begun++;
		}
		if (poll(all, AT_ONCE, CONNECT_MS) <= 0)
			die("it does not answer any more");
		for (int i = 0; i < AT_ONCE; i++) {
			if (all[i].fd < 0 || !all[i].revents)
				continue;
			if (all[i].revents & POLLOUT &&
			    send(all[i].fd, noise, sizeof(noise), MSG_NOSIGNAL) > 0)
				all[i].events = POLLIN;
			if (!(all[i].revents & (POLLIN | POLLHUP | POLLERR)) || !is_over(all[i].fd))
				continue;
			close(all[i].fd);
			all[i].fd = -1;
			ended++;
		}
	}
	printf("%d refused\n", ended);
	return 0;
}

/* ---- drip, alerts ---- */

/* A handshake that will never be whole: the longest record, of one long ClientHello. */
static int drip(void)
{
	static const unsigned char begin[] = {22, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc, 3, 3};
	int fd = enter();
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t began = clock_mono_ns();
	unsigned long sent = 0;

	while (!(poll(&p, 1, DRIP_MS) > 0 && is_over(fd))) {
		unsigned char byte = sent < sizeof(begin) ? begin[sent] : 'x';

		if (clock_mono_ns() - began > CONNECT_MS * UINT64_C(1000000))
			die("it listens for ever");
		sent += send(fd, &byte, 1, MSG_NOSIGNAL) == 1;
	}
	printf("closed after %llu ms and %lu bytes\n",
	       (unsigned long long)(clock_mono_ns() - began) / 1000000u, sent);
	close(fd);
	return 0;
}

static int alerts(void)
{
	for (int i = 0; i < 256; i++) {
		unsigned char alert[] = {21, 3, 3, 0, 2, 2, (unsigned char)i};
		int fd = enter();
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (send(fd, alert, sizeof(alert), MSG_NOSIGNAL) < 0 ||
		    poll(&p, 1, CONNECT_MS) != 1)
			die("an alert");
		close(fd);
	}
	puts("256 said");
	return 0;
}

/* ---- record ---- */

static int passage_open(const char *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 1) < 0)
		die(port);
	puts("here");
	fflush(stdout);
	return fd;
}

static int record(const char *port, const char *path)
{
	int door = passage_open(port), file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct pollfd p[2] = {{.fd = accept(door, NULL, NULL), .events = POLLIN},
			      {.fd = enter(), .events = POLLIN}};
	size_t kept = 0;
	char data[65536];

	if (file < 0 || p[0].fd < 0)
		die(path);
	if (fcntl(p[1].fd, F_SETFL, 0) < 0)
		die("fcntl");
	while (poll(p, 2, CONNECT_MS) > 0) {
		int i = p[0].revents ? 0 : 1;
		ssize_t n = recv(p[i].fd, data, sizeof(data), 0);

		if (n <= 0)
			break;
		if (i == 0 && write(file, data, (size_t)n) != n)
			die(path);
		kept += i == 0 ? (size_t)n : 0;
		if (send(p[1 - i].fd, data, (size_t)n, MSG_NOSIGNAL) != n)
			break;
	}
	printf("%zu bytes\n", kept);
	close(file);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	struct error e;

	if (*what && address_parse(&target, argv[2], false, &e) < 0) {
		fprintf(stderr, "attacker: %s\n", e.text);
		return 2;
	}
	if (!strcmp(what, "crowd") && argc == 4)
		return crowd(atoi(argv[3]));
	if (!strcmp(what, "flood") && argc == 4)
		return flood(atoi(argv[3]));
	if (!strcmp(what, "drip"))
		return drip();
	if (!strcmp(what, "alerts"))
		return alerts();
	if (!strcmp(what, "record") && argc == 5)
		return record(argv[3], argv[4]);
	if (argc == 5 && (!strcmp(what, "orders") || !strcmp(what, "agent") ||
			  !strcmp(what, "large") || !strcmp(what, "defines")))
		return attacker_orders(what, argv[2], argv[3], argv[4], NULL);
	if ((!strcmp(what, "frames") || !strcmp(what, "again") || !strcmp(what, "window")) &&
	    argc == 6)
		return attacker_orders(what, argv[2], argv[3], argv[4], argv[5]);
	fputs("attacker: see its source\n", stderr);
	return 2;
}
