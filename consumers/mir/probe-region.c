/* SPDX-License-Identifier: BSD-3-Clause */
/* What names of regions mean, and which events are of them. */
#include "consumers/mir/probe-region.h"

#include <string.h>

#include "pathmap/base/wildcard.h"
#include "tree/data/op.h"

/* Behind the word, if there is something; else NULL. */
static const char *behind(const char *name, const char *word)
{
	size_t n = strlen(word);

	return strncmp(name, word, n) == 0 && name[n] ? name + n : NULL;
}

bool probe_region_read(struct probe_region *region, const char *name)
{
	*region = (struct probe_region){.channel = -1,
					.function = behind(name, REGION_FUNCTION),
					.site = behind(name, REGION_CALL)};
	region->label = region->function ? region->function : behind(name, REGION_USER);
	if (region->site)
		return strchr(region->site, ':') != NULL;
	region->op = op_find(region->function ? "evspace_function"
			     : region->label  ? "evspace_region"
					      : name);
	if (region->op)
		return true;
	region->channel = channel_find(name);
	return region->channel >= 0 && region->channel < CHANNEL_PROGRAMS &&
	       region->channel != CHANNEL_COMPLETION;
}

static bool is_of_op(const struct probe_region *region, uint16_t op)
{
	int channel = op_channel(op);

	if (region->op)
		return op == region->op;
	return region->channel >= 0 ? channel == region->channel : channel != CHANNEL_USER;
}

/* Names that begin with `_` are of no pattern. */
static bool is_named(const char *list, const char *name)
{
	size_t n = strlen(name);

	if (name[0] != '_')
		return wildcard_list_match(list, name);
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, n) == 0 && (!at[n] || at[n] == ','))
			return true;
	}
	return false;
}

const char *probe_region_site(const char *element)
{
	const char *channel = strrchr(element, '/');
	const char *site = channel ? strchr(channel, ':') : NULL;

	return site ? site + 1 : NULL;
}

bool probe_region_has(const struct probe_region *region, const struct probe_call *call)
{
	const char *said;
	size_t n;

	if (!is_of_op(region, call->op))
		return false;
	if (region->site)
		said = probe_region_site(call->element);
	else if (region->label)
		said = call->label;
	else
		return true;
	if (region->function)
		return said && is_named(region->function, said);
	if (!region->site)
		return said && strcmp(said, region->label) == 0;
	/* several calls in a line have their addresses behind it, but for the first one */
	n = strlen(region->site);
	return said && strncmp(said, region->site, n) == 0 &&
	       (!said[n] || strncmp(said + n, "+0x", 3) == 0);
}
