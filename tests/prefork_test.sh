# SPDX-License-Identifier: BSD-3-Clause
# Tests several agents that one command starts: ready, answering, ending together; and what is refused.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

all_start() {
	bed_start all evspace agent --pathmap "$bed_dir/maps" --node 'a[0-1]'
	bed_until grep -q '2 agents are ready' "$bed_dir/all.err"
}

children() {
	cat "/proc/$(bed_pid all)/task/$(bed_pid all)/children"
}

each_has_its_process() {
	[ "$(children | wc -w)" = 2 ] && [ -S "$EVSPACE_DIR/agent-a0.sock" ] && [ -S "$EVSPACE_DIR/agent-a1.sock" ]
}

they_answer() {
	evspace status --connect "unix:$EVSPACE_DIR/agent-a1.sock" >"$tap_dir/status" && cat "$tap_dir/status" &&
		grep -q 'a1' "$tap_dir/status"
}

one_killed_is_told() {
	kill -KILL "$(children | cut -d' ' -f1)"
	bed_until grep -q 'the agent of a0 ended unasked' "$bed_dir/all.err" && [ "$(children | wc -w)" = 1 ]
}

they_end() {
	local left

	left=$(children)
	bed_kill TERM all
	bed_until bed_gone "${left% }"
}

# refused CODE TEXT OPTION...
refused() {
	local code=$1 text=$2 status=0

	shift 2
	evspace agent --pathmap "$bed_dir/maps" "$@" 2>"$tap_dir/err" || status=$?
	cat "$tap_dir/err"
	[ "$status" = "$code" ] && grep -q -- "$text" "$tap_dir/err"
}

none_is_left() {
	refused 1 'no node' --node 'a[0-7]' && ! [ -S "$EVSPACE_DIR/agent-a0.sock" ]
}

set_apart() {
	local base=$EVSPACE_DIR

	mkdir -p "$base/apart"
	EVSPACE_DIR=$base/apart/%n bed_start all evspace agent --pathmap "$bed_dir/maps" --node 'a[0-1]'
	bed_until grep -q '2 agents are ready' "$bed_dir/all.err" &&
		[ -S "$base/apart/a0/agent-a0.sock" ] && [ -S "$base/apart/a1/agent-a1.sock" ]
}

pipes() {
	ls -l "/proc/$1/fd" | grep -o 'pipe:.*' | sort -u
}

# A pipe that both of them have, and not the command any more, is that of their start.
no_pipe_is_left() {
	local child

	for child in $(children); do
		pipes "$child"
	done | sort | uniq -d >"$tap_dir/pipes"
	pipes "$(bed_pid all)" >"$tap_dir/own"
	! grep -vxFf "$tap_dir/own" "$tap_dir/pipes"
}

# It is not told of their ends if that is ignored where it was started.
childless() {
	(trap '' CHLD && bed_start deaf evspace agent --pathmap "$bed_dir/maps" --node 'a[0-1]')
	bed_until grep -q '2 agents are ready' "$bed_dir/deaf.err" && kill -TERM "$(bed_pid deaf)" && bed_until bed_gone "$(bed_pid deaf)"
}

bed_begin
tap_case "one command starts the agents of two nodes" all_start
tap_case "each has a process of its own" each_has_its_process
tap_case "... that holds none of the pipes of its start" no_pipe_is_left
tap_case "they answer" they_answer
tap_case "one that is killed is told of, the other one goes on" one_killed_is_told
tap_case "they end with the command" they_end
tap_case "where one cannot start, none does" none_is_left
tap_case "several nodes need a map that says their addresses" \
	refused 2 'several nodes' --node 'a[0-1]' --listen 127.0.0.1:0
tap_case "what is no list of nodes is refused" refused 2 'node' --node 'a[1-0]'
tap_case "%n in EVSPACE_DIR sets them apart" set_apart
tap_case "... of agents alone" eval 'EVSPACE_DIR=$tap_dir/%n evspace run -- true 2>"$tap_dir/said"; [ $? -eq 2 ] && grep "folder of one node" "$tap_dir/said"'
tap_case "and they end" bed_kill TERM all
tap_case "they end also where SIGCHLD is ignored" childless
tap_done
