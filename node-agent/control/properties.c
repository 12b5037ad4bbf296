/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the command that gives runs the lifetimes, modes and steered collectives of another map,
 * and reads it. */
#include "node-agent/control/properties.h"

#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-class.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"
#include "pathmap/plan/made.h"
#include "pathmap/plan/rules.h"
#include "pathmap/plan/steer.h"
#include "tree/data/span.h"

/* ---- the command ---- */

static void lifetime_add(Evspace__SwitchAsk *ask, char *pattern, uint64_t ns)
{
	Evspace__Lifetime *lifetime = memory_new(1, sizeof(*lifetime));

	evspace__lifetime__init(lifetime);
	lifetime->pattern = pattern;
	lifetime->ns = ns;
	ask->lifetimes = memory_room(ask->lifetimes, ask->n_lifetimes, sizeof(Evspace__Lifetime *));
	ask->lifetimes[ask->n_lifetimes++] = lifetime;
}

static void detail_add(Evspace__SwitchAsk *ask, char *pattern, const char *mode)
{
	Evspace__Detail *detail = memory_new(1, sizeof(*detail));

	evspace__detail__init(detail);
	detail->pattern = pattern;
	detail->mode = (uint32_t)segment_mode_find(mode);
	ask->details = memory_room(ask->details, ask->n_details, sizeof(Evspace__Detail *));
	ask->details[ask->n_details++] = detail;
}

/* Does a rule of the map say one of @of (bits) of elements of this channel? */
static bool has_rule(const struct pathmap *map, const char *channel, unsigned of)
{
	const struct element_rule *rules;
	size_t n = pathmap_rules(map, &rules);

	for (size_t i = 0; i < n; i++) {
		const char *last = strrchr(rules[i].pattern, '/') + 1;
		unsigned says = (rules[i].says.mode ? RULES_MODE : 0) |
				(rules[i].says.lifetime_ns ? RULES_LIFETIME : 0);

		if (says & of && (strpbrk(last, "*?[") || strcmp(last, channel) == 0))
			return true;
	}
	return false;
}

static const char *mode_of(const struct recording *r)
{
	return r->collected ? r->mode : "off";
}

static void channel_add(Evspace__SwitchAsk *ask, const struct pathmap *from,
			const struct pathmap *to, const char *channel, unsigned of)
{
	const struct recording *was = from ? pathmap_recording(from, channel) : NULL;
	const struct recording *is = pathmap_recording(to, channel);

	if (of & RULES_LIFETIME &&
	    (!was || was->lifetime_ns != is->lifetime_ns ||
	     has_rule(from, channel, RULES_LIFETIME) || has_rule(to, channel, RULES_LIFETIME)))
		lifetime_add(ask, memory_format("/**/%s", channel), is->lifetime_ns);
	if (of & RULES_MODE &&
	    (!was || strcmp(mode_of(was), mode_of(is)) != 0 ||
	     has_rule(from, channel, RULES_MODE) || has_rule(to, channel, RULES_MODE)))
		detail_add(ask, memory_format("/**/%s", channel), mode_of(is));
}

static void rule_add(Evspace__SwitchAsk *ask, const struct element_rule *rule, unsigned of)
{
	if (of & RULES_LIFETIME && rule->says.lifetime_ns > 0)
		lifetime_add(ask, memory_copy(rule->pattern), rule->says.lifetime_ns);
	if (of & RULES_MODE && rule->says.mode)
		detail_add(ask, memory_copy(rule->pattern), rule->says.mode);
}

/* The rules of @to, if @from has others; for the caller to free(). */
static char *steering_new(const struct pathmap *from, const struct pathmap *to)
{
	char *was = NULL, *is = NULL;

	/* they can be made: the maps are valid */
	if (from)
		(void)steer_text(from, &was, NULL);
	(void)steer_text(to, &is, NULL);
	if (!from || strcmp(was ? was : "", is ? is : "") != 0) {
		free(was);
		return is ? is : memory_copy("");
	}
	free(was);
	free(is);
	return NULL;
}

/* The elements of @to, if @from has others; likewise. */
static char *made_new(const struct pathmap *from, const struct pathmap *to)
{
	char *was = from ? made_text(from) : NULL, *is = made_text(to);
	bool same = was && strcmp(was, is) == 0;

	free(was);
	if (!same)
		return is;
	free(is);
	return NULL;
}

Evspace__SwitchAsk *properties_order(const struct pathmap *from, const struct pathmap *to)
{
	unsigned of = (!from || rules_differ(from, to, RULES_LIFETIME) ? RULES_LIFETIME : 0) |
		      (!from || rules_differ(from, to, RULES_MODE) ? RULES_MODE : 0);
	const struct element_rule *rules;
	const char *const *channels;
	char *steering = steering_new(from, to), *made = made_new(from, to);
	Evspace__SwitchAsk *ask;
	size_t n;

	if (!of && !steering && !made)
		return NULL;
	ask = memory_new(1, sizeof(*ask));
	evspace__switch_ask__init(ask);
	if (steering) {
		ask->steered = memory_new(1, sizeof(*ask->steered));
		evspace__steered__init(ask->steered);
		ask->steered->rules = steering;
	}
	if (made) {
		ask->made = memory_new(1, sizeof(*ask->made));
		evspace__made__init(ask->made);
		ask->made->elements = made;
	}
	if (!of)
		return ask;
	n = pathmap_channels(&channels);
	for (size_t i = 0; i < n; i++)
		channel_add(ask, from, to, channels[i], of);
	n = pathmap_rules(to, &rules);
	for (size_t i = 0; i < n; i++)
		rule_add(ask, &rules[i], of);
	return ask;
}

/* ---- what it says ---- */

bool properties_are(const Evspace__SwitchAsk *ask)
{
	return ask->n_lifetimes > 0 || ask->n_details > 0 || ask->steered || ask->made;
}

bool properties_mean(const Evspace__SwitchAsk *ask, const char *run, const char *of)
{
	return properties_are(ask) ? !span_is_run(of) : strcmp(run, of) == 0;
}

bool properties_lifetime(const Evspace__SwitchAsk *ask, const char *name, uint64_t *ns)
{
	for (size_t i = ask->n_lifetimes; i-- > 0;) {
		if (!pattern_match(ask->lifetimes[i]->pattern, name))
			continue;
		*ns = ask->lifetimes[i]->ns;
		return true;
	}
	return false;
}

int properties_mode(const Evspace__SwitchAsk *ask, const char *name)
{
	for (size_t i = ask->n_details; i-- > 0;) {
		if (pattern_match(ask->details[i]->pattern, name))
			return segment_mode_valid(ask->details[i]->mode)
				       ? (int)ask->details[i]->mode
				       : -1;
	}
	return -1;
}
