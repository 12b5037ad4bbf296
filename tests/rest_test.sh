# SPDX-License-Identifier: BSD-3-Clause
# Tests an agent at rest: 200 elements of a living program mapped, nobody asks: no CPU, little memory.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

ELEMENTS=200
MEMORY_KB=4096

segdump() {
	"$top_builddir/tests/segdump" "$EVSPACE_DIR/rest" "$@"
}

# Three elements a thread, and those of the threads that began MPI.
program_start() {
	bed_start program evspace run --run rest --threads 40 -- mpirun -np 2 \
		"$top_builddir/tests/apps/threads" --threads 34 --rounds 100000000
}

elements() {
	segdump --headers | sed -n 's/.*"elements":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

has_elements() {
	[ "$(elements)" -ge "$ELEMENTS" ]
}

# ranks: the process ids in the segments' names.
ranks() {
	ls "$EVSPACE_DIR/rest" | sed -n 's/^rank[0-9]*\.\([0-9]*\)\.seg$/\1/p'
}

# What moves would disturb measuring; a program that is stopped lives.
program_stop() {
	local pid

	for pid in $(ranks); do
		kill -STOP "$pid"
	done
}

program_end() {
	local pid

	for pid in $(ranks); do
		kill -KILL "$pid" 2>/dev/null
	done
}

mapped() {
	[ "$(grep -c "$EVSPACE_DIR/rest/rank.*\.seg" "/proc/$(bed_pid "$1")/maps")" -ge 2 ]
}

# effort NODE: what the agent has used so far: time on a CPU, and how often it went to sleep.
effort() {
	local pid

	pid=$(bed_pid "$1")
	cut -d' ' -f1,3 "/proc/$pid/schedstat" 2>/dev/null
	cut -d' ' -f14,15 "/proc/$pid/stat"
	grep ctxt_switches "/proc/$pid/status"
}

efforts() {
	local node

	for node; do
		effort "$node"
	done
}

settled() {
	local before

	before=$(efforts "$@")
	sleep 0.3
	[ "$before" = "$(efforts "$@")" ]
}

# Absence can only be shown by waiting.
uses_no_cpu() {
	local before

	bed_until settled "$@" || return
	before=$(efforts "$@")
	sleep 3
	diff <(echo "$before") <(efforts "$@")
}

calls_nothing() {
	local node calls

	for node; do
		timeout 1 strace -f -o "$tap_dir/strace" -p "$(bed_pid "$node")" 2>/dev/null
		# The one that it waits in is interrupted by looking, and goes on.
		calls=$(grep -v 'detached\|unfinished\|restart_syscall\|EINTR\|^[0-9]* *--- SIG' "$tap_dir/strace")
		[ -z "$calls" ] || { echo "$node: $calls"; return 1; }
	done
}

# But for the elements that it has read: they are the program's.
memory_kb() {
	awk '$1 == "Pss:" { kb += $2 } $1 == "Pss_Shmem:" { kb -= $2 } END { print kb }' \
		"/proc/$(bed_pid "$1")/smaps_rollup"
}

is_small() {
	local node kb status=0

	for node; do
		kb=$(memory_kb "$node")
		echo "$node: $kb kB" | tee -a "$tap_dir/memory"
		[ "$kb" -le "$MEMORY_KB" ] || status=1
	done
	return $status
}

consumers_come_and_go() {
	evspace heartbeat --connect "$bed_entry" --run rest --once --json >"$tap_dir/heartbeat" &&
		[ -s "$tap_dir/heartbeat" ] &&
		evspace events --connect "$bed_entry" --run rest --backlog --count 5 --json \
			>"$tap_dir/events" && [ -s "$tap_dir/events" ]
}

nodes="front ga a0 b0"

bed_begin
bed_agents $nodes a1 b1 || exit 99
tap_case "a program of two ranks with $ELEMENTS elements" eval "program_start; bed_until has_elements"
program_stop
tap_case "every agent maps them" eval 'for node in $nodes; do bed_until mapped "$node" || exit 1; done'
tap_case "an agent at rest uses no CPU" uses_no_cpu $nodes
if command -v strace >/dev/null; then
	tap_case "it makes no system call" calls_nothing $nodes
else
	tap_skip "it makes no system call" "strace is missing (Debian package strace)"
fi
tap_memory "it takes at most $MEMORY_KB kB" is_small $nodes
tap_case "consumers come and go" consumers_come_and_go
tap_case "at rest again, it uses no CPU" uses_no_cpu $nodes
tap_memory "and takes at most $MEMORY_KB kB" is_small $nodes
program_end
tap_sanitized || sed 's/^/# proportional set size of /' "$tap_dir/memory"
tap_done
