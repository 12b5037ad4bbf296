/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures in CPU time what can be measured by itself; calibrate-tree.c does the rest. */
#include "consumers/map/map.h"

#include <errno.h>
#include <openssl/evp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node-agent/segment/element-writer.h"
#include "pathmap/base/memory.h"
#include "tree/data/batch.h"
#include "tree/data/clock.h"
#include "tree/data/names.h"
#include "tree/stage/stage.h"

/* How long each is repeated, in ns of CPU time; the exchange of messages takes longer. */
#define REPEAT_NS 60000000u
/* Repetitions between two looks at the clock. */
#define ROUND 16u
/* Messages exchanged. */
#define TURNS 1500u
/* Bytes of a message: about those of a request. */
#define MESSAGE_BYTES 128u
/* More than a core's own cache holds, since rings that others write are not in it either. */
#define BLOCK_BYTES  262144u
#define RECORD_BYTES 16384u
#define ELEMENTS     512u
#define CAPACITY     200u

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CPU time of one @once, in ns. */
static double repeat(void (*once)(void *arg), void *arg)
{
	uint64_t begin, n = 0;

	once(arg);
	begin = cpu_ns();
	do {
		for (unsigned i = 0; i < ROUND; i++)
			once(arg);
		n += ROUND;
	} while (cpu_ns() - begin < REPEAT_NS);
	return (double)(cpu_ns() - begin) / (double)n;
}

/* ---- messages ---- */

/* One end: waits as an event loop does, receives, sends. False: the other end is closed. */
struct end {
	int fd, epoll;
};

static bool end_init(struct end *end, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	end->fd = fd;
	end->epoll = epoll_create1(EPOLL_CLOEXEC);
	return end->epoll >= 0 && epoll_ctl(end->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool end_take(const struct end *end)
{
	struct epoll_event event;
	char message[MESSAGE_BYTES];

	return epoll_wait(end->epoll, &event, 1, 10000) == 1 &&
	       recv(end->fd, message, sizeof(message), 0) == (ssize_t)sizeof(message);
}

static bool end_put(const struct end *end)
{
	static const char message[MESSAGE_BYTES];

	return send(end->fd, message, sizeof(message), MSG_NOSIGNAL) == (ssize_t)sizeof(message);
}

/* A message without waking anybody: sent at one end, received at the other. */
struct pair {
	struct end ends[2];
	bool failed;
};

static void message_pass(void *arg)
{
	struct pair *pair = arg;

	pair->failed |= !end_put(&pair->ends[0]) || !end_take(&pair->ends[1]);
}

/* Move to the @i-th of the cores that we may use; -1 if there is none. */
static int core_choose(const cpu_set_t *cores, int i)
{
	cpu_set_t one;

	for (int core = 0; core < CPU_SETSIZE; core++) {
		if (!CPU_ISSET(core, cores) || i-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(core, &one);
		return sched_setaffinity(0, sizeof(one), &one);
	}
	return -1;
}

static void turns_answer(int fd, const cpu_set_t *cores)
{
	struct end end;

	core_choose(cores, 1);
	if (end_init(&end, fd)) {
		while (end_take(&end) && end_put(&end))
			continue;
	}
	_exit(0);
}

static double used_us(const struct rusage *r)
{
	return (double)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1e6 +
	       (double)(r->ru_utime.tv_usec + r->ru_stime.tv_usec);
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* CPU time of both processes for one message between them, in us; below 0 on failure. Half of the
 * median time there and back is in *@passed_us. */
static double turns_measure(int fd, int other, double *passed_us)
{
	double times[TURNS];
	struct rusage used;
	struct end end;
	uint64_t begin;
	double us;
	cpu_set_t cores;
	pid_t child;
	unsigned n = 0;

	/* use two cores: on one, a message costs nothing extra if the sender sleeps next */
	CPU_ZERO(&cores);
	sched_getaffinity(0, sizeof(cores), &cores);
	child = fork();
	if (child == 0) {
		close(fd);
		turns_answer(other, &cores);
	}
	close(other);
	core_choose(&cores, 0);
	if (child < 0 || !end_init(&end, fd))
		return -1;
	begin = cpu_ns();
	for (; n < TURNS; n++) {
		uint64_t sent = clock_mono_ns();

		if (!end_put(&end) || !end_take(&end))
			break;
		times[n] = (double)(clock_mono_ns() - sent) / 2e3;
	}
	us = (double)(cpu_ns() - begin) / 1e3;
	sched_setaffinity(0, sizeof(cores), &cores);
	close(end.epoll);
	shutdown(fd, SHUT_RDWR);
	while (wait4(child, NULL, 0, &used) < 0 && errno == EINTR)
		continue;
	if (n == TURNS) {
		qsort(times, TURNS, sizeof(*times), by_value);
		*passed_us = times[TURNS / 2];
	}
	return n == TURNS ? (us + used_us(&used)) / (2.0 * TURNS) : -1;
}

static int messages_measure(struct calibration *c, struct error *e)
{
	struct pair pair = {.ends = {{-1, -1}, {-1, -1}}};
	int fds[2], turns[2];
	double message, woken, passed;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return errorf(e, "no socket pair: %s", strerror(errno));
	pair.failed = !end_init(&pair.ends[0], fds[0]) || !end_init(&pair.ends[1], fds[1]);
	message = repeat(message_pass, &pair) / 1e3;
	for (size_t i = 0; i < 2; i++) {
		close(pair.ends[i].epoll);
		close(fds[i]);
	}
	if (pair.failed || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, turns) < 0)
		return errorf(e, "messages over a socket pair: %s", strerror(errno));
	woken = turns_measure(turns[0], turns[1], &passed);
	close(turns[0]);
	if (woken < 0)
		return errorf(e, "messages to another process: %s", strerror(errno));
	/* the additional time if the receiver sleeps */
	c->wake_us = woken > message + 0.1 ? woken - message : 0.1;
	c->latency_us = passed > woken + 0.1 ? passed - woken : 0.1;
	return 0;
}

/* ---- bytes ---- */

struct cipher {
	EVP_CIPHER_CTX *context;
	unsigned char *in, *out;
	int bytes;
	bool failed;
};

static void record_encrypt(void *arg)
{
	static const unsigned char key[16] = {1}, iv[12] = {2};
	unsigned char tag[16];
	struct cipher *cipher = arg;
	int n;

	cipher->failed |=
		EVP_EncryptInit_ex(cipher->context, EVP_aes_128_gcm(), NULL, key, iv) != 1 ||
		EVP_EncryptUpdate(cipher->context, cipher->out, &n, cipher->in, cipher->bytes) !=
			1 ||
		EVP_EncryptFinal_ex(cipher->context, cipher->out + n, &n) != 1 ||
		EVP_CIPHER_CTX_ctrl(cipher->context, EVP_CTRL_GCM_GET_TAG, sizeof(tag), tag) != 1;
}

static void block_copy(void *arg)
{
	struct cipher *cipher = arg;

	memcpy(cipher->out, cipher->in, BLOCK_BYTES);
	/* or the compiler would remove the copy */
	__asm__ volatile("" : : "r"(cipher->out) : "memory");
}

static int bytes_measure(struct calibration *c, struct error *e)
{
	struct cipher cipher = {
		.context = EVP_CIPHER_CTX_new(),
		.in = memory_new(1, BLOCK_BYTES),
		.out = memory_new(1, BLOCK_BYTES),
	};
	double small, large;

	cipher.failed = cipher.context == NULL;
	cipher.bytes = MESSAGE_BYTES;
	small = repeat(record_encrypt, &cipher);
	cipher.bytes = RECORD_BYTES;
	large = repeat(record_encrypt, &cipher);
	c->encrypt_ns = (large - small) / (RECORD_BYTES - MESSAGE_BYTES);
	c->copy_ns = repeat(block_copy, &cipher) / BLOCK_BYTES;
	EVP_CIPHER_CTX_free(cipher.context);
	free(cipher.in);
	free(cipher.out);
	return cipher.failed ? errorf(e, "OpenSSL has no AES-128-GCM") : 0;
}

/* ---- tuples ---- */

static void elements_read(void *arg)
{
	uint64_t inverse = element_inverse(CAPACITY), number;
	struct tuple tuple;

	for (size_t i = 0; i < ELEMENTS; i++) {
		const char *ring = (const char *)arg + i * element_ring_bytes(CAPACITY);

		element_latest((const void *)ring, CAPACITY, inverse, &tuple, &number);
		__asm__ volatile("" : : "r"(&tuple) : "memory");
	}
}

static void reading_measure(struct calibration *c)
{
	size_t bytes = element_ring_bytes(CAPACITY);
	char *rings = aligned_alloc(64, ELEMENTS * bytes);
	struct element_writer writer;
	struct tuple tuple = {0};

	if (rings == NULL)
		abort();
	memset(rings, 0, ELEMENTS * bytes);
	for (size_t i = 0; i < ELEMENTS; i++) {
		element_writer_init(&writer, (void *)(rings + i * bytes), CAPACITY);
		element_write(&writer, &tuple);
	}
	c->read_ns = repeat(elements_read, rings) / ELEMENTS;
	free(rings);
}

/* Elements of a leaf: threads with some elements each, and the newest tuple of each. */
#define ELEMENTS_OF_THREAD 8u

struct staged {
	struct names *names;
	struct stage *stage;
	struct batch batch;
};

static void names_set(struct names *names)
{
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		char *name = memory_format("/c/n/rank%u/t0/channel%u", i / ELEMENTS_OF_THREAD,
					   i % ELEMENTS_OF_THREAD);

		names_learn(names, i + 1, LEVEL_ELEMENT, (int32_t)(i / ELEMENTS_OF_THREAD), 0,
			    name);
		free(name);
	}
}

/* Makes the batch anew each time, as that is part of the cost of a tuple. */
static void batch_reduce(void *arg)
{
	struct staged *staged = arg;
	struct ask ask = {.wave = 1};
	struct part *part;

	batch_clear(&staged->batch);
	part = batch_add(&staged->batch, RUN_PART, 0, 1, 1, 0);
	*part = (struct part){.clock = {.ns_per_tick = 1}, .elements = ELEMENTS, .read = ELEMENTS};
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		struct tuple *tuple = batch_add(&staged->batch, RUN_TUPLES, i + 1, 1, 1, 0);

		*tuple = (struct tuple){.start = i, .end = i + 1};
	}
	staged->stage->ops->apply(staged->stage, &ask, &staged->batch);
}

static int stage_measure(struct calibration *c, struct error *e)
{
	struct staged staged = {.names = names_new(0)};

	names_set(staged.names);
	staged.stage = stage_new(stage_find("reduce"), LEVEL_THREAD, staged.names, "last", e);
	if (staged.stage == NULL) {
		names_free(staged.names);
		return -1;
	}
	batch_init(&staged.batch);
	c->stage_ns = repeat(batch_reduce, &staged) / ELEMENTS;
	batch_fini(&staged.batch);
	stage_free(staged.stage);
	names_free(staged.names);
	return 0;
}

int calibrate_all(struct calibration *c, const char *program, struct error *e)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	*c = (struct calibration){.cores = cores > 0 ? (unsigned)cores : 1, .measured = true};
	reading_measure(c);
	if (bytes_measure(c, e) < 0 || messages_measure(c, e) < 0 || stage_measure(c, e) < 0)
		return -1;
	return calibrate_tree(c, program, e);
}
