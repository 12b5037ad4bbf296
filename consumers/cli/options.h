/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines: a table of options for each command, and options that commands share
 * (docs/consumers.md). */
#ifndef EVSPACE_OPTIONS_H
#define EVSPACE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consumers/client/evspace-control.h"
#include "pathmap/base/error.h"
#include "tree/wire/wire.h"

struct pathmap;

/** Most patterns of --select, and options of a command. */
#define OPTIONS_SELECT_MAX 32
#define OPTIONS_MOST	   64

/** How the value of an option is read and stored. */
enum option_kind {
	OPTION_FLAG,  /* no value: a bool, set to true */
	OPTION_ONE,   /* no value: an int, set to 1, in structs of the client library */
	OPTION_TEXT,  /* const char *, valid until the process ends */
	OPTION_ONCE,  /* the same; twice is a fault */
	OPTION_COUNT, /* unsigned, from 1 to row->most */
	OPTION_TIME,  /* uint64_t, in ns; a number without unit means seconds */
	OPTION_SPAN,  /* the same, above 0 */
};

/** Stores @value in the command's struct. Returns 0, or -1 with @e, which says what is valid. */
typedef int option_take(void *into, const char *value, struct error *e);

/** One option of a command, or a paragraph of --help between options. */
struct option_row {
	const char *name;  /* without "--"; NULL: a paragraph */
	const char *value; /* name of its value in --help: "ADDR"; NULL: it has none */
	enum option_kind kind;
	size_t at;	   /* where it is stored: offsetof() in the command's struct */
	unsigned most;	   /* of OPTION_COUNT */
	option_take *take; /* stores it instead; NULL: by kind and at */
	unsigned group;	   /* of a shared one: enum options_group */
	const char *help;  /* as one line: --help breaks it; no name: end of the table */
};

/** Options that commands share. */
enum options_group {
	OPTIONS_LOOK = 1,  /* --connect, --profile, --tls, --identity, --entry */
	OPTIONS_JSON = 2,  /* --json */
	OPTIONS_VIEW = 4,  /* --run, --of, --view, --select, --deadline: what to look at */
	OPTIONS_WAVES = 8, /* --rate, --window, --count, --duration: how often; --monitored */
};

/** The options of a command, and its --help. */
struct usage {
	const char *help;	       /* before the options */
	const char *after;	       /* after them; NULL: nothing */
	const struct option_row *own;  /* NULL: none */
	const struct option_row *more; /* some more, below the shared ones; NULL: none */
	size_t more_at;		       /* where their struct is in the command's */
	unsigned takes;		       /* shared options: enum options_group bits */
	const char *lacks;	       /* but not these of them: " rate count "; NULL: all */
	const char *live;	       /* why it takes no --from; NULL: nothing is said of that */
	int words_max;		       /* most words without "--" */
	bool program; /* the first of them is a program, and the others its words */
};

/** The shared settings: command line, variables, profile. Strings last as long as the process. */
struct common {
	struct evspace_options look;
	const char *select[OPTIONS_SELECT_MAX];
	const char *profile; /* NULL: $EVSPACE_PROFILE, or none */
	bool json, rate_said;
	unsigned count;	      /* waves, 0: no limit */
	uint64_t duration_ns; /* 0: no limit */
	char **words;	      /* those without "--", ended by NULL */
	int n_words;
	const char *given[OPTIONS_MOST + 1]; /* options on the command line, each once */
	char *missing_said;		     /* what options_note_missing() said last */
};

/**
 * Parse @argv, whose first word is the command's name for messages ("evspace events"), into the
 * command's struct @into and the shared options into @common. Returns -1 to go on, else the exit
 * code to end with at once: after --help, or a message about a fault.
 */
int options_parse(int argc, char **argv, const struct usage *usage, void *into,
		  struct common *common);

/** The index of @word in the @n @words that are valid for @command there. Returns -1 after a
 * message that it is none of them, with the one that was probably meant. */
int options_word(const char *command, const char *word, const char *const *words, size_t n);

/** The options that commands share, ended by a row without name and help. (options-shared.c) */
extern const struct option_row options_shared[];

/** Set those in @takes that were not given by variables, else the profile. 0, or -1 with @e. */
int options_settle(struct common *common, unsigned takes, struct error *e);

/** The exit code for a failure of the client library. */
int options_failure(enum evspace_failure failure);

/** Ask an agent @question on a connection of its own. Returns its answer of the kind @answer, for
 * evspace__frame__free_unpacked(), or NULL with *@failure and @e. */
Evspace__Frame *options_ask_once(const struct evspace_options *look, const Evspace__Frame *question,
				 Evspace__Frame__KindCase answer, enum evspace_failure *failure,
				 struct error *e);

/** The same. Returns its answer, or NULL after a message, with the exit code in *@code. */
Evspace__Frame *options_ask(const char *command, const struct evspace_options *look,
			    const Evspace__Frame *question, Evspace__Frame__KindCase answer,
			    int *code);

/** Has the agent answered? Else says why not, with the exit code in *@code. */
bool options_answered(const char *command, const struct evspace_reply *reply, int *code);

/** Wait until the one question on @connection is answered, and end it. */
void options_await(struct evspace_connection *connection);

/** What a command is about. */
struct evspace_among options_among(const struct evspace_options *look);

/** Is @text a view that can be defined, with @map (NULL: whatever the entry's map says)? Says on
 * stderr, for @command, what is wrong. */
bool options_definition(const char *command, const char *text, const struct pathmap *map);

/** Open the view. Returns the client, or NULL after a message, with the exit code in *@code. */
struct evspace_client *options_open(const char *command, const struct common *common, int *code);

/** Say why there are no more waves of @client: that the connection is lost, or what has ended it.
 * Returns the exit code. */
int options_ended(const char *command, const struct evspace_client *client);

/** Close what options_open() has opened, and free its notes. */
void options_close(struct common *common, struct evspace_client *client);

/** Say on stderr which hosts refuse, are stopped or cut off, and why, whenever that changes. */
void options_note_missing(const char *command, struct common *common,
			  const struct evspace_client *client);

/** Say so if this wave is the first by another map, on stderr, and with --json in the stream. */
void options_note_remapped(const char *command, const struct common *common,
			   const struct evspace_client *client);

/** From now on, Ctrl-C and SIGTERM end evspace_next() of this client, or of none (NULL). */
void options_catch_signals(struct evspace_client *client);
bool options_interrupted(void); /* has one of the two come since then? */

#endif
