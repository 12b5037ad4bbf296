/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts blocks of collectives, times them, and switches modes between them. */
#include "node-agent/collect/core/trial.h"

#include "node-agent/collect/core/collect.h"
#include "node-agent/segment/segment-trial.h"
#include "tree/data/op-table.h"

enum stage { WAITING, WASHING, TIMING };

/* How far this process is. */
static struct {
	_Atomic uint32_t busy; /* a thread is at it */
	uint32_t serial;
	enum stage stage;
	uint32_t next; /* number of the call at which it goes on */
	uint32_t block;
	unsigned arm;
	uint64_t since;
} trial;

/* A consistent copy of what the control page says. */
struct trial_order {
	uint32_t serial, length, wash;
	unsigned arms;
	uint64_t seed, until_mono_ns;
};

static bool trial_said(const struct segment_trial *t, struct trial_order *said)
{
	*said = (struct trial_order){
		.serial = atomic_load(&t->serial),
		.length = atomic_load(&t->length),
		.wash = atomic_load(&t->wash),
		.arms = atomic_load(&t->arms),
		.seed = atomic_load(&t->seed),
		.until_mono_ns = atomic_load(&t->until_mono_ns),
	};
	return said->length > 0 && said->length <= TRIAL_LENGTH_MAX && said->wash < said->length &&
	       said->arms > 0 && said->arms <= TRIAL_ARMS_MAX;
}

/* Write the block that ends with the call of number @n. */
static void block_write(const struct trial_order *said, const struct collect_classes *classes)
{
	uint64_t on = atomic_load_explicit(&classes->on, memory_order_relaxed);
	struct tuple t;

	collect_fill(&t, OP_EVSPACE_BLOCK, classes->comm, (int32_t)trial.arm, trial.block,
		     said->length - said->wash);
	/* then other ranks may have begun theirs elsewhere */
	if (on & element_word(0, element_half(0, TUPLE_UNNUMBERED)))
		t.flags |= TUPLE_UNNUMBERED;
	t.start = trial.since;
	t.end = collect_now();
	if (t.end >= t.start)
		collect_append(&t, CHANNEL_USER, CHANNEL_USER);
}

/* The call of number @n, with which a block may begin. */
static void block_begin(struct segment *s, const struct trial_order *said, uint32_t n)
{
	if (n % said->length) {
		trial.stage = WAITING;
		trial.next = n - n % said->length + said->length;
		return;
	}
	trial.block = n / said->length;
	trial.arm = trial_arm(said->seed, trial.block, said->arms);
	trial.stage = WASHING;
	trial.next = n + said->wash;
	segment_trial_arm(s, trial.arm);
}

static void trial_step(struct segment *s, struct segment_control *control,
		       const struct trial_order *said, const struct collect_classes *classes,
		       uint32_t n)
{
	if (trial.stage == TIMING && n == trial.next)
		block_write(said, classes);
	if (trial.stage != WASHING || n != trial.next) {
		if (said->until_mono_ns <= clock_mono_ns()) {
			segment_trial_end(control, s);
			return;
		}
		block_begin(s, said, n);
	}
	if (trial.stage == WASHING && n >= trial.next) {
		trial.stage = TIMING;
		trial.next = n - n % said->length + said->length;
		trial.since = collect_now();
	}
}

unsigned collect_trial(struct collect_caller caller, const struct collect_classes *classes)
{
	struct segment *s = collect_self.segment;
	struct segment_control *control = (void *)((char *)s->header + s->layout.control_at);
	uint32_t n = atomic_load_explicit(&classes->next, memory_order_relaxed);
	uint64_t state = collect_self.state;
	struct trial_order said;
	unsigned mode;

	if (!trial_said(&control->trial, &said) || atomic_exchange(&trial.busy, 1))
		return MODE_TRACE;
	if (trial.serial != said.serial) {
		trial.serial = said.serial;
		trial.stage = WAITING;
		trial.next = n;
	}
	if (n >= trial.next) {
		/* signal handlers that call the library are inside */
		collect_self.site = caller.site;
		atomic_signal_fence(memory_order_seq_cst);
		collect_self.state = caller.frame + MODE_OFF;
		atomic_signal_fence(memory_order_seq_cst);
		trial_step(s, control, &said, classes, n);
		atomic_signal_fence(memory_order_seq_cst);
		collect_self.state = state;
	}
	mode = trial.stage == WAITING ? MODE_TRACE : segment_trial_mode(control, trial.arm);
	atomic_store(&trial.busy, 0);
	return mode;
}
