/* SPDX-License-Identifier: BSD-3-Clause */
/* Views that probes share: one is open while a probe has it, and brings what the cells of its
 * metrics hold. */
#ifndef EVSPACE_PROBE_VIEW_H
#define EVSPACE_PROBE_VIEW_H

#include "consumers/mir/probe.h"

/** The view of all calls, which has no definition. */
#define PROBE_VIEW_CALLS "events"

/** That of regions of programs. */
#define PROBE_VIEW_USER "read stream; element filter channel=user"

/** The view with this definition; it begins to open if no probe has it yet. */
struct probe_view *probe_view_join(struct probes *probes, const char *define);

/** Why it does not bring anything; NULL: it does. */
const char *probe_view_trouble(const struct probe_view *view);

/** Has all come that was before @since_ns? @ordered: is it in its order (probe-span.h), too? */
bool probe_view_is_whole(const struct probe_view *view, uint64_t since_ns, bool ordered);

/** One less has it. NULL is fine. */
void probe_view_leave(struct probe_view *view);

#endif
