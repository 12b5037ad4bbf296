/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes options from the command line, and says what is wrong with them. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "consumers/cli/options.h"
#include "pathmap/grammar/directive.h"

/* Options of a command that are looked through for the one that was meant. */
#define OPTIONS_KNOWN 64

void options_unknown(const char *command, const char *word, const char *const *words, size_t n)
{
	const char *nearest = word_nearest(word, words, n);

	fprintf(stderr, "%s: ", command);
	if (nearest)
		fprintf(stderr, "there is no '%s'; did you mean '%s'?", word, nearest);
	else
		fprintf(stderr, "'%s' is none of", word);
	for (size_t i = 0; !nearest && i < n; i++)
		fprintf(stderr, "%s %s", i ? "," : "", words[i]);
	fprintf(stderr, "%s try '%s --help'\n", nearest ? "" : ";", command);
}

/* No option begins with it, or several do. */
static void option_unknown(const char *command, const char *word, const struct option *table)
{
	size_t length = strcspn(word, "="), n = 0, could_be = 0;
	const char *names[OPTIONS_KNOWN], *nearest;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	for (; table->name && n < OPTIONS_KNOWN; table++)
		names[n++] = table->name;
	fprintf(stderr, "%s: ", command);
	for (size_t i = 0; i < n; i++)
		if (strncmp(name, names[i], strlen(name)) == 0)
			fprintf(stderr, could_be++ ? ", --%s" : "--%s", names[i]);
	nearest = could_be ? NULL : word_nearest(name, names, n);
	if (could_be)
		fprintf(stderr, ": which of these is '--%s';", name);
	else if (nearest)
		fprintf(stderr, "there is no option '--%s'; did you mean '--%s'?", name, nearest);
	else
		fprintf(stderr, "there is no option '--%s';", name);
}

/* The word of short options in which getopt_long(3) has stopped, NULL: it was a long one. */
static const char *option_short(int argc, char **argv)
{
	const char *word = optind < argc ? argv[optind] : "";

	/* it goes on to the next word with the last letter */
	if (word[0] != '-' || word[1] != optopt || !word[2])
		word = argv[optind - 1];
	return optopt && word[0] == '-' && word[1] == optopt ? word : NULL;
}

/* @words: as in options_next(). */
static void option_wrong(int argc, char **argv, bool words, int code, const struct option *table)
{
	const char *word = option_short(argc, argv);
	const char *said = word ? "" : argv[optind - 1] + strlen("--");

	/* several may have one value */
	while (optopt && !word && table->name &&
	       (table->val != optopt || strncmp(table->name, said, strcspn(said, "=")) != 0))
		table++;
	if (word)
		fprintf(stderr, "%s: there is no option '%s';%s", argv[0], word,
			words ? "" : " did you mean: evspace run -- mpirun -np 2 …?");
	else if (optopt)
		fprintf(stderr, "%s: --%s takes %s", argv[0], table->name,
			code == ':' ? "a value, which is missing;" : "no value;");
	else
		option_unknown(argv[0], said, table);
	fprintf(stderr, " try '%s --help'\n", argv[0]);
}

int options_next(int argc, char **argv, bool words, const struct option *table, int *index)
{
	int c;

	opterr = 0;
	c = getopt_long(argc, argv, words ? ":h" : "+:h", table, index);
	if (c != ':' && c != '?')
		return c;
	option_wrong(argc, argv, words, c, table);
	return '?';
}
