/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements that consumers write what they find into: neither who reads them nor who cuts their file
 * short holds up or ends a consumer. */
#ifndef EVSPACE_ELEMENT_INTO_H
#define EVSPACE_ELEMENT_INTO_H

#include "node-agent/pastset/evspace-element.h"

/** evspace_element_make(), but of none that waits for its readers, as who made it has said. */
struct evspace_element *element_into(const struct evspace_element_plan *plan, char *why, size_t n);

/** evspace_element_write(); -1 with EIO if its file was cut short. */
int element_into_put(struct evspace_element *element, const void *tuple);

#endif
