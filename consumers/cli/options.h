/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that all consumers have in common, and how a command adds its own
 * (docs/consumers.md). */
#ifndef EVSPACE_OPTIONS_H
#define EVSPACE_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "consumers/client/evspace-client.h"
#include "pathmap/base/error.h"

/** Patterns that --select takes at most. */
#define OPTIONS_SELECT_MAX 32

/** Shared options that not all commands take, beside --connect, --tls, --identity and --json. */
enum options_group {
	OPTIONS_VIEW =
		1, /* --run, --of, --view, --select, --deadline: what is asked of which hosts */
	OPTIONS_WAVES = 2, /* --rate, --window, --count, --duration: how often; --monitored */
};

/** What was said on the command line, in variables and in a profile. Strings live as long as the
 * process. */
struct common {
	unsigned takes; /* set by the command: enum options_group bits */
	struct evspace_options look;
	const char *select[OPTIONS_SELECT_MAX];
	const char *profile; /* NULL: $EVSPACE_PROFILE, or none */
	bool json, rate_said;
	unsigned count;	      /* waves, 0: no limit */
	uint64_t duration_ns; /* 0: no limit */
	int words_max;	      /* set by the command: words without "--" that it takes */
	char **words;
	int n_words;
	char *missing_said; /* by options_note_missing(), last */
};

/** An option of one command. */
struct own_option {
	const char *name;
	bool takes_value;
	int code; /* 256 or more */
};

/** Called for each own option. Returns 0, or -1 with what would be right in @e. */
typedef int own_set(void *arg, int code, const char *value, struct error *e);

/**
 * getopt_long(3), but what is wrong is said here, with the option that was probably meant: argv[0]
 * ("evspace run"), what, and --help. @words: may options stand behind words that are none? Returns
 * '?' where something is wrong.
 */
int options_next(int argc, char **argv, bool words, const struct option *table, int *index);

/** Say that @word is none of the @n @words that @command takes there, and which was meant. */
void options_unknown(const char *command, const char *word, const char *const *words, size_t n);

/**
 * Parse @argv, whose first word is the command's name ("evspace events"), as in all messages. @own
 * (ended by a NULL name) are the command's own options; of the shared ones those are taken that
 * @common says. Prints @help and these for --help.
 * Returns -1 to go on, else the exit code to end with at once.
 */
int options_parse(int argc, char **argv, const char *help, const struct own_option *own,
		  own_set *set, void *arg, struct common *common);

/** Open the view. Returns the client, or NULL after one message, with the exit code in *@code. */
struct evspace_client *options_open(const char *command, const struct common *common, int *code);

/** Close what options_open() has opened, and free what was noted of it. */
void options_close(struct common *common, struct evspace_client *client);

/** Say on stderr which hosts refuse, and why, whenever that is another thing than before. */
void options_note_missing(const char *command, struct common *common,
			  const struct evspace_client *client);

/** If this wave is the first one by another map of the entry agent's, say so on stderr, and with
 * --json in the stream. */
void options_note_remapped(const char *command, const struct common *common,
			   const struct evspace_client *client);

/** Ctrl-C and SIGTERM end evspace_next() of this client from now on; a closed pipe is no signal. */
void options_catch_signals(struct evspace_client *client);

#endif
