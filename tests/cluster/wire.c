/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A long wire between two network namespaces, where the kernel has no netem: two TAP devices, and
 * what goes into one comes out of the other later, at the wire's rate, or never.
 *
 *	wire NEAR FAR ROUND_TRIP_MS LOSS_PERCENT MBIT/S 3</proc/PID/ns/net
 *
 * NEAR is made here, FAR in the namespace that is open as descriptor 3. Half of the round trip is
 * in each direction, loss and rate are of each. Says "ready", ends with its devices. To cut it, set
 * a device down.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#define FAR_NAMESPACE 3
#define FRAME_MAX     2048
/* What a router in front of the wire holds, as time: so many round trips of its rate … */
#define QUEUE_ROUNDS 1.0
/* … but not less than this many bytes. */
#define QUEUE_LEAST 65536.0
#define TIMER_SLACK 50000ul

struct packet {
	STAILQ_ENTRY(packet) entry;
	int64_t due_ns; /* when it arrives */
	size_t bytes;
	unsigned char data[];
};

/** One direction. */
struct wire {
	int from, to;
	int64_t free_ns; /* when its beginning has let through all that went into it */
	STAILQ_HEAD(, packet) under_way;
};

static int64_t delay_ns;
static double loss, ns_per_byte, queue_bytes;

static int failed(const char *what)
{
	fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/** A device in the namespace that this process is in. */
static int tap_new(const char *name)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0)
		failed(name);
	return fd;
}

/** What the queue in front of the wire has no room for is lost, and some of what has. */
static void wire_put(struct wire *w, const unsigned char *data, size_t bytes)
{
	int64_t now = now_ns(), begin = w->free_ns > now ? w->free_ns : now;
	double waiting = (double)(begin - now) / ns_per_byte;
	struct packet *p;

	if (waiting + (double)bytes > queue_bytes || drand48() < loss)
		return;
	p = malloc(sizeof(*p) + bytes);
	if (!p)
		abort();
	memcpy(p->data, data, bytes);
	p->bytes = bytes;
	w->free_ns = begin + (int64_t)((double)bytes * ns_per_byte);
	p->due_ns = w->free_ns + delay_ns;
	STAILQ_INSERT_TAIL(&w->under_way, p, entry);
}

/** Take what has come to its beginning. */
static void wire_take(struct wire *w)
{
	unsigned char data[FRAME_MAX];
	ssize_t n;

	while ((n = read(w->from, data, sizeof(data))) > 0)
		wire_put(w, data, (size_t)n);
	/* The namespace has gone, and the device with it. */
	if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EIO)
		exit(0);
}

/** Give out what is due. Returns how long nothing more is, -1 if there is nothing. */
static int64_t wire_give(struct wire *w)
{
	struct packet *p;
	int64_t left;

	while ((p = STAILQ_FIRST(&w->under_way))) {
		left = p->due_ns - now_ns();
		if (left > 0)
			return left;
		STAILQ_REMOVE_HEAD(&w->under_way, entry);
		/* A device that is down takes nothing: the wire is cut. */
		if (write(w->to, p->data, p->bytes) < 0 && errno == EBADFD)
			exit(0);
		free(p);
	}
	return -1;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void wires_run(struct wire *wires)
{
	struct pollfd fds[2] = {{wires[0].from, POLLIN, 0}, {wires[1].from, POLLIN, 0}};

	for (;;) {
		int64_t left = sooner(wire_give(&wires[0]), wire_give(&wires[1]));
		struct timespec wait = {left / 1000000000, left % 1000000000};

		if (ppoll(fds, 2, left < 0 ? NULL : &wait, NULL) < 0 && errno != EINTR)
			failed("waiting");
		for (int i = 0; i < 2; i++) {
			if (fds[i].revents)
				wire_take(&wires[i]);
		}
	}
}

int main(int argc, char **argv)
{
	struct wire wires[2] = {0};
	double round_ms;

	if (argc != 6) {
		fprintf(stderr, "usage: wire NEAR FAR ROUND_TRIP_MS LOSS_PERCENT MBIT/S "
				"3</proc/PID/ns/net\n");
		return 2;
	}
	round_ms = strtod(argv[3], NULL);
	delay_ns = (int64_t)(round_ms / 2 * 1e6);
	loss = strtod(argv[4], NULL) / 100;
	ns_per_byte = 8e3 / strtod(argv[5], NULL);
	queue_bytes = QUEUE_ROUNDS * round_ms * 1e6 / ns_per_byte;
	queue_bytes = queue_bytes > QUEUE_LEAST ? queue_bytes : QUEUE_LEAST;
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK);
	wires[0].from = wires[1].to = tap_new(argv[1]);
	if (setns(FAR_NAMESPACE, CLONE_NEWNET) < 0)
		failed("the far namespace (descriptor 3)");
	close(FAR_NAMESPACE);
	wires[1].from = wires[0].to = tap_new(argv[2]);
	for (int i = 0; i < 2; i++)
		STAILQ_INIT(&wires[i].under_way);
	puts("ready");
	fflush(stdout);
	wires_run(wires);
}
