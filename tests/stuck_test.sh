# SPDX-License-Identifier: BSD-3-Clause
# Tests that heartbeat names who is stuck within two seconds: since when, in which operation, waiting for whom.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

begun() {
	[ "$(ls "$EVSPACE_DIR/$1" | grep -c '\.seg$')" -eq 4 ]
}

# stuck_start RUN OPTION...: a program of four ranks of which one sleeps, and who follows it.
stuck_start() {
	local run=$1

	shift
	bed_start "$run" evspace run --run "$run" -- mpirun -np 4 "$top_builddir/tests/apps/stuck" \
		--seconds 100000 "$@"
	bed_until begun "$run"
	bed_start "follow-$run" evspace heartbeat --wait --connect "$bed_entry" --run "$run" --rate 5 --deadline 20000 --json
	bed_until grep -q '^stuck: rank' "$bed_dir/$run.err"
}

# A single look has no time to find that all is well; who is stuck it finds.
known_already() {
	local status=0

	look "$1" --check --json --count 1 >"$tap_dir/known.json" 2>"$tap_dir/known.err" || status=$?
	[ "$status" -eq 1 ] && grep -q '"stuck":3' "$tap_dir/known.json" && ! grep 'not known' "$tap_dir/known.err" ||
		{ cat "$tap_dir/known.json" "$tap_dir/known.err"; return 1; }
}

stuck_end() {
	kill -TERM "$(bed_pid "$1")"
	bed_wait "$1"
	bed_wait "follow-$1"
}

look() {
	local run=$1

	shift
	evspace heartbeat --connect "$bed_entry" --run "$run" --deadline 20000 "$@"
}

# What a check says, how long after the sleep has begun it has said so, and how long a single look takes here.
check() {
	local run=$1 began ended looked status=0

	began=$(date +%s%N)
	stuck_start "$@"
	began=$(($(date +%s%N) - 100000000)) # bed_until looks ten times a second
	look "$run" --check >"$tap_dir/check" 2>"$tap_dir/check.err" || status=$?
	ended=$(date +%s%N)
	look "$run" --once --json >"$tap_dir/json" 2>"$tap_dir/json.err"
	looked=$(date +%s%N)
	echo $(((ended - began) / 1000000)) $(((looked - ended) / 1000000)) >"$tap_dir/ms"
	echo $status >"$tap_dir/status"
}

# says PATTERN...: it was printed.
says() {
	tap_printed "$tap_dir/check" -- "$@"
}

# Two seconds and, where the machine is slow or does much else, what three looks take more than a fifth of a second.
in_time() {
	local ms look

	read -r ms look <"$tap_dir/ms"
	echo "$ms ms, a look takes $look ms" | tee -a "$tap_dir/known"
	[ "$ms" -le $((2000 + (look > 200 ? 3 * (look - 200) : 0))) ]
}

has_status() {
	[ "$(cat "$tap_dir/status")" -eq "$1" ] || { cat "$tap_dir/status" "$tap_dir/check" "$tap_dir/check.err"; return 1; }
}

# threads NUMBER PATTERN...: so many threads' lines of the JSON have all the patterns.
threads() {
	local want=$1 lines pattern

	shift
	lines=$(grep '"type":"thread"' "$tap_dir/json")
	for pattern; do
		lines=$(grep -e "$pattern" <<<"$lines")
	done
	[ "$(grep -c . <<<"$lines")" -eq "$want" ] || { cat "$tap_dir/json"; return 1; }
}

# waves_since RUN NS: how long after, and how many it says are stuck.
waves_since() {
	sed -n 's/.*"type":"wave".*"time_ns":\([0-9]*\),.*"stuck":\([0-9]*\).*/\1 \2/p' "$bed_dir/follow-$1.out" |
		while read -r time stuck; do echo $(((time - $2) / 1000000)) "$stuck"; done
}

has_gone_on() {
	waves_since "$@" | awk '$1 > 2000 { n++ } END { exit !n }'
}

# knew_in_time RUN OPERATION: by the event space's own clock, each wave of more than two seconds after.
knew_in_time() {
	local out=$bed_dir/follow-$1.out start

	bed_until grep -q '"type":"wave".*"stuck":3,"awaited":1' "$out" || return
	start=$(sed -n "s/.*\"op\":\"$2\",\"running\":true,\"start_ns\":\([0-9]*\).*/\1/p" "$out" | tail -n 1)
	bed_until has_gone_on "$1" "$start" || return
	waves_since "$1" "$start" | awk -v run="$1" '
		$2 == 3 && !known { known = $1 }
		$1 > 2000 && $2 != 3 { print; late = 1 }
		END { print run ": known after " known " ms"; exit late }' | tee -a "$tap_dir/known"
	return "${PIPESTATUS[1]}"
}

# on_terminal COLUMNS COMMAND...: what it prints on a terminal so wide (of $rows), without what moves and colours.
on_terminal() {
	local columns=$1 typed

	shift
	typed="stty cols $columns rows ${rows:-24}; $* 2>$tap_dir/terminal.err"
	TERM=xterm script -qefc "$typed" /dev/null </dev/null | sed 's/\r//g; s/\x1b\[[0-9;]*[A-Za-z]//g' >"$tap_dir/terminal"
}

fits() {
	awk -v columns="$1" 'length > columns { print length ": " $0; long = 1 } END { exit long || NR == 0 }' "$tap_dir/terminal" ||
		{ cat "$tap_dir/terminal" "$tap_dir/terminal.err"; return 1; }
}

# Each is named, with its whole rank and thread, and whom it waits for.
heartbeat_fits() {
	on_terminal "$1" evspace heartbeat --connect "$bed_entry" --run "$2" --once --deadline 20000
	fits "$1" && { [ "$1" -lt 80 ] || grep '; 3 stuck, wait' "$tap_dir/terminal"; } &&
		[ "$(grep -c '/rank[012]/t0.*STUCK.*  waits for rank 3' "$tap_dir/terminal")" -eq 3 ] &&
		grep '/rank3/t0.*AWAITED.*  holds up 3 threads' "$tap_dir/terminal" || { cat "$tap_dir/terminal"; return 1; }
}

# What stands above each wave is broken where the line ends.
head_fits() {
	on_terminal 40 evspace view latest --connect "$bed_entry" --run "$1" --count 1 --deadline 20000
	head -n 2 "$tap_dir/terminal" | awk 'length > 40 { print; long = 1 } END { exit long }' && grep -q '^latest of' "$tap_dir/terminal" ||
		{ cat "$tap_dir/terminal"; return 1; }
}

# Where there is no room for all, who holds up the others comes first.
heartbeat_hides() {
	rows=11 on_terminal 40 evspace heartbeat --connect "$bed_entry" --run "$1" --once --deadline 20000
	fits 40 && grep -A 1 '^thread' "$tap_dir/terminal" | grep '/rank3/t0.*AWAITED' &&
		grep 'more threads, [0-9] of them stuck' "$tap_dir/terminal" || { cat "$tap_dir/terminal"; return 1; }
}

list_fits() {
	on_terminal 80 "$@"
	fits 80 && grep -iE '^run +(state|process)' "$tap_dir/terminal"
}

# With what was called, and with whom: that goes on in the next line if it must.
events_fit() {
	on_terminal "$1" evspace events --connect "$bed_entry" --run "$2" --backlog --until-end --count 1
	fits "$1" && grep -E '^[0-9:.]+  [^ ]*rank[0-3]/t0/[a-z0-9]+ ' "$tap_dir/terminal" && grep 'the world' "$tap_dir/terminal" ||
		{ cat "$tap_dir/terminal"; return 1; }
}

# All that is shown of a map of 14 hosts, and what would be better.
maps_fit() {
	on_terminal "$1" evspace map show "$top_srcdir/pathmap/examples/paper"
	fits "$1" && grep '^[/.][^ ]*/w0/rank0 .* gw4w  *front' "$tap_dir/terminal" || { cat "$tap_dir/terminal"; return 1; }
	on_terminal "$1" evspace map suggest "$top_srcdir/pathmap/examples/paper" --view heartbeat
	fits "$1" && grep '^ .* fanout [0-9]; }$' "$tap_dir/terminal" || { cat "$tap_dir/terminal"; return 1; }
}

bed_begin
bed_agents front ga a0 a1 b0 b1 || exit 99

check barrier --in barrier
tap_case "barrier: --check ends with 1" has_status 1
tap_case "barrier: within two seconds of the sleep" in_time
tap_case "barrier: it names the rank, in what it is not, since when" \
	says '^rank 3 .*holds up 3 threads: outside any operation for .* \(since [0-9:.]*\)'
tap_case "barrier: it names who waits for it, since when, in which operation" \
	says '^rank 0 .*is stuck: in MPI_Barrier #5 .* \(since [0-9:.]*\); waits for rank 3' \
	'^rank 1 .*in MPI_Barrier #5 .*; waits for rank 3' \
	'^rank 2 .*in MPI_Barrier #5 .*; waits for rank 3'
tap_case "barrier: a check in JSON does not say that who is stuck is not known" known_already barrier
tap_case "barrier: JSON names the rank" threads 1 '"rank":3' '"culprit":true' '"holds_up":3'
tap_case "barrier: JSON names those that wait" threads 3 '"stuck":true' '"running":true' \
	'"op":"MPI_Barrier"' '"why":"members"' '"waits_for":\[3\]' '"cause":"/B/b1/rank3/t0"'
tap_case "barrier: a heartbeat that was there before knew within two seconds" \
	knew_in_time barrier MPI_Barrier
tap_case "barrier: on a terminal of 80 columns all are named whole" heartbeat_fits 80 barrier
tap_case "barrier: on one of 60, too" heartbeat_fits 60 barrier
tap_case "barrier: on one of 11 rows who is awaited stands first" heartbeat_hides barrier
tap_case "barrier: what view says above a wave is broken where the line ends" head_fits barrier
tap_case "status fits its terminal" list_fits evspace status --connect "unix:$EVSPACE_DIR/agent-b1.sock"
tap_case "runs fit their terminal" list_fits evspace runs
tap_case "events fit theirs" eval 'events_fit 80 barrier && events_fit 60 barrier'
tap_case "maps, and what is suggested, fit theirs" eval 'maps_fit 80 && maps_fit 60'
stuck_end barrier
tap_case "barrier: that heartbeat ends with the program" bed_ended follow-barrier 0

check recv --in recv --rank 1
tap_case "recv: --check ends with 1" has_status 1
tap_case "recv: it names the rank" \
	says '^rank 1 .*holds up 3 threads: outside any operation for .* \(since [0-9:.]*\)'
tap_case "recv: it names who waits for it, since when, in which operation" \
	says '^rank 0 .*in MPI_Recv from rank 1 \(tag 7\) .* \(since [0-9:.]*\); waits for rank 1' \
	'^rank 2 .*in MPI_Recv from rank 1' '^rank 3 .*in MPI_Recv from rank 1'
tap_case "recv: JSON names those that wait" threads 3 '"stuck":true' '"op":"MPI_Recv"' \
	'"peer":1' '"why":"peer"' '"waits_for":\[1\]' '"cause":"/A/a1/rank1/t0"'
tap_case "recv: a heartbeat that was there before knew within two seconds" knew_in_time recv MPI_Recv
stuck_end recv
sed 's/^/# /' "$tap_dir/known"

bed_start healthy evspace run --run healthy -- mpirun -np 4 "$top_builddir/tests/apps/windtunnel" \
	--threads 2 --seconds 100000 --pause 10
bed_until begun healthy
healthy() {
	look healthy --check >"$tap_dir/healthy" || { cat "$tap_dir/healthy"; return 1; }
	grep 'all 8 threads make progress' "$tap_dir/healthy"
}
tap_case "a program that makes progress: --check ends with 0 and says so" bed_until healthy
missing() {
	local status=0

	look healthy --check >"$tap_dir/healthy" || status=$?
	cat "$tap_dir/healthy"
	[ "$status" -eq 1 ] && grep '/B/b0 cannot be told: unreachable' "$tap_dir/healthy"
}
# It falls silent between two looks, of which the second is not answered when the time is over. (Were the first one not
# answered within the half second, the case would be an easier one.)
silent() {
	local status=0

	evspace heartbeat --connect "$bed_entry" --run healthy --check --deadline 2000 --rate 0.2 --duration 6 \
		>"$tap_dir/silent" &
	bed_until scope_at b0 && sleep 0.5 && kill -STOP "$(bed_pid b0)"
	wait $! || status=$?
	kill -CONT "$(bed_pid b0)"
	cat "$tap_dir/silent"
	[ "$status" -eq 1 ] && grep '/B/b0 cannot be told: ' "$tap_dir/silent"
}
scope_at() {
	evspace status --connect "unix:$EVSPACE_DIR/agent-$1.sock" --json | grep -q '"scopes":1'
}
tap_case "a host that falls silent before the last look: --check ends with 1 and names it" silent
bed_kill KILL b0
tap_case "a host that is away: --check ends with 1 and names it" missing
kill -TERM "$(bed_pid healthy)"
bed_wait healthy
tap_done
