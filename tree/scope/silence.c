/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges by what can be seen of a silent agent's host and process. */
#include "tree/scope/silence.h"

enum silence silence_judge(const struct silence_signs *signs)
{
	if (!signs->acknowledged)
		return SILENCE_CUT;
	switch (signs->state) {
	case 'R':
		return SILENCE_STARVED;
	case 'T':
	case 't':
		return SILENCE_STOPPED;
	case '?':
		return signs->meek ? SILENCE_MEEK : SILENCE_HUNG;
	default:
		return SILENCE_HUNG;
	}
}

bool silence_is_late(enum silence silence)
{
	return silence >= SILENCE_STARVED;
}

const char *silence_words(enum silence silence)
{
	static const char *const words[] = {
		[SILENCE_CUT] = "cut off: its host acknowledges nothing",
		[SILENCE_STOPPED] = "stopped: by a signal",
		[SILENCE_HUNG] = "it does not answer, but its host does",
		[SILENCE_STARVED] = "starved: it waits for a core",
		[SILENCE_MEEK] =
			"starved, perhaps: it takes idle cores only, and its host is there",
	};

	return words[silence];
}
