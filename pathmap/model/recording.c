/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings: how a channel is split, and the capacity, lifetime and first mode of its elements. */
#include "pathmap/model/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/one-in.h"
#include "pathmap/model/pattern.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

const char *const recording_channels[RECORDING_CHANNELS] = {
	"p2p", "collective", "wait", "completion", "comm", "env", "rma", "io", "user", "pack",
};

/* Other channels in names: state lines, and those of monitors. */
static const char *const other_channels[] = {"state", "element", "gather", "hop", "stage", "cpu"};

#define OTHER_CHANNELS (sizeof(other_channels) / sizeof(other_channels[0]))

/* The first of one-in.h stands for all in messages. */
#define ONE_IN "1/2"

/* A keyword of maps, and its meaning for `map show`. */
struct choice {
	const char *word, *meaning;
};

static const struct choice elements[] = {
	{"thread", "one per thread"},
	{"comm", "one per thread and communicator"},
	{"op", "one per thread and operation"},
	{"site", "one per thread and call site"},
};

static const struct choice modes[] = {
	{"trace", "every event"},
	{"time", "calls, bytes and time spent"},
	{"count", "calls and bytes"},
	{"sample", "calls, bytes and what is under way"},
	{"off", "nothing until it is switched on"},
	{ONE_IN, "calls and bytes, and one event in so many"},
};

#define N_ELEMENTS (sizeof(elements) / sizeof(elements[0]))
#define N_MODES	   (sizeof(modes) / sizeof(modes[0]))

int recording_channel(const char *name)
{
	for (int i = 0; i < RECORDING_CHANNELS; i++) {
		if (strcmp(recording_channels[i], name) == 0)
			return i;
	}
	return -1;
}

int recording_pattern_check(const char *pattern, size_t *offset, struct error *e)
{
	const char *words[RECORDING_CHANNELS + OTHER_CHANNELS];
	const char *last = strrchr(pattern, '/') + 1, *nearest;
	size_t length = strcspn(last, ".@:");
	char name[NAME_BYTES];

	memcpy(words, recording_channels, sizeof(recording_channels));
	memcpy(words + RECORDING_CHANNELS, other_channels, sizeof(other_channels));
	snprintf(name, sizeof(name), "%.*s", (int)length, last);
	*offset = (size_t)(last - pattern);
	for (size_t i = 0; i < RECORDING_CHANNELS + OTHER_CHANNELS; i++)
		if (strcmp(words[i], name) == 0)
			return 0;
	if (strpbrk(name, "*?[") != NULL)
		return 0;
	nearest = word_nearest(name, words, RECORDING_CHANNELS + OTHER_CHANNELS);
	if (nearest != NULL)
		return errorf(e, "`%.60s` is not a channel; did you mean `%.*s%s%s`?", name,
			      (int)*offset < 120 ? (int)*offset : 120, pattern, nearest,
			      last + length);
	return errorf(
		e,
		"`%.60s` is not a channel, with which names end; write `%.120s/**` for all of it, "
		"or one of p2p, collective, wait, completion, comm, env, rma, io, user, pack, "
		"state",
		name, pattern);
}

int recording_select_check(const char *const *patterns, size_t n, struct error *e)
{
	size_t at;

	for (size_t i = 0; i < n; i++) {
		if (pattern_check(patterns[i], e) < 0 ||
		    recording_pattern_check(patterns[i], &at, e) < 0)
			return -1;
	}
	return 0;
}

void recording_finish(struct recording *recording, unsigned capacity)
{
	if (recording->capacity == 0)
		recording->capacity = capacity;
	if (recording->remote_capacity == 0)
		recording->remote_capacity = capacity ? capacity : CAPACITY_DEFAULT;
	if (recording->element == NULL)
		recording->element = elements[0].word;
	if (recording->mode == NULL)
		recording->mode = modes[0].word;
}

/* ---- reading ---- */

void capacity_read(struct reader *reader, const struct word *word, unsigned *capacity)
{
	struct error e;

	if (quantity_count(word->text, CAPACITY_LEAST, CAPACITY_MOST, capacity, &e) < 0)
		reader_complain(reader, word, "%s; a capacity is the tuples that an element holds",
				e.text);
}

void recording_capacity_apply(struct reader *reader, void *target,
			      const struct statement *statement)
{
	struct recording *recording = target;

	capacity_read(reader, &statement->words[1], &recording->capacity);
}

/* The choice named by @word, or NULL after a diagnostic. */
static const char *choice_read(struct reader *reader, const struct word *word, const char *what,
			       const struct choice *choices, size_t n)
{
	const char *words[N_MODES];

	for (size_t i = 0; i < n; i++) {
		if (strcmp(choices[i].word, word->text) == 0)
			return choices[i].word;
		words[i] = choices[i].word;
	}
	reader_complain_unknown(reader, word, what, words, n);
	return NULL;
}

void recording_element_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct recording *recording = target;

	recording->element =
		choice_read(reader, &statement->words[1], "kind of element", elements, N_ELEMENTS);
}

void recording_mode_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct recording *recording = target;

	const struct word *word = &statement->words[1];

	recording->mode = one_in_word(one_in_find(word->text));
	if (recording->mode == NULL)
		recording->mode = choice_read(reader, word, "mode", modes, N_MODES);
}

void recording_lifetime_apply(struct reader *reader, void *target,
			      const struct statement *statement)
{
	const struct word *word = &statement->words[1];
	struct recording *recording = target;
	struct error e;
	uint64_t ns;

	if (quantity_duration(word->text, 0, &ns, &e) < 0) {
		reader_complain(reader, word,
				"%s; a lifetime is how long a tuple can be read after its event",
				e.text);
		return;
	}
	recording->lifetime_ns = (double)ns <= LIFETIME_MOST * 1e9 ? ns : 0;
	if (recording->lifetime_ns == 0)
		reader_complain(reader, word,
				"a lifetime of `%.60s`; it must be more than nothing and at most "
				"%.0fs, a year (leave it out, and tuples stay until they are "
				"overwritten)",
				word->text, LIFETIME_MOST);
}

void recording_remote_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *words = statement->words;
	struct recording *recording = target;
	struct error e;

	if (name_part_check(words[1].text, &e) < 0) {
		reader_complain(reader, &words[1], "%s", e.text);
		return;
	}
	if (statement->n_words == 4 && strcmp(words[2].text, "capacity") == 0) {
		capacity_read(reader, &words[3], &recording->remote_capacity);
	} else if (statement->n_words != 2) {
		reader_complain(reader, &words[2],
				"`%.60s` behind the node; write `remote NODE;` or `remote NODE "
				"capacity TUPLES;`",
				words[2].text);
		return;
	}
	snprintf(recording->remote, sizeof(recording->remote), "%s", words[1].text);
	recording->remote_offset = words[1].offset;
}

/* ---- showing ---- */

static const char *choice_meaning(const struct choice *choices, const char *word)
{
	while (strcmp(choices->word, word) != 0)
		choices++;
	return choices->meaning;
}

/* Writes "10 s", "1500 ms": in the largest unit that gives a whole number. */
static void lifetime_cell(struct table *table, uint64_t ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
	size_t i = 0;

	if (ns == 0) {
		table_cell(table, "-");
		return;
	}
	while (ns % units[i].ns != 0)
		i++;
	table_cell(table, "%" PRIu64 " %s", ns / units[i].ns, units[i].unit);
}

static bool recording_same(const struct recording *a, const struct recording *b)
{
	return a->collected == b->collected && a->element == b->element &&
	       a->capacity == b->capacity && a->lifetime_ns == b->lifetime_ns &&
	       a->mode == b->mode && strcmp(a->remote, b->remote) == 0 &&
	       a->remote_capacity == b->remote_capacity;
}

/* The names of channel @first and of later ones with the same recording. The caller must free
 * them. */
static char *channels_alike(const struct recording *recordings, size_t first)
{
	char *text = memory_copy(recording_channels[first]);

	for (size_t i = first + 1; i < RECORDING_CHANNELS; i++) {
		char *longer;

		if (!recording_same(&recordings[first], &recordings[i]))
			continue;
		longer = memory_format("%s %s", text, recording_channels[i]);
		free(text);
		text = longer;
	}
	return text;
}

static bool is_shown(const struct recording *recordings, size_t i)
{
	for (size_t before = 0; before < i; before++) {
		if (recording_same(&recordings[before], &recordings[i]))
			return true;
	}
	return !recordings[i].collected;
}

/* Are elements of any channel fetched to another node? */
static bool is_any_remote(const struct recording *recordings)
{
	for (size_t i = 0; i < RECORDING_CHANNELS; i++) {
		if (recordings[i].collected && recordings[i].remote[0])
			return true;
	}
	return false;
}

static void remote_cell(struct table *table, const struct recording *recording)
{
	if (recording->remote[0])
		table_cell(table, "to %s: %u tuple%s", recording->remote,
			   recording->remote_capacity, plural(recording->remote_capacity, "s"));
	else
		table_cell(table, "-");
}

void recordings_print(const struct recording *recordings, FILE *out)
{
	static const char *const heads[] = {"CHANNELS", "ELEMENTS", "TUPLES",
					    "LIFETIME", "RECORDED", "FETCHED"};
	static const struct table_column columns[] = {
		{.least = 16, .wraps = true},
		{.least = 10, .wraps = true},
		{.drop = 2},
		{.drop = 1},
		{.least = 10, .wraps = true},
		{.least = 9, .wraps = true},
	};
	bool remote = is_any_remote(recordings);
	struct table table;

	table_heads(&table, columns, heads, sizeof(heads) / sizeof(heads[0]) - !remote);
	for (size_t i = 0; i < RECORDING_CHANNELS; i++) {
		const struct recording *recording = &recordings[i];
		char *channels;

		if (is_shown(recordings, i))
			continue;
		channels = channels_alike(recordings, i);
		table_cell(&table, "%s", channels);
		free(channels);
		table_cell(&table, "%s", choice_meaning(elements, recording->element));
		if (recording->capacity)
			table_cell(&table, "%u", recording->capacity);
		else
			table_cell(&table, "by memory");
		lifetime_cell(&table, recording->lifetime_ns);
		table_cell(&table, "%s: %s", recording->mode,
			   choice_meaning(modes,
					  one_in_find(recording->mode) ? ONE_IN : recording->mode));
		if (remote)
			remote_cell(&table, recording);
	}
	table_print(&table, out);
	table_fini(&table);
}
