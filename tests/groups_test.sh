# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace colop on group operations of PVM, in real tasks of which some are late as planned.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/pvm-bed.sh"

lib=$EVSPACE_LIBDIR/libevspace-pvm.so
rounds=30 tasks=5 late_us=20000

EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR EVSPACE_RUN=run EVSPACE_CAPACITY=20000
unset EVSPACE_THREADS EVSPACE_QUOTA EVSPACE_MODES EVSPACE_ELEMENTS EVSPACE_LIB

tap_cleanup() {
	pvm_end
	bed_end
}

if ! pvm_begin; then
	echo "Bail out! no virtual machine"
	exit 99
fi
mkdir -p "$bed_dir/pids"

# ran [HOST]: the program; the others on HOST, or on any.
ran() {
	rm -rf "$EVSPACE_DIR/run"
	LD_PRELOAD=$lib pvm_on v1 timeout -k 5 180 "$top_builddir/tests/apps/pvm_groups" $tasks $rounds $late_us "$@" \
		>"$tap_dir/who" 2>"$tap_dir/err" && [ "$(wc -l <"$tap_dir/who")" = $tasks ] || { cat "$tap_dir/who" "$tap_dir/err"; pvm_log; return 1; }
}

colop() {
	pvm_on v1 evspace colop --run run --backlog --until-end "$@" >"$tap_dir/out" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}

# task ME: its number, as JSON has it.
task() {
	printf '%d' "0x$(sed -n "s/^$1 t//p" "$tap_dir/who")"
}

# field NAME: its value in each line.
field() {
	sed -n "s/.*\"$1\":\"\{0,1\}\([^,}\"]*\).*/\1/p"
}

# class OPERATION: the one of the group "work", which has as many of each; sets $comm.
class() {
	[ "$1" = pvm_barrier ] || comm=$(grep '"type":"class".*"op":"pvm_reduce"' "$tap_dir/out" | field comm)
	grep "\"type\":\"class\".*\"op\":\"$1\",\"comm\":\"$comm\"" "$tap_dir/out"
}

# All operations of either group are whole; those of some tasks alone are counted, and do not make others wrong.
all_are_joined() {
	local alone=$(((rounds + 2) / 5)) op

	colop --json || return
	[ "$(field whole <"$tap_dir/out")" = $((1 + rounds * 10)) ] && [ "$(field mixed <"$tap_dir/out")" = 0 ] &&
		[ "$(field parted <"$tap_dir/out")" = $((2 * alone)) ] || { tail -n 1 "$tap_dir/out"; return 1; }
	class pvm_reduce >/dev/null
	for op in pvm_reduce pvm_gather pvm_scatter pvm_barrier; do
		[ "$(class $op | field operations)" = $rounds ] && [ "$(class $op | field members)" = $tasks.0 ] ||
			{ echo "$op: not $rounds"; class $op; return 1; }
	done
}

# late OPERATION ME: it is the one that is late often, by about what it was told.
late() {
	class pvm_reduce >/dev/null
	grep "\"type\":\"often\".*\"op\":\"$1\",\"comm\":\"$comm\"" "$tap_dir/out" | head -n 1 >"$tap_dir/often"
	[ "$(field rank <"$tap_dir/often")" = "$(task "$2")" ] && awk -v late="$(field late_ns <"$tap_dir/often")" \
		-v times="$(field times <"$tap_dir/often")" -v us=$late_us -v rounds=$rounds \
		'BEGIN { exit !(late > us * 700 && late < us * 4000 && times >= rounds * 0.8) }' ||
		{ echo "task $2 is $(task "$2")"; cat "$tap_dir/often" "$tap_dir/out"; return 1; }
}

who_is_late() {
	late pvm_barrier 1 && late pvm_reduce 2 && late pvm_gather 2 && late pvm_scatter 0
}

# waits OPERATION PATTERN LEAST: who waits, and how long all together, in shares of the lateness of all rounds.
waits() {
	class "$1" >"$tap_dir/class"
	grep -q "\"pattern\":\"$2\"" "$tap_dir/class" && awk -v ns="$(field waited_ns <"$tap_dir/class")" -v us=$late_us \
		-v rounds=$rounds -v least="$3" 'BEGIN { exit !(ns > least * us * 1000 * rounds) }' || { cat "$tap_dir/class"; return 1; }
}

# Everybody waits in barriers, in reductions and gathers the root alone, in scatters all but the root.
who_waits() {
	class pvm_reduce >/dev/null
	waits pvm_barrier "Wait at Barrier" 3 && waits pvm_reduce "Early Reduce" 0.7 && waits pvm_gather "Early Reduce" 0.7 &&
		waits pvm_scatter "Late Broadcast" 3
}

is_said() {
	colop && grep -q "^task $(sed -n 's/^1 //p' "$tap_dir/who") is late in pvm_barrier@.* in .* of $rounds operations (.*), by .*; costs .* of the run$" \
		"$tap_dir/out" && grep -q 'events of barriers for some of a group alone$' "$tap_dir/err" || { cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

# A broadcast is sent by one task to all others, which receive it as any message.
broadcasts_are_matched() {
	local me

	colop --messages --json && grep -q '"type":"matched","messages":[0-9]*,"open":0,"lost":0,"strange":0,"crowded":0,' "$tap_dir/out" ||
		{ grep '"type":"matched"' "$tap_dir/out"; return 1; }
	for ((me = 1; me < tasks; me++)); do
		grep '"type":"messages","rank":'"$(task 0)"',"op":"pvm_bcast".*"to_rank":'"$(task $me)"',"to_op":"pvm_recv"' "$tap_dir/out" |
			sed -n 's/.*"messages":\([0-9]*\),.*"late_sender":{"times":\([0-9]*\),"waited_ns":\([0-9]*\),.*/\1 \2 \3/p' |
			awk -v rounds=$rounds -v us=$late_us '{ said = $1 == rounds && $2 >= 0.8 * rounds && $3 > 0.7 * rounds * us * 1000 } END { exit !said }' ||
			{ echo "to task $(task $me)"; cat "$tap_dir/out"; return 1; }
	done
}

# The tree does not know which barriers are of some tasks alone: it joins no groups, and that is said.
tree_joins_no_groups() {
	colop --reduced && grep -q "^0 operations of all ranks, .* events of groups of PVM, which are not joined on the way" "$tap_dir/err" ||
		{ cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

one_is_shown() {
	local comm

	colop --json && comm=$(grep '"type":"class".*"op":"pvm_reduce"' "$tap_dir/out" | field comm) &&
		colop --show "$comm#1" --json && [ "$(grep -c '"type":"arrival"' "$tap_dir/out")" = $tasks ] ||
		{ cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

# by_events TEXT: what events say of the calls themselves.
signatures_are_said() {
	pvm_on v1 evspace events --run run --backlog --until-end --json --select '/**/collective' >"$tap_dir/events" 2>/dev/null
	[ "$(grep -c '"op":"pvm_gather".*"root":0,.*"datatype":"PVM_DOUBLE","datatype_bytes":8,"comm_size":'$tasks "$tap_dir/events")" = $((tasks * rounds)) ] &&
		[ "$(grep -c '"op":"pvm_barrier".*"comm_size":2[,}]' "$tap_dir/events")" = $(((rounds + 2) / 5 * 2)) ] || { tail -n 3 "$tap_dir/events"; return 1; }
}

# Barriers, of which each says how far clocks of hosts are off, contradict nothing.
clocks_agree() {
	colop --json && grep -q '"type":"clocks","operations":'$((1 + rounds * 7))',.*"contradict":0' "$tap_dir/out" ||
		{ grep '"type":"clocks"' "$tap_dir/out"; return 1; }
}

# Tasks of v2 have a clock that is 5 ms ahead, of which its agent knows nothing.
wrong_clock_is_named() {
	local host

	for host in v1 v2 v3; do
		printf '%-256s' "0 $([ $host != v2 ] && echo 0 || echo 5000000) 0" >"$pvm_dir/$host/skew"
	done
	lib="$lib $top_builddir/tests/preload/.libs/skew.so" SKEW=$PVM_TMP/skew PVM_EXPORT=SKEW ran && colop --json || return
	grep '"type":"clocks"' "$tap_dir/out" | grep -q '"contradict":[1-9].*"/P/v2"' || { grep '"type":"clocks"' "$tap_dir/out"; return 1; }
	awk -v ns="$(grep '"type":"clocks"' "$tap_dir/out" | field ns)" 'BEGIN { exit !(ns > 4e6 && ns <= 5.1e6) }' &&
		colop && grep -q '^CLOCKS ARE WRONG: in pvm_barrier@.* left .* before .* came, ' "$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}

bed_start agent pvm_exec v1 evspace agent
tap_case "its agent is ready" pvm_until grep -q 'ready on' "$bed_dir/agent.err"
tap_case "tasks of one host have all group operations, some late" ran v1
tap_case "all are joined over their members, whichever have barriers alone" all_are_joined
tap_case "who is late in barriers, reductions, gathers, scatters is found" who_is_late
tap_case "... and who waits" who_waits
tap_case "... and said" is_said
tap_case "broadcasts are matched to the receives of all members, which wait for the sender" broadcasts_are_matched
tap_case "calls say their root, datatype and members" signatures_are_said
tap_case "one operation is shown" one_is_shown
tap_case "what is joined on the way tells of none" tree_joins_no_groups
bed_kill TERM agent >/dev/null
if [ "$pvm_hosts" -gt 1 ]; then
	tap_case "agents on three hosts" pvm_agents
	export EVSPACE_TLS=$tap_dir/tls EVSPACE_CONNECT=v1:7480
	tap_case "tasks of three hosts have them" ran
	tap_case "all are joined over the hosts" all_are_joined
	tap_case "who is late is found over hosts" who_is_late
	tap_case "... who waits" who_waits
	tap_case "... and broadcasts matched" broadcasts_are_matched
	tap_case "operations say of clocks what clocks do" clocks_agree
	tap_case "... and name the host whose clock is wrong" wrong_clock_is_named
	for host in v1 v2 v3; do
		bed_kill TERM "agent-$host" >/dev/null
	done
else
	tap_skip "group operations over three hosts" "namespaces are not allowed"
fi
tap_done
