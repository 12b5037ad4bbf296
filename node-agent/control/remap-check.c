/* SPDX-License-Identifier: BSD-3-Clause */
/* Says which maps running agents cannot change to. */
#include "node-agent/control/remap-check.h"

#include <errno.h>
#include <string.h>

#include "node-agent/control/session.h"

/* `remote` cannot change: each agent fetches by the map that it was started with. */
static int remap_check_remote(const struct session_host *host, const struct pathmap *map,
			      struct error *e)
{
	const char *const *channels;
	size_t n = pathmap_channels(&channels);

	for (size_t i = 0; i < n; i++) {
		const struct recording *is = pathmap_recording(host->active_map->map, channels[i]);
		const struct recording *would = pathmap_recording(map, channels[i]);

		if (strcmp(is->collected ? is->remote : "",
			   would->collected ? would->remote : "") != 0)
			return errorf(
				e,
				"`remote` of %s would change, which running agents cannot do; "
				"start all agents anew with these maps",
				channels[i]);
	}
	return 0;
}

int remap_check(const struct session_host *host, const struct pathmap *map, struct error *e)
{
	const char *node = host->sources->node, *entry = pathmap_entry(map);

	errno = EINVAL;
	if (strcmp(entry, node) != 0)
		return errorf(
			e,
			"mapping.map:%u: `entry %s;`, but consumers are connected to %s, which "
			"stays the entry while it runs: write `entry %s;` here, or end the "
			"agents of %s and %s and start them again with these maps",
			pathmap_entry_line(map), entry, node, node, node, entry);
	return remap_check_remote(host, map, e);
}
