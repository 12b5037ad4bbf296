/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads command lines by tables of options, reports faults, and prints --help. */
#include "consumers/cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/table.h"
#include "pathmap/base/quantity.h"
#include "pathmap/grammar/directive.h"

/* getopt_long(3) returns this for the first row: above any character. */
#define FIRST_CODE 256

/* Column of the descriptions in --help. */
#define HELP_COLUMN 20

/* All rows of a command, in the order of --help, where each stores, and their names for
 * getopt_long(3). */
struct option_table {
	const struct option_row *rows[OPTIONS_MOST];
	void *into[OPTIONS_MOST];
	struct option table[OPTIONS_MOST + 1];
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

/* No option begins with @word, or several do; @live: why there is no --from. */
static void option_unknown(const char *command, const char *word, const char *live,
			   const struct option_table *rows)
{
	size_t length = strcspn(word, "="), could_be = 0;
	const char *names[OPTIONS_MOST], *nearest;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	fprintf(stderr, "%s: ", command);
	if (live && strcmp(name, "from") == 0) {
		fprintf(stderr, "it takes no archive (--from): %s;", live);
		return;
	}
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
		option_unknown(argv[0], argv[optind - 1] + strlen("--"), usage->live, rows);
	fprintf(stderr, " try '%s --help'\n", argv[0]);
}

/* ---- --help ---- */

#define WIDTH 80

static void row_print(const struct option_row *row)
{
	char head[64] = "", *text, *line;
	int hang = row->name ? HELP_COLUMN : 0;
	size_t n;

	if (row->name)
		snprintf(head, sizeof(head), "  --%s%s%s", row->name, row->value ? " " : "",
			 row->value ? row->value : "");
	if (strlen(head) > HELP_COLUMN - 2) {
		puts(head);
		*head = '\0';
	}
	text = memory_format("%-*s%s", hang, head, row->help);
	for (line = text; *line; line += line[n] == ' ' ? n + 1 : n) {
		int indent = line == text ? 0 : hang;

		n = table_break(line, WIDTH - (size_t)indent);
		printf("%*s%.*s\n", indent, "", (int)n, line);
	}
	free(text);
}

static void usage_print(const struct usage *usage, const struct option_table *rows)
{
	fputs(usage->help, stdout);
	putchar('\n');
	for (size_t i = 0; i < rows->n; i++)
		row_print(rows->rows[i]);
	if (usage->after) {
		putchar('\n');
		fputs(usage->after, stdout);
	}
}

/* ---- the table ---- */

static bool row_is_lacking(const struct option_row *row, const char *lacks)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", row->name);
	return lacks && strstr(lacks, word);
}

/* Add those of @groups, 0: all of them, but not those in @lacks. */
static void rows_add(struct option_table *rows, const struct option_row *row, unsigned groups,
		     const char *lacks, void *into)
{
	for (; row && (row->name || row->help); row++) {
		if ((groups && !(row->group & groups)) || row_is_lacking(row, lacks) ||
		    rows->n == OPTIONS_MOST)
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

static int time_take(const struct option_row *row, const char *value, uint64_t *ns, struct error *e)
{
	if (quantity_duration(value, QUANTITY_SECONDS, ns, e))
		return -1;
	return row->kind == OPTION_SPAN && !*ns
		       ? errorf(e, "it must be longer than that, such as 500ms")
		       : 0;
}

static int row_take(const struct option_row *row, void *into, const char *value, struct error *e)
{
	char *at = (char *)into + row->at;

	if (row->take)
		return row->take(into, value, e);
	if (row->kind == OPTION_ONCE && *(const char **)(void *)at)
		return errorf(e, "it can be given only once");
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)(void *)at = true;
		break;
	case OPTION_ONE:
		*(int *)(void *)at = 1;
		break;
	case OPTION_ONCE:
	case OPTION_TEXT:
		memcpy(at, &value, sizeof(value));
		break;
	case OPTION_COUNT:
		return quantity_count(value, 1, row->most, (unsigned *)(void *)at, e);
	case OPTION_TIME:
	case OPTION_SPAN:
		return time_take(row, value, (uint64_t *)(void *)at, e);
	}
	return 0;
}

/* Each once. */
static void given_note(struct common *common, const char *name)
{
	unsigned n = 0;

	while (common->given[n] && common->given[n] != name)
		n++;
	common->given[n] = name;
}

static bool is_given(const struct common *common, const char *name)
{
	unsigned n = 0;

	while (common->given[n] && strcmp(common->given[n], name) != 0)
		n++;
	return common->given[n] != NULL;
}

static int words_take(int argc, char **argv, const struct usage *usage, struct common *common)
{
	common->words = argv + optind;
	common->n_words = argc - optind;
	if (usage->program || common->n_words <= usage->words_max)
		return -1;
	fprintf(stderr, "%s: '%s' is not wanted here;", argv[0], common->words[usage->words_max]);
	if (usage->takes & OPTIONS_VIEW && usage->words_max == 0)
		fprintf(stderr, " did you mean '--run %s'?", common->words[0]);
	fprintf(stderr, " try '%s --help'\n", argv[0]);
	return EXIT_USAGE;
}

int options_parse(int argc, char **argv, const struct usage *usage, void *into,
		  struct common *common)
{
	static const struct option_row help[] = {{.name = "help", .help = "this text"}, {0}};
	struct option_table rows = {.n = 0};
	struct error e;
	int c;

	rows_add(&rows, usage->own, 0, NULL, into);
	if (usage->takes)
		rows_add(&rows, options_shared, usage->takes, usage->lacks, common);
	rows_add(&rows, help, 0, NULL, NULL);
	rows_add(&rows, usage->more, 0, NULL, (char *)into + usage->more_at);
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
		given_note(common, rows.rows[c]->name);
	}
	/* who has its own --from says its own */
	if (is_given(common, "from") && is_given(common, "connect") &&
	    !(usage->lacks && strstr(usage->lacks, " from "))) {
		fprintf(stderr,
			"%s: --from is an archive, and --connect an agent: write one of them\n",
			argv[0]);
		return EXIT_USAGE;
	}
	if ((usage->takes & OPTIONS_LOOK) && options_settle(common, usage->takes, &e) < 0) {
		fprintf(stderr, "%s: --profile: %s\n", argv[0], e.text);
		return EXIT_USAGE;
	}
	return words_take(argc, argv, usage, common);
}
