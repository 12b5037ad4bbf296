# SPDX-License-Identifier: BSD-3-Clause
# Tests what is said of a run that has ended: what it counted adds up, nothing waits for more, damage is named.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

# says CODE COMMAND...: it ends with that code within two minutes; its output is in $tap_dir/{out,err}.
says() {
	local code=$1 status=0

	shift
	timeout -k 5 120 "$@" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
	[ "$status" -eq "$code" ] && return
	echo "exit code $status, not $code"
	head -n 40 "$tap_dir/out" "$tap_dir/err"
	return 1
}

has() {
	local file=$1 text

	shift
	for text; do
		grep -q -e "$text" "$tap_dir/$file" && continue
		echo "no '$text' in:"
		head -n 40 "$tap_dir/$file"
		return 1
	done
}

# sum FIELD: of all lines of JSON.
sum() {
	grep -o "\"$1\":[0-9]*" "$tap_dir/out" | cut -d: -f2 | awk '{ n += $1 } END { print n + 0 }'
}

bed_begin
bed_start agent evspace agent
bed_until bed_ready agent

# --- no run yet ---

no_tables() {
	says 1 evspace heartbeat --once && [ ! -s "$tap_dir/out" ] && has err '^evspace heartbeat: there is no run yet' ||
		{ cat "$tap_dir/out"; return 1; }
}
tap_case "heartbeat without a run says so, and draws no empty table" no_tables
# waits RUN OPTION...: it says that it waits for that, and goes on.
waits() {
	local run=$1

	shift
	bed_start waits evspace heartbeat --wait --rate 10 "$@"
	bed_until grep "^evspace heartbeat: waiting for $run\$" "$bed_dir/waits.err" || return
	bed_kill TERM waits && bed_wait waits
	[ ! -s "$bed_dir/waits.out" ] && bed_ended waits 1 && grep "gave up waiting for $run\$" "$bed_dir/waits.err"
}
tap_case "... at the end of its time, too" \
	eval 'says 1 evspace heartbeat --duration 0.5 && has err "^evspace heartbeat: there is no run yet"'
tap_case "... with --wait, it says that it waits, and when somebody ends it, that it was in vain" waits "a run"

# --- a run that was refused ---

evspace run --run poor --quota 64K --keep -- mpirun -np 2 "$top_builddir/tests/apps/calls" >"$tap_dir/run" 2>&1
refused() {
	says 1 evspace "$@" && has err "^evspace $1: run poor: 2 processes are not collected: the quota of .* is used up" ||
		{ cat "$tap_dir/err"; return 1; }
}
tap_case "heartbeat says why nothing of a run is collected" refused heartbeat --once
tap_case "events do, at the end of their time" refused events --run poor --duration 0.5
tap_case "... and with --connect, where they are" eval 'says 1 evspace events --connect "unix:$(echo "$EVSPACE_DIR"/agent*.sock)" --run poor --duration 0.5 &&
	has err "^evspace events: /.*: the elements of 2 processes cannot be read: not collected"'
tap_case "runs say how many that are, and nothing of an age" \
	eval 'says 0 evspace runs && has out "^poor  *refused  *0/2 .* -"'
evspace purge poor >"$tap_dir/run" 2>&1

calls=$top_builddir/tests/apps/calls
# ran OPTION...: a run of two ranks says its summary, to $tap_dir/err.
ran() {
	says 0 evspace run --run part "$@"
}
partly_refused() {
	ran -- mpirun -np 1 "$calls" : -np 1 env EVSPACE_QUOTA=64K "$calls" && has err '^  refused  *rank 1 ' && ! grep 'not here' "$tap_dir/err"
}
tap_case "a rank that was refused here is not on another host" partly_refused
no_such_rank() {
	ran --ranks 0,9 -- mpirun -np 2 "$calls" && has err '^  left out  *rank 1: ' '^  no ranks  *9: the program has ranks 0 to 1$' &&
		ran --ranks 7-9 -- mpirun -np 2 "$calls" && has err '^  left out  *ranks 0-1: ' '^  no ranks  *7-9: the program has ranks 0 to 1$' &&
		ran --ranks 0-1 -- mpirun -np 2 "$calls" && ! grep -e 'no ranks' -e 'left out' "$tap_dir/err"
}
tap_case "ranks that the program does not have are said" no_such_rank
evspace purge --all >"$tap_dir/run" 2>&1

# As a collector leaves it that is killed before its segment is complete.
unfinished() {
	local pid file=$EVSPACE_DIR/killed/rank3

	pid=$(bash -c 'echo $$') && mkdir -m 700 "$EVSPACE_DIR/killed" && head -c 200000 /dev/zero >"$file.$pid.tmp" || return
	says 0 evspace runs && has out '^killed  *refused  *0/1 .* 19[0-9].* KiB ' "^  rank 3 (pid $pid) is not collected: it was ended while its segment was made" &&
		says 0 evspace purge killed && [ ! -e "$EVSPACE_DIR/killed" ]
}
tap_case "segments that were never finished are seen, and purged" unfinished

evspace run --run calls --capacity 100 -- mpirun -np 3 "$top_builddir/tests/apps/calls" --rounds 2 >"$tap_dir/run" 2>&1 ||
	{ sed 's/^/# /' "$tap_dir/run"; exit 99; }

tap_case "heartbeat --wait waits for a run where others are" waits "run other" --run other
tap_case "... and without it is told what there is" eval \
	'says 1 evspace heartbeat --run other && has err "there is no run other; there are calls"'

# --- what it counted ---

adds_up() {
	says 0 evspace collect --run calls --json || return
	echo "recorded $(sum recorded), written $(sum written): held $(sum held), overwritten" \
		"$(sum overwritten), discarded $(sum discarded), lost $(sum lost)"
	[ "$(sum recorded)" -eq "$(sum written)" ] && [ "$(sum overwritten)" -gt 0 ] &&
		[ "$(sum written)" -eq $(($(sum held) + $(sum overwritten) + $(sum discarded) + $(sum lost))) ] &&
		[ "$(sum calls)" -eq $(($(sum recorded) + $(sum not_recorded))) ]
}
tap_case "collect: recorded = held + overwritten + discarded + lost, calls = recorded + not recorded" adds_up
held=$(sum held)

twenty() {
	says 0 evspace "$@" && has out 'and [0-9]* more (--all shows them)' &&
		[ "$(grep -cE '^ *[a-z0-9]+(@[a-z0-9]+)? +(trace|off|count|time|sample) ' "$tap_dir/out")" -eq 20 ] ||
		{ cat "$tap_dir/out"; return 1; }
}
tap_case "collect shows the 20 busiest classes" twenty collect --run calls
tap_case "... and what became of the events" has out 'events were recorded: .* are there, .* were overwritten'
tap_case "status does" twenty status
everything() {
	says 0 evspace "$@" --all && ! grep 'more (' "$tap_dir/out" && [ "$(wc -l <"$tap_dir/out")" -gt 25 ] ||
		{ cat "$tap_dir/out"; return 1; }
}
tap_case "collect --all shows all" everything collect --run calls
tap_case "status --all does" everything status

# --- nothing waits for what cannot come ---

# Twice the same: by the end of what there is, and by the end of the run.
all_events() {
	says 0 evspace events --run calls --backlog --csv "$@" || return
	[ "$(($(wc -l <"$tap_dir/out") - 1))" -eq "$held" ] || { echo "$(wc -l <"$tap_dir/out") lines, $held are held"; return 1; }
}
tap_case "events --backlog ends when all is told" all_events
tap_case "... and says why" has err 'run calls ended .* ago; this is all that is left of its [0-9,]* events'
tap_case "events --backlog --until-end brings the same" all_events --until-end
tap_case "events without --backlog ends as well" says 0 evspace events --run calls
tap_case "... and says what would bring some" has err 'run calls ended .* ago; --backlog has what is left of its [0-9,]* events'

# once VIEW...: what is left of the run, whose name it finds, is shown and stays; then it ends.
once() {
	says 0 evspace view "$@" && [ "$(grep -c '^[a-z]* of calls, wave ' "$tap_dir/out")" -eq 1 ] &&
		[ "$(grep -c ', wave ' "$tap_dir/out")" -eq 1 ] && [ "$(wc -l <"$tap_dir/out")" -gt 3 ] ||
		{ cat "$tap_dir/out"; return 1; }
}
tap_case "a view with --backlog, of no run that was named, answers once and ends" once slowest --backlog --rate 10
tap_case "... with --until-end, too" once matrix --backlog --until-end --rate 10
tap_case "... and rates, of the counts" once rates --rate 10
left() {
	says 0 evspace heartbeat && has out '^run calls has ended; ' '^thread .* for  the operation' &&
		has err 'run calls ended .* ago$' && says 0 evspace heartbeat --check && has out '^run calls has ended: '
}
tap_case "heartbeat finds its name, and advises nothing that it does not have" left

in_vain() {
	says 1 evspace heartbeat --wait "$@" && ! has out . >/dev/null && has err '^evspace heartbeat: waiting for '
}
tap_case "heartbeat --wait passes an ended run over" in_vain --duration 0.5
tap_case "... says that nothing came" eval \
	'has err "^evspace heartbeat: gave up waiting for a run$"'
tap_case "... one of that name, too" in_vain --run calls --duration 0.5
tap_case "... in a check" eval 'says 1 evspace heartbeat --wait --check --duration 0.5 && has out "^gave up waiting for a run$"'
tap_case "events --wait that see nothing in their time" eval \
	'says 1 evspace events --wait --run later --duration 0.5 && has err "^evspace events: gave up waiting for run later$"'

# of_nothing RUN COMMAND...: what is not there is not waited for, and what is there is said.
of_nothing() {
	local run=$1

	shift
	says 1 evspace "$@" --run "$run" --select '/nosuch/**' &&
		has err "^evspace $1: so far nothing is there that --select matches; there is /.*/rank\[0-2\], with threads such as /t0, which have p2p, "
}
tap_case "a pattern that matches nothing of it" of_nothing calls events --backlog --until-end
tap_case "... for a view" of_nothing calls view latest
tap_case "... for heartbeat" of_nothing calls heartbeat

of_no_view() {
	says 1 timeout 20 evspace view --define 'select /**/rank9/**; all reduce count' --backlog --until-end --run calls &&
		has err '^evspace view: so far nothing is there that the view selects; there is '
}
tap_case "a view that selects nothing of it" of_no_view

# --- nothing can be switched ---

only_the_error() {
	says 1 evspace collect --run calls off && [ ! -s "$tap_dir/out" ] &&
		has err '^evspace collect: no living process of run calls' && [ "$(wc -l <"$tap_dir/err")" -eq 1 ] ||
		{ cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}
tap_case "collect off: only an error, exit code 1" only_the_error

# --- what was discarded is no longer held ---

tap_case "discard" says 0 evspace discard --run calls --select '/**/p2p'
tap_case "collect counts it" eval 'adds_up && [ "$(sum discarded)" -gt 0 ] && [ "$(sum held)" -lt "$held" ]'

# --- the dead ---

# A rank is killed while it is in no operation: it is said to be dead, not only silent.
bed_start waits evspace heartbeat --wait --check
bed_start once evspace heartbeat --wait --once --run stuck --rate 10
bed_start counts evspace events --wait --count 3 --run stuck --rate 20 --json
bed_until grep '^evspace heartbeat: waiting for run stuck$' "$bed_dir/once.err" || cat "$bed_dir/once.err"
bed_until eval 'evspace status --json | grep "\"scopes\":3"'
bed_start stuck evspace run --run stuck -- mpirun -np 2 "$top_builddir/tests/apps/stuck" --seconds 3000
bed_until grep -q '^stuck: rank' "$bed_dir/stuck.err"
bed_wait waits
tap_case "heartbeat --wait --check tells of the run that comes" eval \
	'bed_ended waits 1 && grep "^rank 0 .* is stuck: in MPI_Barrier" "$bed_dir/waits.out"'
tap_case "heartbeat --wait --once waits for the run, and shows it once" eval \
	'bed_wait once; bed_ended once 0 && [ "$(grep -c "^run stuck: " "$bed_dir/once.out")" -eq 1 ]'
tap_case "events --wait --count counts from the first wave of the run on" eval \
	'bed_wait counts; bed_ended counts 0 && grep -q "\"type\":\"tuple\"" "$bed_dir/counts.out" || { cat "$bed_dir"/counts.*; false; }'
kill -KILL "$(ls "$EVSPACE_DIR/stuck" | sed -n 's/^rank1\.\([0-9]*\)\.seg$/\1/p')"
bed_wait stuck
dead() {
	says 0 evspace heartbeat --run stuck --once && has out '/rank1/t0 *DEAD' &&
		has out '/rank0/t0 *DEAD .* in MPI_Barrier ' && says 0 evspace heartbeat --run stuck --once --json &&
		has out '"op":"MPI_Barrier","running":false,"start_ns":[0-9]*,"end_ns":null,.*"dead":true,"died_inside":true' \
			'rank1/t0.*"dead":true,"died_inside":false'
}
tap_case "heartbeat shows who was killed outside any operation" bed_until dead
tap_case "... and --check has bad news of a run whose processes were killed" eval \
	'says 1 evspace heartbeat --run stuck --check && has out "^ranks 0, 1 ended without finishing" "^run stuck has ended"'

# A run that came and went between two looks is told of, too.
brief() {
	bed_start brief evspace heartbeat --wait --run brief --rate 0.3 --json
	bed_until grep -q '"type":"wave"' "$bed_dir/brief.out" || return
	evspace run --run brief -- mpirun -np 1 "$top_builddir/tests/apps/calls" >"$tap_dir/run" 2>&1
	bed_until grep -q '"ended":true' "$bed_dir/brief.out" && bed_wait brief || { cat "$bed_dir"/brief.*; return 1; }
}
tap_case "heartbeat --wait tells of a run that is over before it looks again" brief

# --- a process that is not collected ---

# As if one of the ranks had found the quota used up.
partly() {
	local status

	: >"$EVSPACE_DIR/calls/rank3.1.refused-quota"
	bed_until eval 'says 1 evspace heartbeat --run calls --check && has out "^/.*: the elements of 1 process cannot be read: not collected"' &&
		says 0 evspace heartbeat --run calls --once && has out '^not seen: 1 process: not collected' &&
		says 1 evspace events --run calls --backlog --json && has out '"unreadable":1' &&
		has err '^evspace events: /.*: the elements of 1 process cannot be read: not collected'
	status=$?
	rm "$EVSPACE_DIR/calls/rank3.1.refused-quota"
	return "$status"
}
tap_case "a run of which a process is not collected is not called whole" partly

# --- damage ---

bed_start live evspace run --run live -- mpirun -np 2 "$top_builddir/tests/apps/windtunnel" --threads 1 \
	--seconds 100000 --pause 10
bed_until eval '[ "$(ls "$EVSPACE_DIR/live" | grep -c "\.seg$")" -eq 2 ]'
# Three looks take two pauses between them.
looks() {
	says 0 evspace heartbeat --run live --count 3 &&
		sed -n 's/^3 looks (\([0-9.]*\)\/s) .*/\1/p' "$tap_dir/err" | awk '{ rate = $1 } END { exit !(rate > 0 && rate <= 1.1) }' || { cat "$tap_dir/err"; return 1; }
}
tap_case "a check that is too short to know says so" eval \
	'says 1 evspace heartbeat --run live --check --count 1 --stuck-after 3s && has out "^not known yet: looked for .*, --stuck-after is 3"'
tap_case "heartbeat counts looks by the time between them" looks
tap_case "... shows each, and has no cost that it has not seen" eval '[ "$(grep -c "^run live: " "$tap_dir/out")" -eq 3 ] &&
	says 0 evspace heartbeat --run live --count 1 && ! has err " 0 us of CPU"'
tap_case "a pattern that matches nothing of what lives" eval \
	'says 0 evspace events --run live --select "/nosuch/**" --duration 1 && has err "so far nothing is there that --select matches; there is /.*/rank\[0-1\]"'
tap_case "... in a check" eval \
	'says 1 evspace heartbeat --run live --select "/nosuch/**" --check --count 1 && has out "no thread of a program is seen that --select says, of run live"'
tap_case "one wave, one host" eval \
	'says 0 evspace view rates --run live --count 1 && has err "^1 wave\(,\|$\)" && has out ", 1 of 1 host$"'
truncate -s 10000 "$EVSPACE_DIR"/live/rank0.*.seg
not_told() {
	says 1 evspace heartbeat --run live --check && has out '^/.*: the elements of 1 process cannot be read' &&
		says 0 evspace heartbeat --run live --once --json && has out '"unreadable":1'
}
tap_case "heartbeat --check is bad news where a process cannot be read, and names its host" bed_until not_told
kill -TERM "$(bed_pid live)"
bed_wait live

for file in "$EVSPACE_DIR"/calls/rank[01].*.seg; do
	truncate -s 10000 "$file.new" && chmod 600 "$file.new" && mv "$file.new" "$file"
done
complains() {
	says 1 evspace events --run calls --backlog --until-end &&
		has err 'the elements of 2 processes cannot be read: '
}
tap_case "events --until-end ends, and names the damage" bed_until complains
tap_case "a view names it, too, in text and JSON" eval \
	'says 0 evspace view rates --run live --count 1 && has out "not seen: 1 process: not collected, or their files are damaged" &&
		says 0 evspace view rates --run live --count 1 --json && has out "\"unreadable\":1"'
tap_case "status names the files" eval 'says 0 evspace status && has out "not collected: .*rank0\." "not collected: .*rank1\."'
truncate -s 10000 "$EVSPACE_DIR"/calls/rank2.*.seg
nothing_left() {
	says 1 evspace events --run calls --backlog --until-end &&
		has err 'the elements of 3 processes cannot be read'
}
tap_case "the same when nothing of the run is left" bed_until nothing_left

# --- a process of another pid namespace, as in a container ---

inner_is() {
	evspace runs | grep "^inner  *$1 "
}
contained() {
	bed_start inner unshare -p -f --kill-child --mount-proc "$top_builddir/tests/writer" "$EVSPACE_DIR/inner" 1 100 600
	bed_until inner_is running && kill -KILL "$(cat "/proc/$(bed_pid inner)/task/$(bed_pid inner)/children")" &&
		bed_until inner_is died
}
# Whoever has not seen it live has the word of who did.
still_ended() {
	bed_start contained evspace agent
	bed_until bed_ready contained && inner_is died
}
if unshare -p -f --mount-proc true 2>/dev/null; then
	EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX)
	bed_start contained evspace agent
	bed_until bed_ready contained
	tap_case "who is killed in a container has ended" contained
	bed_kill TERM contained
	tap_case "... also for the next agent" still_ended
	bed_kill TERM contained
	rm -rf "$EVSPACE_DIR"
else
	tap_skip "who is killed in a container" "no pid namespace can be made here"
fi

# --- a file system that is full ---

# The host says that it is missing and what to do, until there is room again.
full() {
	head -c 30M /dev/zero >"$small/fill" 2>"$tap_dir/fill"
	says 0 evspace events --run full --backlog --count 3 &&
		has err 'is missing: cannot keep cursors in .*: No space left on device; free some space there' \
			'^/.* has not answered all waves: what it read for them, if anything, has not come' || return
	says 0 evspace view events --run full --count 1 &&
		has out 'refused .*: cannot keep cursors in .*: No space left' || return
	rm "$small/fill"
	says 0 evspace events --run full --backlog --until-end && has err '^[1-9][0-9,]* tuples delivered'
}
small=$bed_dir/small
mkdir "$small"
if mount -t tmpfs -o size=24M none "$small" 2>"$tap_dir/mount"; then
	export EVSPACE_DIR=$small/space
	bed_start small evspace agent
	bed_until bed_ready small
	evspace run --run full -- mpirun -np 1 "$top_builddir/tests/apps/calls" --rounds 2 >"$tap_dir/run" 2>&1 ||
		sed 's/^/# /' "$tap_dir/run"
	tap_case "a full file system: the host is missing, with the reason, until there is room" full
	bed_kill TERM small
	umount "$small"
else
	tap_skip "a full file system" "nothing can be mounted here"
fi
tap_done
