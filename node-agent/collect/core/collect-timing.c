/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses operations at random, times the collector in them, and adds that up in the segment. */
#include "node-agent/collect/core/collect-timing.h"

#include "node-agent/collect/core/collect-enter.h"

/** Events from one that is timed to the next: 1 to this, 64 on average. */
#define GAP_MOST 127u

/** Operations of others after which one that is to be timed is no longer waited for. */
#define PATIENCE 4096u

/** Timed operations of a thread after which the mean of the process is written anew. */
#define PUBLISH_EVERY 64u

uint64_t collect_timing_random(void)
{
	uint64_t x = collect_self.chance;

	if (!x)
		x = (collect_now() ^ (uintptr_t)&collect_self) * UINT64_C(0x9e3779b97f4a7c15) | 1;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	collect_self.chance = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

static unsigned gap(void)
{
	return 1 + (unsigned)(collect_timing_random() % GAP_MOST);
}

/* Stop when @n more events were written, or at the end of the ring with the rest to go. */
static void stop_set(struct collect_thread *self, unsigned channel, unsigned n)
{
	struct element_writer *w = &self->writers[channel];
	size_t room = 0;

	if (w->ring) {
		if (w->next == w->end)
			w->next = w->ring->slots;
		room = (size_t)(w->end - w->next);
		w->stop = n < room ? w->next + n : w->end;
	}
	self->left[channel] = (uint8_t)(n < room ? 0 : n - room);
}

/* The writer of @channel stands at its stop, or there is none as the channel is split: is its
 * event, which is not @written yet or has just been, the one that was chosen? Chooses the next one.
 */
static bool is_timed(struct collect_thread *self, unsigned channel, bool written)
{
	bool first = !(self->drawn >> channel & 1);
	bool chosen = !first && self->left[channel] == 0;

	self->drawn |= (uint16_t)(1u << channel);
	stop_set(self, channel, (first || chosen ? gap() : self->left[channel]) - written);
	return chosen;
}

static uint64_t completions(const struct collect_thread *self)
{
	const struct element_ring *ring = self->writers[CHANNEL_COMPLETION].ring;

	return ring ? element_head(ring) : 0;
}

bool collect_timing_room(unsigned channel)
{
	struct collect_thread *self = &collect_self;

	if (!self->writers[channel].ring)
		return false;
	if (is_timed(self, channel, false) && self->timed) {
		self->completions = completions(self);
		self->extra = 0;
		self->timing = collect_now();
	}
	return true;
}

void collect_timing_written(unsigned channel)
{
	struct collect_thread *self = &collect_self;

	/* completions are part of the operations that they come with */
	if (!is_timed(self, channel, true) || !self->timed || self->armed ||
	    channel == CHANNEL_COMPLETION)
		return;
	self->armed = (uint8_t)(channel + 1);
	self->patience = PATIENCE;
	self->idle = COLLECT_CAREFUL;
}

void collect_timing_begin(unsigned channel)
{
	struct collect_thread *self = &collect_self;
	bool meant = self->armed == channel + 1;

	if (!meant && --self->patience)
		return;
	self->armed = 0;
	self->idle = collect_timing_idle(self);
	if (!meant)
		return;
	self->completions = completions(self);
	self->timing = collect_now();
}

void collect_timing_passed(void)
{
	struct collect_thread *self = &collect_self;

	if (self->passes == 0)
		self->passes = (uint8_t)(1 + gap());
	else if (self->passes > 1 && --self->passes == 1 && self->timed) {
		self->patience = PATIENCE;
		self->idle = COLLECT_CAREFUL;
	}
}

unsigned collect_timing_pass(unsigned mode, uint64_t since)
{
	struct collect_thread *self = &collect_self;
	bool samples = mode == MODE_SAMPLE;

	if (!samples && mode != COLLECT_PASSED && --self->patience)
		return mode;
	self->passes = 0;
	self->idle = collect_timing_idle(self);
	if (!samples && mode != COLLECT_PASSED)
		return mode;
	/* who only samples would have entered in line, and reads the clock at its begin */
	self->timing = samples ? collect_now() : since;
	self->extra = samples ? 1 : 2;
	return COLLECT_TRACE_MONO;
}

/* What the readings cost that the operation would not have made. */
static uint64_t extra(unsigned n)
{
	uint64_t since = collect_now();

	return n * (collect_now() - since);
}

/* Now, when all before has been done. */
static uint64_t now_after(void)
{
#if defined(__x86_64__)
	_mm_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
	return collect_now();
}

/* The mean over all events of the process that were timed, in ps. */
static void publish(const struct segment *s)
{
	struct segment_timed_sum sums[CHANNEL_PROGRAMS] = {{0}}, all = {0};
	const struct clock_pair *born = &s->header->born;
	struct clock_pair now;
	double ns;

	segment_timed_read(s, sums);
	for (unsigned c = 0; c < CHANNEL_PROGRAMS; c++) {
		all.n += sums[c].n + sums[c].more;
		all.ticks += sums[c].ticks;
	}
	now = (struct clock_pair){collect_now(), clock_mono_ns()};
	if (all.n == 0 || now.ticks <= born->ticks || now.mono_ns <= born->mono_ns)
		return;
	ns = (double)all.ticks / (double)all.n * (double)(now.mono_ns - born->mono_ns) /
	     (double)(now.ticks - born->ticks);
	atomic_store_explicit(&s->header->cost_ps, (uint32_t)(ns * 1000), memory_order_relaxed);
}

void collect_timing_end(uint64_t start, uint64_t end, unsigned channel)
{
	struct collect_thread *self = &collect_self;
	uint64_t now = now_after(), since = self->timing, own;
	struct segment_timed *timed = self->timed ? &self->timed[channel] : NULL;
	unsigned passed = self->extra;

	self->timing = 0;
	self->extra = 0;
	/* not in modes without a clock, and not what began before, or has no duration */
	if (!timed || start < since || end <= start || now < end)
		return;
	own = start - since + (now - end);
	if (own >= SEGMENT_TIMED_MOST) {
		collect_add(&timed->cut, 1);
		return;
	}
	if (passed) {
		uint64_t lacks = extra(passed);

		collect_add(&timed->passed, 1);
		collect_add(&timed->passed_ticks, own > lacks ? own - lacks : 0);
		return;
	}
	collect_add(&timed->n, 1);
	collect_add(&timed->ticks, own);
	collect_add(&timed->squares, own * own);
	collect_add(&timed->more, completions(self) - self->completions);
	own = atomic_load_explicit(&timed->n, memory_order_relaxed);
	if (own % PUBLISH_EVERY == 0 || (own & (own - 1)) == 0)
		publish(self->segment);
}
