/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets modes for an experiment, and puts back what was there before. */
#include "node-agent/segment/segment-trial.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Channels whose calls are numbered. */
#define NUMBERED (1u << CHANNEL_COLLECTIVE | 1u << CHANNEL_RMA | 1u << CHANNEL_IO)

/* A mode in 6 bits, five in a word. */
#define KEPT_BITS   6u
#define KEPT_WORD   5u
#define KEPT_MASK   63u
#define KEPT_FRESH  63u
#define KEPT_MISSED 32u

_Static_assert(MODE_ONE_IN + ONE_IN_MOST < KEPT_MISSED, "modes of classes have 5 bits");

static uint32_t kept_of(uint8_t mode)
{
	if (mode == MODE_FRESH)
		return KEPT_FRESH;
	return (mode & (KEPT_MISSED - 1)) | (mode & MODE_MISSED ? KEPT_MISSED : 0);
}

static uint8_t kept_mode(const struct segment_trial *t, uint32_t i)
{
	uint32_t kept = atomic_load(&t->before[i / KEPT_WORD]) >> i % KEPT_WORD * KEPT_BITS;

	if ((kept & KEPT_MASK) == KEPT_FRESH)
		return MODE_FRESH;
	return (uint8_t)((kept & (KEPT_MISSED - 1)) | (kept & KEPT_MISSED ? MODE_MISSED : 0));
}

/* The class of collectives on @comm; UINT32_MAX: there is none. */
static uint32_t class_of(const struct segment *s, uint32_t comm)
{
	uint32_t n = segment_classes(s);
	struct segment_class_sum sum;

	for (uint32_t i = CHANNEL_MAX; i < n; i++)
		if (segment_class_read(s, i, &sum) == 0 && sum.comm == comm &&
		    sum.channel == CHANNEL_COLLECTIVE)
			return i;
	return UINT32_MAX;
}

/* ---- the lease ---- */

static void keep(struct segment_control *control, const struct segment *s)
{
	struct segment_trial *t = &control->trial;

	atomic_store(&t->classes, segment_classes(s));
	for (unsigned i = 0; i < CHANNEL_MAX; i++) {
		atomic_store(&t->fresh[i], atomic_load(&control->fresh[i]));
		atomic_store(&t->quiet[i], atomic_load(&control->quiet[i]));
	}
	for (unsigned i = 0; i < SEGMENT_CLASSES_MAX; i += KEPT_WORD) {
		uint32_t word = 0;

		for (unsigned k = 0; k < KEPT_WORD && i + k < SEGMENT_CLASSES_MAX; k++)
			word |= kept_of(atomic_load(&control->mode[i + k])) << k * KEPT_BITS;
		atomic_store(&t->before[i / KEPT_WORD], word);
	}
}

int segment_lease_check(const struct segment_control *control, uint64_t id, struct error *e)
{
	const struct segment_trial *t = &control->trial;
	uint32_t class = atomic_load(&t->class);
	uint64_t now = clock_mono_ns(), until = atomic_load(&t->until_mono_ns);
	char holder[SEGMENT_HOLDER];

	if (!class || (class != SEGMENT_TRIAL_ENDING && atomic_load(&t->seed) == id))
		return 0;
	for (unsigned i = 0; i < SEGMENT_HOLDER; i++)
		holder[i] = (char)atomic_load(&t->holder[i]);
	holder[SEGMENT_HOLDER - 1] = '\0';
	errno = EBUSY;
	if (class == SEGMENT_TRIAL_ENDING)
		return errorf(e, "modes are being put back, which %s held", holder);
	return errorf(e, "%s by %s for up to %llu s more",
		      class == SEGMENT_TRIAL_HELD ? "modes are held" : "an experiment is under way",
		      holder,
		      (unsigned long long)(until > now ? (until - now) / 1000000000 + 1 : 0));
}

/* Write who holds the modes, and what was before; who holds them already only goes on. The class
 * says then that it is complete. */
static int lease_begin(struct segment_control *control, const struct segment *s,
		       const struct segment_lease *lease, struct error *e)
{
	struct segment_trial *t = &control->trial;
	size_t length = strnlen(lease->holder, SEGMENT_HOLDER - 1);

	if (s->said.trials != SEGMENT_TRIALS) {
		errno = ENOTSUP;
		return errorf(e, "the program's collector is of a release without experiments");
	}
	if (segment_lease_check(control, lease->id, e))
		return -1;
	atomic_store(&t->until_mono_ns, lease->until_mono_ns);
	if (atomic_load(&t->class))
		return 0;
	keep(control, s);
	atomic_store(&t->seed, lease->id);
	for (unsigned i = 0; i < SEGMENT_HOLDER; i++)
		atomic_store(&t->holder[i], (uint8_t)(i < length ? lease->holder[i] : '\0'));
	return 0;
}

int segment_lease_take(struct segment_control *control, const struct segment *s,
		       const struct segment_lease *lease, struct error *e)
{
	uint32_t none = 0;

	if (lease_begin(control, s, lease, e))
		return -1;
	/* an experiment of its own goes on */
	atomic_compare_exchange_strong(&control->trial.class, &none, SEGMENT_TRIAL_HELD);
	return 0;
}

int segment_lease_keep(struct segment_control *control, uint64_t id)
{
	uint32_t held = SEGMENT_TRIAL_HELD;

	return atomic_load(&control->trial.seed) == id &&
	       atomic_compare_exchange_strong(&control->trial.class, &held, 0);
}

/* ---- experiments ---- */

static int plan_check(const struct segment_trial_plan *plan, struct error *e)
{
	bool good = plan->length > 0 && plan->length <= TRIAL_LENGTH_MAX &&
		    plan->wash < plan->length && plan->arms > 0 && plan->arms <= TRIAL_ARMS_MAX;

	for (unsigned i = 0; good && i < plan->arms; i++)
		good = (segment_mode_valid(plan->mode[i]) || plan->mode[i] == MODE_FRESH) &&
		       plan->channels[i] >> CHANNEL_MAX == 0;
	if (good)
		return 0;
	errno = EINVAL;
	return errorf(e, "the experiment's blocks or arms are not valid");
}

/* Does none of its arms change a mode? Then who has the experiment may do so while it runs. */
static bool is_left(const struct segment_trial_plan *plan)
{
	for (unsigned i = 0; i < plan->arms; i++)
		if (plan->mode[i] != MODE_FRESH)
			return false;
	return true;
}

static uint8_t left_mode(unsigned mode)
{
	return (uint8_t)(MODE_LEFT | (mode & (KEPT_MISSED - 1)));
}

int segment_trial_begin(struct segment_control *control, const struct segment *s,
			const struct segment_trial_plan *plan, struct error *e)
{
	struct segment_trial *t = &control->trial;
	uint32_t class = class_of(s, plan->comm), held = atomic_load(&t->class);

	if (plan_check(plan, e))
		return -1;
	/* also if it is its own: the program reads its plan */
	if (held && held != SEGMENT_TRIAL_HELD)
		return segment_lease_check(control, ~atomic_load(&t->seed), e);
	if (class == UINT32_MAX) {
		errno = ENOENT;
		return errorf(e, "the program has made no collective there yet");
	}
	if (lease_begin(control, s, &plan->lease, e))
		return -1;
	atomic_store(&t->length, plan->length);
	atomic_store(&t->wash, plan->wash);
	for (unsigned i = 0; i < plan->arms; i++) {
		atomic_store(&t->mode[i], is_left(plan)
						  ? left_mode(atomic_load(&control->mode[class]))
						  : plan->mode[i]);
		atomic_store(&t->channels[i], (uint16_t)plan->channels[i]);
	}
	atomic_store(&t->arms, (uint8_t)plan->arms);
	atomic_store(&t->serial, (uint32_t)clock_mono_ns());
	atomic_store(&t->class, class + 1);
	atomic_store(&control->mode[class], MODE_TRIAL);
	atomic_store(&control->quiet[CHANNEL_COLLECTIVE], 0);
	return 0;
}

int segment_trial_active(const struct segment_control *control)
{
	return atomic_load(&control->trial.class) != 0;
}

int segment_trial_late(const struct segment_control *control, uint64_t now_ns)
{
	const struct segment_trial *t = &control->trial;
	uint32_t class = atomic_load(&t->class);
	uint64_t until = atomic_load(&t->until_mono_ns);

	return class && (class == SEGMENT_TRIAL_ENDING || until <= now_ns ||
			 until - now_ns > 2 * SEGMENT_LEASE_MOST_MS * UINT64_C(1000000));
}

/* Put the modes back, but for that of class number @own less 1; 0: of all. */
static void restore(struct segment_control *control, const struct segment *s, uint32_t own)
{
	struct segment_trial *t = &control->trial;
	uint32_t classes = atomic_load(&t->classes);

	for (unsigned i = 0; i < CHANNEL_MAX; i++) {
		bool counted = own && i == CHANNEL_COLLECTIVE;

		atomic_store(&control->fresh[i], atomic_load(&t->fresh[i]));
		atomic_store(&control->quiet[i], counted ? 0 : atomic_load(&t->quiet[i]));
	}
	for (uint32_t i = 0; i < segment_classes(s) && i < SEGMENT_CLASSES_MAX; i++) {
		const struct segment_class *c = segment_class(s, i);
		unsigned channel = c ? *(const volatile uint16_t *)&c->channel : CHANNEL_MAX;

		if (i + 1 == own)
			continue;
		if (i < classes)
			atomic_store(&control->mode[i], kept_mode(t, i));
		else if (channel < CHANNEL_MAX)
			atomic_store(&control->mode[i], atomic_load(&t->fresh[channel]));
	}
}

int segment_trial_end(struct segment_control *control, const struct segment *s)
{
	uint32_t class = atomic_load(&control->trial.class), ending = SEGMENT_TRIAL_ENDING;

	/* a program that begins an arm meanwhile sees it, and puts back what it has set */
	while (class && class != ending &&
	       !atomic_compare_exchange_weak(&control->trial.class, &class, ending))
		;
	if (!class)
		return 0;
	restore(control, s, 0);
	return atomic_compare_exchange_strong(&control->trial.class, &ending, 0);
}

/* Is @arm of the channel? */
static bool arm_means(const struct segment_trial *t, unsigned arm, unsigned channel)
{
	unsigned channels = atomic_load(&t->channels[arm % TRIAL_ARMS_MAX]);

	return channels == 0 || (channels >> channel & 1);
}

void segment_trial_arm(struct segment *s, unsigned arm)
{
	struct segment_control *control = (void *)((char *)s->header + s->layout.control_at);
	struct segment_trial *t = &control->trial;
	uint32_t own = atomic_load(&t->class);
	uint8_t mode = atomic_load(&t->mode[arm % TRIAL_ARMS_MAX]);
	bool sets = segment_mode_valid(mode);
	uint32_t n;

	/* it has just ended, and modes are as before */
	if (!own || own == SEGMENT_TRIAL_ENDING)
		return;
	if (mode == MODE_FRESH || (sets && atomic_load(&t->channels[arm % TRIAL_ARMS_MAX])))
		restore(control, s, own);
	for (unsigned i = 0; i < CHANNEL_MAX && sets; i++) {
		uint8_t its = mode == MODE_OFF && NUMBERED >> i & 1 ? MODE_COUNT : mode;

		if (!arm_means(t, arm, i))
			continue;
		atomic_store(&control->fresh[i], its);
		atomic_store(&control->quiet[i], its == MODE_OFF);
	}
	n = sets ? segment_classes(s) : 0;
	for (uint32_t i = 0; i < n && i < SEGMENT_CLASSES_MAX; i++) {
		const struct segment_class *c = segment_class(s, i);
		unsigned channel = c ? c->channel : CHANNEL_MAX;

		if (channel < CHANNEL_MAX && i + 1 != own && arm_means(t, arm, channel))
			atomic_store(&control->mode[i], atomic_load(&control->fresh[channel]));
	}
	/* ended meanwhile: who did may not have seen all of this */
	if (atomic_load(&t->class) != own)
		restore(control, s, 0);
}

unsigned segment_trial_mode(const struct segment_control *control, unsigned arm)
{
	const struct segment_trial *t = &control->trial;
	uint32_t own = atomic_load(&t->class);
	unsigned mode = atomic_load(&t->mode[arm % TRIAL_ARMS_MAX]);

	if (!(mode & MODE_LEFT) && !arm_means(t, arm, CHANNEL_COLLECTIVE))
		mode = MODE_FRESH;
	if (mode == MODE_FRESH && own && own <= SEGMENT_CLASSES_MAX)
		mode = kept_mode(t, own - 1) & ~(unsigned)MODE_MISSED;
	if (mode & MODE_LEFT)
		mode &= ~(unsigned)MODE_LEFT;
	return mode == MODE_OFF || !segment_mode_valid(mode) ? MODE_COUNT : mode;
}
