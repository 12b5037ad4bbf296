/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long wires on one machine, where the kernel has none: passes connections on to other addresses,
 * what goes through them after a while. For one message at a time in each direction.
 *
 *	delay MICROSECONDS PORT FROM TO [FROM TO]...	# addresses, the port is that of all
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Wires of one process. */
#define WIRES_MOST 64

static struct timespec wire_length;

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in to = {.sin_family = AF_INET};

	to.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	if (inet_pton(AF_INET, host, &to.sin_addr) != 1) {
		fprintf(stderr, "delay: %s is no IPv4 address\n", host);
		exit(2);
	}
	return to;
}

static int failed(const char *what)
{
	fprintf(stderr, "delay: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* One direction, in a process of its own, until an end is closed. */
static void pass(int from, int to)
{
	static char bytes[1 << 16];
	ssize_t n;

	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((n = recv(from, bytes, sizeof(bytes), 0)) > 0) {
		nanosleep(&wire_length, NULL);
		if (send(to, bytes, (size_t)n, MSG_NOSIGNAL) != n)
			break;
	}
	shutdown(from, SHUT_RD);
	shutdown(to, SHUT_WR);
	_exit(0);
}

static void connection_pass(int listener, const struct sockaddr_in *to)
{
	int one = 1, from = accept(listener, NULL, NULL);
	int on = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(on, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (from < 0 || on < 0)
		failed("a connection");
	if (connect(on, (const void *)to, sizeof(*to)) == 0) {
		pass(from, on);
		pass(on, from);
	}
	close(from);
	close(on);
}

static int listener_new(const struct sockaddr_in *at)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, (const void *)at, sizeof(*at)) < 0 || listen(fd, 16) < 0)
		failed("listening");
	return fd;
}

int main(int argc, char **argv)
{
	struct pollfd listeners[WIRES_MOST];
	struct sockaddr_in to[WIRES_MOST];
	nfds_t n = 0;
	long us;

	if (argc < 5 || argc % 2 == 0 || argc > 3 + 2 * WIRES_MOST) {
		fprintf(stderr, "usage: delay MICROSECONDS PORT FROM TO [FROM TO]...\n");
		return 2;
	}
	us = strtol(argv[1], NULL, 10);
	wire_length = (struct timespec){us / 1000000, us % 1000000 * 1000};
	signal(SIGCHLD, SIG_IGN);
	for (int i = 3; i < argc; i += 2, n++) {
		struct sockaddr_in at = address(argv[i], argv[2]);

		to[n] = address(argv[i + 1], argv[2]);
		listeners[n] = (struct pollfd){listener_new(&at), POLLIN, 0};
	}
	fprintf(stderr, "ready on %zu wires\n", (size_t)n);
	for (;;) {
		if (poll(listeners, n, -1) < 0 && errno != EINTR)
			failed("waiting");
		for (nfds_t i = 0; i < n; i++) {
			if (listeners[i].revents & POLLIN)
				connection_pass(listeners[i].fd, &to[i]);
		}
	}
}
