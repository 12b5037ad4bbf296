/* SPDX-License-Identifier: BSD-3-Clause */
/* Conditions of filters: read from a pathmap, checked against tuples. */
#include "tree/stage/condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/interval.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/wildcard.h"
#include "tree/data/names-comm.h"
#include "tree/data/op.h"
#include "tree/data/signature.h"

/* Most bytes of a value, and of a word in it; no name is longer than a word. */
#define VALUE_BYTES 512
#define WORD_BYTES  64

typedef int read_word(struct condition *c, const char *word, struct error *e);

static int add_range(struct condition *c, uint64_t first, uint64_t last, struct error *e)
{
	if (c->n == CONDITION_RANGES)
		return errorf(e, "more than %u values; use a second filter or a range",
			      CONDITION_RANGES);
	c->ranges[c->n].first = first;
	c->ranges[c->n].last = last;
	c->n++;
	return 0;
}

static int read_op(struct condition *c, const char *word, struct error *e)
{
	uint16_t op = op_find(word);

	if (op == 0)
		return errorf(e,
			      "`%s` is not an operation; write it like `MPI_Send` or `Allreduce`",
			      word);
	return add_range(c, op, op, e);
}

static int read_channel(struct condition *c, const char *word, struct error *e)
{
	int channel = channel_find(word);

	if (channel < 0)
		return errorf(e,
			      "`%s` is not a channel; there are p2p, collective, wait, completion, "
			      "comm, env and state",
			      word);
	return add_range(c, (uint64_t)channel, (uint64_t)channel, e);
}

static int read_comm(struct condition *c, const char *word, struct error *e)
{
	char *end;
	unsigned long id;

	if (strcmp(word, "world") == 0) {
		c->world = true;
		return 0;
	}
	id = strtoul(word, &end, 16);
	if (strchr("+- ", *word) || *end || id == 0 || id > UINT32_MAX)
		return errorf(
			e,
			"`%s` is not a communicator; write `world` or its id as events show it, "
			"like `7f3a90c1`",
			word);
	return add_range(c, id, id, e);
}

static int read_numbers(struct condition *c, const char *word, struct error *e)
{
	unsigned number;

	if (*word == '[') {
		struct range range;
		int more = 1;

		for (word++; more > 0;) {
			more = range_next(&word, &range, e);
			if (more < 0 || add_range(c, range.first, range.last, e) < 0)
				return -1;
		}
		return *word ? errorf(e, "`%s` must not follow the brackets", word) : 0;
	}
	if (quantity_count(word, 0, INT32_MAX, &number, e) < 0)
		return -1;
	return add_range(c, number, number, e);
}

static int read_bytes(struct condition *c, const char *word, struct error *e)
{
	uint64_t bytes;

	return quantity_bytes(word, &bytes, e) < 0 ? -1 : add_range(c, bytes, bytes, e);
}

static int read_duration(struct condition *c, const char *word, struct error *e)
{
	uint64_t ns;

	return quantity_duration(word, 0, &ns, e) < 0 ? -1 : add_range(c, ns, ns, e);
}

/* What a key accepts. */
static const struct key {
	const char *name;
	read_word *read;
	bool ordered; /* may be compared by < <= > >= */
} keys[KEY_COUNT] = {
	[KEY_OP] = {"op", read_op, false},
	[KEY_CHANNEL] = {"channel", read_channel, false},
	[KEY_COMM] = {"comm", read_comm, false},
	[KEY_PEER] = {"peer", read_numbers, true},
	[KEY_TAG] = {"tag", read_numbers, true},
	[KEY_BYTES] = {"bytes", read_bytes, true},
	[KEY_DURATION] = {"duration", read_duration, true},
	[KEY_RANK] = {"rank", read_numbers, true},
	[KEY_NAME] = {"name", NULL, false},
	[KEY_FIELD] = {"field", NULL, true},
	[KEY_LABEL] = {"label", NULL, false},
};

static const struct {
	const char *text;
	enum condition_relation relation;
} relations[] = {
	{"<=", AT_MOST}, {">=", AT_LEAST}, {"!=", UNEQUAL}, {"=", EQUAL}, {"<", LESS}, {">", MORE},
};

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

static int parse_key(struct condition *c, const char **text, struct error *e)
{
	size_t length = strcspn(*text, " \t<>=!");

	for (c->key = 0; c->key < KEY_COUNT; c->key++)
		if (strlen(keys[c->key].name) == length &&
		    strncmp(keys[c->key].name, *text, length) == 0)
			break;
	if (c->key == KEY_COUNT)
		return errorf(
			e,
			"`%.*s` is not a key to filter by; there are op, channel, comm, peer, "
			"tag, bytes, duration, rank, name, label and, of programs' own elements, "
			"`field NAME`",
			(int)(length < WORD_BYTES ? length : WORD_BYTES), *text);
	*text = skip_blanks(*text + length);
	if (c->key != KEY_FIELD)
		return 0;
	length = strcspn(*text, " \t<>=!");
	if (length == 0 || length >= sizeof(c->field))
		return errorf(e, "field must be followed by the name of one, as in `field "
				 "residual>=0.5`");
	memcpy(c->field, *text, length);
	*text = skip_blanks(*text + length);
	return 0;
}

static int parse_relation(struct condition *c, const char **text, struct error *e)
{
	const struct key *key = &keys[c->key];

	for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++) {
		size_t length = strlen(relations[i].text);

		if (strncmp(*text, relations[i].text, length) != 0)
			continue;
		c->relation = relations[i].relation;
		if (c->relation > UNEQUAL && !key->ordered)
			return errorf(e, "%s can only be = or !=", key->name);
		*text = skip_blanks(*text + length);
		return 0;
	}
	return errorf(e, "%s must be followed by =, !=%s and a value", key->name,
		      key->ordered ? ", <, <=, >, >=" : "");
}

/* Read the words of a value, separated by `|`. */
static int parse_words(struct condition *c, const char *value, struct error *e)
{
	const struct key *key = &keys[c->key];

	for (;; value++) {
		size_t length = strcspn(value, "|");
		char word[VALUE_BYTES];

		memcpy(word, value, length);
		word[length] = '\0';
		if (key->read(c, word, e) < 0)
			return error_prefix(e, "%s", key->name);
		value += length;
		if (!*value)
			break;
	}
	if (c->relation > UNEQUAL && (c->n != 1 || c->ranges[0].first != c->ranges[0].last))
		return errorf(e, "%s: only = and != go with several values", key->name);
	return 0;
}

/* Values of a field, whose kind only its tuples tell, separated by `|`. */
static int parse_values(struct condition *c, const char *value, struct error *e)
{
	if (strlen(value) >= sizeof(c->pattern))
		return errorf(e, "field %s: a value is shorter than %zu characters", c->field,
			      sizeof(c->pattern));
	memcpy(c->pattern, value, strlen(value) + 1);
	for (size_t length;; value += length + 1) {
		char *end;
		double number = strtod(value, &end);

		length = strcspn(value, "|");
		if (c->n == CONDITION_RANGES)
			return errorf(e, "field %s: more than %u values; use a second filter",
				      c->field, CONDITION_RANGES);
		c->numbers[c->n++] = length > 0 && end == value + length ? number : NAN;
		if (!value[length])
			break;
	}
	if (c->relation > UNEQUAL && (c->n != 1 || isnan(c->numbers[0])))
		return errorf(e, "field %s: only = and != go with text, or several values",
			      c->field);
	return 0;
}

int condition_parse(struct condition *c, const char **text, struct error *e)
{
	char value[VALUE_BYTES];
	size_t length;

	*c = (struct condition){0};
	*text = skip_blanks(*text);
	if (parse_key(c, text, e) < 0 || parse_relation(c, text, e) < 0)
		return -1;
	length = strcspn(*text, " \t");
	if (length == 0 || length >= sizeof(value))
		return errorf(e, "%s must be compared with a value of 1 to %d characters",
			      keys[c->key].name, VALUE_BYTES - 1);
	memcpy(value, *text, length);
	value[length] = '\0';
	*text = skip_blanks(*text + length);
	if (keys[c->key].read)
		return parse_words(c, value, e);
	if (c->key == KEY_FIELD)
		return parse_values(c, value, e);
	if (length >= sizeof(c->pattern))
		return errorf(e, "%s is longer than %zu characters", keys[c->key].name,
			      sizeof(c->pattern) - 1);
	if (c->key == KEY_NAME && pattern_check(value, e) < 0)
		return error_prefix(e, "%s", keys[c->key].name);
	memcpy(c->pattern, value, length + 1);
	return 0;
}

/* ---- checks ---- */

bool condition_wants_name(const struct condition *c)
{
	return condition_on_element(c) || c->key == KEY_CHANNEL;
}

bool condition_on_element(const struct condition *c)
{
	return c->key == KEY_RANK || c->key == KEY_NAME;
}

/* After a fold the element is a whole thread or more: then the tuple's operation says its
 * channel. */
static int channel_of(const struct condition_subject *s)
{
	if (s->name && s->name->level == LEVEL_ELEMENT)
		return s->name->channel;
	if (s->tuple->flags & TUPLE_RUNNING)
		return CHANNEL_STATE;
	return s->tuple->flags & TUPLE_COMPLETION ? CHANNEL_COMPLETION : op_channel(s->tuple->op);
}

static bool key_get(const struct condition *c, const struct condition_subject *s, uint64_t *value)
{
	int64_t number = 0;

	switch (c->key) {
	case KEY_OP:
		number = s->tuple->op;
		break;
	case KEY_CHANNEL:
		number = channel_of(s);
		break;
	case KEY_COMM:
		number = s->tuple->comm;
		break;
	case KEY_PEER:
		number = signature_peer(s->tuple);
		break;
	case KEY_TAG:
		number = op_channel(s->tuple->op) == CHANNEL_P2P ? (int32_t)s->tuple->seq_or_tag
								 : -1;
		break;
	case KEY_BYTES:
		*value = s->tuple->bytes;
		return true;
	case KEY_DURATION:
		return tuple_duration(s->tuple, s->line, value);
	case KEY_RANK:
		number = s->name ? s->name->rank : -1;
		break;
	case KEY_NAME:
	case KEY_FIELD:
	case KEY_LABEL:
	case KEY_COUNT:
		return false;
	}
	*value = (uint64_t)number;
	return number >= 0;
}

static bool among(const struct condition *c, const struct condition_subject *s, uint64_t value)
{
	for (unsigned i = 0; i < c->n; i++)
		if (value >= c->ranges[i].first && value <= c->ranges[i].last)
			return true;
	if (c->world) {
		const struct name_comm *comm = names_comm_find(s->names, (uint32_t)value);

		return names_comm_is_world(comm);
	}
	return false;
}

/* A list, with wildcards, as names of regions may be any text. */
static bool label_holds(const struct condition *c, const struct condition_subject *s)
{
	const char *label = op_is_labelled(s->tuple->op)
				    ? names_label_find(s->names, s->tuple->seq_or_tag)
				    : NULL;

	return label && wildcard_list_match(c->pattern, label) == (c->relation == EQUAL);
}

bool condition_holds(const struct condition *c, const struct condition_subject *s)
{
	uint64_t value;

	if (c->key == KEY_FIELD)
		return true;
	if (c->key == KEY_LABEL)
		return label_holds(c, s);
	if (c->key == KEY_NAME)
		return s->name &&
		       pattern_match(c->pattern, s->name->text) == (c->relation == EQUAL);
	if (!key_get(c, s, &value))
		return false;
	switch (c->relation) {
	case EQUAL:
		return among(c, s, value);
	case UNEQUAL:
		return !among(c, s, value);
	case LESS:
		return value < c->ranges[0].first;
	case AT_MOST:
		return value <= c->ranges[0].first;
	case MORE:
		return value > c->ranges[0].first;
	case AT_LEAST:
		return value >= c->ranges[0].first;
	}
	return false;
}

/* ---- fields ---- */

static bool text_among(const struct condition *c, const char *text)
{
	const size_t length = strlen(text);

	for (const char *word = c->pattern;; word++) {
		size_t n = strcspn(word, "|");

		if (n == length && memcmp(word, text, n) == 0)
			return true;
		word += n;
		if (!*word)
			return false;
	}
}

static bool number_fits(const struct condition *c, double number)
{
	switch (c->relation) {
	case LESS:
		return number < c->numbers[0];
	case AT_MOST:
		return number <= c->numbers[0];
	case MORE:
		return number > c->numbers[0];
	case AT_LEAST:
		return number >= c->numbers[0];
	default:
		for (unsigned i = 0; i < c->n; i++)
			if (number == c->numbers[i])
				return true;
		return false;
	}
}

bool condition_holds_typed(const struct condition *c, const struct fields *fields,
			   const void *tuple)
{
	const struct field *field;
	char text[FIELD_VALUE];
	bool fits = false;

	if (c->key != KEY_FIELD)
		return true;
	field = fields_find(fields, c->field);
	if (!field || (field->kind == FIELD_TEXT && c->relation > UNEQUAL))
		return false;
	if (field->kind == FIELD_TEXT)
		fits = text_among(c, field_text(field, tuple, 0, text));
	for (uint32_t i = 0; field->kind != FIELD_TEXT && i < field->count; i++)
		fits = fits || number_fits(c, field_number(field, tuple, i));
	return fits != (c->relation == UNEQUAL);
}
