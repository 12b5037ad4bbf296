/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how a child's clock is found out by pings: a child that shows another time, one that does
 * not, and one that does not say. */
#include "tree/scope/child.h"

#include <float.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/peers.h"
#include "tree/data/clock.h"
#include "tree/link/stamp.h"

/* What the child's clock shows when ours shows @ns. */
static uint64_t theirs(uint64_t ns)
{
	return ns + UINT64_C(5000000000) + ns / 5000;
}

static unsigned pings;

static const Evspace__Ping *ping_of(const struct frame *frame)
{
	bool is = frame->header->kind_case == EVSPACE__FRAME__KIND_PING;

	pings += is;
	return is ? frame->header->ping : NULL;
}

static void child_of_host(struct watch *watch, struct link *link, const struct frame *frame)
{
	const Evspace__Ping *ping = ping_of(frame);

	(void)watch;
	if (ping)
		link_send_pong(link, ping);
}

static void child_elsewhere(struct watch *watch, struct link *link, const struct frame *frame)
{
	const Evspace__Ping *ping = ping_of(frame);
	Evspace__Ping pong = EVSPACE__PING__INIT;

	(void)watch;
	if (!ping)
		return;
	pong.answer = true;
	pong.asked_ns = ping->asked_ns;
	pong.got_ns = theirs(link_came_ns(link));
	pong.sent_ns = theirs(clock_mono_ns());
	/* what it says again is no news */
	for (int times = 0; times < 2; times++)
		link_send(link, &WIRE_FRAME(PING, ping, &pong), NULL);
}

/* Of a release that knew no times in pings. */
static void child_of_old(struct watch *watch, struct link *link, const struct frame *frame)
{
	Evspace__Ping pong = EVSPACE__PING__INIT;

	(void)watch;
	pong.answer = true;
	if (ping_of(frame))
		link_send(link, &WIRE_FRAME(PING, ping, &pong), NULL);
}

static void user_nothing(struct child_user *user)
{
	(void)user;
}

static void user_frame(struct child_user *user, const struct frame *frame)
{
	(void)user;
	(void)frame;
}

static const struct child_events events = {user_nothing, user_nothing, user_frame, NULL, NULL};

struct bed {
	struct world w;
	struct child_set *set;
	struct child_user users[2];
};

static struct child_clock *bed_open(struct bed *bed, void (*child)(struct watch *, struct link *,
								   const struct frame *))
{
	*bed = (struct bed){.set = NULL};
	pings = 0;
	world_open(&bed->w);
	bed->w.served.on_frame = child;
	bed->set = child_set_new(bed->w.base, bed->w.consumer);
	for (unsigned i = 0; i < 2; i++)
		child_join(bed->set, &bed->users[i], "w0", bed->w.local_address, &events);
	CU_ASSERT_PTR_EQUAL(child_clock(&bed->users[0]), child_clock(&bed->users[1]));
	return child_clock(&bed->users[0]);
}

static void bed_close(struct bed *bed)
{
	for (unsigned i = 0; i < 2; i++)
		child_leave(&bed->users[i]);
	child_set_free(bed->set);
	world_close(&bed->w);
}

static void of_this_host(void)
{
	struct clock_offset offset;
	struct child_clock *clock;
	struct bed bed;

	clock = bed_open(&bed, child_of_host);
	WAIT(&bed.w, clock->fit.probes >= 5);
	offset = child_clock_offset(clock);
	CU_ASSERT_TRUE(offset.ahead_ns == 0 && offset.drift == 0);
	CU_ASSERT_TRUE(offset.error_ns == 0 && offset.error_drift == 0);
	bed_close(&bed);
}

/* The boot id is the same: a time namespace, for example. */
static void elsewhere(void)
{
	uint64_t now = clock_mono_ns();
	struct clock_offset offset;
	struct child_clock *clock;
	struct bed bed;

	clock = bed_open(&bed, child_elsewhere);
	CU_ASSERT_EQUAL(child_clock_offset(clock).error_ns, DBL_MAX);
	WAIT(&bed.w, clock->fit.probes >= 9);
	offset = child_clock_offset(clock);
	CU_ASSERT_TRUE(offset.error_ns < 1e9);
	CU_ASSERT_TRUE(fabs((double)(clock_offset_ahead_ns(&offset, now) -
				     (int64_t)(theirs(now) - now))) <=
		       clock_offset_error_ns(&offset, now));
	CU_ASSERT_TRUE(fabs(offset.drift - 200e-6) <= offset.error_drift);
	CU_ASSERT_EQUAL(pings, clock->fit.probes);
	bed_close(&bed);
}

static void who_does_not_say(void)
{
	struct child_clock *clock;
	struct bed bed;
	uint64_t now;

	clock = bed_open(&bed, child_of_old);
	WAIT(&bed.w, clock->mute);
	CU_ASSERT_EQUAL(clock->fit.probes, 0);
	now = clock_mono_ns();
	child_clock_hear(clock, &(struct clock_probe){now - 2000, theirs(now - 1000),
						      theirs(now - 1000), now});
	CU_ASSERT_TRUE(fabs((double)(child_clock_offset(clock).ahead_ns -
				     (int64_t)(theirs(now) - now))) <= 1010);
	/* one of many */
	child_clock_hear(clock, &(struct clock_probe){now, theirs(now), theirs(now), now});
	CU_ASSERT_EQUAL(clock->fit.probes, 1);
	CU_ASSERT_EQUAL(pings, 1);
	bed_close(&bed);
}

/* A connection through the kernel's TCP, as links have it. */
static void tcp_pair(int fds[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t n = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CU_ASSERT_EQUAL_FATAL(bind(listener, (void *)&address, n), 0);
	CU_ASSERT_EQUAL_FATAL(listen(listener, 1), 0);
	CU_ASSERT_EQUAL_FATAL(getsockname(listener, (void *)&address, &n), 0);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	CU_ASSERT_EQUAL_FATAL(connect(fds[0], (void *)&address, n), 0);
	fds[1] = accept(listener, NULL, NULL);
	CU_ASSERT_TRUE_FATAL(fds[1] >= 0);
	close(listener);
}

/* What waits to be taken had been received when the kernel says, if CLOCK_REALTIME goes on. */
static void when_it_was_received(void)
{
	struct kernel_stamp stamp = {0};
	uint64_t sent, taken = 0, ns, until = clock_mono_ns() + 2000000000;
	int fds[2], told = 0;
	struct pollfd there;
	char c = 'x';

	tcp_pair(fds);
	there = (struct pollfd){.fd = fds[1], .events = POLLIN};
	stamp_ask(fds[1]);
	/* the kernel takes its time to begin, and reading both clocks may be interrupted */
	while (told < 3 && clock_mono_ns() < until) {
		sent = clock_mono_ns();
		CU_ASSERT_EQUAL_FATAL(send(fds[0], &c, 1, 0), 1);
		CU_ASSERT_EQUAL_FATAL(poll(&there, 1, -1), 1);
		CU_ASSERT_EQUAL_FATAL(stamp_receive(&stamp, fds[1], &c, 1), 1);
		taken = clock_mono_ns();
		ns = stamp_mono_ns(&stamp, taken);
		CU_ASSERT_TRUE(ns >= sent && ns <= taken);
		told += ns < taken;
	}
	if (!told)
		tap_note("this kernel does not say when bytes were received");
	/* it was set meanwhile */
	stamp.ahead_ns += 1000000;
	ns = stamp_mono_ns(&stamp, taken);
	CU_ASSERT_EQUAL(ns, taken);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"two agents of a host have one clock", of_this_host},
		{"a clock that is ahead and fast is found out", elsewhere},
		{"a child of an older release is asked once, and its answers count",
		 who_does_not_say},
		{"what waits was received when the kernel says", when_it_was_received},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "clocks of children",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
