/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of all commands: a table of options each, and those that commands share
 * (docs/consumers.md). */
#ifndef EVSPACE_OPTIONS_H
#define EVSPACE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consumers/client/client-ask.h"
#include "pathmap/base/error.h"

/** Patterns that --select takes at most. */
#define OPTIONS_SELECT_MAX 32

/** How the value of an option is read, and as what it is stored. */
enum option_kind {
	OPTION_FLAG,  /* it has none: a bool that becomes true */
	OPTION_ONE,   /* it has none: an int that becomes 1, in structs of the client library */
	OPTION_TEXT,  /* const char *, as long as the process lives */
	OPTION_COUNT, /* unsigned, from 1 to row->most */
	OPTION_TIME,  /* uint64_t, in ns; a number alone is one of seconds */
};

/** Stores @value in the command's struct. Returns 0, or -1 with what would be right in @e. */
typedef int option_take(void *into, const char *value, struct error *e);

/** One option of a command, or a paragraph of --help between options. */
struct option_row {
	const char *name;  /* without "--"; NULL: a paragraph */
	const char *value; /* what --help calls its value: "ADDR"; NULL: it takes none */
	enum option_kind kind;
	size_t at;	   /* where it is stored: offsetof() in the command's struct */
	unsigned most;	   /* of OPTION_COUNT */
	option_take *take; /* stores it instead; NULL: by kind and at */
	unsigned group;	   /* of a shared one: enum options_group */
	const char *help;  /* as one line: --help breaks it; NULL too: end of the table */
};

/** Options that commands share. */
enum options_group {
	OPTIONS_LOOK = 1,  /* --connect, --profile, --tls, --identity, --entry */
	OPTIONS_JSON = 2,  /* --json */
	OPTIONS_VIEW = 4,  /* --run, --of, --view, --select, --deadline: what of which hosts */
	OPTIONS_WAVES = 8, /* --rate, --window, --count, --duration: how often; --monitored */
};

/** What a command takes, and says of it with --help. */
struct usage {
	const char *help;	       /* in front of the options */
	const char *after;	       /* behind them; NULL: nothing */
	const struct option_row *own;  /* its own ones; NULL: none */
	const struct option_row *more; /* some more, below the shared ones; NULL: none */
	size_t more_at;		       /* where their struct is in the command's */
	unsigned takes;		       /* of the shared ones: enum options_group bits */
	int words_max;		       /* words without "--" */
	bool program; /* the first of them is a program, whose words the others are */
};

/** What was said on the command line, in variables and in a profile. Strings live as long as the
 * process. */
struct common {
	struct evspace_options look;
	const char *select[OPTIONS_SELECT_MAX];
	const char *profile; /* NULL: $EVSPACE_PROFILE, or none */
	bool json, rate_said;
	unsigned count;	      /* waves, 0: no limit */
	uint64_t duration_ns; /* 0: no limit */
	char **words;	      /* those without "--", ended by NULL */
	int n_words;
	char *missing_said; /* by options_note_missing(), last */
};

/**
 * Parse @argv, whose first word is the command's name ("evspace events"), as in all messages, into
 * the command's struct @into, and what is shared into @common. Returns -1 to go on, else the exit
 * code to end with at once: after --help, or a message that says what is wrong.
 */
int options_parse(int argc, char **argv, const struct usage *usage, void *into,
		  struct common *common);

/** Which of the @n @words that @command takes there @word is. Returns -1 after saying that it is
 * none of them, and which was probably meant. */
int options_word(const char *command, const char *word, const char *const *words, size_t n);

/** The options that commands share, ended by one without name and help. (options-shared.c) */
extern const struct option_row options_shared[];

/** Take what no option of those that the command @takes has said from variables, else from the
 * profile. Returns 0, or -1 with @e. (options-shared.c) */
int options_settle(struct common *common, unsigned takes, struct error *e);

/** The exit code of a command that the client library has failed so. */
int options_failure(enum evspace_failure failure);

/** Ask an agent as client_ask() does. Returns its answer, or NULL after one message, with the exit
 * code in *@code. */
Evspace__Frame *options_ask(const char *command, const struct evspace_options *look,
			    const Evspace__Frame *question, Evspace__Frame__KindCase answer,
			    int *code);

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
