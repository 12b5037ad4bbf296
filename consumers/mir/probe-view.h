/* SPDX-License-Identifier: BSD-3-Clause */
/* Views that probes share: one is open while a probe has it, and brings what the cells of its
 * metrics hold. */
#ifndef EVSPACE_PROBE_VIEW_H
#define EVSPACE_PROBE_VIEW_H

#include "consumers/mir/probe.h"

/** The view of all calls, which has no definition. */
#define PROBE_VIEW_CALLS "events"

/** The view with this definition; it begins to open if no probe has it yet. */
struct probe_view *probe_view_join(struct probes *probes, const char *define);

/** Why it does not bring anything; NULL: it does. */
const char *probe_view_trouble(const struct probe_view *view);

/** Has all come that was before @since_ns? */
bool probe_view_is_whole(const struct probe_view *view, uint64_t since_ns);

/** One less has it. NULL is fine. */
void probe_view_leave(struct probe_view *view);

/** Something has come. */
void probe_is_fresh(struct probe *probe);

/** The cell of that name, "/cluster/node/rank3/t0". */
struct probe_cell *probe_cell_of(struct probe_series *series, uint32_t comm, const char *name);

#endif
