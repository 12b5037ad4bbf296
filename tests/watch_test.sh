# SPDX-License-Identifier: BSD-3-Clause
# Tests that evspace watch runs a program, says once what goes wrong and once that it is over, and keeps what led to it.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
unset EVSPACE_TLS EVSPACE_ENTRY

# watched NAME CODE OPTION... -- COMMAND...: it ends with that exit code; what it says is in $tap_dir/NAME.err.
watched() {
	local name=$1 want=$2 status=0

	shift 2
	timeout 120 evspace watch --run "$name" --save "$tap_dir/$name" "$@" >"$tap_dir/$name.out" 2>"$tap_dir/$name.err" </dev/null || status=$?
	[ "$status" -eq "$want" ] || { echo "exit code $status, not $want"; cat "$tap_dir/$name.err"; return 1; }
}

ranks() {
	local app=$1

	shift
	mpirun=(mpirun --oversubscribe -np 4 "$top_builddir/tests/apps/$app" "$@")
}

# says NAME COUNT PATTERN: so many lines of what it says; [12]: one or two.
says() {
	[[ "$(grep -c "^evspace watch: $3" "$tap_dir/$1.err")" == $2 ]] || { cat "$tap_dir/$1.err"; return 1; }
}

desync() {
	ranks mistakes --mistake 7 --on --seconds 1
	watched desync 1 --check -- "${mpirun[@]}" && says desync 1 'desync: collective #8 on the world has not the same datatype for all: rank 2 calls MPI_Bcast' &&
		says desync 1 'desync: the program has ended after' && says desync 1 'desync: kept in' && says desync 0 'stuck'
}

# What was found, all threads, and events of all of them, as JSON.
kept() {
	local rank

	grep -q 'rank 2 calls MPI_Bcast' "$tap_dir/desync/1-desync-found.txt" &&
		"$top_builddir/tests/json_rows" <"$tap_dir/desync/1-desync-events.json" &&
		"$top_builddir/tests/json_rows" <"$tap_dir/desync/1-desync-threads.json" || { tail -n 3 "$tap_dir/desync"/*; return 1; }
	for rank in 0 1 2 3; do
		# its call, which it may still be in
		grep -q "\"op\":\"MPI_Bcast\".*\"rank\":$rank,\|\"rank\":$rank,.*\"op\":\"MPI_Bcast\",\"running\":true" "$tap_dir/desync"/1-desync-{events,threads}.json &&
			grep -q "\"type\":\"thread\".*\"rank\":$rank," "$tap_dir/desync/1-desync-threads.json" || { cat "$tap_dir/desync/1-desync"-*; return 1; }
	done
}

# It has started an agent, as there was none; neither that nor the elements stay.
nothing_stays() {
	! evspace status >/dev/null 2>&1 && ! ls "$EVSPACE_DIR"/*/*.seg 2>/dev/null
}

stuck() {
	# on a busy machine stacks may take some seconds
	ranks stuck --rank 1 --seconds 8
	watched stuck 0 --on stuck --stuck-after 1s --stacks -- "${mpirun[@]}" && says stuck 1 'stuck: rank 1 (.*) holds up 3 threads: outside any operation' &&
		says stuck 3 'stuck: rank [023] (.*) is stuck: in MPI_Barrier .* at stuck.c:[0-9]* .*waits for rank 1' && says stuck 1 'stuck: \(over\|the program has ended\) after'
}

# The one that is awaited sleeps, the others are in the barrier.
stacks() {
	[ "$(grep -c '^ *MPI_Barrier\|^ *PMPI_Barrier' "$tap_dir/stuck/1-stuck-stacks.txt")" -ge 3 ] &&
		grep -q '^ *main (stuck.c:[0-9]*)' "$tap_dir/stuck/1-stuck-stacks.txt" &&
		grep -q 'nanosleep' "$tap_dir/stuck/1-stuck-stacks.txt" || { cat "$tap_dir/stuck/1-stuck-stacks.txt"; return 1; }
}

killed() {
	local status

	ranks mistakes --mistake 12
	timeout 120 evspace watch --run killed --save "$tap_dir/killed" -- "${mpirun[@]}" >/dev/null 2>"$tap_dir/killed.err"
	status=$?
	[ "$status" -ne 0 ] && says killed 1 'stuck: rank 2 (.*) hel\?ds\? up .*: its process has died' || { echo "exit code $status"; cat "$tap_dir/killed.err"; return 1; }
}

# Runs until it has been seen for some seconds, as others may keep the machine busy.
for_a_while() {
	cat <<-'EOF'
		mpirun --oversubscribe -np 2 "$0" 10 100000 &
		for i in $(seq 600); do
			evspace collect --run cheap 2>/dev/null | grep -q "collective@world *trace *2" && break
			sleep 0.1
		done
		sleep 4
		kill $!
		wait
		exit 0
	EOF
}

# As often as the budget lets it look: at a tiny one seldom. However seldom, at the end it is said what that has cost; and once before
# if the program took longer than ten seconds. Collecting takes less than a tenth of a percent.
keeps_budget() {
	watched cheap 0 --budget 0.02% -- sh -c "$(for_a_while)" "$top_builddir/tests/apps/iterate" &&
		grep -q 'waves a second' "$tap_dir/cheap.err" && ! grep '(\([1-9]\|0[.][3-9]\)[0-9.]* % for collecting' "$tap_dir/cheap.err" &&
		says cheap "[12]" '[0-9.]* looks a second; slowdown .*\(perturb --ab measures it\|, measured,\)' &&
		awk '/^evspace watch: [0-9.]* looks/ { bad = $3 >= 8 } END { exit bad }' "$tap_dir/cheap.err" || { cat "$tap_dir/cheap.err"; return 1; }
}

# Rank 2 comes late to all, and is said to, with where; once, and once that it is over. A busy machine may make others late, too.
late() {
	ranks late --operations 300 --pause 1000 --late 2:20000:1:0
	watched late 1 --check --on late -- "${mpirun[@]}" &&
		tap_printed "$tap_dir/late.err" -- '^evspace watch: late: rank 2 is late in MPI_[A-Z][a-z]*@world .*at late.c:[0-9]* in .* operations .*; costs [0-9.]* % of the last [0-9.]* m?s$' &&
		grep -m 1 '^evspace watch: late: ' "$tap_dir/late.err" | grep -q 'rank 2 is late' && says late 1 'late: \(over\|the program has ended\) after'
}

# Of an archive the same is said, with the time of its events; but for who is stuck.
archived() {
	ranks mistakes --mistake 7 --on --seconds 1
	evspace run --no-summary --run mistaken -- "${mpirun[@]}" >"$tap_dir/mistaken.out" 2>&1
	evspace archive --run mistaken "$tap_dir/mistaken.ar" 2>"$tap_dir/err" && evspace archive --run late "$tap_dir/late.ar" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	tap_says 1 '^evspace watch: desync: [0-9:.]*: collective #8 on the world has not the same datatype for all: rank 2 calls MPI_Bcast' evspace watch --from "$tap_dir/mistaken.ar" --check --on desync &&
		tap_says 0 '^evspace watch: late: [0-9:.]*: rank 2 is late in MPI_[A-Z][a-z]*@world .*at late.c:[0-9]*' evspace watch --from "$tap_dir/late.ar" &&
		tap_says 1 'something was seen' evspace watch --from "$tap_dir/late.ar" --speed 1000 --check --on late &&
		tap_says 2 'calls that have not ended are in no archive' evspace watch --from "$tap_dir/late.ar" --on late,stuck &&
		tap_says 2 '--save means nothing with --from' evspace watch --from "$tap_dir/late.ar" --save "$tap_dir/kept" &&
		tap_says 2 'none is started' evspace watch --from "$tap_dir/late.ar" -- true &&
		tap_says 2 'none: No such file' evspace watch --from "$tap_dir/none"
}

# Rank 2 hangs in a broadcast from another root than the others': its call is in no archive, those of others are.
hung() {
	ranks mistakes --mistake 3 --seconds 1000
	bed_start hung timeout 120 evspace run --no-summary --run hung -- "${mpirun[@]}"
	timeout 100 evspace heartbeat --wait --run hung --view heartbeat@element --rate 20 --check --duration 60 >"$tap_dir/hung" 2>&1
	bed_kill TERM hung && evspace archive --run hung "$tap_dir/hung.ar" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	tap_says 0 'at the end [23] of 4 ranks had called MPI_Bcast@world #[0-9]*; of rank.* there is no such call, or none that has ended$' \
		evspace watch --from "$tap_dir/hung.ar" --on desync
}

# Ten operations take longer than what is looked at of a program that makes more of them.
seldom_late() {
	ranks late --operations 14 --pause 600000 --sums --late 2:600000:1:0
	watched seldom 0 --on late -- "${mpirun[@]}" && says seldom 1 'late: rank 2 is late in MPI_Allreduce@world of 32 B at late.c:[0-9]* in .* of 1[0-4] operations .* % of the last 1[0-9.]* s$'
}

right() {
	ranks mistakes --right
	watched right 0 --check -- "${mpirun[@]}" && says right 0 '[a-z]' && [ ! -e "$tap_dir/right" ] || return
	evspace archive --run right "$tap_dir/right.ar" 2>"$tap_dir/err" && tap_says 0 'right.ar: nothing was seen$' evspace watch --from "$tap_dir/right.ar" --check --on desync &&
		! grep 'at the end' "$tap_dir/said"
}

tap_case "calls that differ are said once, and that is the exit code of a check" desync
tap_case "what led to it is kept" kept
tap_case "an agent of its own ends, and nothing stays" nothing_stays
bed_start agent evspace agent
bed_until evspace status
tap_case "what looking costs is said at the end, and a budget is kept" keeps_budget
tap_case "who is stuck is said once, with call sites, and that it is over" stuck
tap_case "stacks of all ranks are kept" stacks
tap_case "who is late is said, with the call site, and that it is over" late
tap_case "of an archive the same is said" archived
tap_case "... and of whom it has no call, as that hangs" hung
tap_case "... also in a program that meets once in a second" seldom_late
tap_case "when all have been killed, whom they had waited for" killed
tap_case "of a right program nothing is said or kept" right
tap_case "the program's exit code" watched code 7 -- sh -c 'exit 7'
tap_case "a program that is not there" watched none 125 -- ./nosuchprogram
tap_case "no program" watched usage 2 --on stuck
tap_case "nothing that can be watched for" watched unknown 2 --on everything -- true
tap_done
