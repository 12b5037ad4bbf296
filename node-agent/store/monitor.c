/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a segment while there are readers, and gives each scope a thread's elements and counts. */
#include "node-agent/store/monitor.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/segment/segment.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock-host.h"
#include "tree/data/process.h"

/* Classes: one for each operation group and view. Beyond them, calls are counted without the
 * view. */
#define CLASSES 64u

#define CHANNELS     (CHANNEL_COUNT - CHANNEL_PROGRAMS)
#define CHANNEL_BITS (((1u << CHANNELS) - 1) << CHANNEL_PROGRAMS)

/* How long the measured tick rate is used. */
#define RATE_AGE_NS UINT64_C(1000000000)

/* How long the segment stays without readers: a parent may reconnect, or open another view. */
#define REST_S	    1
#define REST_LOST_S 30

#define CAPACITY_MOST 65536ul

/* Repetitions when the cost of a tuple is measured. */
#define COST_TRIES 64u

/* How often the folder is made again after another monitor removes it. */
#define FOLDER_TRIES 3

/* The thread of the segment that one scope writes. */
struct monitor_lane {
	bool used;
	struct segment_count *counts; /* by class; NULL: not made yet */
	uint32_t classes[CHANNELS];
	struct element_writer writers[CHANNELS]; /* ring NULL: there is none yet */
};

struct monitor {
	struct tracer tracer; /* first: scopes point to it */
	int32_t process;
	bool keep;
	char *base, *dir, *host;
	struct event *rest;
	unsigned wanted;
	uint32_t capacity;
	uint64_t recording; /* its serial */
	struct segment segment;
	struct clock_host clock;
	uint64_t rated_ns;
	double ticks_per_ns;
	struct monitor_lane lanes[MONITOR_SCOPES];
};

/* ---- writing ---- */

static double ticks_per_ns(struct monitor *m, uint64_t now)
{
	enum clock_kind kind = clock_kind();
	struct clock_line line;

	if (m->rated_ns && now - m->rated_ns < RATE_AGE_NS)
		return m->ticks_per_ns;
	clock_host_check(&m->clock, clock_host_slept_ns(), clock_pair_take(kind));
	line = clock_line_through(kind, m->clock.born, clock_pair_take(kind), 0);
	m->ticks_per_ns = line.ns_per_tick > 0 ? 1 / line.ns_per_tick : 1;
	m->rated_ns = now;
	return m->ticks_per_ns;
}

/* Take a free thread, if there is one, for the scope's first tuple of this recording. */
static void lane_take(struct monitor *m, struct span *span)
{
	uint32_t i = 0;

	while (i < MONITOR_SCOPES && m->lanes[i].used)
		i++;
	span->recording = m->recording;
	span->thread = i;
	span->comm = segment_label_make(&m->segment, span->view, strlen(span->view));
	if (i == MONITOR_SCOPES)
		return;
	m->lanes[i].used = true;
	if (!m->lanes[i].counts) {
		segment_thread_add(&m->segment, (uint32_t)getpid());
		m->lanes[i].counts = segment_counts_of(&m->segment, i);
	}
	for (unsigned c = 0; c < CHANNELS; c++)
		m->lanes[i].classes[c] =
			segment_class_make(&m->segment, span->comm, CHANNEL_PROGRAMS + c);
}

static struct element_writer *lane_writer(struct monitor *m, uint32_t thread, unsigned channel)
{
	struct element_writer *w = &m->lanes[thread].writers[channel - CHANNEL_PROGRAMS];
	const struct segment_element *entry;
	const struct segment_element like = {
		.thread = thread,
		.channel = (uint16_t)channel,
		.capacity = m->capacity,
	};

	if (w->ring)
		return w;
	entry = segment_element_add(&m->segment, &like);
	if (!entry)
		return NULL;
	element_writer_init(w, (void *)((char *)m->segment.header + entry->ring_at),
			    entry->capacity);
	return w;
}

static void count_add(_Atomic uint64_t *count, uint64_t n)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static unsigned mode_of(const struct monitor *m, uint32_t class)
{
	const struct segment_control *control =
		(const void *)((const char *)m->segment.header + m->segment.layout.control_at);

	return atomic_load_explicit(&control->mode[class], memory_order_relaxed) &
	       ~(unsigned)MODE_MISSED;
}

static void lane_write(struct monitor *m, const struct span *span, unsigned channel,
		       const struct tuple *t)
{
	const struct monitor_lane *lane = &m->lanes[span->thread];
	uint32_t class = lane->classes[channel - CHANNEL_PROGRAMS];
	unsigned mode = mode_of(m, class);
	struct segment_count *count = &lane->counts[class];
	struct element_writer *w;

	if (mode == MODE_OFF)
		return;
	count_add(&count->calls, 1);
	count_add(&count->bytes, t->bytes);
	count_add(&count->ticks, t->end - t->start);
	if (mode != MODE_TRACE) {
		count_add(&count->skipped, 1);
		return;
	}
	w = lane_writer(m, span->thread, channel);
	if (w)
		element_write(w, t);
	else
		segment_overflow_write(&m->segment);
}

static void monitor_write(struct tracer *tracer, struct span *span, const struct trace *trace)
{
	struct monitor *m = (struct monitor *)tracer;
	uint64_t now = clock_mono_ns(), end = clock_ticks(clock_kind());
	uint64_t ns = now > trace->since_ns ? now - trace->since_ns : 0;
	struct tuple t = {
		.start = end - (uint64_t)((double)ns * ticks_per_ns(m, now)),
		.end = end,
		.bytes = trace->bytes,
		.peer = trace->peer,
		.seq_or_tag = (uint32_t)trace->wave,
		.op = trace->op,
		.flags = trace->flags,
	};
	int channel = op_channel(trace->op);

	if (channel < CHANNEL_PROGRAMS || channel >= CHANNEL_COUNT)
		return;
	if (span->recording != m->recording)
		lane_take(m, span);
	t.comm = span->comm;
	if (span->thread < MONITOR_SCOPES) {
		lane_write(m, span, (unsigned)channel, &t);
		return;
	}
	segment_overflow_write(&m->segment);
	segment_count_share(&m->segment, (uint32_t)channel,
			    &(struct segment_sum){1, t.bytes, t.end - t.start, 0});
}

static void monitor_track_end(struct tracer *tracer, struct span *span)
{
	struct monitor *m = (struct monitor *)tracer;

	if (span->recording == m->recording && span->thread < MONITOR_SCOPES)
		m->lanes[span->thread].used = false;
	span->recording = 0;
}

/* ---- the segment ---- */

/* The cost of one tuple in ps, nearly all of which is reading clocks. */
static uint32_t cost_measure(void)
{
	uint64_t begin = clock_mono_ns();

	for (unsigned i = 0; i < COST_TRIES; i++) {
		(void)clock_mono_ns();
		(void)clock_mono_ns();
		(void)clock_ticks(clock_kind());
	}
	return (uint32_t)((clock_mono_ns() - begin) * 1000 / COST_TRIES);
}

static int folder_make(const char *path, struct error *e)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return errorf(e, "cannot make the folder %s: %s; set EVSPACE_DIR", path, strerror(errno));
}

static int segment_begin(struct monitor *m, struct error *e)
{
	struct segment_plan plan = {
		.dir = m->dir,
		.run = SPAN_RUN,
		.host = m->host,
		.rank = m->process,
		.threads = MONITOR_SCOPES,
		.channels = CHANNEL_BITS,
		.classes = CLASSES,
		.comms = 1,
		.members = 1,
	};
	int rc = -1;

	if (folder_make(m->base, e) < 0)
		return -1;
	for (unsigned c = CHANNEL_PROGRAMS; c < CHANNEL_COUNT; c++)
		plan.capacity[c] = m->capacity;
	/* A monitor that ends recording removes the folder if it is empty. */
	for (int tries = 0; tries < FOLDER_TRIES; tries++) {
		if (folder_make(m->dir, e) < 0)
			return -1;
		rc = segment_create(&m->segment, &plan, e);
		if (rc == 0 || errno != ENOENT)
			break;
	}
	return rc;
}

static void recording_begin(struct monitor *m)
{
	m->segment.header->cost_ps = cost_measure();
	memset(m->lanes, 0, sizeof(m->lanes));
	m->recording++;
	m->tracer.on = true;
}

static void recording_end(struct monitor *m, bool keep)
{
	if (!m->tracer.on)
		return;
	m->tracer.on = false;
	atomic_store_explicit(&m->segment.header->finished, 1, memory_order_release);
	if (!keep)
		unlink(m->segment.path);
	segment_close(&m->segment);
	/* fails if there are segments of other monitors */
	rmdir(m->dir);
}

static void monitor_rest(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *m = arg;

	(void)fd;
	(void)what;
	if (m->wanted == 0)
		recording_end(m, false);
}

int monitor_want(struct monitor *m, struct error *e)
{
	m->wanted++;
	if (m->tracer.on)
		return 0;
	if (segment_begin(m, e) < 0)
		return -1;
	recording_begin(m);
	return 0;
}

void monitor_unwant(struct monitor *m, bool lost)
{
	const struct timeval after = {lost ? REST_LOST_S : REST_S, 0};

	if (--m->wanted == 0)
		evtimer_add(m->rest, &after);
}

/* ---- life ---- */

static uint32_t capacity_read(const char *text)
{
	char *end;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;

	return n >= 2 && n <= CAPACITY_MOST && !*end ? (uint32_t)n : MONITOR_CAPACITY;
}

struct monitor *monitor_new(const struct monitor_plan *plan)
{
	struct monitor *m = memory_new(1, sizeof(*m));

	m->tracer.write = monitor_write;
	m->tracer.end = monitor_track_end;
	m->process = plan->process;
	m->keep = plan->keep;
	m->base = memory_copy(plan->base);
	m->dir = memory_format("%s/%s", plan->base, SPAN_RUN);
	m->host = plan->host ? memory_copy(plan->host) : NULL;
	m->capacity = capacity_read(getenv("EVSPACE_MONITOR_CAPACITY"));
	clock_host_init(&m->clock);
	m->segment.fd = -1;
	m->rest = plan->loop ? evtimer_new(plan->loop, monitor_rest, m) : NULL;
	if (plan->loop && !m->rest)
		abort();
	return m;
}

void monitor_free(struct monitor *m)
{
	if (!m)
		return;
	recording_end(m, m->keep);
	if (m->rest)
		event_free(m->rest);
	free(m->base);
	free(m->dir);
	free(m->host);
	free(m);
}

struct tracer *monitor_tracer(struct monitor *m)
{
	return &m->tracer;
}
