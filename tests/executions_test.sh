# SPDX-License-Identifier: BSD-3-Clause
# Tests several executions of one name: the tuples of each have numbers of their own, and those of a later one have not come before.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
unset EVSPACE_ENTRY

# ran TIMES: the run called again, with as many collectives.
ran() {
	timeout -k 5 100 evspace run --no-summary --run again -- mpirun -np 2 "$top_builddir/tests/apps/late" --operations "$1" --pause 0 >"$tap_dir/ran" 2>&1 ||
		{ cat "$tap_dir/ran"; return 1; }
}

keep() {
	evspace archive --run again "$1" 2>"$tap_dir/kept"
}

# tuples DIR: how many are in the archive.
tuples() {
	evspace archive info "$1" --json | sed -n 's/.*"type":"archive".*"tuples":\([0-9]*\).*/\1/p'
}

come() {
	grep -c '"type":"tuple"' "$bed_dir/live.out"
}

has_come() {
	[ "$(come)" -ge "$1" ]
}

# The second one has as many collectives and some more, so that its first ones have the numbers of those that came.
both_come_live() {
	local all

	bed_start live evspace events --run again --wait --backlog --json --rate 50
	bed_until grep -q 'waiting for run again' "$bed_dir/live.err" && ran 50 && keep "$tap_dir/first" &&
		bed_until has_come "$(tuples "$tap_dir/first")" && ran 60 && keep "$tap_dir/second" || return 1
	all=$(($(tuples "$tap_dir/first") + $(tuples "$tap_dir/second")))
	bed_until has_come "$all" && bed_kill INT live && [ "$(come)" = "$all" ] && grep -q ', 0 lost' "$bed_dir/live.err" ||
		{ echo "$(come) of $all"; cat "$bed_dir/live.err"; return 1; }
}

# An archive has one execution, which goes on in it.
archives_refuse_others() {
	local before

	before=$(tuples "$tap_dir/first")
	! keep "$tap_dir/first" && grep -q 'first has an earlier execution of the run again, .* take another folder' "$tap_dir/kept" &&
		evspace archive check "$tap_dir/first" >/dev/null && [ "$(tuples "$tap_dir/first")" = "$before" ] &&
		keep "$tap_dir/second" && grep -q '^nothing new' "$tap_dir/kept" || { cat "$tap_dir/kept"; return 1; }
}

merge_refuses_others() {
	! evspace archive merge "$tap_dir/first" "$tap_dir/second" --into "$tap_dir/both" 2>"$tap_dir/kept" &&
		grep -q 'second: .* is of another execution of that run' "$tap_dir/kept" && [ ! -e "$tap_dir/both" ] || { cat "$tap_dir/kept"; return 1; }
}

bed_start agent evspace agent
bed_until grep -q 'ready on' "$bed_dir/agent.err" || exit 99
tap_case "of two executions, all comes" both_come_live
tap_case "an archive of one takes no other" archives_refuse_others
tap_case "... and is not merged with it" merge_refuses_others
tap_done
