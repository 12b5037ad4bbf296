/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace entropy: how much each event of a sequence tells. */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/options.h"
#include "consumers/perturb/plan-table.h"
#include "consumers/perturb/sampling-effect.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/utf8.h"
#include "tree/data/entropy-window.h"

#define NAME_MAX_BYTES 256u
#define EVENTS_MAX     65536u

static const char entropy_help[] =
	"usage: evspace entropy --events NAME,NAME,... [options] [FILE]\n"
	"       evspace entropy --samples DIR --trace DIR [--json]\n"
	"\n"
	"Read the names of events in the order in which they came, between blanks, from\n"
	"FILE or standard input, and print for each how much it tells, S: much when it\n"
	"differs from the one before, the less the more often it was repeated (Özmen: An\n"
	"Entropy-Based Algorithm for Time-Driven Software Instrumentation in Parallel\n"
	"Systems). Samplers that keep an event only above a threshold of S keep where\n"
	"something begins and ends.\n"
	"\n"
	"With --samples and --trace: what the samples of a run (a view with\n"
	"`read sample`), or its events without what `filter entropy` has left out, make\n"
	"of its profile, against the trace of the same run (the view `events`), both\n"
	"kept by `evspace archive`: for how much of the time each has threads in what.\n";

static const char entropy_more[] =
	"S = K p_w h: p_w is the probability of the window's events, from 1 by the number\n"
	"of --events and the alphas of the repetitions; h is -a ln a, where a is alpha\n"
	"if the same event comes again, else 1 - alpha.\n"
	"\n"
	"examples:\n"
	"  echo A A A B | evspace entropy --events A,B,C,D --window 3\n"
	"  evspace entropy --events send,recv,calc --threshold 0.01 --json sequence\n"
	"  evspace archive --view samples s & evspace archive t; wait\n"
	"  evspace entropy --samples s --trace t\n";

/* An event that is possible. */
struct event_name {
	UT_hash_handle hh;
	uint32_t number;
	char text[];
};

struct sequence {
	struct common common;
	const char *events, *alphas, *samples, *trace;
	unsigned window;
	double scale, threshold; /* threshold below 0: none */
	struct event_name *names;
	struct entropy_table table;
	uint64_t n, kept;
};

static int scale_take(void *into, const char *value, struct error *e)
{
	return plan_number(value, "scale", DBL_MIN, DBL_MAX, &((struct sequence *)into)->scale, e);
}

static int threshold_take(void *into, const char *value, struct error *e)
{
	return plan_number(value, "threshold", 0, DBL_MAX, &((struct sequence *)into)->threshold,
			   e);
}

static const struct option_row entropy_rows[] = {
	{"events", "NAME,...", OPTION_TEXT, .at = offsetof(struct sequence, events),
	 .help = "all events that the program can do, each as probable as the others"},
	{"window", "N", OPTION_COUNT, .at = offsetof(struct sequence, window),
	 .most = ENTROPY_WINDOW_MAX, .help = "events that the window holds; else 4"},
	{"alpha", "A,...", OPTION_TEXT, .at = offsetof(struct sequence, alphas),
	 .help = "for 0, 1, 2 ... repetitions, the probability of one more; else "
		 "0.5,0.7,0.9,0.95,..."},
	{"scale", "K", .take = scale_take, .help = "K; else 1"},
	{"threshold", "S", .take = threshold_take,
	 .help = "say which events are kept: those that tell more"},
	{"samples", "DIR", OPTION_TEXT, .at = offsetof(struct sequence, samples),
	 .help = "an archive of samples, whose profile is compared"},
	{"trace", "DIR", OPTION_TEXT, .at = offsetof(struct sequence, trace),
	 .help = "with that of this archive of events"},
	{0},
};

static const struct usage entropy_usage = {.help = entropy_help,
					   .after = entropy_more,
					   .own = entropy_rows,
					   .takes = OPTIONS_JSON,
					   .live = "archives are those of --samples and --trace",
					   .words_max = 1};

/* Call @take for each word between commas, until it fails. */
static int words_each(const char *text, int (*take)(void *arg, const char *word, struct error *e),
		      void *arg, struct error *e)
{
	char *copy = memory_copy(text), *rest = copy, *word;
	int failed = 0;

	while (!failed && (word = strsep(&rest, ",")))
		failed = take(arg, word, e);
	free(copy);
	return failed;
}

static int event_take(void *arg, const char *word, struct error *e)
{
	struct sequence *s = arg;
	char quoted[UTF8_QUOTED];
	size_t length = strlen(word);
	struct event_name *name;

	HASH_FIND_STR(s->names, word, name);
	if (!*word || length >= NAME_MAX_BYTES || word[strcspn(word, " \t\r\n")])
		return errorf(e, "--events: %s is no name", utf8_quote(word, quoted));
	if (name)
		return errorf(e, "--events: %s is there twice", utf8_quote(word, quoted));
	if (HASH_COUNT(s->names) == EVENTS_MAX)
		return errorf(e, "--events: there are more than %u", EVENTS_MAX);
	name = memory_new(1, sizeof(*name) + length + 1);
	memcpy(name->text, word, length + 1);
	name->number = HASH_COUNT(s->names);
	HASH_ADD_STR(s->names, text, name);
	return 0;
}

/* Alphas as they are read. */
struct alphas {
	double value[ENTROPY_WINDOW_MAX];
	unsigned n;
};

static int alpha_take(void *arg, const char *word, struct error *e)
{
	struct alphas *a = arg;

	if (a->n == ENTROPY_WINDOW_MAX)
		return errorf(e, "--alpha: there are more than %u", ENTROPY_WINDOW_MAX);
	if (plan_number(word, "alpha", DBL_MIN, 1 - DBL_EPSILON, &a->value[a->n++], e))
		return error_prefix(e, "--alpha");
	return 0;
}

static int sequence_settle(struct sequence *s, struct error *e)
{
	struct alphas alphas = {.n = 0};

	if (!s->events)
		return errorf(e, "it needs --events NAME,NAME,...: all that can come; or --samples "
				 "DIR and --trace DIR");
	if (words_each(s->events, event_take, s, e))
		return -1;
	if (s->alphas && words_each(s->alphas, alpha_take, &alphas, e))
		return -1;
	if (s->alphas && alphas.n < s->window)
		return errorf(e, "--alpha: a window of %u needs %u of them", s->window, s->window);
	entropy_table_init(&s->table, s->window, s->scale, s->alphas ? alphas.value : NULL);
	return 0;
}

static void print_event(struct sequence *s, const char *word, double value)
{
	bool keeps = s->threshold >= 0, kept = keeps && value > s->threshold;

	s->kept += kept;
	if (!s->common.json) {
		printf("%8llu  %-12.6g %s%s\n", (unsigned long long)s->n, value, word,
		       kept ? "  kept" : "");
		return;
	}
	json_print(json_pack("{s:s,s:I,s:o,s:o,s:o*}", "type", "entropy", "at", (json_int_t)s->n,
			     "event", json_text(word), "s", json_figure(value), "kept",
			     keeps ? json_boolean(kept) : NULL),
		   stdout);
}

/* The next word of the file; an empty one at its end. Returns 0, or -1 if it is too long, or has a
 * byte 0. */
static int word_next(FILE *in, char word[NAME_MAX_BYTES])
{
	size_t n = 0;
	int c;

	while ((c = getc(in)) != EOF && isspace(c))
		;
	for (; c != EOF && !isspace(c); c = getc(in)) {
		if (n == NAME_MAX_BYTES - 1 || c == '\0')
			return -1;
		word[n++] = (char)c;
	}
	word[n] = '\0';
	return 0;
}

static int sequence_read(struct sequence *s, FILE *in, struct error *e)
{
	struct entropy_window window = {0};
	char word[NAME_MAX_BYTES], quoted[UTF8_QUOTED];
	double p = 1.0 / HASH_COUNT(s->names);
	struct event_name *name;

	for (s->n = 1;; s->n++) {
		if (word_next(in, word))
			return errorf(e, "event %llu has a name of more than %u bytes, or a byte 0",
				      (unsigned long long)s->n, NAME_MAX_BYTES - 1);
		if (!*word)
			break;
		HASH_FIND_STR(s->names, word, name);
		if (!name)
			return errorf(e, "event %llu, %s, is none of --events",
				      (unsigned long long)s->n, utf8_quote(word, quoted));
		print_event(s, word, entropy_window_next(&s->table, &window, name->number, p));
	}
	s->n--;
	if (ferror(in))
		return errorf(e, "it cannot be read: %s", strerror(errno));
	if (s->threshold >= 0 && !s->common.json)
		printf("%llu of %llu event%s kept\n", (unsigned long long)s->kept,
		       (unsigned long long)s->n, plural(s->n, "s"));
	return 0;
}

int entropy_main(int argc, char **argv)
{
	struct sequence s = {.window = ENTROPY_WINDOW_DEFAULT, .scale = 1, .threshold = -1};
	int code = options_parse(argc, argv, &entropy_usage, &s, &s.common);
	struct event_name *name, *next;
	FILE *in = stdin;
	struct error e;

	if (code >= 0)
		return code;
	if (s.samples && s.trace && !s.events && s.common.n_words == 0)
		return sampling_effect(s.trace, s.samples, s.common.json);
	if (s.samples || s.trace) {
		fprintf(stderr, "evspace entropy: --samples DIR and --trace DIR go together, and "
				"without --events and FILE\n");
		return EXIT_USAGE;
	}
	code = EXIT_FINE;
	if (s.common.n_words > 0 && strcmp(s.common.words[0], "-"))
		in = fopen(s.common.words[0], "re");
	if (!in)
		errorf(&e, "%s: %s", s.common.words[0], strerror(errno));
	if (!in || sequence_settle(&s, &e) || sequence_read(&s, in, &e)) {
		fflush(stdout);
		fprintf(stderr, "evspace entropy: %s\n", e.text);
		code = EXIT_USAGE;
	}
	if (in && in != stdin)
		fclose(in);
	HASH_ITER(hh, s.names, name, next)
	{
		HASH_DEL(s.names, name);
		free(name);
	}
	return code;
}
