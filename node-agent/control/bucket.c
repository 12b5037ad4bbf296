/* SPDX-License-Identifier: BSD-3-Clause */
/* A token bucket that is paid afterwards. */
#include "node-agent/control/bucket.h"

#include <math.h>

/* What flows in for so long is kept for later, and two waves; and so long a debt lasts at most, so
 * that nobody is shut out. */
#define KEPT_S 1.0
#define KEPT   2
#define DEBT_S 10.0

/* Weight of a new wave in the average. */
#define NEW 0.1

static void bucket_flow(struct bucket *b, uint64_t now_ns)
{
	double most = b->part * KEPT_S + KEPT * b->wave_s;

	b->level += b->part * (double)(now_ns - b->now_ns) * 1e-9;
	b->level = fmin(fmax(b->level, -b->part * DEBT_S), most);
	b->now_ns = now_ns;
}

void bucket_set(struct bucket *b, double part, uint64_t now_ns)
{
	if (isfinite(b->part) && b->part > 0 && isfinite(part)) {
		bucket_flow(b, now_ns);
		/* a debt lasts as long as before */
		b->level *= part / b->part;
	} else {
		b->level = 0;
	}
	b->part = part;
	b->now_ns = now_ns;
}

void bucket_pay(struct bucket *b, double seconds, uint64_t waves, uint64_t now_ns)
{
	double each = waves ? seconds / (double)waves : 0;

	if (!waves || isinf(b->part))
		return;
	bucket_flow(b, now_ns);
	b->wave_s += (b->wave_s > 0 ? NEW : 1) * (each - b->wave_s);
	b->level -= seconds;
}

double bucket_leave(struct bucket *b, unsigned under_way, uint64_t now_ns)
{
	if (isinf(b->part))
		return 0;
	bucket_flow(b, now_ns);
	b->level -= under_way * (b->wave_s > 0 ? b->wave_s : b->part * KEPT_S);
	return fmax(0, -b->level);
}

void bucket_add(struct bucket *b, const struct bucket *other)
{
	b->level += fmin(other->level, 0);
	if (b->wave_s <= 0)
		b->wave_s = other->wave_s;
}

uint32_t bucket_room(struct bucket *b, unsigned under_way, uint64_t now_ns)
{
	double room;

	if (isinf(b->part))
		return UINT32_MAX;
	bucket_flow(b, now_ns);
	if (b->wave_s <= 0)
		return under_way == 0 && b->level >= 0;
	room = floor(b->level / b->wave_s) + 1 - under_way;
	return room > 0 ? (uint32_t)fmin(room, UINT32_MAX) : 0;
}

double bucket_wait(const struct bucket *b, unsigned under_way)
{
	double needed = under_way * b->wave_s - b->level;

	return needed > 0 ? needed / b->part : 0;
}
