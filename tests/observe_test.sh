# SPDX-License-Identifier: BSD-3-Clause
# Tests observing: the wind tunnel through gateway and tree, by several consumers at once, late, and after its end.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

ranks=4 threads=2

begun() {
	[ "$(ls "$EVSPACE_DIR/$1" | grep -c '\.seg$')" -eq "$ranks" ]
}

program_start() {
	local run=$1

	shift
	bed_start "$run" evspace run --run "$run" "$@" -- mpirun -np "$ranks" \
		"$top_builddir/tests/apps/windtunnel" --threads "$threads" --seconds 100000 --pause 50
	bed_until begun "$run"
}

program_end() {
	kill -TERM "$(bed_pid "$1")"
	bed_wait "$1"
}

# A slow machine is no host that does not answer.
heartbeat() {
	evspace heartbeat --connect "$bed_entry" --deadline 20000 "$@"
}

events() {
	evspace events --connect "$bed_entry" "$@"
}

# Of each leaf its rank's threads, through the gateway for cluster A.
names_all_threads() {
	local thread want=0

	heartbeat --run tunnel --once --json >"$tap_dir/json" || return
	for thread in /A/a0/rank0 /A/a1/rank1 /B/b0/rank2 /B/b1/rank3; do
		grep -q "\"thread\":\"$thread/t0\",\"rank\":${thread: -1},\"missing\":false" "$tap_dir/json" &&
			grep -q "\"thread\":\"$thread/t1\"" "$tap_dir/json" && want=$((want + 2))
	done
	[ "$want" -eq 8 ] && grep -q '"hosts":4,"answered":4,"missing":\[\].*"threads":8' "$tap_dir/json" ||
		{ cat "$tap_dir/json"; return 1; }
}

shows_all_threads() {
	heartbeat --run tunnel --once >"$tap_dir/text" &&
		[ "$(grep -c '^/[AB]/[ab][01]/rank[0-3]/t[01] ' "$tap_dir/text")" -eq 8 ] ||
		{ cat "$tap_dir/text"; return 1; }
}

# The gateway alone is connected to what is behind it.
through_the_gateway() {
	evspace map show "$bed_dir/maps" --view heartbeat --dot >"$tap_dir/dot" &&
		grep -q 'front.*ga\|ga.*front' "$tap_dir/dot"
}

# status_of NODE PATTERN...: what the agent says of itself, by its own Unix socket.
status_of() {
	local node=$1 pattern

	shift
	evspace status --connect "unix:$EVSPACE_DIR/agent-$node.sock" --json >"$tap_dir/status" || return
	for pattern; do
		grep -q -e "$pattern" "$tap_dir/status" || { cat "$tap_dir/status"; return 1; }
	done
}

scopes_are() {
	local node

	for node in front ga a0 a1 b0 b1; do
		status_of "$node" "\"scopes\":$1," || return
	done
}

cursors() {
	ls "$EVSPACE_DIR/$1" | grep -c '\.cursor$'
}

no_cursors() {
	[ "$(cursors tunnel)" -eq 0 ]
}

# Scopes of four consumers at the entry; below it the heartbeats share one, and each stream has a cursor file at each leaf.
four_scopes() {
	status_of front '"scopes":4,' && status_of ga '"scopes":3,' && status_of b1 '"scopes":3,' &&
		[ "$(cursors tunnel)" -eq 8 ]
}

# Of the first tuples; the stream may go on.
field() {
	head -n 10000 "$1" | sed -n "s/.*\"name\":\"\([^\"]*\)\".*\"number\":\([0-9]*\),\"start_ns\":\([0-9]*\),\"end_ns\":\([0-9]*\).*\"bytes\":\([0-9]*\),.*/\1 \2 \5/p"
}

# What two consumers that read the same elements both have of each tuple is the same.
streams_agree() {
	local common

	field "$bed_dir/events1.out" | sort -u >"$tap_dir/one"
	field "$bed_dir/events2.out" | sort -u >"$tap_dir/two"
	common=$(comm -12 "$tap_dir/one" "$tap_dir/two" | wc -l)
	cut -d' ' -f1,2 "$tap_dir/one" | sort -u >"$tap_dir/keys1"
	cut -d' ' -f1,2 "$tap_dir/two" | sort -u >"$tap_dir/keys2"
	echo "$common tuples in common, of $(wc -l <"$tap_dir/one") and $(wc -l <"$tap_dir/two")"
	[ "$common" -gt 100 ] && [ "$common" -eq "$(comm -12 "$tap_dir/keys1" "$tap_dir/keys2" | wc -l)" ]
}

whole_waves() {
	grep -c '"type":"wave".*"answered":4,.*"threads":8,' "$bed_dir/$1.out"
}

# Every wave has all hosts and threads, and numbers of events only grow.
heartbeats_agree() {
	local name

	for name in heartbeat1 heartbeat2; do
		grep '"type":"wave"' "$bed_dir/$name.out" >"$tap_dir/waves" || return
		[ "$(whole_waves "$name")" -ge 12 ] && ! grep -v '"answered":4,.*"threads":8,' "$tap_dir/waves" || return
		sed 's/.*"written":\([0-9]*\).*/\1/' "$tap_dir/waves" | sort -nc || return
	done
}

# A stream from now on holds nothing that was over before.
from_now_on() {
	local now first

	now=$(date +%s%N)
	events --run tunnel --count 10 --json >"$tap_dir/now" 2>"$tap_dir/now.err" &&
		first=$(sed -n 's/.*"end_ns":\([0-9]*\).*/\1/p' "$tap_dir/now" | sort -n | head -n 1) || return
	[ -s "$tap_dir/now" ] && ! grep -q 'MPI_Init' "$tap_dir/now" || return
	# Half a second is for the clocks.
	[ "$first" -gt $((now - 500000000)) ] || { echo "the first ended at $first, opened at $now"; return 1; }
}

has_the_backlog() {
	events --run tunnel --backlog --count 10 --json >"$tap_dir/backlog" 2>"$tap_dir/backlog.err" &&
		[ "$(grep -c '"op":"MPI_Init_thread"' "$tap_dir/backlog")" -eq "$ranks" ] &&
		! grep -i unaccounted "$tap_dir/backlog.err"
}

selects() {
	events --run tunnel --backlog --count 3 --select '/A/*/rank1/t1/wait' --csv >"$tap_dir/csv" \
		2>/dev/null || return
	[ "$(head -n 1 "$tap_dir/csv")" = name,number,start_ns,end_ns,op,peer,seq_or_tag,comm,bytes,flags ] &&
		[ "$(wc -l <"$tap_dir/csv")" -gt 50 ] &&
		! tail -n +2 "$tap_dir/csv" | grep -v '^/A/a1/rank1/t1/wait,[0-9]*,[0-9]*,[0-9]*,MPI_Waitall,'
}

# The shipped map's view: bytes of sends, summed up in the tree.
reduces() {
	events --run tunnel --view volume --backlog --count 3 --json >"$tap_dir/volume" \
		2>"$tap_dir/volume.err" || { cat "$tap_dir/volume.err"; return 1; }
	grep -q '"name":"/","op":"MPI_Isend",.*"what":"bytes","fold":"sum"' "$tap_dir/volume" ||
		{ cat "$tap_dir/volume"; return 1; }
}

# Each shipped view has something to say of the shipped program.
no_view_is_empty() {
	local view

	for view in volume rates histogram sizes slowest largest matrix traffic meet latest heartbeat events; do
		evspace view "$view" --connect "$bed_entry" --run tunnel --count 3 --json >"$tap_dir/shown" 2>&1 &&
			grep -qE '"type":"(rate|bin|cell|meeting|total|tuple)"' "$tap_dir/shown" ||
			{ echo "$view"; head -n 5 "$tap_dir/shown"; return 1; }
	done
}

# says CODE TEXT COMMAND...: as tap_says, of the entry.
says() {
	tap_says "$1" "$2" "${@:3}" --connect "$bed_entry"
}

no_such_run() {
	says 1 'there is no run tunel; did you mean tunnel? --wait' evspace events --run tunel --backlog --until-end &&
		says 1 'there is no run nosuch; there are tunnel; --wait' evspace heartbeat --run nosuch --once &&
		says 1 'there is no run nosuch' evspace view rates --run nosuch --count 1
}

long_ended() {
	says 0 'run tunnel ended [0-9.]* [a-z]* ago; --backlog has what is left of its [0-9,]* events' evspace events --run tunnel &&
		says 0 'run tunnel ended [0-9.]* [a-z]* ago' evspace heartbeat --run tunnel &&
		says 0 'run tunnel ended [0-9.]* [a-z]* ago' evspace view rates --run tunnel --count 2
}

lost() {
	sed -n 's/.*delivered.* \([0-9,]*\) lost.*/\1/p' "$1" | tr -d ,
}

# After the end: what the elements hold, and what was overwritten before.
backlog_of_the_dead() {
	events --run "$1" --backlog --until-end --json >"$tap_dir/dead" 2>"$tap_dir/dead.err" &&
		"$top_builddir/tests/account" "$EVSPACE_DIR/$1" "all=$(lost "$tap_dir/dead.err")" \
			<"$tap_dir/dead"
}

# Without --backlog, but there before the program: every tuple is from then on.
first_of_all() {
	bed_ended early 0 && "$top_builddir/tests/account" "$EVSPACE_DIR/later" \
		"all=$(lost "$bed_dir/early.err")" <"$bed_dir/early.out" &&
		[ "$(grep -c '"op":"MPI_Init_thread"' "$bed_dir/early.out")" -eq "$ranks" ]
}

runs_of_all() {
	evspace runs --connect "$bed_entry" >"$tap_dir/runs" && grep -Eq '^tunnel +running +4/4 +4 ' "$tap_dir/runs" ||
		{ cat "$tap_dir/runs"; return 1; }
}

# Another run may live there, which would be meant as well.
silence_is_no_answer() {
	local status=0

	kill -STOP "$(bed_pid b1)"
	evspace discard --connect "$bed_entry" --identity control >"$tap_dir/said" 2>&1 || status=$?
	evspace runs --connect "$bed_entry" >>"$tap_dir/said" 2>&1 && status=wrong
	kill -CONT "$(bed_pid b1)"
	[ "$status" = 2 ] && grep -q 'b1: no answer, .* with --run: tunnel$' "$tap_dir/said" &&
		grep -q 'b1 is not there' "$tap_dir/said" &&
		grep -q 'audit: .*: discard .*: failed: b1: no answer' "$bed_dir/front.err" || { echo "exit code $status"; cat "$tap_dir/said"; return 1; }
}

bed_begin
bed_agents front ga a0 a1 b0 b1 || exit 99
program_start tunnel

tap_case "heartbeat --json has every thread, under its host" names_all_threads
tap_case "heartbeat as text has every thread" shows_all_threads
tap_case "cluster A is behind its gateway" through_the_gateway
tap_case "heartbeat --check is content" bed_until heartbeat --run tunnel --check
tap_case "without --run the only live run is meant" heartbeat --once
tap_case "runs of all hosts of the map, each process once" runs_of_all
tap_case "where a host is silent, nothing is discarded of a run that is not named" silence_is_no_answer
tap_case "a consumer leaves no scope behind" bed_until scopes_are 0
tap_case "and no cursors" bed_until no_cursors

for name in 1 2; do
	bed_start "heartbeat$name" evspace heartbeat --wait --connect "$bed_entry" --run tunnel --rate $((5 * name)) --deadline 20000 --json
	bed_start "events$name" evspace events --wait --connect "$bed_entry" --run tunnel --rate $((20 * name)) --json
done
tap_case "four consumers: four scopes at the entry, three below it" bed_until four_scopes
# Both streams have had many tuples of the same time, both heartbeats waves of all.
enough() {
	[ "$(whole_waves heartbeat1)" -ge 12 ] && [ "$(whole_waves heartbeat2)" -ge 12 ] &&
		[ "$(wc -l <"$bed_dir/events1.out")" -ge 1000 ] && [ "$(wc -l <"$bed_dir/events2.out")" -ge 1000 ] &&
		streams_agree
}
bed_until enough
for name in heartbeat1 events1 events2 heartbeat2; do
	kill -INT "$(bed_pid "$name")"
	bed_wait "$name"
done
all_end_well() {
	local name

	for name in heartbeat1 events1 events2 heartbeat2; do
		bed_ended "$name" 0 || return
	done
	! grep -i unaccounted "$bed_dir"/events?.err
}
tap_case "after Ctrl-C all end well" all_end_well
tap_case "two streams have the same of each tuple" streams_agree
tap_case "two heartbeats have all hosts in all waves" heartbeats_agree
tap_case "their scopes are torn down" bed_until scopes_are 0
tap_case "their cursor files are gone" bed_until no_cursors
tap_case "a consumer that comes late begins now" from_now_on
tap_case "with --backlog it begins with what the elements hold" has_the_backlog
tap_case "--select and --csv" selects
tap_case "a view of the application map reduces in the tree" reduces

tap_case "each shipped view has something to say of the wind tunnel" no_view_is_empty
tap_case "a run that is not there: said, and no waiting" no_such_run

program_end tunnel
tap_case "after the program's end its backlog is there, and all is accounted for" backlog_of_the_dead tunnel
tap_case "heartbeat shows how it ended" eval 'heartbeat --run tunnel --once --json | grep -q "\"ended\":true"'
tap_case "a run that has ended: since when, and what is left" long_ended
tap_case "runs says so, too" eval 'evspace runs | grep "^tunnel "'
tap_case "purge removes it" eval 'evspace purge tunnel && [ ! -e "$EVSPACE_DIR/tunnel" ]'

bed_start early evspace events --wait --connect "$bed_entry" --run later --until-end --json --rate 20
bed_until scopes_are 1
bed_start later evspace run --run later --threads "$threads" -- mpirun -np "$ranks" \
	"$top_builddir/tests/apps/windtunnel" --threads "$threads" --steps 60
bed_wait later
bed_wait early
tap_case "a consumer that is there before its program misses nothing" first_of_all
tap_done
