# SPDX-License-Identifier: BSD-3-Clause
# Tests collecting from MPICH programs, as tests/collect_test.sh does from those of Open MPI, and
# that Hydra's launchers do under evspace run and with evspace exec.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/counts.sh"
. "$top_srcdir/tests/bed.sh"

if [ -z "$MPICH_RUN" ]; then
	tap_skip "MPICH" "it was not there when this was built"
	tap_done
fi

bed_begin
apps=$top_builddir/tests/apps
lib=$EVSPACE_LIBDIR/libevspace-mpi.so
dump=$top_builddir/tests/segdump

export EVSPACE_CAPACITY=50000
unset EVSPACE_THREADS EVSPACE_QUOTA EVSPACE_RUN

plain() {
	timeout -k 5 300 "$MPICH_RUN" -np "$@"
}

collected() {
	rm -rf "$EVSPACE_DIR"/run
	EVSPACE_RUN=run plain "$1" -genv LD_PRELOAD "$lib" "${@:2}"
}

dumped() {
	"$dump" "$EVSPACE_DIR/run" "--$1"
}

# --- counts ---

calls_are_right() {
	tap_case "calls, $1 ranks${2:+, all of it again}: every count and byte sum per operation" \
		counts_are_right "$1" "$apps/calls-mpich" "${@:2}"
}

# Of the last run: from whom to whom, tag, communicator, bytes; by the senders and by the receivers.
messages_agree() {
	dumped messages >"$tap_dir/messages"
	diff <(sed -n 's/^sent //p' "$tap_dir/messages" | sort) \
		<(sed -n 's/^received //p' "$tap_dir/messages" | sort) &&
		[ "$(wc -l <"$tap_dir/messages")" -gt 1000 ]
}

# In the last run. All Isends, of which most are complete at once and have one and the same handle, are attributed.
sends_are_attributed() {
	# TUPLE_UNATTRIBUTED is 8
	dumped tuples | sed -n 's/.*"flags":\([0-9]*\)}$/\1/p' |
		awk 'int($1 / 8) % 2 { bad++ } END { print NR " tuples, " bad + 0 " unknown"; exit bad || NR < 1000 }'
}

calls_are_right 1
calls_are_right 2
tap_case "calls: every completion is attributed" sends_are_attributed
calls_are_right 3 --rounds 2
calls_are_right 4
tap_case "calls: what is received is what was sent, world ranks, tags, communicators, bytes" messages_agree
tap_case "threads: 2 ranks x 3 threads, every count and byte sum" \
	counts_are_right 2 "$apps/threads-mpich" --threads 3 --rounds 200
tap_case "threads: what is received is what was sent" messages_agree

# --- nobody notices ---

same_output() {
	local wanted=$1 status=0 seen=0 want got

	shift
	want=$(plain "$@" 2>/dev/null) || status=$?
	got=$(collected "$@" 2>/dev/null) || seen=$?
	[ "$want" = "$got" ] && [ "$status" -eq "$wanted" ] && [ "$seen" -eq "$wanted" ] ||
		{ echo "'$got' ($seen), not '$want' ($status)"; return 1; }
}

tap_case "calls: the same output" same_output 0 2 "$apps/calls-mpich"
tap_case "threads: the same output" same_output 0 2 "$apps/threads-mpich"
tap_case "the program's own exit code" \
	same_output 1 2 "$apps/windtunnel-mpich" --threads 2 --check 5 --break-exchange 0

# --- launchers ---

# Of RUN, so many processes, with so many ranks in their world.
has_ranks() {
	"$dump" "$EVSPACE_DIR/$1" --headers >"$tap_dir/headers" &&
		[ "$(grep -c "\"rank\":" "$tap_dir/headers")" -eq "$2" ] || { cat "$tap_dir/headers"; return 1; }
}

run_with() {
	local launcher=$1

	evspace run --keep --run "$(basename "$launcher")" -- "$launcher" -np 3 "$apps/windtunnel-mpich" --steps 20 \
		>"$tap_dir/out" 2>"$tap_dir/err" && has_ranks "$(basename "$launcher")" 3 &&
		grep -q '3 ranks x 1 thread, .* momentum conserved' "$tap_dir/out" ||
		{ cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

for launcher in mpirun.mpich mpiexec.mpich mpiexec.hydra; do
	if command -v "$launcher" >/dev/null; then
		tap_case "evspace run -- $launcher" run_with "$launcher"
	else
		tap_skip "evspace run -- $launcher" "there is none"
	fi
done

# A stand-in for ssh to a host with a name and an environment of its own.
cat >"$tap_dir/login" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do
	shift
done
host=$1
shift
exec unshare -u sh -c 'hostname "$1" && shift && exec env -i PATH="$PATH" HOME="$HOME" sh -c "$*"' \
	login "$host" "$@"
END
chmod +x "$tap_dir/login"

across_hosts() {
	evspace run --keep --run across -- "$MPICH_RUN" -launcher ssh -launcher-exec "$tap_dir/login" \
		-hosts "$(hostname),elsewhere" -np 2 "$apps/windtunnel-mpich" --steps 20 \
		>"$tap_dir/out" 2>"$tap_dir/err" && has_ranks across 2 &&
		grep -q 'momentum conserved' "$tap_dir/out" &&
		[ "$(grep -al elsewhere "$EVSPACE_DIR"/across/*.seg | wc -l)" -eq 1 ] ||
		{ cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

if unshare -u true 2>/dev/null; then
	tap_case "evspace run: Hydra starts a rank on another host" across_hosts
else
	tap_skip "evspace run: Hydra starts a rank on another host" "needs namespaces"
fi

alone() {
	evspace run --keep --run alone -- "$apps/calls-mpich" >"$tap_dir/out" 2>"$tap_dir/err" &&
		has_ranks alone 1
}

tap_case "evspace run: without a launcher" alone

# The user's own LD_PRELOAD for one part of the job, and environments that are not passed on.
own_preload() {
	evspace run --keep --run own -- "$MPICH_RUN" -genvnone \
		-n 1 -env LD_PRELOAD "$top_builddir/tests/preload/.libs/tool-mpich.so" \
		"$top_builddir/tests/preload/wrapped-mpich" : \
		-n 1 "$top_builddir/tests/preload/wrapped-mpich" >"$tap_dir/out" 2>"$tap_dir/err" &&
		has_ranks own 2 && grep -q '^tool: 0 barriers' "$tap_dir/out"
}

tap_case "evspace run: what the user preloads stays" own_preload

# Two jobs at the same time, each process started by evspace exec: a run each, named by Hydra.
two_jobs() {
	rm -rf "$EVSPACE_DIR"/run-*
	bed_start job1 "$MPICH_RUN" -np 2 evspace exec "$apps/windtunnel-mpich" --steps 200
	bed_start job2 "$MPICH_RUN" -np 3 sh -c "evspace exec '$apps/windtunnel-mpich' --steps 200; exit 0"
	bed_wait job1 && bed_wait job2 || return
	[ "$(find "$EVSPACE_DIR" -path '*/run-hydra-*.seg' | sed 's,/[^/]*$,,' | sort | uniq -c |
		awk '{ print $1 }' | sort | tr '\n' ' ')" = "2 3 " ] || { find "$EVSPACE_DIR"; return 1; }
}

tap_case "evspace exec: two jobs are two runs" two_jobs

# Two jobs in one run: their worlds differ.
two_worlds() {
	evspace run --keep --run twice -- sh -c "'$MPICH_RUN' -np 2 '$apps/calls-mpich' &&
		'$MPICH_RUN' -np 2 '$apps/calls-mpich'" >/dev/null 2>"$tap_dir/err" && has_ranks twice 4 || return
	[ "$("$dump" "$EVSPACE_DIR/twice" --comms | grep '"parent":0,"members":\[0,1\]' | grep -o '"comm":[0-9]*' | sort -u | wc -l)" -ge 2 ]
}

tap_case "two jobs in one run: their worlds differ" two_worlds

# --- observed ---

# What is held of so many communicators may have used up the quota of a small /dev/shm.
evspace purge --all >/dev/null || exit 99
bed_start agent evspace agent
bed_start stuck evspace run --run stuck -- "$MPICH_RUN" -np 4 "$apps/stuck-mpich" --seconds 100000
bed_until grep -q '^stuck: rank' "$bed_dir/stuck.err"

stuck_is_seen() {
	seen_stuck() {
		evspace heartbeat --run stuck --once >"$tap_dir/look" 2>&1
		grep -q 'rank0/t0 STUCK .*in MPI_Barrier .*waits for rank 3' "$tap_dir/look"
	}
	bed_until seen_stuck || { cat "$tap_dir/look"; return 1; }
}

events_are_seen() {
	evspace events --run stuck --backlog --json --count 2 >"$tap_dir/events" 2>"$tap_dir/err"
	[ "$(grep -c '"op":"MPI_Init"' "$tap_dir/events")" -eq 4 ] ||
		{ head -n 3 "$tap_dir/events"; cat "$tap_dir/err"; return 1; }
}

tap_case "heartbeat says who is stuck" stuck_is_seen
tap_case "events shows what was recorded" events_are_seen
kill -TERM "$(bed_pid stuck)"
bed_wait stuck
tap_done
