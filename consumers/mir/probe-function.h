/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes of functions that the program calls hooks of: switched on while one measures them. */
#ifndef EVSPACE_PROBE_FUNCTION_H
#define EVSPACE_PROBE_FUNCTION_H

#include "consumers/mir/probe.h"

/** It begins: have its function, if it is of one, switched on. */
void probe_function_begin(struct probes *probes, struct probe *probe);

/** Has that been answered? Then probe->function.why says why it could not be. */
bool probe_function_is_settled(const struct probe *probe);

/** It ends. The function is switched off, if no other probe is of it. */
void probe_function_end(struct probes *probes, struct probe *probe);

/** Have the functions of all active probes go on, when it is time to. Returns in how many ms there
 * is more to do; -1: never. */
int probe_functions_run(struct probes *probes);

/** The connection ends. */
void probe_functions_fini(struct probes *probes);

#endif
