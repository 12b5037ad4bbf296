# SPDX-License-Identifier: BSD-3-Clause
# Tests the PVM collector in real tasks: what it records is what happened, and nobody notices it.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/pvm-bed.sh"

apps=$top_builddir/tests/apps
lib=$EVSPACE_LIBDIR/libevspace-pvm.so
dump=$top_builddir/tests/segdump
counts=$tap_dir/counts

EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR EVSPACE_RUN=run EVSPACE_CAPACITY=50000
unset EVSPACE_THREADS EVSPACE_QUOTA EVSPACE_MODES EVSPACE_ELEMENTS EVSPACE_LIB

tap_cleanup() {
	pvm_end
	bed_end
}

fresh() {
	rm -rf "$EVSPACE_DIR/run" "$counts"
	mkdir -p "$counts"
}

# plain PROGRAM [ARG...]: as a task on v1, from a shell; collected does the same with the collector.
plain() {
	pvm_on v1 timeout -k 5 180 "$@"
}

collected() {
	LD_PRELOAD=$lib plain "$@"
}

dumped() {
	"$dump" "$EVSPACE_DIR/run" "--$1"
}

if ! pvm_begin; then
	echo "Bail out! no virtual machine"
	exit 99
fi
hosts_are="$pvm_hosts hosts in namespaces"
[ "$pvm_hosts" -gt 1 ] || hosts_are="one host: namespaces are not allowed here"
echo "# $hosts_are"

# --- counts ---

# What the tasks themselves have counted, and no task is missing.
counts_agree() {
	local tasks=$1

	diff <(cat "$counts"/counts.* | sort) <(dumped counts | sort) &&
		diff <(cat "$counts"/polls.* | sort) \
			<(dumped headers | sed 's/.*"rank":\([0-9]*\),.*"polls":\([0-9]*\).*/\1 \2/' |
				sort) &&
		[ "$(dumped headers | grep -c '"lost":0,.*"finished":1,"alive":0,"notes":""')" -eq "$tasks" ]
}

# Calls of TASKS tasks, ROUNDS times, by PROGRAM.
counts_are_right() {
	fresh
	collected "$3" "$counts" "$1" "$2" >"$tap_dir/out" || { pvm_log; pvm_reset; return 1; }
	counts_agree "$1"
}

for tasks in 1 2 3 5; do
	tap_case "pvm_calls, $tasks tasks: every count, byte and poll of every operation" \
		counts_are_right "$tasks" 1 "$apps/pvm_calls"
done
tap_case "pvm_calls: all of it again" counts_are_right 4 10 "$apps/pvm_calls"

# --- peers, tags, groups ---

# Messages that are sent by send and psend: from whom to whom, tag, world, bytes.
messages_agree() {
	dumped messages | grep -E '^(sent|received) [0-9]+ [0-9]+ (10|11|12|20) ' >"$tap_dir/messages"
	diff <(sed -n 's/^sent //p' "$tap_dir/messages" | sort) \
		<(sed -n 's/^received //p' "$tap_dir/messages" | sort) &&
		[ "$(wc -l <"$tap_dir/messages")" -gt 200 ]
}
tap_case "what is received is what was sent: tasks, tags, bytes" messages_agree

# One world and one group, of which each task says that it is in it.
groups_agree() {
	dumped comms | awk -F'[:,{}\\[\\]]+' '{ n[$5 " " $7]++; if ($3 != $9) bad = 1 }
		END {
			for (comm in n) {
				if (n[comm] != 4)
					bad = 1
				comms++
			}
			exit bad || comms != 2
		}'
}
tap_case "world and group have one id in all tasks, which say that they are members" groups_agree

# The collectives of a group have the same numbers for all its members.
numbers_agree() {
	dumped tuples | grep '"channel":"collective"' | grep -v '"comm":0,' |
		sed 's/.*"rank":\([0-9]*\),.*"op":"\([^"]*\)".*"tag":\([0-9]*\),"comm":\([0-9]*\),.*/\1 \4.\3 \2/' |
		sort >"$tap_dir/numbers"
	awk '{ at[$2 " " $3] += 1 } END { for (i in at) if (at[i] % 4) exit 1; exit NR < 100 }' \
		"$tap_dir/numbers"
}
tap_case "collectives have the same numbers for all members" numbers_agree

# --- nobody notices ---

same_output() {
	local want got

	want=$(plain "$@" 2>&1) || { echo "$want"; return 1; }
	got=$(collected "$@" 2>&1) && [ "$want" = "$got" ] && [ -n "$got" ] ||
		{ echo "'$got', not '$want'"; return 1; }
}

fresh
tap_case "pvm_calls: the same result" same_output "$apps/pvm_calls" "$counts" 4 3

switched_off() {
	fresh
	EVSPACE_MODES=$1 collected "$apps/pvm_calls" "$counts" 3 2 >/dev/null &&
		[ "$(dumped headers | wc -l)" -eq 3 ] &&
		[ "$(dumped headers | grep -c "\"events\":0,")" -eq 3 ]
}
tap_case "channels that are off: nothing is recorded, spawned tasks join all the same" \
	switched_off off
tap_case "channels that only count: nothing is recorded, all are counted" switched_off count

# Where no segment can be made.
no_room() {
	fresh
	EVSPACE_DIR=/proc/nowhere same_output "$apps/pvm_calls" "$counts" 3 1
}
tap_case "no folder for segments: the same result" no_room

tap_case "a program that is no PVM program is left alone" eval \
	'fresh; [ -z "$(LD_PRELOAD=$lib /bin/true 2>&1)" ] && [ ! -e "$EVSPACE_DIR/run" ]'

# --- Fortran ---

fortran_make() {
	gfortran -std=legacy -fallow-argument-mismatch -w -I/usr/include -o "$tap_dir/pvm_fortran" \
		"$top_srcdir/tests/apps/pvm_fortran.f" -lfpvm3 -lgpvm3 -lpvm3
}

fortran_counts() {
	fresh
	fortran_make && same_output "$tap_dir/pvm_fortran" "$counts" && fresh &&
		collected "$tap_dir/pvm_fortran" "$counts" >/dev/null && counts_agree 2
}

if command -v gfortran >/dev/null && [ "$pvm_hosts" -gt 0 ]; then
	tap_case "Fortran, through libfpvm: the same result, every count" fortran_counts
else
	tap_skip "Fortran, through libfpvm" "there is no gfortran"
fi

# --- linked statically ---

wrapped_make() {
	local flags

	flags=$(PKG_CONFIG_PATH=$top_builddir pkg-config \
		--define-variable=pkglibdir="$top_builddir" --libs evspace-pvm) || return
	# shellcheck disable=SC2086
	${CC:-cc} "$@" -D_GNU_SOURCE -I"$top_srcdir" -o "$tap_dir/wrapped" \
		"$top_srcdir"/tests/apps/pvm_c*.c $flags
}

wrapped_counts() {
	wrapped_make "$@" && fresh && plain "$tap_dir/wrapped" "$counts" 3 2 >/dev/null &&
		counts_agree 3
}
tap_case "linked statically with what pkg-config says: every count" wrapped_counts -static
tap_case "... without a run it is not collected" eval \
	'fresh; (unset EVSPACE_RUN; plain "$tap_dir/wrapped" "$counts" 2 1 >/dev/null) &&
	! ls "$EVSPACE_DIR"/run* 2>/dev/null'
tap_case "linked dynamically with it, and the library preloaded: nothing is counted twice" eval \
	'wrapped_counts && fresh && collected "$tap_dir/wrapped" "$counts" 3 2 >/dev/null &&
	counts_agree 3'

# --- other hosts ---

hosts_join() {
	local host

	fresh
	collected "$apps/pvm_calls" "$counts" 7 2 >/dev/null || return
	counts_agree 7 || return
	for host in v1 v2 v3; do
		grep -alq "$host" "$EVSPACE_DIR"/run/*.seg || { echo "none on $host"; return 1; }
	done
}

if [ "$pvm_hosts" -gt 1 ]; then
	tap_case "tasks on three hosts join the run by themselves" hosts_join
else
	tap_skip "tasks on three hosts join the run by themselves" "namespaces are not allowed"
fi

# --- run, exec, console ---

runs_it() {
	fresh
	plain evspace run --run run --capacity 5000 --keep -- "$apps/pvm_calls" "$counts" 4 1 \
		>"$tap_dir/out" 2>"$tap_dir/err" && counts_agree 4 &&
		grep -q '4 PVM tasks collected' "$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}
tap_case "evspace run -- a program in a shell: it, and all that it spawns" runs_it

# The console is told to start a task, which becomes collected by evspace exec.
execs_it() {
	local run=$EVSPACE_DIR/run-pvm-$(id -u)-$PVM_VMID

	fresh
	set -- env EVSPACE_DIR="$EVSPACE_DIR" EVSPACE_CAPACITY=5000 evspace exec
	pvm_tell "spawn $* $apps/pvm_calls $counts 3 1" >/dev/null
	pvm_until eval '[ "$(ls "$counts" | grep -c polls)" -eq 3 ]' || { pvm_log; return 1; }
	mv "$run" "$EVSPACE_DIR/run" && pvm_until counts_agree 3 || counts_agree 3
}
tap_case "evspace exec, started by PVM's console" execs_it

# --- ends that are none ---

# A task is killed: what it did is there, and that it did not end well.
killed() {
	local victim

	fresh
	LD_PRELOAD=$lib bed_start stuck pvm_exec v1 "$apps/pvm_stuck"
	pvm_until grep -q stuck "$bed_dir/stuck.out" || return
	pvm_until eval '[ "$(dumped tuples | grep -c pvm_joingroup)" -eq 3 ]' || return
	victim=$(ls "$EVSPACE_DIR/run" | sed -n '2s/.*\.\([0-9]*\)\.seg/\1/p')
	kill -KILL "$victim" && pvm_until bed_gone "$victim" &&
		[ "$(dumped headers | grep -c '"finished":0')" -eq 3 ] &&
		[ "$(dumped tuples | grep -c pvm_joingroup)" -eq 3 ]
}
mkdir -p "$bed_dir/pids"
tap_case "a killed task leaves a segment that can be read" killed
pvm_reset

# A process may be one task after the other; the child of one is none.
twice() {
	fresh
	collected "$apps/pvm_twice" || return
	dumped counts | sed 's/"rank":[0-9]*,//' | sort | uniq -c | awk '{ print $1, $2 }' |
		sed 's/[{}"]//g' >"$tap_dir/twice"
	diff - "$tap_dir/twice" <<-END
		2 op:pvm_barrier,calls:1,bytes:0
		1 op:pvm_exit,calls:1,bytes:0
		2 op:pvm_joingroup,calls:1,bytes:0
		1 op:pvm_lvgroup,calls:1,bytes:0
		2 op:pvm_mytid,calls:1,bytes:0
		2 op:pvm_pkint,calls:1,bytes:4
	END
}
tap_case "a process that is two tasks, and forks: two segments, each of its own calls" twice

# Another thread is in regions all the time. Each task has its own segment, with what both threads
# did while it was one.
again() {
	fresh
	EVSPACE_CAPACITY=200 collected "$apps/pvm_again" 100 || return
	dumped counts >"$tap_dir/again"
	[ "$(grep -c '"op":"pvm_mytid","calls":1,' "$tap_dir/again")" -eq 100 ] &&
		[ "$(grep -c '"op":"pvm_exit","calls":1,' "$tap_dir/again")" -eq 100 ] &&
		[ "$(grep -c '"op":"evspace_region"' "$tap_dir/again")" -eq 100 ] &&
		[ "$(dumped headers | grep -c '"finished":1')" -eq 100 ]
}
tap_case "a hundred tasks one after the other, while another thread is in regions" again

# --- consumers ---

# Waiting tasks are named as PVM names them. An agent serves those on its host.
seen_stuck() {
	fresh
	bed_start agent pvm_exec v1 evspace agent
	LD_PRELOAD=$lib bed_start stuck pvm_on v1 "$apps/pvm_stuck"
	pvm_until grep -q stuck "$bed_dir/stuck.out" || return
	pvm_until eval 'pvm_on v1 evspace heartbeat --once >"$tap_dir/beat";
		[ "$(grep -c "/t[0-9a-f]*/t0 STUCK .*in pvm_barrier #1 on .*; waits for task t[0-9a-f]*;" \
			"$tap_dir/beat")" -eq 2 ] &&
		grep -q "in pvm_recv from task t[0-9a-f]* (tag 7) at pvm_stuck.c:[0-9]*; waits for task t" "$tap_dir/beat"' ||
		{ cat "$tap_dir/beat"; return 1; }
}
tap_case "heartbeat says which task waits for which" seen_stuck
tap_case "events names tasks" eval \
	'pvm_on v1 evspace events --backlog --count 3 >"$tap_dir/events" &&
	[ "$(grep -c "/t[0-9a-f]*/t0/comm .* pvm_joingroup #0 on communicator" "$tap_dir/events")" -eq 3 ]'
pvm_reset
pvm_until bed_gone "$(bed_pid stuck)"
# A task sends to itself in one line and receives in another one: what probes of these say is what it has done, by the places and by the ids of a SIR.
call_sites_are_regions() {
	local unit mir probe='<metric name="CALLS"/><metric name="WC_TIME"/><measuring><aggregate function="SUM"/></measuring></instrreq>'

	cat >"$tap_dir/sites.c" <<-'EOF'
		#include <pvm3.h>
		int main(void)
		{
			int x = 1, me = pvm_mytid();

			for (int i = 0; i < 70; i++) {
				pvm_initsend(PvmDataDefault);
				pvm_pkint(&x, 1, 1);
				pvm_send(me, 5); /* out */
				pvm_recv(me, 5); /* in */
				if (i % 2) pvm_psend(me, 6, (char *)&x, 4, PVM_BYTE), pvm_recv(me, 6); /* both */
			}
			pvm_exit();
			return 0;
		}
	EOF
	gcc -g -O1 -o "$tap_dir/sites" "$tap_dir/sites.c" -lpvm3 && mkfifo "$tap_dir/asks" || return
	echo "<sirreq><resource in='file://$tap_dir/sites'/></sirreq>" >"$tap_dir/asked"
	unit=$(evspace mir "$tap_dir/asked" | sed -n 's,.*<unit id="\([0-9a-f]*\)" name="[^"]*/sites.c">.*,\1,p')
	exec 4<>"$tap_dir/asks"
	: >"$bed_dir/mir.out"
	pvm_exec v1 evspace mir - --wait --run sites <"$tap_dir/asks" >"$bed_dir/mir.out" 2>"$bed_dir/mir.err" 4>&- &
	mir=$!
	{
		cat "$tap_dir/asked"
		echo "<instrreq activated='true' flush='true'><codeRegion from='call:sites.c:9'/>$probe"
		echo "<instrreq activated='true' flush='true'><codeRegion from='$unit-10'/>$probe"
		echo "<instrreq activated='true' flush='true'><codeRegion from='call:sites.c:11'/>$probe"
	} >&4
	bed_until pvm_answered 4 && plain evspace run --run sites --elements p2p=site -- "$tap_dir/sites" || { cat "$bed_dir/mir.out" "$bed_dir/mir.err"; return 1; }
	for id in 1 2 3; do echo "<ctrlreq action='VALUE'><probe id='p$id'/></ctrlreq>"; done >&4
	exec 4>&-
	wait "$mir"
	[ "$(sed -n 's/.*<measurement value="\([0-9]*\)"\/><measurement value="0\.[0-9]*[1-9].*\|.*<measurement value="\([0-9]*\)"\/><measurement value="[1-9][0-9.]*"\/>.*/\1\2/p' "$bed_dir/mir.out" | tr '\n' ' ')" = '70 70 70 ' ] ||
		{ cat "$bed_dir/mir.out" "$bed_dir/mir.err"; return 1; }
}

pvm_answered() {
	[ "$(wc -l <"$bed_dir/mir.out")" -ge "$1" ]
}
tap_case "evspace mir: call sites of PVM are regions" call_sites_are_regions
bed_kill TERM agent >/dev/null

# --- several agents ---

# One view over all hosts has every event of each task, under the name of its host.
events_over_hosts() {
	local host

	fresh
	collected "$apps/pvm_calls" "$counts" 7 2 >/dev/null || return
	pvm_on v1 evspace events --run run --backlog --until-end --csv >"$tap_dir/events" \
		2>"$tap_dir/events.err" || { cat "$tap_dir/events.err"; return 1; }
	grep ', 0 lost .*from 3 of 3 hosts' "$tap_dir/events.err" || { cat "$tap_dir/events.err"; return 1; }
	diff <(sed -n 's|.*/P/v[1-3]/t\([0-9a-f]*\)/.*|\1|p' "$tap_dir/events" | sort | uniq -c |
			awk '{ print $2, $1 }') \
		<(dumped headers | sed 's/.*"rank":\([0-9]*\),.*"events":\([0-9]*\),.*/\1 \2/' |
			while read -r task events; do printf '%x %s\n' "$task" "$events"; done | sort)
}

stuck_over_hosts() {
	fresh
	LD_PRELOAD=$lib bed_start stuck pvm_on v1 "$apps/pvm_stuck" v2
	pvm_until grep -q stuck "$bed_dir/stuck.out" || return
	pvm_until eval 'pvm_on v1 evspace heartbeat --once --run run >"$tap_dir/beat";
		[ "$(grep -c "/P/v2/t[0-9a-f]*/t0 STUCK .*in pvm_barrier .*; waits for task t[0-9a-f]*;" \
			"$tap_dir/beat")" -eq 2 ] &&
		grep -q "/P/v1/t[0-9a-f]*/t0 .*in pvm_recv from task t[0-9a-f]* " "$tap_dir/beat"' ||
		{ cat "$tap_dir/beat"; return 1; }
}

if [ "$pvm_hosts" -gt 1 ]; then
	tap_case "agents on three hosts" pvm_agents
	export EVSPACE_TLS=$tap_dir/tls EVSPACE_CONNECT=v1:7480
	tap_case "one view over them has all events of tasks on three hosts" events_over_hosts
	tap_case "heartbeat says who waits for whom on another host" stuck_over_hosts
	pvm_reset
	pvm_until bed_gone "$(bed_pid stuck)"
	for host in v1 v2 v3; do
		bed_kill TERM "agent-$host" >/dev/null
	done
	unset EVSPACE_TLS EVSPACE_CONNECT
else
	tap_skip "one view over agents on three hosts" "namespaces are not allowed"
fi

# --- a real program ---

# Its way to a solution is random; that there is one, and what is in it, is not.
timetable() {
	local i

	rm -rf "$tap_dir/table" && mkdir "$tap_dir/table" && cd "$tap_dir/table" || return
	"$@" tablix2 -n 4 -t 1 -d 2 "$top_srcdir/tests/apps/pvm_timetable.xml" >log 2>&1 ||
		{ cat log; return 1; }
	for i in 0 1 2 3; do
		sed -n 's/.*<ttm.*\(fitness="[0-9]*"\).*/\1/p; s/.*tupleid="\([0-9]*\)".*name="\([A-C]\)".*/\1 \2/p' \
			"result$i.xml"
	done
	cd "$tap_dir"
}

timetables_agree() {
	fresh
	timetable plain >"$tap_dir/table.plain" && timetable collected >"$tap_dir/table.collected" &&
		diff "$tap_dir/table.plain" "$tap_dir/table.collected" &&
		[ "$(grep -c 'fitness="0"' "$tap_dir/table.plain")" -eq 4 ] &&
		[ "$(dumped headers | grep -c '"finished":1')" -eq 5 ] || return
	dumped headers >"$tap_dir/headers"
	timetable plain evspace run --run other -- >"$tap_dir/table.run" &&
		diff "$tap_dir/table.plain" "$tap_dir/table.run"
}
if command -v tablix2 >/dev/null; then
	tap_case "tablix2 finds its timetable, and all its tasks are collected" timetables_agree
else
	tap_skip "tablix2 finds its timetable" "it is not installed"
fi

# --- nothing is left ---

gone() {
	local pid holders

	holders=$(cat "$pvm_dir/holders" 2>/dev/null)
	pvm_end
	for pid in $holders; do
		pvm_until bed_gone "$pid" || return
	done
	! pgrep -af "$apps/pvm_|$tap_dir/(wrapped|pvm_)" && ! pvm_ready
}
tap_case "nothing of the virtual machine is left" gone

tap_done
