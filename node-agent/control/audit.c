/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes control actions as log lines. */
#include "node-agent/control/audit.h"

#include <stdio.h>
#include <string.h>

#include "node-agent/control/properties.h"
#include "node-agent/segment/segment-class.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/utf8.h"
#include "tree/scope/classes.h"
#include "tree/data/op.h"

const char *audit_who(const struct peer *peer, char *buf, size_t n)
{
	snprintf(buf, n, "%s (%s)", peer->name, peer->where);
	return buf;
}

static void choice_name(const Evspace__Choice *choice, char *buf, size_t n)
{
	const char *channel = "all";

	if (choice->channel >= 0)
		channel = choice->channel < CHANNEL_COUNT ? channel_name((unsigned)choice->channel)
							  : "unknown";
	if (choice->world)
		snprintf(buf, n, "%s@world", channel);
	else if (choice->comm)
		snprintf(buf, n, "%s@%08x", channel, choice->comm);
	else
		snprintf(buf, n, "%s", channel);
}

static const char *mode_name(unsigned mode)
{
	return segment_mode_valid(mode) ? segment_mode_name(mode) : "an unknown mode";
}

/* The classes that a command selects, separated by commas, and what it switches them to. */
static void choices_name(const Evspace__SwitchAsk *ask, char *buf, size_t n)
{
	char name[CLASS_TEXT];
	size_t used = 0;

	snprintf(buf, n, "%s", ask->n_choices ? "" : "all");
	for (size_t i = 0; i < ask->n_choices && used < n; i++) {
		choice_name(ask->choices[i], name, sizeof(name));
		used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? "," : "", name);
		if (i < ask->n_modes && used < n)
			used += (size_t)snprintf(buf + used, n - used, " to %s",
						 mode_name(ask->modes[i]));
	}
	if (ask->change && used < n)
		snprintf(buf + strlen(buf), n - strlen(buf), " to %s", mode_name(ask->mode));
}

/* Quotes the run's name, which the peer can choose freely. */
static const char *run_quote(const char *run, char quoted[UTF8_QUOTED])
{
	return run[0] ? utf8_quote(run, quoted) : "(the newest)";
}

const char *audit_order(const Evspace__SwitchAsk *ask, const char *run, char *buf, size_t n)
{
	char classes[512], quoted[UTF8_QUOTED];

	choices_name(ask, classes, sizeof(classes));
	run = run_quote(run, quoted);
	if (ask->discard)
		snprintf(buf, n, "discard what is held of run %s", run);
	else if (ask->trial)
		snprintf(buf, n, "%s an experiment in run %s", ask->trial->n_arms ? "begin" : "end",
			 run);
	else if (ask->told)
		snprintf(buf, n, "tell run %s of a budget", run);
	else if (ask->functions)
		snprintf(buf, n, "have functions be %s in run %s",
			 ask->functions->ms ? "regions" : "none any more", run);
	else if (properties_are(ask))
		snprintf(buf, n,
			 "give elements other lifetimes and modes, and steer "
			 "collectives as the map says");
	else if (ask->lease && ask->lease->ms == 0)
		snprintf(buf, n, "%s in run %s",
			 ask->lease->keep ? "leave modes as they are" : "put modes back", run);
	else
		snprintf(buf, n, "switch %s%s in run %s", classes,
			 ask->lease ? ", and hold all modes" : "", run);
	return buf;
}

const char *audit_map(const Evspace__MapApply *apply)
{
	if (apply->dry_run)
		return "prepare a map";
	return apply->texts ? "apply a map" : "roll back the map";
}

/* Names come from peers: remove line breaks, so that they cannot fake another line. */
static void line_say(char *line)
{
	utf8_clean(line);
	fprintf(stderr, "evspace agent: audit: %s\n", line);
}

void audit_done(const char *who, const char *what, bool nothing, const char *outcome)
{
	char line[2048];

	snprintf(line, sizeof(line), "%s: %s: %s, %s", who, what,
		 nothing ? "nothing to do" : "done", outcome);
	line_say(line);
}

void audit_failed(struct rate_limits *rates, const char *peer, const char *who, const char *what,
		  const char *why)
{
	unsigned long unsaid;
	char line[2048], more[64] = "";

	if (!rate_limit_take(rate_limit_of(rates, peer), &unsaid))
		return;
	if (unsaid)
		snprintf(more, sizeof(more), " (and %lu before that, not shown)", unsaid);
	snprintf(line, sizeof(line), "%s: %s: failed: %s%s", who, what, why, more);
	line_say(line);
}

void audit_refused(struct rate_limits *rates, const struct peer *peer, const char *what,
		   const char *why)
{
	char who[300];

	audit_failed(rates, peer->name, audit_who(peer, who, sizeof(who)), what, why);
}

void audit_left(const char *who, const char *what, const char *outcome)
{
	char line[2048];

	snprintf(line, sizeof(line), "%s: %s: its sender has left; so far %s", who, what, outcome);
	line_say(line);
}

void audit_carried(const char *relay, const Evspace__SwitchAsk *ask, const Evspace__Host *host,
		   const char *run)
{
	char line[1024], classes[512], who[UTF8_QUOTED], of[UTF8_QUOTED], text[UTF8_QUOTED] = "";

	utf8_quote(ask->who, who);
	run = run_quote(run, of);
	if (host->text[0])
		utf8_quote(host->text, text);
	if (ask->discard) {
		snprintf(line, sizeof(line),
			 "relayed by %s: %s discarded %llu tuple%s of %u element%s in %u process%s "
			 "of run %s",
			 relay, who, (unsigned long long)host->discarded,
			 plural(host->discarded, "s"), host->changed, plural(host->changed, "s"),
			 host->processes, plural(host->processes, "es"), run);
	} else if (ask->trial) {
		snprintf(line, sizeof(line),
			 "relayed by %s: %s %s an experiment in %u process%s of run %s", relay, who,
			 ask->trial->n_arms ? "began" : "ended", host->changed,
			 plural(host->changed, "es"), run);
	} else if (properties_are(ask)) {
		snprintf(line, sizeof(line),
			 "relayed by %s: %s gave %u element%s another lifetime, and switched %u "
			 "class%s%s%s",
			 relay, who, host->changed, plural(host->changed, "s"), host->switched,
			 plural(host->switched, "es"), text[0] ? "; " : "", text);
	} else {
		choices_name(ask, classes, sizeof(classes));
		snprintf(line, sizeof(line),
			 "relayed by %s: %s switched %s in %u process%s of run %s%s%s", relay, who,
			 classes, host->processes, plural(host->processes, "es"), run,
			 text[0] ? "; " : "", text);
	}
	line_say(line);
}
