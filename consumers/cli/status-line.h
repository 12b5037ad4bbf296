/* SPDX-License-Identifier: BSD-3-Clause */
/* One line at the bottom of the terminal that stderr is, kept up to date below all that is printed.
 */
#ifndef EVSPACE_STATUS_LINE_H
#define EVSPACE_STATUS_LINE_H

#include <stdbool.h>

/** Is there a terminal for it? */
bool status_line_is_possible(void);

/** Show @text, cut at the terminal's width, in place of what was shown. Only if it is possible. */
void status_line_show(const char *text);

/** Take it away: call it before anything is printed on stdout, which may be the same terminal. The
 * evspace command's stderr does so by itself. */
void status_line_clear(void);

#endif
