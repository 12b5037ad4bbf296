/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of typed tuples: writing, checking and converting them. */
#include "tree/data/typed.h"

#include <endian.h>
#include <string.h>

/* In the first word. */
enum typed_byte { TYPED_BIG, TYPED_TEXT, TYPED_WORDS, TYPED_USED };

/* What reading a type costs besides its bytes, and what types of a check may cost: some 20 ms. */
#define TYPE_COST  64u
#define TYPES_COST (1u << 20)

_Static_assert(FIELDS_TEXT % 8 == 0 && FIELDS_TEXT / 8 <= UINT8_MAX, "a byte says how many words");

static bool is_big(void)
{
	return htobe16(1) == 1;
}

uint32_t typed_head_words(const char *text)
{
	return 1 + (uint32_t)(strlen(text) / 8 + 1);
}

struct typed_word *typed_head(struct typed_word *to, const struct fields *fields, const char *text)
{
	uint32_t words = typed_head_words(text);

	memset(to, 0, words * sizeof(*to));
	to->bytes[TYPED_BIG] = is_big();
	to->bytes[TYPED_TEXT] = (unsigned char)(words - 1);
	to->bytes[TYPED_WORDS] = (unsigned char)typed_tuple_words(fields);
	memcpy(to + 1, text, strlen(text));
	return to + words;
}

struct typed_word *typed_put(struct typed_word *to, uint64_t ticks, const void *tuple,
			     uint32_t bytes)
{
	uint32_t words = (bytes + 7) / 8;

	memcpy(to, &ticks, sizeof(ticks));
	memset(to + 1, 0, words * sizeof(*to));
	memcpy(to + 1, tuple, bytes);
	return to + 1 + words;
}

/* All but its type, and how long that makes a tuple. */
static bool head_read(struct typed_run *run, const struct typed_word *words, uint32_t count)
{
	static const unsigned char none[sizeof(words->bytes)];
	uint32_t head;

	if (count < 2)
		return false;
	head = 1 + words->bytes[TYPED_TEXT];
	run->text = (const char *)(words + 1);
	run->words = words->bytes[TYPED_WORDS];
	run->swapped = words->bytes[TYPED_BIG] != is_big();
	run->tuples = words + head;
	if (head < 2 || head > TYPED_HEAD || head > count || words->bytes[TYPED_BIG] > 1 ||
	    memcmp(words->bytes + TYPED_USED, none, sizeof(none) - TYPED_USED) != 0 ||
	    !memchr(run->text, 0, (head - 1) * sizeof(*words)) || run->words == 0 ||
	    (count - head) % run->words != 0)
		return false;
	run->n = (count - head) / run->words;
	return true;
}

static bool type_read(struct typed_run *run)
{
	return fields_parse(&run->fields, run->text, NULL) == 0 &&
	       run->words == typed_tuple_words(&run->fields);
}

bool typed_read(struct typed_run *run, const struct typed_word *words, uint32_t count)
{
	return head_read(run, words, count) && type_read(run);
}

/* Have both the same type, by what is said before their tuples but for the byte order? */
static bool same_type(const struct typed_word *a, const struct typed_word *b)
{
	return a && a->bytes[TYPED_TEXT] == b->bytes[TYPED_TEXT] &&
	       a->bytes[TYPED_WORDS] == b->bytes[TYPED_WORDS] &&
	       memcmp(a + 1, b + 1, a->bytes[TYPED_TEXT] * sizeof(*a)) == 0;
}

bool typed_sound(struct typed_seen *seen, const struct typed_word *words, uint32_t count)
{
	const unsigned most = sizeof(seen->of) / sizeof(seen->of[0]);
	struct typed_run run;

	if (!head_read(&run, words, count))
		return false;
	for (unsigned i = 0; i < most; i++)
		if (same_type(seen->of[i], words))
			return true;
	seen->cost += TYPE_COST + strlen(run.text);
	if (seen->cost > TYPES_COST || !type_read(&run))
		return false;
	seen->of[seen->next++ % most] = words;
	return true;
}

uint32_t typed_count(const struct typed_word *words, uint32_t count)
{
	struct typed_run run;

	return typed_read(&run, words, count) ? run.n : 0;
}

uint64_t typed_ticks(const struct typed_word *tuple)
{
	uint64_t ticks;

	memcpy(&ticks, tuple, sizeof(ticks));
	return ticks;
}

static void ticks_set(struct typed_word *tuple, uint64_t ticks)
{
	memcpy(tuple, &ticks, sizeof(ticks));
}

static struct typed_word *tuple_at(struct typed_word *words, const struct typed_run *run,
				   uint32_t i)
{
	return words + (run->tuples - words) + (size_t)i * run->words;
}

void typed_own(struct typed_word *words, uint32_t count)
{
	struct typed_run run;

	if (!typed_read(&run, words, count) || !run.swapped)
		return;
	for (uint32_t i = 0; i < run.n; i++) {
		struct typed_word *tuple = tuple_at(words, &run, i);

		ticks_set(tuple, __builtin_bswap64(typed_ticks(tuple)));
		fields_swap(&run.fields, tuple + 1);
	}
	words->bytes[TYPED_BIG] = is_big();
}

void typed_to_ns(struct typed_word *words, uint32_t count, const struct clock_line *line)
{
	struct typed_run run;

	typed_own(words, count);
	if (!typed_read(&run, words, count))
		return;
	for (uint32_t i = 0; i < run.n; i++) {
		struct typed_word *tuple = tuple_at(words, &run, i);

		if (typed_ticks(tuple))
			ticks_set(tuple, (uint64_t)clock_line_ns(line, typed_ticks(tuple)));
	}
}
