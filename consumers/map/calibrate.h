/* SPDX-License-Identifier: BSD-3-Clause */
/* Gauges: measure on this machine what the parts of a wave cost, for predictions. */
#ifndef EVSPACE_CALIBRATE_H
#define EVSPACE_CALIBRATE_H

#include "pathmap/cost/calibration.h"
#include "pathmap/base/error.h"

/**
 * Measure everything in @c, in about a second, of which most is CPU time: messages between two
 * processes over a socket pair, AES-GCM, copying, reading elements, a reduction. Returns 0, or -1
 * with
 * @e (no process or no memory could be had).
 */
int calibrate_all(struct calibration *c, struct error *e);

#endif
