/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads command lines by tables of options, reports faults, and prints --help. */
#include "consumers/cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/grammar/directive.h"

/* Most rows of a command, with shared ones. */
#define ROWS_MOST 64

/* getopt_long(3) returns this for the first row: above any character. */
#define FIRST_CODE 256

/* Column of the descriptions in --help. */
#define HELP_COLUMN 20

/* All rows of a command, in the order of --help, where each stores, and their names for
 * getopt_long(3). */
struct option_table {
	const struct option_row *rows[ROWS_MOST];
	void *into[ROWS_MOST];
	struct option table[ROWS_MOST + 1];
	size_t n, n_table;
};

/* ---- faults ---- */

int options_word(const char *command, const char *word, const char *const *words, size_t n)
{
	const char *nearest = word_nearest(word, words, n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], word) == 0)
			return (int)i;
	fprintf(stderr, "%s: ", command);
	if (nearest)
		fprintf(stderr, "there is no '%s'; did you mean '%s'?", word, nearest);
	else
		fprintf(stderr, "'%s' is not one of", word);
	for (size_t i = 0; !nearest && i < n; i++)
		fprintf(stderr, "%s %s", i ? "," : "", words[i]);
	fprintf(stderr, "%s try '%s --help'\n", nearest ? "" : ";", command);
	return -1;
}

/* No option begins with @word, or several do. */
static void option_unknown(const char *command, const char *word, const struct option_table *rows)
{
	size_t length = strcspn(word, "="), could_be = 0;
	const char *names[ROWS_MOST], *nearest;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	fprintf(stderr, "%s: ", command);
	for (size_t i = 0; i < rows->n_table; i++) {
		names[i] = rows->table[i].name;
		if (strncmp(name, names[i], strlen(name)) == 0)
			fprintf(stderr, could_be++ ? ", --%s" : "--%s", names[i]);
	}
	nearest = could_be ? NULL : word_nearest(name, names, rows->n_table);
	if (could_be)
		fprintf(stderr, ": which of these is '--%s';", name);
	else if (nearest)
		fprintf(stderr, "there is no option '--%s'; did you mean '--%s'?", name, nearest);
	else
		fprintf(stderr, "there is no option '--%s';", name);
}

/* The word of short options at which getopt_long(3) has stopped. */
static const char *option_short(int argc, char **argv)
{
	const char *word = optind < argc ? argv[optind] : "";

	/* after its last letter it moves on to the next word */
	return word[0] != '-' || word[1] != optopt || !word[2] ? argv[optind - 1] : word;
}

static void option_wrong(int argc, char **argv, const struct usage *usage, bool lacks,
			 const struct option_table *rows)
{
	if (optopt >= FIRST_CODE || optopt == 'h')
		fprintf(stderr, "%s: --%s takes %s", argv[0],
			optopt == 'h' ? "help" : rows->rows[optopt - FIRST_CODE]->name,
			lacks ? "a value, which is missing;" : "no value;");
	else if (optopt)
		fprintf(stderr, "%s: there is no option '%s';%s", argv[0], option_short(argc, argv),
			usage->program ? " did you mean: evspace run -- mpirun -np 2 …?" : "");
	else
		option_unknown(argv[0], argv[optind - 1] + strlen("--"), rows);
	fprintf(stderr, " try '%s --help'\n", argv[0]);
}

/* ---- --help ---- */

#define WIDTH	  80
#define LINE_MOST 1024

/* The description of an option or column begins at most here. */
#define HANG_MOST 24

/* A smaller indent, if any, marks an example, which is not joined with the next line. */
#define INDENT_LEAST 8

struct fill {
	char line[LINE_MOST];
	size_t hang; /* column where its words begin, and continue */
	bool open;   /* it has words of the line before, and the next line may be joined */
};

static size_t hang_of(const char *line)
{
	size_t indent = strspn(line, " "), i;

	for (i = indent; i < HANG_MOST && line[i]; i++) {
		size_t gap = strspn(line + i, " ");

		if (gap > 1 && line[i + gap] != '#')
			return i + gap;
	}
	return indent;
}

/* The best space to break the line at, 0: it fits, or there is none. Breaks a command to be pasted
 * before its comment. */
static size_t break_of(const struct fill *f)
{
	const char *comment = strstr(f->line, " # ");
	size_t column = 0, at = 0, i;

	for (i = 0; f->line[i] && column <= WIDTH; i++) {
		if (f->line[i] == ' ' && i > f->hang)
			at = i;
		column += ((unsigned char)f->line[i] & 0xc0) != 0x80;
	}
	if (column > WIDTH && comment && comment >= f->line + f->hang)
		at = (size_t)(comment - f->line);
	return column > WIDTH ? at : 0;
}

static void fill_break(struct fill *f)
{
	char rest[sizeof(f->line)];
	size_t at, end;

	f->open = false;
	while ((at = break_of(f)) > 0) {
		for (end = at; end > 0 && f->line[end - 1] == ' '; end--)
			;
		printf("%.*s\n", (int)end, f->line);
		snprintf(rest, sizeof(rest), "%s", f->line + at + 1);
		snprintf(f->line, sizeof(f->line), "%*s%.900s", (int)f->hang, "", rest);
		f->open = true;
	}
	if (!f->open)
		puts(f->line);
}

static void fill_line(struct fill *f, const char *line, size_t n)
{
	size_t indent = strspn(line, " "), used = strlen(f->line);
	bool paragraph = indent == 0 || indent >= INDENT_LEAST;

	if (f->open && n > 0 && paragraph && indent == f->hang) {
		snprintf(f->line + used, sizeof(f->line) - used, " %.*s", (int)(n - indent),
			 line + indent);
	} else {
		if (f->open)
			puts(f->line);
		snprintf(f->line, sizeof(f->line), "%.*s", (int)n, line);
		f->hang = hang_of(f->line);
	}
	fill_break(f);
}

/* Print @text. Too wide lines continue in the next one, below the column where their words
 * begin. */
static void help_print(const char *text)
{
	struct fill f = {.open = false};
	size_t n;

	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		fill_line(&f, text, n);
	}
	if (f.open)
		puts(f.line);
}

static void row_print(const struct option_row *row)
{
	char head[64] = "", *text;

	if (row->name)
		snprintf(head, sizeof(head), "  --%s%s%s", row->name, row->value ? " " : "",
			 row->value ? row->value : "");
	if (strlen(head) > HELP_COLUMN - 2) {
		puts(head);
		*head = '\0';
	}
	text = memory_format("%-*s%s", row->name ? HELP_COLUMN : 0, head, row->help);
	help_print(text);
	free(text);
}

static void usage_print(const struct usage *usage, const struct option_table *rows)
{
	help_print(usage->help);
	putchar('\n');
	for (size_t i = 0; i < rows->n; i++)
		row_print(rows->rows[i]);
	if (usage->after) {
		putchar('\n');
		help_print(usage->after);
	}
}

/* ---- the table ---- */

/* Add those of @group, 0: all of them. */
static void rows_add(struct option_table *rows, const struct option_row *row, unsigned groups,
		     void *into)
{
	for (; row && (row->name || row->help); row++) {
		if ((groups && !(row->group & groups)) || rows->n == ROWS_MOST)
			continue;
		if (row->name)
			rows->table[rows->n_table++] = (struct option){
				.name = row->name,
				.has_arg = row->value ? required_argument : no_argument,
				.val = into ? FIRST_CODE + (int)rows->n : 'h',
			};
		rows->rows[rows->n] = row;
		rows->into[rows->n++] = into;
	}
}

static int row_take(const struct option_row *row, void *into, const char *value, struct error *e)
{
	char *at = (char *)into + row->at;

	if (row->take)
		return row->take(into, value, e);
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)(void *)at = true;
		break;
	case OPTION_ONE:
		*(int *)(void *)at = 1;
		break;
	case OPTION_TEXT:
		memcpy(at, &value, sizeof(value));
		break;
	case OPTION_COUNT:
		return quantity_count(value, 1, row->most, (unsigned *)(void *)at, e);
	case OPTION_TIME:
		return quantity_duration(value, QUANTITY_SECONDS, (uint64_t *)(void *)at, e);
	}
	return 0;
}

static int words_take(int argc, char **argv, const struct usage *usage, struct common *common)
{
	common->words = argv + optind;
	common->n_words = argc - optind;
	if (usage->program || common->n_words <= usage->words_max)
		return -1;
	fprintf(stderr, "%s: '%s' is not wanted here; try '%s --help'\n", argv[0],
		common->words[usage->words_max], argv[0]);
	return EXIT_USAGE;
}

int options_parse(int argc, char **argv, const struct usage *usage, void *into,
		  struct common *common)
{
	static const struct option_row help[] = {{.name = "help", .help = "this text"}, {0}};
	struct option_table rows = {.n = 0};
	struct error e;
	int c;

	rows_add(&rows, usage->own, 0, into);
	if (usage->takes)
		rows_add(&rows, options_shared, usage->takes, common);
	rows_add(&rows, help, 0, NULL);
	rows_add(&rows, usage->more, 0, (char *)into + usage->more_at);
	opterr = 0;
	while ((c = getopt_long(argc, argv, usage->program ? "+:h" : ":h", rows.table, NULL)) !=
	       -1) {
		if (c == 'h') {
			usage_print(usage, &rows);
			return EXIT_FINE;
		}
		if (c == '?' || c == ':') {
			option_wrong(argc, argv, usage, c == ':', &rows);
			return EXIT_USAGE;
		}
		c -= FIRST_CODE;
		if (row_take(rows.rows[c], rows.into[c], optarg, &e) < 0) {
			fprintf(stderr, "%s: --%s: %s\n", argv[0], rows.rows[c]->name, e.text);
			return EXIT_USAGE;
		}
	}
	if ((usage->takes & OPTIONS_LOOK) && options_settle(common, usage->takes, &e) < 0) {
		fprintf(stderr, "%s: --profile: %s\n", argv[0], e.text);
		return EXIT_USAGE;
	}
	return words_take(argc, argv, usage, common);
}
