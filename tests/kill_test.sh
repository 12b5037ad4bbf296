# SPDX-License-Identifier: BSD-3-Clause
# Tests kill -9 of agents, consumers and programs in many orders: the others go on, and every tuple is accounted for.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

all="front ga a0 a1 b0 b1"

# program_start RUN CAPACITY OPTION...: four ranks that exchange borders until they are ended.
program_start() {
	local run=$1 capacity=$2

	shift 2
	bed_start "$run" evspace run --run "$run" --threads 1 --capacity "$capacity" -- mpirun -np 4 \
		"$top_builddir/tests/apps/windtunnel" --seconds 100000 "$@"
	bed_until begun "$run"
}

begun() {
	[ "$(ls "$EVSPACE_DIR/$1/" | grep -c '\.seg$')" -eq 4 ]
}

# The process of rank 1; mpirun ends the others.
program_kill() {
	kill -KILL "$(ls "$EVSPACE_DIR/$1" | sed -n 's/^rank1\.\([0-9]*\)\.seg$/\1/p')"
}

# consumer_start NAME RUN OPTION...
consumer_start() {
	local name=$1 run=$2

	shift 2
	bed_start "$name" evspace events --wait --connect "$bed_entry" --run "$run" --backlog --until-end \
		--json "$@"
}

# lines NAME NODE: how many tuples of a leaf the consumer NAME has got so far.
lines() {
	cat "$bed_dir/$1.out" 2>/dev/null | grep -c "/$2/"
}

more_than() {
	[ "$(lines "$1" "$2")" -gt "$3" ]
}

# goes_on NAME LEAF...: new tuples of these leaves come.
goes_on() {
	local name=$1 leaf

	shift
	for leaf; do
		bed_until more_than "$name" "$leaf" "$(lines "$name" "$leaf")" || return
	done
}

# killed NODE...: all of them, then they are started again in the order of the list.
killed() {
	local node

	for node; do
		kill -KILL "$(bed_pid "$node")"
	done
	for node; do
		bed_until bed_gone "$(bed_pid "$node")" || return
	done
}

# survives KILLED RESTARTED LEAF...: without the agents KILLED the consumers at LEAF... go on; with
# them again, those of all leaves.
survives() {
	local killed=$1 restarted=$2

	shift 2
	killed $killed && goes_on steady "$@" && bed_agents $restarted && goes_on steady a0 a1 b0 b1
}

lost() {
	sed -n 's/.*delivered.* \([0-9,]*\) lost.*/\1/p' "$bed_dir/$1.err" | tr -d ,
}

# accounted NAME RUN: delivered + lost = written, no tuple twice.
accounted() {
	"$top_builddir/tests/account" "$EVSPACE_DIR/$2" "all=$(lost "$1")" <"$bed_dir/$1.out" &&
		! grep -i unaccounted "$bed_dir/$1.err"
}

complete() {
	bed_ended "$1" 0 && accounted "$1" "$2" && [ "$(lost "$1")" -eq 0 ]
}

# Or they would be cleaned away while their agent is dead for a moment.
cursors_are_young() {
	[ -z "$(find "$EVSPACE_DIR/first" -name '*.cursor' -mmin +60)" ]
}

bed_begin
bed_agents $all || exit 99

# --- one after the other, elements large enough for all that is written in minutes ---

program_start first 150000 --pause 20
consumer_start steady first --rate 50
consumer_start victim first --rate 50
tap_case "two consumers follow a program" eval "goes_on steady a0 a1 b0 b1 && goes_on victim a0 b1"
touch -d '2 hours ago' "$EVSPACE_DIR"/first/*.cursor
tap_case "the cursors of scopes at work are never old" bed_until cursors_are_young
tap_case "a leaf agent is killed: the other leaves go on, then it too" \
	survives a0 a0 a1 b0 b1
tap_case "a gateway is killed: the other cluster goes on" survives ga ga b0 b1
tap_case "the entry agent is killed, and comes back" survives front front
tap_case "leaf and gateway: the gateway is back first" survives "a1 ga" "ga a1" b0 b1
tap_case "entry and leaf: the leaf is back first" survives "front b0" "b0 front"
tap_case "all agents at once" survives "$all" "b1 a0 front ga a1 b0"
kill -KILL "$(bed_pid victim)"
tap_case "a consumer is killed: the other goes on" goes_on steady a0 a1 b0 b1
consumer_start late first --rate max --window 8
tap_case "a consumer that comes late gets the whole backlog" goes_on late a0 a1 b0 b1
program_kill first
bed_wait first
bed_wait steady
bed_wait late
tap_case "the program is killed: evspace run says so" bed_ended first 137
tap_case "the consumer over all kills has every tuple once" complete steady first
tap_case "so has the late one" complete late first
sed 's/^/# steady: /' "$bed_dir/steady.err"

killed $all
bed_agents $all
consumer_start after first --rate max
bed_wait after
tap_case "agents are killed after the program: its backlog is all there" complete after first

# --- kills one upon the other, under load, with elements that overflow ---

program_start second 500
consumer_start steady second --rate max --window 8
bed_until test -s "$bed_dir/steady.out"
for node in a0 ga front a0 b1 front ga a1 a0 ga b0 front; do
	killed "$node"
	bed_agents "$node"
done
goes_on steady a0 a1 b0 b1
program_kill second
bed_wait second
bed_wait steady
tap_case "a dozen kills in a row: the consumer comes to its end" bed_ended steady 0
tap_case "delivered + lost = written, no tuple twice" accounted steady second
sed 's/^/# steady: /' "$bed_dir/steady.err"
tap_done
