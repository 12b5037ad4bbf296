# SPDX-License-Identifier: BSD-3-Clause
# Sourced where tests are run for deploy/check: a line when a test begins and when it ends, with how many
# of how many have, and the time that is left. $EVSPACE_PROGRESS is the record, a line for each.
#
#	progress_plan JOBS FILE... <TESTS	# their names, one a line; FILEs say what each took, the last one counts
#	progress_note begin TEST
#	progress_note end TEST RESULT...
#	progress_note still -		# says what is running, unless something was said just now
#	progress_durations		# what each has taken

progress_quiet_s=30 # without a line

# One that nobody knows takes some seconds.
progress_plan() {
	local jobs=$1

	shift
	: >"$EVSPACE_PROGRESS.lock"
	awk -v jobs="$jobs" '
		FILENAME != "-" { took[$1] = $2; next }
		BEGIN { print "jobs", jobs }
		{ print "plan", $1, ($1 in took) ? took[$1] : 3 }' "$@" - >"$EVSPACE_PROGRESS"
}

progress_note() {
	local what=$1 test=$2 now

	shift 2
	{
		flock 9
		now=$(date +%s)
		if [ "$what" = still ] && [ $((now - $(stat -c %Y "$EVSPACE_PROGRESS"))) -lt $progress_quiet_s ]; then
			return
		fi
		printf '%s %s %s %s\n' "$what" "$test" "$now" "$*" >>"$EVSPACE_PROGRESS"
		awk -f "$top_srcdir/deploy/progress.awk" "$EVSPACE_PROGRESS" >&2
	} 9>"$EVSPACE_PROGRESS.lock"
}

progress_durations() {
	awk '$1 == "begin" { began[$2] = $3 } $1 == "end" { print $2, $3 - began[$2] }' "$EVSPACE_PROGRESS"
}
