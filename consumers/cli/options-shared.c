/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that consumers share, and the messages and exit codes for failures. */
#include "consumers/cli/options.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/profile.h"
#include "consumers/client/client-replay.h"
#include "consumers/client/client.h"
#include "consumers/client/connection.h"
#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/model/recording.h"
#include "tree/data/schedule.h"
#include "tree/data/span.h"
#include "tree/scope/ask.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_MOST	  (UINT64_C(2678400) * QUANTITY_SECONDS) /* 31 days */

static int set_select(void *into, const char *pattern, struct error *e)
{
	struct common *c = into;

	if (c->look.n_select == OPTIONS_SELECT_MAX)
		return errorf(e, "more than %d patterns", OPTIONS_SELECT_MAX);
	if (recording_select_check(&pattern, 1, e) < 0)
		return -1;
	c->select[c->look.n_select++] = pattern;
	c->look.select = c->select;
	return 0;
}

static int set_of(void *into, const char *what, struct error *e)
{
	struct common *c = into;

	if (strcmp(what, SPAN_RUN) != 0)
		return errorf(e,
			      "'%.60s' cannot be looked at; a program's run is --run, and "
			      "EventSpace itself --of " SPAN_RUN,
			      what);
	c->look.run = SPAN_RUN;
	return 0;
}

static int set_from(void *into, const char *folder, struct error *e)
{
	static char *address; /* as long as the process */
	struct common *c = into;

	if (!*folder)
		return errorf(e, "the folder of an archive has a name");
	free(address);
	c->look.connect = address = memory_format(CLIENT_REPLAY "%s", folder);
	return 0;
}

static int set_speed(void *into, const char *value, struct error *e)
{
	char *end;
	double speed = strtod(value, &end);

	(void)into;
	if (end == value || *end || !(speed > 0 && speed <= 1e6))
		return errorf(
			e,
			"'%.60s' is no speed; write 1 for that of the run, 10 for ten times that",
			value);
	client_replay_speed_set(speed);
	return 0;
}

static int set_rate(void *into, const char *value, struct error *e)
{
	struct common *c = into;

	c->rate_said = true;
	return unit_rate(value, &c->look.rate_hz, e);
}

static int set_budget(void *into, const char *value, struct error *e)
{
	struct common *c = into;
	const char *comma = strchr(value, ',');
	char *share;
	int rc;

	c->look.collect = comma != NULL;
	if (comma && strcmp(comma, ",collect") != 0)
		return errorf(e,
			      "'%.60s' is not a share; write percent above 0 and up to 100, or "
			      "1%%,collect",
			      value);
	share = memory_format("%.*s", comma ? (int)(comma - value) : (int)strlen(value), value);
	rc = quantity_share(share, &c->look.budget, e);
	free(share);
	return rc;
}

static int set_weight(void *into, const char *value, struct error *e)
{
	struct common *c = into;
	char *end;
	double weight = strtod(value, &end);

	if (end == value || *end || !(weight >= ASK_WEIGHT_LEAST && weight <= ASK_WEIGHT_MOST))
		return errorf(
			e,
			"'%.60s' is not a weight; write a number from %g to %g, such as 3 for "
			"three times the share of others",
			value, ASK_WEIGHT_LEAST, ASK_WEIGHT_MOST);
	c->look.weight = weight;
	return 0;
}

static int set_compress(void *into, const char *when, struct error *e)
{
	static const char *const names[] = {
		[EVSPACE_COMPRESS_AUTO] = "auto",
		[EVSPACE_COMPRESS_NEVER] = "never",
		[EVSPACE_COMPRESS_ALWAYS] = "always",
	};

	struct common *c = into;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(when, names[i]) != 0)
			continue;
		c->look.compress = (enum evspace_compress)i;
		return 0;
	}
	return errorf(e, "'%.60s' is not one of auto, never, always", when);
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

/* The command itself takes no more than it asks for. */
static int set_urgency(void *into, const char *text, struct error *e)
{
	struct common *c = into;
	enum urgency urgency;

	if (urgency_parse(text, &urgency, e) < 0 || schedule_class_set(urgency, e) < 0)
		return -1;
	c->look.urgency = (enum evspace_urgency)urgency;
	return 0;
}

/* agents wait no longer */
static int set_deadline(void *into, const char *text, struct error *e)
{
	struct common *c = into;
	unsigned said = 0;

	if (set_milliseconds(text, NS_PER_MS, &said, e) < 0)
		return -1;
	if (said > ASK_DEADLINE_MOST_MS)
		return errorf(e,
			      "'%.60s' is longer than %u s, the most that a wave waits for hosts",
			      text, ASK_DEADLINE_MOST_MS / 1000);
	c->look.deadline_ms = said;
	return 0;
}

static int set_patience(void *into, const char *text, struct error *e)
{
	struct common *c = into;

	return set_milliseconds(text, QUANTITY_SECONDS, &c->look.patience_ms, e);
}

/* 0 would mean no limit */
static int set_duration(void *into, const char *text, struct error *e)
{
	struct common *c = into;

	if (quantity_duration(text, QUANTITY_SECONDS, &c->duration_ns, e) < 0)
		return -1;
	return c->duration_ns ? 0 : errorf(e, "'%.60s' is not a time to look", text);
}

#define AT(member) .at = offsetof(struct common, member)

/* in the order of --help */
const struct option_row options_shared[] = {
	{"connect", "ADDR", OPTION_TEXT, AT(look.connect), .group = OPTIONS_LOOK,
	 .help = "HOST:PORT or unix:PATH of the entry agent (default: $EVSPACE_CONNECT, else this "
		 "host's only agent)"},
	{"profile", "NAME", OPTION_TEXT, AT(profile), .group = OPTIONS_LOOK,
	 .help = "settings of `evspace profile save NAME`, which options and variables override "
		 "(default: $EVSPACE_PROFILE)"},
	{"tls", "DIR", OPTION_TEXT, AT(look.tls), .group = OPTIONS_LOOK,
	 .help = "certificates made by evspace-certs, for HOST:PORT (default: $EVSPACE_TLS, else "
		 "~/.config/evspace/tls)"},
	{"identity", "NAME", OPTION_TEXT, AT(look.identity), .group = OPTIONS_LOOK,
	 .help = "NAME.pem and NAME.key there (default: observe, else the only one)"},
	{"entry", "NAME", OPTION_TEXT, AT(look.entry), .group = OPTIONS_LOOK,
	 .help = "node whose agent must answer at HOST:PORT, by its certificate (default: "
		 "$EVSPACE_ENTRY, else HOST, unless it is a number)"},
	{"run", "NAME", OPTION_TEXT, AT(look.run), .group = OPTIONS_VIEW,
	 .help = "which run (default: $EVSPACE_RUN, else the only live one)"},
	{"of", "evspace", .take = set_of, .group = OPTIONS_VIEW,
	 .help = "not a program: what agents and monitored consumers do themselves"},
	{"view", "NAME", OPTION_TEXT, AT(look.view), .group = OPTIONS_VIEW,
	 .help = "a view of the pathmap's application map"},
	{"select", "PATTERN", .take = set_select, .group = OPTIONS_VIEW,
	 .help = "only these elements, such as '/*/*/rank[0-3]/**'; may be repeated"},
	{"from", "DIR", .take = set_from, .group = OPTIONS_WAVES,
	 .help = "not a live run: the archive in DIR that evspace archive has written"},
	{"speed", "N", .take = set_speed, .group = OPTIONS_WAVES,
	 .help = "with --from: N times as fast as the waves were taken (default: at once)"},
	{"rate", "HZ|max", .take = set_rate, .group = OPTIONS_WAVES,
	 .help = "how often to look, in waves per second (default: heartbeat 1, events and watch "
		 "10; "
		 "without it a stream looks more often while elements fill faster, for at most "
		 "10 % of a core of the busiest host)"},
	{"budget", "PERCENT", .take = set_budget, .group = OPTIONS_WAVES,
	 .help = "look as often as slows the program down by that at most, such as 1%: measured "
		 "on the program itself while it is looked at (docs/plans.md); --rate is the most "
		 "then. 1%,collect has less of its events recorded, too, where collecting takes "
		 "more than half of that (control)"},
	{"weight", "N", .take = set_weight, .group = OPTIONS_WAVES,
	 .help = "of this consumer's share of what the map lets all together spend (`budget 2%;` "
		 "of application.map), beside others': 0.01 to 100 (default 1)"},
	{"window", "N", OPTION_COUNT, AT(look.window), .most = 64, .group = OPTIONS_WAVES,
	 .help = "waves under way at once, 1 to 64 (default 1)"},
	{"tree", "SHAPE", OPTION_TEXT, AT(look.tree), .group = OPTIONS_WAVES,
	 .help = "the view's tree: by-cluster, flat, or \"fanout 8\", if the map lets consumers "
		 "choose it (default: as the map has it)"},
	{"concurrency", "N", OPTION_TEXT, AT(look.concurrency), .group = OPTIONS_WAVES,
	 .help = "children that each host asks at once for a wave: sequential, 8, all (default: "
		 "as the map has it; more only if it allows that)"},
	{"urgency", "CLASS", .take = set_urgency, .group = OPTIONS_WAVES,
	 .help = "how agents, and this command, compete with the program for processors: idle, "
		 "which takes none from it (answers come late on full ones; an agent that would "
		 "miss --deadline by that takes batch for a while); batch (agents' default); "
		 "normal"},
	{"deadline", "TIME", .take = set_deadline, .group = OPTIONS_VIEW,
	 .help = "how long hosts are waited for, such as 500ms, or 500 (default 1s, 60s at most)"},
	{"count", "N", OPTION_COUNT, AT(count), .most = UINT_MAX, .group = OPTIONS_WAVES,
	 .help = "end after N waves, which are looks, not events"},
	{"duration", "TIME", .take = set_duration, .group = OPTIONS_WAVES,
	 .help = "end after 500ms, 90s, 90, 10m, 1h …"},
	{"compress", "WHEN", .take = set_compress, .group = OPTIONS_WAVES,
	 .help = "what agents send: auto (on a slow connection; default), never, or always "
		 "(through a tunnel, say, that hides how slow it is)"},
	{"patience", "TIME", .take = set_patience, .group = OPTIONS_WAVES,
	 .help = "how long a broken connection is tried again (default 2m)"},
	{"monitored", NULL, OPTION_ONE, AT(look.monitored), .group = OPTIONS_WAVES,
	 .help = "record what this command itself does, for others' --of evspace"},
	{"wait", NULL, OPTION_ONE, AT(look.wait), .group = OPTIONS_WAVES,
	 .help = "wait for the run if it is not there yet, for --duration at most; --duration and "
		 "--count begin with its first wave; without --run for one that lives"},
	{"json", NULL, OPTION_FLAG, AT(json), .group = OPTIONS_JSON,
	 .help = "one JSON object a line, with \"schema\":1"},
	{0},
};

int options_settle(struct common *c, unsigned takes, struct error *e)
{
	const struct profile *profile = profile_chosen(c->profile, e);
	struct evspace_options *o = &c->look;

	if (!profile)
		return -1;
	if (!o->connect)
		o->connect = config_variable("EVSPACE_CONNECT");
	if (!o->connect)
		o->connect = profile->connect;
	/* another address may have another entry agent than the profile's */
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
	o->folded = 1;
	if (!c->rate_said && profile->rate && (takes & OPTIONS_WAVES))
		return unit_rate(profile->rate, &o->rate_hz, e);
	return 0;
}

int options_failure(enum evspace_failure failure)
{
	static const enum exit_code codes[] = {
		[EVSPACE_FINE] = EXIT_NO_CONNECTION, [EVSPACE_NO_CONNECTION] = EXIT_NO_CONNECTION,
		[EVSPACE_WRONG] = EXIT_USAGE,	     [EVSPACE_NO_RUN] = EXIT_BAD_NEWS,
		[EVSPACE_DISK] = EXIT_BAD_NEWS,
	};

	return codes[failure];
}

Evspace__Frame *options_ask_once(const struct evspace_options *look, const Evspace__Frame *question,
				 Evspace__Frame__KindCase answer, enum evspace_failure *failure,
				 struct error *e)
{
	struct evspace_connection *c = evspace_connect(look);
	unsigned deadline_ms = look->deadline_ms ? look->deadline_ms : 1000;
	Evspace__Frame *reply = question_ask(c, question, answer, deadline_ms, NULL, failure, e);

	evspace_disconnect(c);
	return reply;
}

Evspace__Frame *options_ask(const char *command, const struct evspace_options *look,
			    const Evspace__Frame *question, Evspace__Frame__KindCase answer,
			    int *code)
{
	enum evspace_failure failure = EVSPACE_FINE;
	struct error e;
	Evspace__Frame *reply = options_ask_once(look, question, answer, &failure, &e);

	if (reply)
		return reply;
	fprintf(stderr, "%s: %s\n", command, e.text);
	*code = options_failure(failure);
	return NULL;
}

bool options_answered(const char *command, const struct evspace_reply *reply, int *code)
{
	if (reply->failure == EVSPACE_FINE)
		return true;
	fprintf(stderr, "%s: %s\n", command, reply->why);
	*code = options_failure(reply->failure);
	return false;
}

void options_await(struct evspace_connection *connection)
{
	(void)evspace_wait(connection, -1);
	evspace_disconnect(connection);
}

struct evspace_among options_among(const struct evspace_options *look)
{
	return (struct evspace_among){look->run, look->view, look->select, look->n_select,
				      look->deadline_ms};
}

static struct evspace_client *caught;
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
	if (caught)
		evspace_stop(caught);
}

void options_catch_signals(struct evspace_client *client)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};

	caught = client;
	interrupted = 0;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* what is too large for a limit fails, and that is said */
	signal(SIGXFSZ, SIG_IGN);
}

bool options_interrupted(void)
{
	return interrupted;
}
