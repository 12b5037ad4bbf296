/* SPDX-License-Identifier: BSD-3-Clause */
/* Says what a stream has lost, and what would help. */
#include "consumers/watch/loss.h"

#include <stdio.h>

#include "consumers/cli/unit.h"
#include "pathmap/base/plural.h"
#include "tree/data/clock.h"

#define TELL_NS 10000000000u

void loss_add(struct loss *loss, const struct evspace_wave *w)
{
	loss->lost += w->lost;
	loss->read += w->read;
}

/* It depends on who has said how often to look. */
static void what_helps(const struct common *common, const struct evspace_wave *w, char *buf,
		       size_t n)
{
	static const char room[] = "more room helps (evspace run --capacity N)";
	const int decimals = w->rate_hz < 10 ? 2 : 0;

	if (w->held_back)
		snprintf(buf, n, "%.*f looks a second cost what they may: --rate max, or %s",
			 decimals, w->rate_hz, room);
	else if (common->look.hurry)
		snprintf(buf, n, "now looking %.*f times a second; if that still loses, %s",
			 decimals, w->rate_hz, room);
	else if (w->rate_hz > 0 && w->needed_hz > w->rate_hz)
		snprintf(buf, n, "--rate %.0f would do, or none, which is as often as it takes",
			 w->needed_hz + 0.5);
	else
		snprintf(buf, n, "%s", room);
}

const char *loss_words(const struct loss *loss, const struct common *common,
		       const struct evspace_wave *w, char *buf)
{
	char some[UNIT_TEXT], all[UNIT_TEXT], helps[LOSS_TEXT / 2];

	buf[0] = '\0';
	if (loss->lost == 0)
		return buf;
	what_helps(common, w, helps, sizeof(helps));
	snprintf(buf, LOSS_TEXT, "%s of %s tuple%s lost; %s", unit_count(some, loss->lost),
		 unit_count(all, loss->lost + loss->read), plural(loss->lost + loss->read, "s"),
		 helps);
	return buf;
}

void loss_tell(struct loss *loss, const char *command, const struct common *common,
	       const struct evspace_wave *w)
{
	uint64_t now = clock_mono_ns();
	char words[LOSS_TEXT];

	if (loss->lost == 0 || (loss->told_ns && now - loss->told_ns < TELL_NS))
		return;
	fprintf(stderr, "evspace %s: %s\n", command, loss_words(loss, common, w, words));
	*loss = (struct loss){.told_ns = now};
}
