/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what this command's clients record of themselves (--monitored) where agents show it. */
#ifndef EVSPACE_RECORDER_H
#define EVSPACE_RECORDER_H

#include "consumers/client/client-monitor.h"

/** For client_recorder_set(). */
extern const struct client_recorder recorder;

#endif
