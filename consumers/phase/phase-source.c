/* SPDX-License-Identifier: BSD-3-Clause */
/* What evspace phase looks at, and which options mean something there: no other is taken. */
#include <stdio.h>
#include <string.h>

#include "consumers/phase/phase.h"

/* A bit for each way to look, in this order. */
static const char *const ways[] = {
	"--file",	"--file --watch", "--from",	  "--from --watch",
	"--from --now", "live",		  "live --watch", "live --now",
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

enum {
	OF_FILE = 3,
	OF_ARCHIVE = 4 + 8 + 16,
	OF_RUN = 32 + 64 + 128,
	WATCH = 2 + 8 + 64,
	NOW = 16 + 128,
	ALL = 1 + 4 + 32, /* of all that was */
};

/* Options that are not for all of them. */
static const struct {
	const char *name;
	unsigned ways;
} limited[] = {
	{"connect", OF_RUN},
	{"profile", OF_RUN},
	{"tls", OF_RUN},
	{"identity", OF_RUN},
	{"entry", OF_RUN},
	{"run", OF_RUN},
	{"of", OF_RUN},
	{"rate", OF_RUN},
	{"budget", OF_RUN},
	{"weight", OF_RUN},
	{"window", OF_RUN},
	{"tree", OF_RUN},
	{"concurrency", OF_RUN},
	{"urgency", OF_RUN},
	{"deadline", OF_RUN},
	{"compress", OF_RUN},
	{"patience", OF_RUN},
	{"monitored", OF_RUN},
	{"wait", OF_RUN},
	{"select", OF_RUN | OF_ARCHIVE},
	/* whoever follows an archive may end before it does */
	{"count", OF_RUN | (OF_ARCHIVE & ~ALL)},
	{"duration", OF_RUN | (OF_ARCHIVE & ~ALL)},
	{"speed", OF_ARCHIVE & ~ALL},
	{"blocks", ALL | NOW | (OF_FILE & WATCH)},
	{"processes", ALL | (OF_FILE & WATCH)},
	{"start", ALL | WATCH},
	{"subset", ALL | WATCH},
	{"scan", ALL},
	{"normalise", ALL},
	{"points", ALL},
	{"plot", ALL},
	{"span", WATCH},
};

/* It is given, and means nothing in @way. */
static int option_refuse(const char *name, unsigned ways_of, unsigned way, struct error *e)
{
	char list[200] = "";
	size_t n = 0;

	for (unsigned i = 0; i < WAYS; i++) {
		if (ways_of & 1u << i)
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s\"%s\"", n ? ", " : "",
					      ways[i]);
	}
	return errorf(e, "--%s means nothing with \"%s\"; it is for %s", name, ways[way], list);
}

static int options_check(const struct common *c, unsigned way, struct error *e)
{
	for (unsigned i = 0; c->given[i]; i++) {
		for (size_t k = 0; k < sizeof(limited) / sizeof(limited[0]); k++) {
			if (strcmp(c->given[i], limited[k].name) == 0 &&
			    !(limited[k].ways & 1u << way))
				return option_refuse(limited[k].name, limited[k].ways, way, e);
		}
	}
	return 0;
}

int phase_source_check(const struct phase *p, struct error *e)
{
	const struct common *c = &p->follow.common;
	bool live = c->n_words > 0;
	int n = (p->file != NULL) + (p->n_from > 0) + live;
	unsigned how = p->watch ? 1 : p->now ? 2 : 0;

	if (live && strcmp(c->words[0], "live") != 0)
		return errorf(e, "'%.80s' is not \"live\", the one word that it takes",
			      c->words[0]);
	if (n != 1)
		return errorf(e, "it needs --file FILE, with lines \"time block process\", or "
				 "--from DIR, with an archive, or live, a run");
	if (p->now && (p->watch || p->file))
		return errorf(e, "--now is of a run or an archive, and of nothing else of it");
	if (how > 0 && p->n_from > 1)
		return errorf(e, "--watch and --now look at one archive");
	return options_check(c, live ? 5 + how : p->n_from > 0 ? 2 + how : how, e) < 0 ? -1 : live;
}
