/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands between agents and passes on what they say, but for CUTS times in all: then it closes a
 * connection as soon as enough has come back on it. Prints how many it has cut, a line each 100.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAIRS_MAX  256
#define DOORS_MAX  16
#define COPY_BYTES 65536

/* Where it listens, and for whom. */
struct door {
	int fd;
	struct sockaddr_in target;
};

/* A connection: ends[0] came from the parent, ends[1] goes to the child. */
struct pair {
	int ends[2];
	size_t back; /* bytes that came from the child */
};

static struct door doors[DOORS_MAX];
static struct pair pairs[PAIRS_MAX];
static int n_doors, n_pairs;
static long cuts, cuts_wanted;
static size_t cut_after;

static int address_read(const char *text, struct sockaddr_in *to)
{
	char host[64];
	const char *colon = strchr(text, ':');

	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return -1;
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	*to = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)atoi(colon + 1))};
	return inet_pton(AF_INET, host, &to->sin_addr) == 1 ? 0 : -1;
}

/* "LISTEN=TARGET" */
static int door_open(const char *text)
{
	const char *target = strchr(text, '=');
	struct sockaddr_in at;
	char listens[64];
	struct door *d = &doors[n_doors++];
	int one = 1;

	if (!target || target - text >= 64)
		return -1;
	snprintf(listens, sizeof(listens), "%.*s", (int)(target - text), text);
	d->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(d->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (address_read(listens, &at) < 0 || address_read(target + 1, &d->target) < 0 ||
	    bind(d->fd, (void *)&at, sizeof(at)) < 0 || listen(d->fd, 64) < 0) {
		fprintf(stderr, "cutter: %s: %s\n", text, strerror(errno));
		return -1;
	}
	return 0;
}

static void pair_open(const struct door *d)
{
	struct pair p = {.ends = {accept(d->fd, NULL, NULL), -1}};

	if (p.ends[0] < 0)
		return;
	p.ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (n_pairs == PAIRS_MAX ||
	    connect(p.ends[1], (const void *)&d->target, sizeof(d->target)) < 0) {
		close(p.ends[0]);
		close(p.ends[1]);
		return;
	}
	pairs[n_pairs++] = p;
}

static bool send_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, data, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		data += sent;
		n -= (size_t)sent;
	}
	return true;
}

/* Returns whether the connection goes on. */
static bool pair_pass(struct pair *p, int from)
{
	static char buffer[COPY_BYTES];
	ssize_t n = recv(p->ends[from], buffer, sizeof(buffer), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0 || !send_all(p->ends[!from], buffer, (size_t)n))
		return false;
	if (from == 1)
		p->back += (size_t)n;
	if (p->back < cut_after || cuts == cuts_wanted)
		return true;
	if (++cuts % 100 == 0 || cuts == cuts_wanted)
		printf("%ld\n", cuts);
	fflush(stdout);
	return false;
}

static void pair_close(int i)
{
	close(pairs[i].ends[0]);
	close(pairs[i].ends[1]);
	pairs[i] = pairs[--n_pairs];
}

static void round_do(void)
{
	struct pollfd fds[DOORS_MAX + 2 * PAIRS_MAX];
	int n = 0;

	for (int i = 0; i < n_doors; i++)
		fds[n++] = (struct pollfd){doors[i].fd, POLLIN, 0};
	for (int i = 0; i < 2 * n_pairs; i++)
		fds[n++] = (struct pollfd){pairs[i / 2].ends[i % 2], POLLIN, 0};
	if (poll(fds, (nfds_t)n, -1) < 0)
		return;
	/* From the last on: one that ends is replaced by one that was looked at. */
	for (int i = n_pairs - 1; i >= 0; i--) {
		const struct pollfd *f = &fds[n_doors + 2 * i];

		if ((f[0].revents && !pair_pass(&pairs[i], 0)) ||
		    (f[1].revents && !pair_pass(&pairs[i], 1)))
			pair_close(i);
	}
	for (int i = 0; i < n_doors; i++) {
		if (fds[i].revents)
			pair_open(&doors[i]);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4 || argc - 3 > DOORS_MAX) {
		fprintf(stderr, "usage: cutter CUTS BYTES LISTEN=TARGET...\n");
		return 2;
	}
	cuts_wanted = atol(argv[1]);
	cut_after = (size_t)atol(argv[2]);
	for (int i = 3; i < argc; i++) {
		if (door_open(argv[i]) < 0)
			return 1;
	}
	printf("ready\n");
	fflush(stdout);
	for (;;)
		round_do();
}
