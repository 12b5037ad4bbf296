/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads `element NAME { ... }` of application.map. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/model/application-read.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/model/pattern.h"

#define NAME_MOST 31u

static const struct made_kind {
	const char *name;
	size_t bytes;
} kinds[] = {{"i32", 4}, {"u32", 4}, {"i64", 8}, {"u64", 8}, {"f32", 4}, {"f64", 8}, {"text", 1}};

static void made_fini(struct made_element *m)
{
	for (size_t i = 0; i < m->n_nodes; i++)
		free(m->nodes[i]);
	free(m->nodes);
	free(m->name);
	free(m->run);
	free(m->fields);
}

void application_made_fini(struct application *application)
{
	for (size_t i = 0; i < application->n_made; i++)
		made_fini(&application->made[i]);
	free(application->made);
}

static void made_default(struct made_element *m)
{
	m->fields = m->fields ? m->fields : memory_copy("");
	m->capacity = m->capacity ? m->capacity : 200;
}

void made_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct application *application = target;
	const struct word *word = &statement->words[1];
	struct made_element m = {.name = memory_copy(word->text), .offset = word->offset};
	size_t before = reader->diagnostics->total;
	struct error e;

	directives_apply(reader, IN_MADE, statement->body, statement->n_body, &m);
	if (name_part_check(m.name, &e) < 0)
		reader_complain(reader, word, "%s", e.text);
	else if (m.n_fields == 0 && reader->diagnostics->total == before)
		reader_complain(reader, word,
				"element `%s` has no fields; write `f64 residual;` or others of "
				"i32, u32, i64, u64, f32, f64 and text into the block",
				m.name);
	else if (application->n_made == MADE_MAX)
		reader_complain(reader, word, "more than %u elements to make", MADE_MAX);
	for (size_t i = 0; i < application->n_made; i++)
		if (strcmp(application->made[i].name, m.name) == 0)
			reader_complain(reader, word, "a second element `%s`", m.name);
	if (reader->diagnostics->total != before) {
		made_fini(&m);
		return;
	}
	made_default(&m);
	application->made =
		memory_room(application->made, application->n_made, sizeof(*application->made));
	application->made[application->n_made++] = m;
}

/* "residual" or "residual[3]". Returns the number, 0: it is neither. */
static unsigned long field_read(const char *text, size_t *length)
{
	unsigned long n = 1;
	char *end;

	*length = 0;
	while (isalnum((unsigned char)text[*length]) || text[*length] == '_')
		++*length;
	if (*length == 0 || *length > NAME_MOST || isdigit((unsigned char)text[0]))
		return 0;
	if (text[*length] == '\0')
		return n;
	if (text[*length] != '[' || !isdigit((unsigned char)text[*length + 1]))
		return 0;
	n = strtoul(text + *length + 1, &end, 10);
	return strcmp(end, "]") == 0 && n <= MADE_BYTES_MAX ? n : 0;
}

/* Has it a field of this name? */
static bool field_known(const struct made_element *m, const char *name, size_t length)
{
	for (const char *at = m->fields; at && *at; at += strcspn(at, ","), at += *at == ',') {
		at += strspn(at, " ");
		if (strncmp(at, name, length) == 0 && at[length] == ' ')
			return true;
	}
	return false;
}

static bool field_add(struct made_element *m, const struct made_kind *kind, const char *text)
{
	size_t length, at = (m->bytes + kind->bytes - 1) / kind->bytes * kind->bytes, end, all;
	unsigned long n = field_read(text, &length);
	char *fields;

	m->align = kind->bytes > m->align ? kind->bytes : m->align;
	end = at + n * kind->bytes;
	all = (end + m->align - 1) / m->align * m->align;
	if (n == 0 || m->n_fields == MADE_FIELDS_MAX || all > MADE_BYTES_MAX ||
	    field_known(m, text, length))
		return false;
	m->bytes = end;
	m->n_fields++;
	fields = memory_format("%s%s%.*s %s%s", m->fields ? m->fields : "", m->fields ? ", " : "",
			       (int)length, text, kind->name, n > 1 ? text + length : "");
	free(m->fields);
	m->fields = fields;
	return true;
}

void made_field_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct made_kind *kind = kinds;

	while (strcmp(kind->name, statement->words[0].text) != 0)
		kind++;
	for (size_t i = 1; i < statement->n_words; i++)
		if (!field_add(target, kind, statement->words[i].text))
			reader_complain(reader, &statement->words[i],
					"`%.60s` cannot be a field here; a field is NAME or "
					"NAME[3], each name once, %u of them and %u bytes at most",
					statement->words[i].text, MADE_FIELDS_MAX, MADE_BYTES_MAX);
}

void made_capacity_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct made_element *m = target;

	capacity_read(reader, &statement->words[1], &m->capacity);
}

void made_patience_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct made_element *m = target;
	struct error e;
	uint64_t ns;

	if (quantity_duration(statement->words[1].text, 0, &ns, &e) < 0)
		reader_complain(reader, &statement->words[1], "%s", e.text);
	else if (ns / 1000000 == 0 || ns / 1000000 > INT_MAX)
		reader_complain(reader, &statement->words[1], "a time from 1ms to 24 days");
	else
		m->wait_ms = (unsigned)(ns / 1000000);
}

void made_run_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct made_element *m = target;
	struct error e;

	if (name_part_check(statement->words[1].text, &e) < 0)
		reader_complain(reader, &statement->words[1], "%s", e.text);
	else
		m->run = memory_copy(statement->words[1].text);
}

void made_on_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct made_element *m = target;

	for (size_t i = 1; i < statement->n_words; i++) {
		struct hostlist list = {0};
		struct error e;
		size_t at;

		if (hostlist_add(&list, statement->words[i].text, &at, &e) < 0)
			reader_complain_at(reader, &statement->words[i], at, "%s", e.text);
		if (m->n_nodes + list.n > MADE_NODES_MAX)
			reader_complain(reader, &statement->words[i],
					"an element is made on %u nodes at most", MADE_NODES_MAX);
		for (size_t k = 0; k < list.n && m->n_nodes < MADE_NODES_MAX; k++) {
			m->nodes = memory_room(m->nodes, m->n_nodes, sizeof(*m->nodes));
			m->nodes[m->n_nodes++] = memory_copy(list.names[k]);
		}
		hostlist_fini(&list);
	}
}
