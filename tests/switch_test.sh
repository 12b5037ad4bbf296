# SPDX-License-Identifier: BSD-3-Clause
# Tests switches: classes of operations of a running program, changed through the agents, and what was not recorded.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

begun() {
	[ "$(ls "$EVSPACE_DIR/$1" | grep -c '\.seg$')" -eq 4 ]
}

# switch OPTION...: through the entry agent, with a certificate for control; its output in $tap_dir/switched.
switch() {
	timeout -k 5 120 evspace collect --connect "$bed_entry" --identity control --run wind --deadline 20000 "$@" \
		>"$tap_dir/switched" 2>"$tap_dir/switched.err"
}

# ended CODE COMMAND...: what switch does ends with that code.
ended() {
	local code=$1 status=0

	shift
	"$@" || status=$?
	[ "$status" -eq "$code" ] && return
	echo "exit code $status, not $code"
	cat "$tap_dir/switched" "$tap_dir/switched.err"
	return 1
}

# says PATTERN...: it was printed.
says() {
	tap_printed "$tap_dir/switched" "$tap_dir/switched.err" -- "$@"
}

# number FIELD CLASS FILE: a field of a class in JSON lines, summed up over its modes.
number() {
	sed -n "s/.*\"class\":\"$2\".*\"$1\":\([0-9]*\).*/\1/p" "$3" | awk '{ n += $1 } END { print n + 0 }'
}

# now FIELD CLASS: as it is now.
now() {
	switch --json || return
	number "$1" "$2" "$tap_dir/switched"
}

larger() {
	[ "$(now "$1" "$2")" -gt "$3" ]
}

# grows FIELD CLASS [BY]: the number becomes larger.
grows() {
	local before

	before=$(now "$1" "$2") && bed_until larger "$1" "$2" $((before + ${3-0}))
}

# stays FIELD CLASS: it does not, while the program goes on.
stays() {
	local before after

	# What was under way when it was switched is over when all have gone on: no rank is more than a few steps, of one
	# wait each, ahead of another.
	grows calls wait 40 || return
	before=$(now "$1" "$2")
	grows calls wait 40 || return
	after=$(now "$1" "$2")
	[ "$before" = "$after" ] || { echo "$1 of $2: $before, then $after"; return 1; }
}

# events LEAST MOST: that many tuples of p2p come in ten looks.
events() {
	local n

	n=$(evspace events --connect "$bed_entry" --run wind --select '/**/p2p' --rate 20 --count 10 --csv \
		2>"$tap_dir/events.err" | tail -n +2 | wc -l)
	[ "$n" -ge "$1" ] && [ "$n" -le "$2" ] || { echo "$n tuples"; cat "$tap_dir/events.err"; return 1; }
}

mode_is() {
	ended 0 switch --json && grep '"type":"class"' "$tap_dir/switched" | grep "\"class\":\"$1\"" |
		grep -q "\"mode\":\"$2\",\"processes\":4" || { cat "$tap_dir/switched"; return 1; }
}

logged() {
	bed_until grep -q -e "$2" "$bed_dir/$1.err" || { cat "$bed_dir/$1.err"; return 1; }
}

bed_begin
bed_agents front ga a0 a1 b0 b1 || exit 99
bed_start wind evspace run --run wind --json --summary "$bed_dir/summary" -- mpirun -np 4 \
	"$top_builddir/tests/apps/windtunnel" --seconds 100000 --pause 10
bed_until begun wind

# --- what there is ---

listed() {
	ended 0 switch && says '^p2p@world  *trace  *4 ' '^env  *trace  *4 '
}
tap_case "without a mode: what is, class by class" bed_until listed
tap_case "nothing is unrecorded at first" eval '[ "$(now not_recorded p2p@world)" -eq 0 ]'
tap_case "events come" bed_until events 1 1000000

# --- off and on ---

tap_case "p2p off: every host says what was switched" ended 0 switch --class p2p off
tap_case "all four of them" says '^/A/a0: [0-9]* classes switched in 1 process$' '^/A/a1: ' '^/B/b0: ' '^/B/b1: '
tap_case "it is off everywhere" mode_is p2p@world off
tap_case "no call is counted" stays calls p2p@world
tap_case "no event comes" events 0 0
tap_case "others go on" grows recorded wait
tap_case "the leaves say who did what" logged b1 'control (.*)" switched p2p to off in 1 process of run "wind"'
tap_case "status says so" eval 'evspace status --connect "unix:$EVSPACE_DIR/agent-a0.sock" | tee "$tap_dir/status" |
	grep -q "not traced: .*p2p@world off" && grep -q "p2p@world  *off" "$tap_dir/status" || { cat "$tap_dir/status"; false; }'

# One host does not answer, who asked gives up: what was done is in the entry's log all the same.
asker_leaves() {
	local said

	said=$(cat "$bed_dir/b1.err" | wc -l)
	kill -STOP "$(bed_pid a0)"
	bed_start asker evspace collect --connect "$bed_entry" --identity control --run wind --deadline 60000 --class p2p off
	bed_until eval '[ "$(tail -n +$(('"$said"' + 1)) "$bed_dir/b1.err" | grep -c "switched p2p to off")" -eq 1 ]' &&
		bed_kill KILL asker && logged front 'audit: control (.*): switch p2p to off in run "wind": its sender has left; so far '
	said=$?
	kill -CONT "$(bed_pid a0)"
	return $said
}
tap_case "who asks for it leaves before all have answered: that is on record" asker_leaves

tap_case "p2p count" ended 0 switch --class p2p count
tap_case "calls are counted" grows not_recorded p2p@world
tap_case "and not recorded" stays recorded p2p@world
tap_case "no event comes, still" events 0 0

tap_case "p2p time" ended 0 switch --class p2p@world time
tap_case "the time spent is counted" grows time_ns p2p@world
tap_case "and nothing recorded" stays recorded p2p@world

tap_case "sample, of several classes" ended 0 switch --class p2p,wait --class collective sample
tap_case "they are not recorded" grows not_recorded wait
sampled() {
	evspace heartbeat --connect "$bed_entry" --run wind --once --json >"$tap_dir/beat" &&
		grep '"type":"thread"' "$tap_dir/beat" | grep '"running":true' |
		grep -q -e '"op":"MPI_Wait' -e '"op":"MPI_[A-Z]*send' -e '"op":"MPI_[A-Z]*recv'
}
tap_case "heartbeat says where a thread is, all the same" bed_until sampled

tap_case "one in two of a class" ended 0 switch --class p2p@world 1/2
halved() {
	ended 0 switch && says '^p2p@world  *1/2  *4 .* in those recorded$'
}
tap_case "its time is said to be that of the calls that are recorded" bed_until halved

tap_case "all back to trace" ended 0 switch trace
tap_case "events come again" bed_until events 1 1000000
tap_case "they are recorded" grows recorded p2p@world

# --- who is meant ---

tap_case "--select: only these ranks" ended 0 switch --select '/**/rank[0-1]/**' --class wait count
tap_case "the others are not switched" says '/A/a0: [1-9]' '/B/b1: 0 classes switched in 0 processes'
mixed() {
	ended 0 switch --json && [ "$(grep -c '"class":"wait"' "$tap_dir/switched")" -eq 2 ] || { cat "$tap_dir/switched"; return 1; }
}
tap_case "a class of two modes is two lines" mixed
tap_case "--view: what the view selects" ended 0 switch --view heartbeat --class wait trace
tap_case "a view that does not exist" ended 2 switch --view nonsense off
tap_case "it says which there are" says 'no view `nonsense`'

# --- who may, and what cannot be ---

tap_case "an observe certificate may look" ended 0 switch --identity observe
tap_case "an observe certificate may not switch" ended 3 switch --identity observe --class p2p off
tap_case "it says why" says 'may not switch what is collected: its certificate does not have the role'
tap_case "so does the agent" logged front 'observe may not switch what is collected'
tap_case "nothing has changed" mode_is p2p@world trace
tap_case "the agents' user may, on their host" ended 0 switch --connect "unix:$EVSPACE_DIR/agent-front.sock" \
	--class io off
tap_case "an unknown class" ended 2 switch --class p2p,sendrecv off
tap_case "it says which there are" says "'sendrecv' is not a class; write one of p2p, collective, wait, .*p2p@world"
tap_case "what is no communicator" ended 2 switch --class p2p@moon off
tap_case "an unknown mode" ended 2 switch fast
tap_case "it says which there are" says "'fast' is not a mode; write off, count, time, sample, 1/8 or trace"
tap_case "a class that nobody has" ended 1 switch --class p2p@12345678 off
tap_case "it says so" says 'no process of run wind has used such a class yet'
tap_case "a run that nobody has" ended 1 switch --run nobody off

bed_kill KILL b1
tap_case "a host that is away: exit code 1" ended 1 switch --class wait count
tap_case "it is named, the others are switched" says '/B/b1 does not answer: unreachable' '/A/a0: [1-9]'
bed_agents b1

# --- what was not recorded ---

kill -TERM "$(bed_pid wind)"
bed_wait wind
summed() {
	local class

	for class in p2p@world wait; do
		[ "$(sed 's/{"class"/\n&/g' "$bed_dir/summary" >"$tap_dir/classes"; number not_recorded "$class" "$tap_dir/classes")" -gt 0 ] ||
			{ cat "$bed_dir/summary"; return 1; }
	done
}
tap_case "the run's summary says how much was not recorded" summed

# The program counts its own calls. Polls are none, completions are no calls. It goes on until it was switched often.
counts_are_exact() {
	local mode switched=0

	touch "$tap_dir/more"
	bed_start calls evspace run --run calls --json --summary "$bed_dir/summary" "$@" -- mpirun -np 3 \
		"$top_builddir/tests/apps/calls" --while "$tap_dir/more" --json
	while [ "$switched" -lt 24 ] && ! bed_gone "$(bed_pid calls)"; do
		for mode in count time sample trace; do
			evspace collect --connect "$bed_entry" --identity control --run calls --deadline 20000 \
				--class all,p2p@world "$mode" >/dev/null 2>&1 && switched=$((switched + 1))
		done
	done
	rm "$tap_dir/more"
	bed_wait calls
	echo "switched $switched times"
	[ "$switched" -ge 24 ] || return
	bed_ended calls 0 || return
	sed 's/{"class"/\n&/g' "$bed_dir/summary" | grep '^{"class"' | grep -v '"group":"completion"' >"$tap_dir/classes"
	sed -n 's/^{"rank":.*"calls":\([0-9]*\),"bytes":\([0-9]*\).*/\1 \2/p' "$bed_dir/calls.out" |
		awk '{ calls += $1 } END { print calls }' >"$tap_dir/true"
	sed -n 's/.*"calls":\([0-9]*\),.*/\1/p' "$tap_dir/classes" | awk '{ n += $1 } END { print n }' |
		diff "$tap_dir/true" - || { cat "$tap_dir/classes"; return 1; }
	sed -n 's/.*"not_recorded":\([0-9]*\),.*/\1/p' "$tap_dir/classes" | awk '{ n += $1 } END { exit n == 0 }'
}
tap_case "counts are exact, however it is switched" counts_are_exact
tap_case "counts are exact when nothing is ever traced" counts_are_exact --modes count
tap_done
