#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs one test, apart from others and with a time limit, and ends it with all that it started when
# it is interrupted.
#
# timeout(1) makes a process group of its own, which Ctrl-C at the terminal would not reach.

set -m # else bash would have the test ignore SIGINT, and no test could try Ctrl-C
limit=${EVSPACE_TEST_LIMIT:-900}
timeout -k 10 "$limit" "$BASH" "$top_srcdir/tests/apart.sh" "$@" </dev/null &
pid=$!
trap 'kill -TERM "$pid" 2>/dev/null' HUP INT TERM

wait "$pid"
status=$?
while kill -0 "$pid" 2>/dev/null; do
	wait "$pid"
	status=$?
done
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
	echo "Bail out! ended after the limit of $limit s (EVSPACE_TEST_LIMIT), or killed"
fi
exit "$status"
