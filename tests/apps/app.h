/* SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI test programs share: their options, read before MPI_Init, complained about after. */
#ifndef EVSPACE_APP_H
#define EVSPACE_APP_H

enum app_kind {
	APP_FLAG,   /* --name: *(long *)to becomes 1 */
	APP_NUMBER, /* --name N: *(long *)to, checked against min and max */
	APP_WORD, /* --name WORD: *(const char **)to, checked against the words if there are any */
};

/** One option. A table of them ends with a zero entry. */
struct app_option {
	const char *name;
	enum app_kind kind;
	void *to;
	long min, max;
	const char *words; /* "one|two|three", or NULL: any */
	const char *help;  /* NULL: not shown by --help */
};

/** What the options say is to be done. */
enum app_parsed { APP_RUN, APP_HELP, APP_WRONG };

/**
 * Read the options of @argv. Prints nothing: every rank reads the same options, and only one of
 * them shall speak, which is not known before MPI_Init. What is wrong is kept for app_explain().
 */
enum app_parsed app_parse(int argc, char **argv, const struct app_option *options);

/**
 * After app_parse() gave something else than APP_RUN: the help text on stdout, or what is wrong on
 * stderr. Call it on one rank. @about: one sentence for the help.
 */
void app_explain(enum app_parsed parsed, const char *about, const struct app_option *options);

/** Say that the options are right each, but not together or not with this number of ranks. */
enum app_parsed app_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The exit code for @parsed: 0 after help, 2 after wrong usage. */
int app_exit_code(enum app_parsed parsed);

/** Seconds of CLOCK_MONOTONIC (MPI_Wtime may return 0 at its first call in Open MPI). */
double app_seconds(void);

#endif
