/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as documents. */
#ifndef EVSPACE_REQUEST_WRITE_H
#define EVSPACE_REQUEST_WRITE_H

#include <stdio.h>

#include "consumers/mir/request.h"

/** Write what an instrumentation request says, as a document in one line, without its end. Read
 * again, it says the same. */
void request_write(FILE *out, const struct mir_request *request);

/** How many bytes that are. */
size_t request_bytes(const struct mir_request *request);

#endif
