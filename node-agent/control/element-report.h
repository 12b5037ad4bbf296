/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of programs on this host, for whoever asks from elsewhere (evspace-element.h). */
#ifndef EVSPACE_ELEMENT_REPORT_H
#define EVSPACE_ELEMENT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "node-agent/control/rights.h"
#include "node-agent/store/store.h"
#include "pathmap/plan/plan.h"
#include "tree/wire/wire.h"

/** As messages. Zero-initialise; element_reports_fini() frees. */
struct element_reports {
	Evspace__ElementTuples **list;
	size_t n;
};

/** Those that @ask names of the runs within @limits (NULL: none), as many as fit into an answer:
 * the last one says whether there are more. Of a single one, of which it names run and element,
 * with the tuples that it wants, likewise. */
void element_reports_init(struct element_reports *r, const struct store *store,
			  const struct limits *limits, const Evspace__ElementAsk *ask);
void element_reports_fini(struct element_reports *r);

/** Leave of @all, all nodes (plan_all()), only the way to @node. Returns whether it is there; else
 * the root alone is left. */
bool element_way(struct plan_place *all, const char *node);

#endif
