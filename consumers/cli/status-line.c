/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes to the terminal itself: a filter before stderr (consumers/evspace.c) lets nothing pass
 * that moves its cursor. */
#include "consumers/cli/status-line.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/table.h"

/* What takes a line away, to the left of the cursor and to its right. */
#define CLEAR "\r\033[K"

#define LINE_MOST 512

static bool shown;

static void terminal_write(const char *text, size_t n)
{
	/* a terminal that takes no more shows no more */
	if (write(STDERR_FILENO, text, n) < 0)
		return;
}

bool status_line_is_possible(void)
{
	return isatty(STDERR_FILENO);
}

void status_line_show(const char *text)
{
	char line[LINE_MOST];
	int n = (int)table_width(stderr) - 1; /* a full line would wrap on some terminals */

	n = snprintf(line, sizeof(line), CLEAR "%.*s", n, text);
	shown = true;
	terminal_write(line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

void status_line_clear(void)
{
	if (shown)
		terminal_write(CLEAR, strlen(CLEAR));
	shown = false;
}
