/* SPDX-License-Identifier: BSD-3-Clause */
/* What an attacker with a certificate asks an agent for. */
#ifndef EVSPACE_TESTS_ATTACKER_ORDERS_H
#define EVSPACE_TESTS_ATTACKER_ORDERS_H

/**
 * Do "orders", "agent", "large", "defines", "again", "window" or "frames" (@what; see attacker.c)
 * at @address as @name, whose certificate is in @dir, and print what comes. @elsewhere is the
 * address for "frames", the run for "again" and "window", else NULL. Returns how to exit.
 */
int attacker_orders(const char *what, const char *address, const char *dir, const char *name,
		    const char *elsewhere);

#endif
