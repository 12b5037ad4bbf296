/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the MPI test programs: one table per program, getopt_long does the reading. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/apps/app.h"

enum { OPTIONS_MAX = 16 };

static const char *program = "app";
static char diagnostic[256];

enum app_parsed app_wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(diagnostic, sizeof(diagnostic), format, args);
	va_end(args);
	return APP_WRONG;
}

static int word_is_one_of(const char *word, const char *words)
{
	size_t n = strlen(word);

	for (const char *at = words; n > 0 && at; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, word, n) == 0 && (at[n] == '|' || at[n] == '\0'))
			return 1;
	}
	return 0;
}

static enum app_parsed option_take(const struct app_option *o, const char *value)
{
	char *end;
	long number;

	switch (o->kind) {
	case APP_FLAG:
		*(long *)o->to = 1;
		return APP_RUN;
	case APP_NUMBER:
		errno = 0;
		number = strtol(value, &end, 10);
		if (errno || end == value || *end || number < o->min || number > o->max)
			return app_wrong("--%s wants a number from %ld to %ld, not '%s'", o->name,
					 o->min, o->max, value);
		*(long *)o->to = number;
		return APP_RUN;
	case APP_WORD:
		if (o->words && !word_is_one_of(value, o->words))
			return app_wrong("--%s wants one of %s, not '%s'", o->name, o->words,
					 value);
		*(const char **)o->to = value;
		return APP_RUN;
	}
	return APP_WRONG;
}

enum app_parsed app_parse(int argc, char **argv, const struct app_option *options)
{
	struct option known[OPTIONS_MAX + 1] = {{0}};
	int n, found, index;

	program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	if (strncmp(program, "lt-", 3) == 0)
		program += 3;
	for (n = 0; n < OPTIONS_MAX - 1 && options[n].name; n++)
		known[n] = (struct option){options[n].name, options[n].kind != APP_FLAG, NULL, 'o'};
	known[n] = (struct option){"help", 0, NULL, 'h'};
	opterr = 0;
	while ((found = getopt_long(argc, argv, ":h", known, &index)) != -1) {
		if (found == 'h')
			return APP_HELP;
		if (found == ':')
			return app_wrong("%s wants a value", argv[optind - 1]);
		if (found != 'o')
			return app_wrong("unknown option '%s'", argv[optind - 1]);
		if (option_take(&options[index], optarg) != APP_RUN)
			return APP_WRONG;
	}
	if (optind < argc)
		return app_wrong("'%s' is no option", argv[optind]);
	return APP_RUN;
}

void app_explain(enum app_parsed parsed, const char *about, const struct app_option *options)
{
	if (parsed == APP_WRONG) {
		fprintf(stderr, "%s: %s; see %s --help\n", program, diagnostic, program);
		return;
	}
	printf("usage: mpirun -np RANKS %s [OPTION]...\n%s\n\n", program, about);
	for (const struct app_option *o = options; o->name; o++) {
		const char *value = o->kind == APP_NUMBER ? " N" : o->words ? o->words : "WORD";
		char left[64];

		if (!o->help)
			continue;
		snprintf(left, sizeof(left), "--%s%s%s", o->name, o->kind == APP_WORD ? " " : "",
			 o->kind == APP_FLAG ? "" : value);
		printf("  %-28s %s\n", left, o->help);
	}
	printf("  %-28s %s\n", "--help", "this text");
}

int app_exit_code(enum app_parsed parsed)
{
	return parsed == APP_WRONG ? 2 : 0;
}

double app_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
