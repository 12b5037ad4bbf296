/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaves word for `evspace status` of a program whose MPI no collector is there for. */
#ifndef EVSPACE_DOOR_REFUSE_H
#define EVSPACE_DOOR_REFUSE_H

/** Put a file "rankR.PID.refused-REASON" into the run's folder, if that can be had. */
void door_refuse(const char *reason);

#endif
