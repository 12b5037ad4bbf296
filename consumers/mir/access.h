/* SPDX-License-Identifier: BSD-3-Clause */
/* What tools elsewhere may ask, by their certificates. */
#ifndef EVSPACE_ACCESS_H
#define EVSPACE_ACCESS_H

#include "consumers/mir/request.h"
#include "pathmap/base/error.h"
#include "tree/link/tls.h"

/** May @peer ask @request (NULL: anything) about the run @run (NULL: it was not said which)?
 * Returns 0, or -1 with @e. */
int access_check(const struct peer *peer, const struct mir_request *request, const char *run,
		 struct error *e);

/** The certificate @name of an agent that the server has; NULL: that of this host's name. @folder:
 * NULL is the default one. NULL with @e. */
struct tls *access_identity(const char *folder, const char *name, struct error *e);

#endif
