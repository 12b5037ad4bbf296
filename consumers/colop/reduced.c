/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes collective operations that the tree has joined on their way (stage `meet`), instead of
 * their events. */
#include "consumers/colop/colop.h"

#include "consumers/client/evspace-call.h"
#include "tree/data/op.h"

/* Most that are open: 25 MB. */
#define OPEN_MOST 100000u

static void take_sum(void *arg, const struct meeting_sum *sum, enum meeting_gap gap)
{
	struct colop *c = arg;

	if (gap != MEETING_WHOLE)
		return;
	evenness_add(c->evenness, sum->meet.comm, sum->meet.number);
	lateness_add_sum(c->lateness, sum);
}

struct meeting_sums *reduced_new(struct colop *c)
{
	return meeting_sums_new(OPEN_MOST, take_sum, c);
}

static void take_piece(struct colop *c, const struct evspace_meeting *m,
		       attendance_members *members)
{
	const struct attendance_entry *who = attendance_find(c->attendance, m->who, m->rank);
	const struct meeting_sum piece = {
		.meet = {.start = (uint64_t)m->start_ns,
			 .before = (uint64_t)m->before_ns,
			 .last = (uint64_t)m->last_ns,
			 .end = (uint64_t)m->end_ns,
			 .last_end = (uint64_t)m->last_end_ns,
			 .waited = m->waited_ns,
			 .bytes = m->bytes,
			 .comm = m->comm,
			 .number = m->number,
			 .count = m->count,
			 .who = who->process,
			 .op = m->op_number,
			 .magnitude = (uint8_t)m->magnitude,
			 .flags = (uint8_t)((m->hosts ? MEET_HOSTS : 0) |
					    (m->mixed ? MEET_MIXED : 0))},
		.size = m->size,
		.root = m->root,
		.host = who->host,
		.site = who->site,
		.place = attendance_place(c->attendance, m->comm, m->rank, members,
					  c->follow.client),
		.error_ns = m->error_ns,
	};

	meeting_sums_add(c->sums, &piece);
}

bool reduced_take(struct colop *c, attendance_members *members)
{
	struct evspace_meeting m;
	bool any = false;

	for (; evspace_meeting(c->follow.client, &m); any = true) {
		/* the tree knows them by what each task has counted (analysis/group-number.h) */
		if (op_is_pvm(m.op_number))
			c->grouped += m.count;
		else
			take_piece(c, &m, members);
	}
	if (arrivals_are_read(c->follow.client))
		meeting_sums_turn(c->sums);
	return any;
}
