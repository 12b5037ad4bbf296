# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace watch and colop about a program whose ranks are with the agents of several hosts: stacks of all of them, a host
# without an agent, and one that does not answer.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
bed_agents front ga a0 a1 b0 b1 || exit 99

# watched RUN SECONDS: rank 1, of a1, sleeps so long, and the others wait for it in a barrier.
watched() {
	timeout 120 evspace watch --connect "$bed_entry" --pathmap "$bed_dir/maps" --run "$1" --save "$tap_dir/$1" --on stuck --stuck-after 1s --stacks -- \
		mpirun --oversubscribe -np 4 "$top_builddir/tests/apps/stuck" --rank 1 --seconds "$2" >"$tap_dir/$1.out" 2>"$tap_dir/$1.err" </dev/null ||
		{ cat "$tap_dir/$1.err"; return 1; }
}

# stack NAME: what is said of the process, or host, in the file of stacks.
stack() {
	awk -v name="$1" '/^\// { of = index($0, name) == 1 } of' "$stacks"
}

# Each host's agent has read those of its own rank; on a busy machine one may not be stopped in time, which is said.
stacks_of_all() {
	local of

	watched all 6 || return
	stacks=$tap_dir/all/1-stuck-stacks.txt
	for of in /A/a0/rank0 /A/a1/rank1 /B/b0/rank2 /B/b1/rank3; do
		stack "$of, process" | grep -q '^ *P\?MPI_Barrier\|nanosleep\|the kernel does not stop it' || { cat "$stacks"; return 1; }
	done
	! grep 'none to be had' "$stacks"
}

# b1 has no agent any more, and that of b0 is stopped: it may only be late, and is said to be missing after ten seconds.
missing_are_named() {
	bed_kill KILL b1
	kill -STOP "$(bed_pid b0)"
	watched some 25
	set -- $?
	kill -CONT "$(bed_pid b0)"
	[ "$1" -eq 0 ] || return
	[ "$(grep -c '^evspace watch: /B/b1 is missing: it cannot be reached' "$tap_dir/some.err")" -ge 1 ] &&
		[ "$(grep -c '^evspace watch: /B/b0 is missing: it ' "$tap_dir/some.err")" -ge 1 ] || { cat "$tap_dir/some.err"; return 1; }
}

# What is known of the others is told and kept.
others_are_told() {
	stacks=$tap_dir/some/1-stuck-stacks.txt
	grep -q '^evspace watch: stuck: rank 0 (/A/a0/rank0/t0) is stuck: in MPI_Barrier .*waits for rank' "$tap_dir/some.err" &&
		stack /A/a0/rank0, | grep -q '^  thread' && stack /A/a1/rank1, | grep -q '^  thread' &&
		stack /B/b1: | grep -q 'none to be had: ' && stack /B/b0: | grep -q 'none to be had: ' || { cat "$tap_dir/some.err" "$stacks"; return 1; }
}

# No operation is whole without the rank of b1, and nobody knows what its classes have counted.
colop_tells() {
	evspace colop --connect "$bed_entry" --run some --backlog --duration 5s >"$tap_dir/out" 2>"$tap_dir/err"
	grep -q '^no collective operation has come from all ranks' "$tap_dir/out" &&
		grep -q '^0 operations of all ranks, [0-9]* that not all ranks have come to' "$tap_dir/err" &&
		grep -q '^evspace colop: /B/b1 is missing: ' "$tap_dir/err" &&
		grep -q '^nobody tells which share of the calls is recorded (not all hosts have answered)' "$tap_dir/err" || { cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

tap_case "stacks of ranks of several hosts are kept, as the agent of each has read them" stacks_of_all
tap_case "hosts that are missing, or do not answer, are named" missing_are_named
tap_case "... and what is known of the others is told" others_are_told
tap_case "colop says of whom nothing has come, and that counts are not known" colop_tells
tap_done
