/* SPDX-License-Identifier: BSD-3-Clause */
/* Has functions of a running program be regions (-finstrument-functions). */
#ifndef EVSPACE_CLIENT_FUNCTIONS_H
#define EVSPACE_CLIENT_FUNCTIONS_H

#include <stdbool.h>

#include "consumers/client/evspace-control.h"

/** Have the @n functions @names of all processes be regions by their names for the next @ms; 0: no
 * more. @again: they are already, for longer, which agents do not log. A command: it needs a
 * control certificate. Answered with `switched`: `changed` are functions by process. */
struct evspace_question *client_functions_switch(struct evspace_connection *connection,
						 const struct evspace_among *among,
						 const char *const *names, size_t n, unsigned ms,
						 bool again, evspace_answered *answered, void *arg);

#endif
