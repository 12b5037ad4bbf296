/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses what all consumers understand, and turns failures into messages and exit codes. */
#include "consumers/cli/options.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/help.h"
#include "consumers/cli/profile.h"
#include "consumers/cli/unit.h"
#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"
#include "pathmap/base/quantity.h"
#include "pathmap/model/recording.h"
#include "tree/scope/ask.h"
#include "tree/data/span.h"

enum {
	CONNECT = 1,
	PROFILE,
	TLS,
	IDENTITY,
	ENTRY,
	RUN,
	OF,
	VIEW,
	SELECT,
	RATE,
	WINDOW,
	DEADLINE,
	COUNT,
	DURATION,
	COMPRESS,
	PATIENCE,
	MONITORED,
	WAIT,
	JSON
};

/* The options that commands share, in the order in which --help has them. */
static const struct {
	const char *name;
	bool takes_value;
	int code;
	unsigned group; /* enum options_group; 0: all commands take it */
	const char *help;
} shared[] = {
	{"connect", true, CONNECT, 0,
	 "  --connect ADDR    HOST:PORT or unix:PATH of the entry agent\n"
	 "                    (default: $EVSPACE_CONNECT, else this host's only agent)\n"},
	{"profile", true, PROFILE, 0,
	 "  --profile NAME    as `evspace profile save NAME` has noted, but for what is said\n"
	 "                    here or in variables (default: $EVSPACE_PROFILE)\n"},
	{"tls", true, TLS, 0,
	 "  --tls DIR         certificates made by evspace-certs, for HOST:PORT\n"
	 "                    (default: $EVSPACE_TLS, else ~/.config/evspace/tls)\n"},
	{"identity", true, IDENTITY, 0,
	 "  --identity NAME   NAME.pem and NAME.key there (default: observe, else the\n"
	 "                    only one)\n"},
	{"entry", true, ENTRY, 0,
	 "  --entry NAME      node whose agent must answer at HOST:PORT, by its certificate\n"
	 "                    (default: $EVSPACE_ENTRY, else HOST, unless it is a number)\n"},
	{"run", true, RUN, OPTIONS_VIEW,
	 "  --run NAME        which run (default: $EVSPACE_RUN, else the only live one)\n"},
	{"of", true, OF, OPTIONS_VIEW,
	 "  --of evspace      not a program: what agents and monitored consumers do themselves\n"},
	{"view", true, VIEW, OPTIONS_VIEW,
	 "  --view NAME       a view of the pathmap's application map\n"},
	{"select", true, SELECT, OPTIONS_VIEW,
	 "  --select PATTERN  only these elements, such as '/*/*/rank[0-3]/**'; may be repeated\n"},
	{"rate", true, RATE, OPTIONS_WAVES,
	 "  --rate HZ|max     how often to look, in waves per second (default: heartbeat 1, events "
	 "10;\n"
	 "                    without it a stream looks oftener while elements fill faster, for\n"
	 "                    at most 10 % of a core of the busiest host)\n"},
	{"window", true, WINDOW, OPTIONS_WAVES,
	 "  --window N        waves under way at once, 1 to 64 (default 1)\n"},
	{"deadline", true, DEADLINE, OPTIONS_VIEW,
	 "  --deadline TIME   how long hosts are waited for, such as 500ms, or 500 (default 1s,\n"
	 "                    60s at most)\n"},
	{"count", true, COUNT, OPTIONS_WAVES, "  --count N         end after N waves\n"},
	{"duration", true, DURATION, OPTIONS_WAVES,
	 "  --duration TIME   end after 500ms, 90s, 90, 10m, 1h …\n"},
	{"compress", true, COMPRESS, OPTIONS_WAVES,
	 "  --compress WHEN   what agents send: auto (on a slow connection; default), never, or\n"
	 "                    always (through a tunnel, say, that hides how slow it is)\n"},
	{"patience", true, PATIENCE, OPTIONS_WAVES,
	 "  --patience TIME   how long a broken connection is tried again (default 2m)\n"},
	{"monitored", false, MONITORED, OPTIONS_WAVES,
	 "  --monitored       record what this command itself does, for others' --of evspace\n"},
	{"wait", false, WAIT, OPTIONS_WAVES,
	 "  --wait            wait for the run if it is not there yet; without --run for one\n"
	 "                    that lives\n"},
	{"json", false, JSON, 0, "  --json            one JSON object a line, with \"schema\":1\n"},
};

#define SHARED	    (sizeof(shared) / sizeof(shared[0]))
#define OPTIONS_MAX (SHARED + 16)

#define NS_PER_MS UINT64_C(1000000)
#define NS_MOST	  (UINT64_C(2678400) * QUANTITY_SECONDS) /* 31 days */

static int set_select(struct common *c, const char *pattern, struct error *e)
{
	size_t at;

	if (c->look.n_select == OPTIONS_SELECT_MAX)
		return errorf(e, "more than %d patterns", OPTIONS_SELECT_MAX);
	if (pattern_check(pattern, e) < 0 || recording_pattern_check(pattern, &at, e) < 0)
		return -1;
	c->select[c->look.n_select++] = pattern;
	c->look.select = c->select;
	return 0;
}

static int set_of(struct common *c, const char *what, struct error *e)
{
	if (strcmp(what, SPAN_RUN) != 0)
		return errorf(e,
			      "'%.60s' cannot be looked at; a program's run is --run, and "
			      "EventSpace itself --of " SPAN_RUN,
			      what);
	c->look.run = SPAN_RUN;
	return 0;
}

static int set_compress(const char *when, enum evspace_compress *to, struct error *e)
{
	static const char *const names[] = {
		[EVSPACE_COMPRESS_AUTO] = "auto",
		[EVSPACE_COMPRESS_NEVER] = "never",
		[EVSPACE_COMPRESS_ALWAYS] = "always",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(when, names[i]) != 0)
			continue;
		*to = (enum evspace_compress)i;
		return 0;
	}
	return errorf(e, "'%.60s' is none of auto, never and always", when);
}

/* From a millisecond to a month. */
static int set_milliseconds(const char *text, uint64_t plain_ns, unsigned *ms, struct error *e)
{
	uint64_t ns;

	if (quantity_duration(text, plain_ns, &ns, e) < 0)
		return -1;
	if (ns < NS_PER_MS || ns > NS_MOST)
		return errorf(e, "'%.60s' is less than a millisecond, or longer than a month",
			      text);
	*ms = (unsigned)(ns / NS_PER_MS);
	return 0;
}

/* Agents wait no longer. */
static int set_deadline(const char *text, unsigned *ms, struct error *e)
{
	unsigned said = 0;

	if (set_milliseconds(text, NS_PER_MS, &said, e) < 0)
		return -1;
	if (said > ASK_DEADLINE_MOST_MS)
		return errorf(e,
			      "'%.60s' is longer than the %u s that hosts are waited for at most",
			      text, ASK_DEADLINE_MOST_MS / 1000);
	*ms = said;
	return 0;
}

/* Without it there is no limit. */
static int set_duration(const char *text, uint64_t *ns, struct error *e)
{
	if (quantity_duration(text, QUANTITY_SECONDS, ns, e) < 0)
		return -1;
	return *ns ? 0 : errorf(e, "'%.60s' is no time to look", text);
}

static int set_common(struct common *c, int code, const char *value, struct error *e)
{
	struct evspace_options *o = &c->look;
	switch (code) {
	case CONNECT:
		o->connect = value;
		break;
	case PROFILE:
		c->profile = value;
		break;
	case TLS:
		o->tls = value;
		break;
	case IDENTITY:
		o->identity = value;
		break;
	case ENTRY:
		o->entry = value;
		break;
	case RUN:
		o->run = value;
		break;
	case OF:
		return set_of(c, value, e);
	case VIEW:
		o->view = value;
		break;
	case SELECT:
		return set_select(c, value, e);
	case RATE:
		c->rate_said = true;
		return unit_rate(value, &o->rate_hz, e);
	case WINDOW:
		return quantity_count(value, 1, 64, &o->window, e);
	case DEADLINE:
		return set_deadline(value, &o->deadline_ms, e);
	case COUNT:
		return quantity_count(value, 1, UINT_MAX, &c->count, e);
	case DURATION:
		return set_duration(value, &c->duration_ns, e);
	case COMPRESS:
		return set_compress(value, &o->compress, e);
	case PATIENCE:
		return set_milliseconds(value, QUANTITY_SECONDS, &o->patience_ms, e);
	case MONITORED:
		o->monitored = 1;
		break;
	case WAIT:
		o->wait = 1;
		break;
	case JSON:
		c->json = true;
		break;
	}
	return 0;
}

static bool takes(const struct common *common, size_t i)
{
	return !shared[i].group || (common->takes & shared[i].group);
}

/* The shared options that the command takes, --help, and its own behind them. */
static void options_table(const struct common *common, const struct own_option *own,
			  struct option *table)
{
	size_t n = 0;

	table[n++] = (struct option){.name = "help", .val = 'h'};
	for (size_t i = 0; i < SHARED; i++) {
		if (takes(common, i))
			table[n++] = (struct option){
				.name = shared[i].name,
				.has_arg = shared[i].takes_value ? required_argument : no_argument,
				.val = shared[i].code,
			};
	}
	for (; own->name && n < OPTIONS_MAX; own++, n++) {
		table[n] = (struct option){
			.name = own->name,
			.has_arg = own->takes_value ? required_argument : no_argument,
			.val = own->code,
		};
	}
	table[n] = (struct option){0};
}

static void options_help(const struct common *common)
{
	for (size_t i = 0; i < SHARED; i++) {
		if (takes(common, i))
			help_print(shared[i].help);
	}
	puts("  --help            this text");
}

/* What no option has said: a variable, else the profile. */
static int options_settle(struct common *c, struct error *e)
{
	const struct profile *profile = profile_chosen(c->profile, e);
	struct evspace_options *o = &c->look;

	if (!profile)
		return -1;
	if (!o->connect)
		o->connect = config_variable("EVSPACE_CONNECT");
	if (!o->connect)
		o->connect = profile->connect;
	/* Who answers at another address is not who answers at the profile's. */
	if (!o->entry && !config_variable("EVSPACE_ENTRY") && o->connect == profile->connect)
		o->entry = profile->entry;
	if (!o->run)
		o->run = config_variable("EVSPACE_RUN");
	if (!o->run)
		o->run = profile->run;
	if (!o->tls && !config_variable("EVSPACE_TLS"))
		o->tls = profile->tls;
	if (!o->identity)
		o->identity = profile->identity;
	o->hurry = !c->rate_said && !profile->rate;
	if (!c->rate_said && profile->rate && (c->takes & OPTIONS_WAVES))
		return unit_rate(profile->rate, &o->rate_hz, e);
	return 0;
}

/* ---- */

int options_parse(int argc, char **argv, const char *help, const struct own_option *own,
		  own_set *set, void *arg, struct common *common)
{
	struct option table[OPTIONS_MAX + 1];
	struct error e;
	int c, index = 0, rc;

	options_table(common, own, table);
	while ((c = options_next(argc, argv, true, table, &index)) != -1) {
		if (c == 'h') {
			help_print(help);
			options_help(common);
			return EXIT_FINE;
		}
		if (c == '?')
			return EXIT_USAGE;
		rc = c < 256 ? set_common(common, c, optarg, &e) : set(arg, c, optarg, &e);
		if (rc < 0) {
			fprintf(stderr, "%s: --%s: %s\n", argv[0], table[index].name, e.text);
			return EXIT_USAGE;
		}
	}
	if (options_settle(common, &e) < 0) {
		fprintf(stderr, "%s: --profile: %s\n", argv[0], e.text);
		return EXIT_USAGE;
	}
	common->words = argv + optind;
	common->n_words = argc - optind;
	if (common->n_words <= common->words_max)
		return -1;
	fprintf(stderr, "%s: '%s' is not wanted here; try '%s --help'\n", argv[0],
		argv[optind + common->words_max], argv[0]);
	return EXIT_USAGE;
}

struct evspace_client *options_open(const char *command, const struct common *common, int *code)
{
	enum evspace_failure failure;
	char why[sizeof(((struct error *)0)->text)];
	struct evspace_client *client = evspace_open(&common->look, &failure, why, sizeof(why));

	if (client)
		return client;
	fprintf(stderr, "%s: %s\n", command, why);
	*code = failure == EVSPACE_WRONG ? EXIT_USAGE : EXIT_NO_CONNECTION;
	return NULL;
}

void options_close(struct common *common, struct evspace_client *client)
{
	evspace_close(client);
	free(common->missing_said);
	common->missing_said = NULL;
}

static struct evspace_client *caught;

static void on_signal(int number)
{
	(void)number;
	evspace_stop(caught);
}

void options_catch_signals(struct evspace_client *client)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};

	caught = client;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

void options_note_missing(const char *command, struct common *common,
			  const struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);
	char *text = memory_copy("");

	for (size_t i = 0; i < w->n_missing; i++) {
		char *before = text;

		if (!w->missing[i].reason[0])
			continue;
		text = memory_format("%sevspace %s: %s is missing: %s\n", before, command,
				     w->missing[i].leaf, w->missing[i].reason);
		free(before);
	}
	if (!common->missing_said || strcmp(text, common->missing_said) != 0)
		fputs(text, stderr);
	free(common->missing_said);
	common->missing_said = text;
}

void options_note_remapped(const char *command, const struct common *common,
			   const struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);

	if (!w->remapped)
		return;
	fprintf(stderr, "evspace %s: from wave %llu on by map generation %llu\n", command,
		(unsigned long long)w->number, (unsigned long long)w->remapped);
	if (common->json)
		printf("{\"schema\":1,\"type\":\"remapped\",\"generation\":%llu,\"wave\":%llu}\n",
		       (unsigned long long)w->remapped, (unsigned long long)w->number);
}
