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
	const struct recording *is, *would;
	const char *of, *then;
	size_t i = 0, k = 0;

	do {
		is = pathmap_remote(host->active_map->map, &i, &of);
		would = pathmap_remote(map, &k, &then);
	} while (is && would && strcmp(of, then) == 0 && strcmp(is->remote, would->remote) == 0);
	if (!is && !would)
		return 0;
	return errorf(e,
		      "`remote` of %s would change, which running agents cannot do; start all "
		      "agents anew with these maps",
		      is ? of : then);
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
