/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides between two tellers, by which processes each has in what the other one says. */
#include "tree/data/names-private.h"

bool names_judge_step(struct names_talk *talk, size_t steps)
{
	if (talk->moves < steps) {
		talk->moves = 0;
		talk->slow = true;
		return false;
	}
	talk->moves -= steps;
	return true;
}

enum tellers_has names_judge_in(const struct names *names, struct names_talk *talk, uint32_t teller,
				const struct name_comm *comm)
{
	enum tellers_has best = TELLERS_OTHERS, has;

	if (teller == TELLER_NOBODY)
		return TELLERS_OTHERS;
	if (!comm->members)
		return comm->world && tellers_owns(names->tellers, teller) ? TELLERS_SOLE
									   : TELLERS_OTHERS;
	for (uint32_t i = 0; i < comm->size && names_judge_step(talk, NAMES_LOOK_STEPS); i++) {
		has = tellers_has(names->tellers, teller, comm->members[i]);
		if (has == TELLERS_SOLE)
			return has;
		best = has == TELLERS_CONTESTED ? has : best;
	}
	return best;
}

/* Neither has a process in the other one's word. That proves nothing: they may speak of two
 * communicators. */
static enum verdict judge_apart(const struct names *names, struct names_talk *talk,
				const struct comm *known, const struct name_comm *said, bool *final)
{
	bool old_in = names_judge_in(names, talk, known->teller, &known->comm) > TELLERS_OTHERS;
	bool new_in = names_judge_in(names, talk, talk->teller, said) > TELLERS_OTHERS;

	*final = old_in && new_in;
	if (talk->slow || (old_in && !new_in))
		return KNOWN_HOLDS;
	return talk->teller == TELLER_SELF && !old_in ? NEW_HOLDS : NEITHER_HOLDS;
}

enum verdict names_judge(const struct names *names, struct names_talk *talk,
			 const struct comm *known, const struct name_comm *said, bool *final)
{
	uint32_t old = known->teller, new = talk->teller;
	enum tellers_has old_has, new_has;

	*final = true;
	if (old == new &&new == TELLER_SELF)
		return KNOWN_HOLDS;
	if (old == new)
		return known->shared ? NEITHER_HOLDS : NEW_HOLDS;
	new_has = names_judge_in(names, talk, new, &known->comm);
	old_has = names_judge_in(names, talk, old, said);
	/* A teller that uses up its steps is not believed. */
	if (talk->slow ||
	    (old_has == TELLERS_SOLE && (old == TELLER_SELF || new_has == TELLERS_OTHERS)))
		return KNOWN_HOLDS;
	if (old_has == TELLERS_OTHERS && new_has == TELLERS_OTHERS)
		return judge_apart(names, talk, known, said, final);
	*final = old_has > TELLERS_OTHERS && new_has > TELLERS_OTHERS;
	if (new_has == TELLERS_SOLE &&
	    (new == TELLER_SELF || (old_has == TELLERS_OTHERS && old != TELLER_SELF)))
		return NEW_HOLDS;
	return NEITHER_HOLDS;
}
