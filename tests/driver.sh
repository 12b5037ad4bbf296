#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs automake's TAP driver, with its arguments. Under deploy/check ($EVSPACE_PROGRESS) a line is said when
# a test begins and when it ends instead of one for each case, but for those that fail.
set -u

driver=$top_srcdir/build-aux/tap-driver.sh
[ -n "${EVSPACE_PROGRESS-}" ] || exec sh "$driver" "$@"
. "$top_srcdir/deploy/progress.sh"

args=("$@")
while [ "$1" != -- ]; do
	case $1 in
	--test-name) name=$2 ;;
	--log-file) log=$2 ;;
	--trs-file) trs=$2 ;;
	esac
	shift
done

# counted RESULT: cases that ended so.
counted() {
	grep -cE "^:test-result: $1( |\$)" "$trs"
}

progress_note begin "$name"
sh "$driver" "${args[@]}" >/dev/null
status=$?
passed=$(counted PASS) failed=$(counted '(FAIL|XPASS)') skipped=$(counted SKIP)
# a program with failed cases also exits with 1, which is said as an error
[ "$failed" -gt 0 ] || failed=$(counted ERROR)
if [ "$failed" -eq 0 ]; then
	said="$passed passed"
else
	said="FAILED, $failed of $((passed + failed)): see $PWD/$log"
	grep -E '^(FAIL|XPASS|ERROR): ' "$log" | sed 's/^/   /' >&2
fi
[ "$skipped" -eq 0 ] || said+=", $skipped skipped"
progress_note end "$name" "$said"
exit "$status"
