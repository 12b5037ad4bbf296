/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what says which samples are kept. */
#include "pathmap/model/sampling.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/quantity.h"

/* Most bytes of a word, and the most events that can happen. */
#define WORD_BYTES  64
#define EVENTS_MOST 1000000u

/* Copy the next word at *@text to @word, cut, and move *@text past it. False at the end. */
static bool word_take(const char **text, char word[WORD_BYTES])
{
	size_t length;

	*text += strspn(*text, " \t");
	length = strcspn(*text, " \t");
	memset(word, 0, WORD_BYTES);
	memcpy(word, *text, length < WORD_BYTES ? length : WORD_BYTES - 1);
	*text += length;
	return length > 0;
}

static int count_read(const char *key, const char *word, unsigned least, unsigned most,
		      unsigned *count, struct error *e)
{
	return quantity_count(word, least, most, count, e) < 0 ? error_prefix(e, "%s", key) : 0;
}

static int threshold_read(struct sampling *s, const char *word, struct error *e)
{
	char *end;

	errno = 0;
	s->threshold = strtod(word, &end);
	if (!*word || *end || errno || !isfinite(s->threshold) || s->threshold <= 0)
		return errorf(e, "threshold `%s` is no number above 0, such as 0.0005", word);
	return 0;
}

static int every_read(struct sampling *s, const char *word, const char **rest, struct error *e)
{
	char to[WORD_BYTES], most[WORD_BYTES];

	if (!word_take(rest, to) || strcmp(to, "to") != 0 || !word_take(rest, most))
		return errorf(e, "`every` needs two times, as in `every 100us to 10ms`");
	if (quantity_duration(word, 0, &s->fastest_ns, e) < 0 ||
	    quantity_duration(most, 0, &s->slowest_ns, e) < 0)
		return error_prefix(e, "every");
	if (s->fastest_ns < SAMPLING_LEAST_NS || s->slowest_ns > SAMPLING_MOST_NS ||
	    s->fastest_ns > s->slowest_ns)
		return errorf(e,
			      "`every %s to %s` must be from a shorter to a longer time, between "
			      "20us and 10s",
			      word, most);
	return 0;
}

int sampling_parse(struct sampling *sampling, const char *text, bool timed, struct error *e)
{
	struct sampling s = {.window = SAMPLING_WINDOW,
			     .fastest_ns = SAMPLING_FASTEST_NS,
			     .slowest_ns = SAMPLING_SLOWEST_NS};
	char key[WORD_BYTES], word[WORD_BYTES];
	int rc = 0;

	errno = EINVAL;
	while (rc == 0 && word_take(&text, key)) {
		(void)word_take(&text, word);
		if (strcmp(key, "window") == 0)
			rc = count_read(key, word, SAMPLING_WINDOW_LEAST, SAMPLING_WINDOW_MOST,
					&s.window, e);
		else if (strcmp(key, "events") == 0)
			rc = count_read(key, word, 2, EVENTS_MOST, &s.events, e);
		else if (strcmp(key, "threshold") == 0)
			rc = threshold_read(&s, word, e);
		else if (timed && strcmp(key, "every") == 0)
			rc = every_read(&s, word, &text, e);
		else
			return errorf(
				e, "`%s` is not known; there are window N, threshold S%s", key,
				timed ? ", events N and every TIME to TIME" : " and events N");
	}
	if (rc == 0)
		*sampling = s;
	return rc;
}

bool sampling_same(const struct sampling *a, const struct sampling *b)
{
	return a->window == b->window && a->events == b->events && a->threshold == b->threshold &&
	       a->fastest_ns == b->fastest_ns && a->slowest_ns == b->slowest_ns;
}
