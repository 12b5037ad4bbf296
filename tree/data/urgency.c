/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides how urgent an agent is: as was asked, more while that would miss deadlines. */
#include "tree/data/urgency.h"

#include <stddef.h>
#include <string.h>

static const char *const words[] = {
	[URGENCY_UNSAID] = "",
	[URGENCY_IDLE] = "idle",
	[URGENCY_BATCH] = "batch",
	[URGENCY_NORMAL] = "normal",
};

const char *urgency_word(enum urgency urgency)
{
	return words[urgency];
}

int urgency_parse(const char *text, enum urgency *urgency, struct error *e)
{
	for (size_t i = URGENCY_IDLE; i <= URGENCY_NORMAL; i++) {
		if (strcmp(text, words[i]) != 0)
			continue;
		*urgency = (enum urgency)i;
		return 0;
	}
	return errorf(e, "it is idle, batch or normal");
}

enum urgency urgency_asked(uint32_t said)
{
	return said >= URGENCY_IDLE && said <= URGENCY_NORMAL ? (enum urgency)said
							      : URGENCY_DEFAULT;
}

static enum urgency lifted(const struct urgency_lift *lift, const struct urgency_seen *seen)
{
	unsigned to = seen->asked + lift->steps;

	return to < seen->ceiling ? (enum urgency)to : seen->ceiling;
}

/* Twice as long if the last one was of no use for long. */
static uint64_t hold_next(const struct urgency_lift *lift, uint64_t now)
{
	if (lift->hold_ns == 0 || now >= lift->until_ns + URGENCY_HOLD_MOST_NS)
		return URGENCY_HOLD_FIRST_NS;
	return 2 * lift->hold_ns < URGENCY_HOLD_MOST_NS ? 2 * lift->hold_ns : URGENCY_HOLD_MOST_NS;
}

enum urgency urgency_decide(struct urgency_lift *lift, const struct urgency_seen *seen)
{
	if (seen->waited_ns > seen->patience_ns && lifted(lift, seen) < seen->ceiling) {
		lift->hold_ns = hold_next(lift, seen->now_ns);
		lift->until_ns = seen->now_ns + lift->hold_ns;
		lift->steps++;
	} else if (lift->steps > 0 && seen->now_ns >= lift->until_ns) {
		lift->steps--;
		lift->until_ns = seen->now_ns + (lift->steps > 0 ? lift->hold_ns : 0);
	}
	return lifted(lift, seen);
}
