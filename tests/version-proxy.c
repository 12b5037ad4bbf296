/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands between two sides of a Unix socket, and makes both seem to be of another release or
 *machine:
 *
 *	version proxy LISTEN TARGET VERSION OLDEST LAYOUT [swap]
 *
 * Hellos of both sides say that they speak VERSION down to OLDEST and nothing that later versions
 * have; with `swap` the side at TARGET has the other byte order.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tree/data/run.h"
#include "tree/wire/wire.h"

#define RECEIVE 65536

static unsigned version, oldest, layout;
static bool swaps;

/* What one side has said, up to the last whole frame. */
struct side {
	int fd;
	bool is_target;
	unsigned char *data;
	size_t n;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "version-proxy: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int socket_at(const char *path, struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(at->sun_path, sizeof(at->sun_path), "%s", path);
	if (fd < 0)
		die("socket");
	return fd;
}

static void send_all(int fd, const unsigned char *data, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, data, n, MSG_NOSIGNAL);

		if (sent <= 0)
			exit(0);
		data += sent;
		n -= (size_t)sent;
	}
}

/* ---- the other byte order ---- */

static unsigned char *field_swap(unsigned char *p, size_t width)
{
	for (size_t i = 0; i < width / 2; i++) {
		unsigned char c = p[i];

		p[i] = p[width - 1 - i];
		p[width - 1 - i] = c;
	}
	return p + width;
}

/* Those of a version before them are sent no columns, no folded parts, and not what was sampled
 * out. */
static void body_check(const unsigned char *p, size_t bytes)
{
	const unsigned char *end = p + bytes;

	while (version < WIRE_SAMPLES && p < end) {
		struct run run;

		memcpy(&run, p, sizeof(run));
		if (run.kind == RUN_PART && run.flags & RUN_LOST)
			die("counts of what was sampled out, which it does not know");
		if (version < WIRE_COLUMNS && run.kind == RUN_COLUMNS)
			die("columns that it does not know");
		if (version < WIRE_COLUMNS && run.kind == RUN_LEAVES)
			die("folded parts that it does not know");
		p += sizeof(run) + (run.flags & RUN_LOST ? 8 : 0) +
		     run.count * run_record_bytes(run.kind);
	}
}

static void body_swap(unsigned char *p, size_t bytes)
{
	const unsigned char *end = p + bytes;

	while (p < end) {
		struct run run;

		memcpy(&run, p, sizeof(run));
		p = field_swap(p, 4);
		p = field_swap(p, 2);
		p = field_swap(p + 2, 8);
		if (run.flags & RUN_LOST)
			p = field_swap(p, 8);
		for (unsigned i = 0; i < run.count; i++) {
			for (const char *w = run_records[run.kind].fields; *w; w++)
				p = field_swap(p, (size_t)(*w - '0'));
		}
	}
}

/* ---- frames ---- */

/* What a hello of that release would have. */
static void hello_pass(const struct side *from, int to, const Evspace__Hello *said)
{
	Evspace__Hello hello = EVSPACE__HELLO__INIT;
	const Evspace__Frame frame = WIRE_FRAME(HELLO, hello, &hello);
	struct wire_front front = {0, 0};
	unsigned char data[WIRE_HELLO_MAX];

	hello.version = version;
	hello.oldest = oldest;
	hello.tuple_layout = layout;
	hello.big_endian = said->big_endian ^ (swaps && from->is_target);
	hello.name = said->name;
	hello.boot_id = said->boot_id;
	hello.epoch_ns = said->epoch_ns;
	front.header_bytes = (uint32_t)evspace__frame__get_packed_size(&frame);
	if (wire_frame_bytes(&front) > sizeof(data))
		die("a long hello");
	wire_frame_put(&front, &frame, data);
	send_all(to, data, wire_frame_bytes(&front));
}

static void frame_pass(const struct side *from, int to, const struct wire_front *front)
{
	struct error e;
	Evspace__Frame *frame =
		wire_header_parse(from->data + WIRE_FRONT_BYTES, front->header_bytes, &e);

	if (!frame) {
		fprintf(stderr, "version-proxy: %s\n", e.text);
		exit(1);
	}
	if (frame->kind_case == EVSPACE__FRAME__KIND_HELLO) {
		hello_pass(from, to, frame->hello);
	} else {
		body_check(from->data + WIRE_FRONT_BYTES + wire_pad(front->header_bytes),
			   front->body_bytes);
		if (swaps && from->is_target)
			body_swap(from->data + WIRE_FRONT_BYTES + wire_pad(front->header_bytes),
				  front->body_bytes);
		send_all(to, from->data, wire_frame_bytes(front));
	}
	wire_header_free(frame);
}

static void side_pass(struct side *from, int to)
{
	ssize_t got;

	from->data = realloc(from->data, from->n + RECEIVE);
	if (!from->data)
		abort();
	got = recv(from->fd, from->data + from->n, RECEIVE, 0);
	if (got <= 0)
		exit(0);
	from->n += (size_t)got;
	while (from->n >= WIRE_FRONT_BYTES) {
		struct wire_front front = wire_front_get(from->data);
		size_t whole = wire_frame_bytes(&front);

		if (from->n < whole)
			break;
		frame_pass(from, to, &front);
		from->n -= whole;
		memmove(from->data, from->data + whole, from->n);
	}
}

static _Noreturn void pass(int caller, const char *target)
{
	struct sockaddr_un at;
	struct side sides[2] = {{.fd = caller}, {.fd = socket_at(target, &at), .is_target = true}};

	if (connect(sides[1].fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		die(target);
	for (;;) {
		struct pollfd p[2] = {{.fd = caller, .events = POLLIN},
				      {.fd = sides[1].fd, .events = POLLIN}};

		if (poll(p, 2, -1) < 0)
			die("poll");
		for (int i = 0; i < 2; i++) {
			if (p[i].revents)
				side_pass(&sides[i], sides[1 - i].fd);
		}
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un at;
	int door;

	if (argc < 6) {
		fputs("version-proxy: see its source\n", stderr);
		return 2;
	}
	version = (unsigned)atoi(argv[3]);
	oldest = (unsigned)atoi(argv[4]);
	layout = (unsigned)atoi(argv[5]);
	swaps = argc > 6;
	signal(SIGCHLD, SIG_IGN);
	door = socket_at(argv[1], &at);
	unlink(argv[1]);
	if (bind(door, (const struct sockaddr *)&at, sizeof(at)) < 0 || listen(door, 64) < 0)
		die(argv[1]);
	puts("here");
	fflush(stdout);
	for (;;) {
		int caller = accept(door, NULL, NULL);
		pid_t child = caller < 0 ? -1 : fork();

		if (child == 0)
			pass(caller, argv[2]);
		if (caller >= 0)
			close(caller);
	}
}
