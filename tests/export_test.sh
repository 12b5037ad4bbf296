# SPDX-License-Identifier: BSD-3-Clause
# Tests exports: each format is read back by its own tool, and has the same calls, sends and receives, in order of time.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
unset EVSPACE_ENTRY

made() {
	bed_start rank1 evspace archive --wait --run made --select '/**/rank1/**' "$tap_dir/rank1"
	evspace run --no-summary --capacity 100000 --run made -- mpirun -np 3 "$top_builddir/tests/apps/windtunnel" --seconds 1 &&
		bed_wait rank1 && evspace archive --run made "$tap_dir/made" && evspace export --to jsonl --from "$tap_dir/made" "$tap_dir/jsonl" &&
		grep '"type":"tuple"' "$tap_dir/jsonl" >"$tap_dir/events" && [ -s "$tap_dir/events" ] || return
	calls=$(grep -c '"completion":false' "$tap_dir/events")
	sends=$(grep -c '"op":"MPI_Isend".*"completion":false' "$tap_dir/events")
	receives=$(grep -c '"op":"MPI_Irecv".*"completion":true' "$tap_dir/events")
	collectives=$(grep -c '"op":"MPI_\(Allreduce\|Bcast\|Reduce\|Barrier\)"' "$tap_dir/events")
	echo "$calls $sends $receives $collectives" >"$tap_dir/true"
}

export_to() {
	evspace export --to "$1" --from "$tap_dir/made" "$tap_dir/$1"
}

# same FORMAT: its numbers of enters, leaves, sends and receives, on stdin a line each, are the true ones.
same() {
	read -r calls sends receives collectives <"$tap_dir/true"
	printf '%s\n' "$calls" "$calls" "$sends" "$receives" ${1:+"$collectives"} | cmp - "$tap_dir/counted" ||
		{ cat "$tap_dir/true" "$tap_dir/counted"; return 1; }
}

csv_has_all() {
	evspace export --to csv --from "$tap_dir/made" - >"$tap_dir/csv" &&
		[ "$(($(wc -l <"$tap_dir/csv") - 1))" -eq "$(wc -l <"$tap_dir/events")" ]
}

# Times of a location do not fall; each leave is of the call that was entered last.
otf2_is_read() {
	export_to otf2 && otf2-print "$tap_dir/otf2/traces.otf2" >"$tap_dir/read" 2>"$tap_dir/err" && ! grep -i 'warning\|error' "$tap_dir/err" &&
		awk '
			$1 ~ /^(ENTER|LEAVE|MPI_)/ { n[$1]++; if ($3 < at[$2]) bad++; at[$2] = $3 }
			$1 == "ENTER" { stack[$2, ++depth[$2]] = $5 }
			$1 == "LEAVE" { if (stack[$2, depth[$2]--] != $5) bad++ }
			/MPI_(SEND|RECV|COLLECTIVE_END)/ && !/"MPI_COMM_WORLD"/ { bad++ }
			END {
				print n["ENTER"]; print n["LEAVE"]; print n["MPI_SEND"]; print n["MPI_RECV"]; print n["MPI_COLLECTIVE_END"]
				exit bad > 0
			}' "$tap_dir/read" >"$tap_dir/counted" && same collectives
}

# A communicator that was made of another one says so, after that one.
otf2_has_parents() {
	evspace run --no-summary --capacity 10000 --run comms -- mpirun -np 2 "$top_builddir/tests/apps/comms" --rounds 3 &&
		evspace archive --run comms "$tap_dir/comms" && evspace export --to otf2 --from "$tap_dir/comms" "$tap_dir/comms-otf2" &&
		otf2-print -G "$tap_dir/comms-otf2/traces.otf2" >"$tap_dir/read" 2>"$tap_dir/err" && ! grep -i 'warning\|error' "$tap_dir/err" || return
	grep '^COMM ' "$tap_dir/read" | grep -v 'GROUP' >"$tap_dir/comms.txt"
	awk '/"comm / { n++; if (!/Parent: "MPI_COMM_WORLD"/) bad++ } /Name: "MPI_COMM_WORLD"/ && !/Parent: UNDEFINED/ { bad++ } END { exit n != 3 || bad > 0 }' "$tap_dir/comms.txt" ||
		{ cat "$tap_dir/comms.txt"; return 1; }
}

ctf_is_read() {
	export_to ctf && babeltrace2 --clock-seconds "$tap_dir/ctf" >"$tap_dir/read" && awk '
		{ kind = $3; match($0, /thread = [0-9]+/); t = substr($0, RSTART, RLENGTH); time = substr($1, 2) + 0
		  n[kind]++; if (time < at[t]) bad++; at[t] = time }
		END { print n["enter:"]; print n["leave:"]; print n["send:"]; print n["receive:"]; exit bad > 0 }' \
		"$tap_dir/read" >"$tap_dir/counted" && same
}

# Links have two ends, states are left that were entered, time does not fall.
paje_is_read() {
	export_to paje && paje_counts paje && same
}

# paje_counts NAME: what is in the file; it is sound.
paje_counts() {
	awk '
		/^%/ { next }
		$1 >= 3 { if ($2 < last) bad++; last = $2 }
		$1 == 5 { depth[$4]++; enter++ }
		$1 == 6 { if (--depth[$4] < 0) bad++; leave++ }
		$1 == 7 { sent++; if (keys[$7]++) bad++ }
		$1 == 8 { received++; if (--keys[$7] < 0) bad++ }
		END { for (k in keys) if (keys[k]) bad++; print enter + 0; print leave + 0; print sent + 0; print received + 0; exit bad > 0 }' \
		"$tap_dir/$1" >"$tap_dir/counted"
}

unpaired='[0-9] messages of which one side is not there\|[0-9] sent or received of which nobody knows'

# part NAME OPTION...: an export of that has messages of which one side is not there, or not known; the others are links, which pj_dump reads.
part() {
	local links

	tap_says 0 "$unpaired" evspace export --to paje "${@:2}" "$tap_dir/$1" && paje_counts "$1" && links=$(sed -n 3p "$tap_dir/counted") || return
	[ "$links" -eq "$(sed -n 4p "$tap_dir/counted")" ] || { cat "$tap_dir/counted"; return 1; }
	command -v pj_dump >/dev/null || return 0
	pj_dump "$tap_dir/$1" >"$tap_dir/read" 2>"$tap_dir/err" && [ ! -s "$tap_dir/err" ] && [ "$(grep -c '^Link' "$tap_dir/read")" -eq "$links" ] || { cat "$tap_dir/err"; return 1; }
}

# Some ranks, one that is alone, and what a program has written too fast for its elements.
parts_are_read() {
	part some --from "$tap_dir/made" --select '/**/rank[0-1]/**' && [ "$(sed -n 3p "$tap_dir/counted")" -gt 0 ] &&
		part one --from "$tap_dir/made" --select '/**/rank1/**' && [ "$(sed -n 3p "$tap_dir/counted")" -eq 0 ] || return
	evspace run --no-summary --capacity 70 --run lossy -- mpirun -np 3 "$top_builddir/tests/apps/windtunnel" --steps 100 && evspace archive --run lossy "$tap_dir/lossy" &&
		part lossy.paje --from "$tap_dir/lossy"
}

# catches PID: Ctrl-C does not simply end it.
catches() {
	grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status"
}

# Who names a run or an archive that is none loses no file.
unharmed() {
	local word

	printf 'precious\n' >"$tap_dir/precious"
	for word in csv jsonl paje perfetto; do
		tap_says 2 'nodir: No such file' evspace export --to $word --from "$tap_dir/nodir" "$tap_dir/precious" &&
			tap_says 1 'nope' evspace export --to $word --run nope "$tap_dir/precious" &&
			tap_says 2 'nodir: No such file' evspace export --to $word --from "$tap_dir/nodir" "$tap_dir/noone" && [ ! -e "$tap_dir/noone" ] &&
			[ "$(cat "$tap_dir/precious")" = precious ] || { head -c 100 "$tap_dir/precious"; return 1; }
	done
	evspace export --to csv --from "$tap_dir/made" "$tap_dir/precious" 2>"$tap_dir/err" && cmp "$tap_dir/precious" "$tap_dir/csv"
}

# Ctrl-C while an archive is read: what there is, and exit code 1; a run ends with it.
interrupted() {
	local format said

	for format in csv paje otf2; do
		bed_start export evspace export --to $format --from "$tap_dir/made" --speed 0.01 "$tap_dir/cut.$format"
		bed_until catches "$(bed_pid export)" && kill -INT "$(bed_pid export)" && bed_wait export && bed_ended export 1 || return
		said=$(cat "$bed_dir/export.err")
		[[ $said = *"interrupted after "*" % of $tap_dir/made: "* ]] || { echo "$said"; return 1; }
		[ "$format" = csv ] || [[ $said = *"nothing is in $tap_dir/cut.$format"* && ! -e $tap_dir/cut.$format ]] || { echo "$said"; return 1; }
	done
	[ "$(head -n 1 "$tap_dir/cut.csv")" = "$(head -n 1 "$tap_dir/csv")" ] || return
	: >"$tap_dir/goes-on"
	bed_start tunnel evspace run --no-summary --run on -- mpirun -np 2 "$top_builddir/tests/apps/windtunnel" --while "$tap_dir/goes-on" --pause 10
	bed_until some_came || return
	bed_start export evspace export --to paje --run on "$tap_dir/on.paje"
	# while others look so often, it has looked, too
	bed_until catches "$(bed_pid export)" && evspace events --run on --rate 10 --count 20 --json >/dev/null 2>&1 && kill -INT "$(bed_pid export)" && bed_wait export && bed_ended export 0 || return
	rm "$tap_dir/goes-on"
	bed_wait tunnel && paje_counts on.paje && grep -q "events in $tap_dir/on.paje" "$bed_dir/export.err"
}

some_came() {
	evspace events --run on --count 1 --backlog --json 2>/dev/null | grep -q '"type":"tuple"'
}

# pj_dump has each call as a state, each message as a link from its sender to its receiver, not backwards.
pj_dump_reads() {
	local calls sends receives collectives

	read -r calls sends receives collectives <"$tap_dir/true"
	pj_dump "$tap_dir/paje" >"$tap_dir/read" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	[ ! -s "$tap_dir/err" ] && awk -F ', ' '
		$1 == "State" { states++; if ($5 < $4) bad++; if ($4 < at[$2]) bad++; at[$2] = $4 }
		$1 == "Link" { links++; if ($5 < $4 || $8 == $9) bad++; if (keys[$10]++) bad++ }
		END { print states; print links; exit bad > 0 }' "$tap_dir/read" >"$tap_dir/counted" &&
		printf '%s\n' "$calls" "$sends" | cmp - "$tap_dir/counted" || { cat "$tap_dir/counted"; return 1; }
}

# vite_reads FILE: without an error, and each message as a line.
vite_reads() {
	local calls sends receives collectives

	read -r calls sends receives collectives <"$tap_dir/true"
	QT_QPA_PLATFORM=offscreen timeout 100 vite -e "$tap_dir/svg" "$1" >"$tap_dir/err" 2>&1 &&
		grep -q '^0 errors and 0 warnings' "$tap_dir/err" && [ "$(grep -c '<line' "$tap_dir/svg")" -eq "$sends" ] || { tail -n 5 "$tap_dir/err"; return 1; }
}

vite_reads_paje() {
	mv "$tap_dir/paje" "$tap_dir/paje.trace" && vite_reads "$tap_dir/paje.trace"
	set -- $?
	mv "$tap_dir/paje.trace" "$tap_dir/paje"
	return "$1"
}

cat >"$tap_dir/fields.py" <<'P'
# What fields a message has.
def fields(b):
    i = 0
    def varint():
        nonlocal i
        n = s = 0
        while True:
            n |= (b[i] & 127) << s
            s += 7
            i += 1
            if b[i - 1] < 128:
                return n
    while i < len(b):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        elif kind == 1:
            value = b[i:i + 8]
            i += 8
        else:
            n = varint()
            value = b[i:i + n]
            assert len(value) == n
            i += n
        yield key >> 3, value
P
export PYTHONPATH=$tap_dir PYTHONDONTWRITEBYTECODE=1

perfetto_is_read() {
	export_to perfetto && python3 - "$tap_dir/perfetto" >"$tap_dir/counted" <<'P' && same
import collections, sys
from fields import fields

count = collections.Counter()
flows = collections.Counter()
at = {}
for number, packet in fields(open(sys.argv[1], "rb").read()):
    assert number == 1
    p = dict(fields(packet))
    if 11 not in p:
        assert 60 in p
        continue
    e = dict(fields(p[11]))
    kind = {1: "enter", 2: "leave"}.get(e[9]) or e[23].decode()
    count[kind] += 1
    assert p[8] >= at.get(e[11], 0)
    at[e[11]] = p[8]
    if 47 in e:
        flows[e[47]] += 1
    if 48 in e:
        flows[e[48]] -= 1
assert not any(flows.values())
for kind in "enter", "leave", "send", "receive":
    print(count[kind])
P
}

# Its archiver has waited for the program: from when on is half of it there?
rank_is_cut() {
	local all has

	all=$(tuples_in rank1)
	for ((begin = 400; begin < 9000; begin += 50)); do
		rm -rf "$tap_dir/late1"
		evspace archive cut --begin "${begin}ms" "$tap_dir/rank1" "$tap_dir/late1" 2>"$tap_dir/err" || return
		has=$(tuples_in late1)
		[ "$has" -gt "$((all * 3 / 4))" ] || { [ "$has" -gt 0 ]; return; }
	done
	return 1
}

tuples_in() {
	evspace archive check "$tap_dir/$1" --json | sed -n 's/.*"type":"archive".*"tuples":\([0-9]*\).*/\1/p'
}

# ... until when is what is missing before that at least a tenth of all?
rank_has_hole() {
	local all end

	all=$(tuples_in rank1)
	for ((end = begin - 50; end > 0; end -= 50)); do
		rm -rf "$tap_dir/early1"
		evspace archive cut --end "${end}ms" "$tap_dir/rank1" "$tap_dir/early1" 2>"$tap_dir/err" || return
		[ $(($(tuples_in early1) + $(tuples_in late1))) -gt $((all - all / 10)) ] || return 0
	done
	return 1
}

# merged NAME PART...: the parts of rank 1 with the others, as flows.
merged() {
	evspace archive merge "$tap_dir/others" "${@:2}" --into "$tap_dir/$1" && evspace export --to perfetto --from "$tap_dir/$1" "$tap_dir/$1.perfetto"
}

# What one rank has sent and received at first is lost, or in between: no flow is between messages that do not belong together.
lost_messages_shift_nothing() {
	evspace archive --run made --select '/**/rank0/**' --select '/**/rank2/**' "$tap_dir/others" && rank_is_cut && rank_has_hole && merged entire "$tap_dir/rank1" &&
		tap_says 0 "$unpaired" merged late "$tap_dir/late1" && tap_says 0 "$unpaired" merged hole "$tap_dir/early1" "$tap_dir/late1" || return
	python3 - "$tap_dir/"{entire,late,hole}.perfetto <<'P'
import collections, sys
from fields import fields

# by the times of their sides
def flows(name):
    ends = collections.defaultdict(dict)
    for _, packet in fields(open(name, "rb").read()):
        p = dict(fields(packet))
        e = dict(fields(p.get(11, b"")))
        flow = e.get(47) or e.get(48)
        if flow:
            ends[flow][e[23]] = (e[11], p[8])
    return {(e[b"send"], e[b"receive"]) for e in ends.values()}

entire, late, hole = (flows(name) for name in sys.argv[1:])
print(len(entire), "flows, then", len(late), "and", len(hole), "of which", len(late - entire), "and", len(hole - entire), "are others")
open(sys.argv[3] + ".flows", "w").write(f"{len(hole)}\n{len(hole)}\n")
sys.exit(not late or len(late) == len(entire) or len(hole) < len(late) or len(hole) == len(entire) or bool((late | hole) - entire))
P
}

# What an operation with a root moves is said at one end of it: of the root sent to the others, or by these.
otf2_has_volumes() {
	evspace run --no-summary --run calls -- mpirun -np 3 "$top_builddir/tests/apps/calls" >"$tap_dir/said" 2>&1 && evspace archive --run calls "$tap_dir/calls" &&
		evspace export --to otf2 --from "$tap_dir/calls" "$tap_dir/calls-otf2" || { cat "$tap_dir/said"; return 1; }
	otf2-print "$tap_dir/calls-otf2/traces.otf2" | grep 'COLLECTIVE_END.*Operation: \(BCAST\|SCATTER\|SCATTERV\|GATHER\|GATHERV\|REDUCE\),.*Root: [0-9]' >"$tap_dir/read"
	awk '{
		match($0, /<[0-9]+>\), Sent: /); root = substr($0, RSTART + 1) + 0
		match($0, /Sent: [0-9]+/); sent = substr($0, RSTART + 6) + 0
		match($0, /Received: [0-9]+/); received = substr($0, RSTART + 10) + 0
		sends = ($2 == root) == /BCAST|SCATTER/
		n += sends ? sent > 0 : received > 0
		bad += sends ? received > 0 : sent > 0
	} END { print n, "move something,", bad + 0, "are wrong"; exit n < 10 || bad > 0 }' "$tap_dir/read" || { head -n 5 "$tap_dir/read"; return 1; }
}

# A root at the other side of an intercommunicator is no rank of it; what it sends is received there.
otf2_has_sides() {
	otf2-print "$tap_dir/calls-otf2/traces.otf2" | grep 'COLLECTIVE_END.*Operation: BCAST' | awk '{
		match($0, /Communicator: [^,]*/); c = substr($0, RSTART, RLENGTH)
		if (/Root: NONE/) none[c]++; else some[c]++
		if (/Root: NONE, Sent: [1-9][0-9]*, Received: 0$/) sent++
		if (/Root: NONE, Sent: 0, Received: [1-9][0-9]*$/) received++
	} END { for (c in none) bad += c in some; print sent, received, bad + 0; exit !(sent && received) || bad > 0 }'
}

# A trace that is there is neither written over nor said to be broken.
otf2_is_left_alone() {
	tap_says 1 'otf2: there is a trace in it already$' evspace export --to otf2 --from "$tap_dir/made" "$tap_dir/otf2" && ! grep 'not whole' "$tap_dir/said" && otf2-print "$tap_dir/otf2/traces.otf2" >"$tap_dir/again" && [ -s "$tap_dir/again" ]
}

# In OTF2 others are left out: its readers take the n-th send for that of the n-th receive.
otf2_has_pairs() {
	tap_says 0 "$unpaired" evspace export --to otf2 --from "$tap_dir/hole" "$tap_dir/hole-otf2" && otf2-print "$tap_dir/hole-otf2/traces.otf2" >"$tap_dir/read" &&
		awk '{ n[$1]++ } END { print n["MPI_SEND"]; print n["MPI_RECV"] }' "$tap_dir/read" | cmp - "$tap_dir/hole.perfetto.flows"
}

# Perfetto's own schema (protos/perfetto/trace/perfetto_trace.proto of its sources), where $PERFETTO_TRACE_PROTO names it: no field is unknown to it, and the packets are the same.
perfetto_schema_reads() {
	protoc-c --decode=perfetto.protos.Trace -I "${PERFETTO_TRACE_PROTO%/*}" "$PERFETTO_TRACE_PROTO" <"$tap_dir/perfetto" >"$tap_dir/read" 2>"$tap_dir/err" &&
		! grep -m 1 '^ *[0-9][0-9]*\(:\| {\)' "$tap_dir/read" || { head -n 3 "$tap_dir/err"; return 1; }
	awk '
		$1 == "type:" { n[$2]++ }
		$1 == "name:" { n[$2]++ }
		$1 == "flow_ids:" { flows[$2]++; begun++ }
		$1 == "terminating_flow_ids:" { flows[$2]-- }
		END { for (f in flows) if (flows[f]) bad++
		      print n["TYPE_SLICE_BEGIN"]; print n["TYPE_SLICE_END"]; print n["\"send\""]; print n["\"receive\""]
		      exit bad > 0 || begun != n["\"send\""] }' "$tap_dir/read" >"$tap_dir/counted" && same
}

live_is_the_same() {
	evspace export --to paje --run made "$tap_dir/live.paje" && [ "$(grep -c '^5' "$tap_dir/live.paje")" -eq "$(grep -c '^5' "$tap_dir/paje")" ]
}

nothing_is_written() {
	tap_says 2 'to which format' evspace export --from "$tap_dir/made" "$tap_dir/x" && tap_says 2 'otf3' evspace export --to otf3 "$tap_dir/x" &&
		tap_says 1 'no event' evspace export --to ctf --from "$tap_dir/made" --select '/no/**' "$tap_dir/x" && [ ! -e "$tap_dir/x" ] &&
		tap_says 1 'File exists' evspace export --to ctf --from "$tap_dir/made" "$tap_dir/made" &&
		tap_says 1 'cannot be written\|No such' evspace export --to paje --from "$tap_dir/made" /proc/none/x
}

evspace_to_full() {
	evspace "$@" >/dev/full
}

# A limit for files is as a disk without room.
disk_is_full() {
	local format formats

	tap_says 1 'cannot write the output: No space left' evspace_to_full export --to csv --from "$tap_dir/made" - && ! grep 'events in' "$tap_dir/said" || return
	ulimit -f 16
	[ ! -e "$tap_dir/otf2/traces.otf2" ] || formats=otf2
	for format in csv jsonl ctf perfetto paje $formats; do
		rm -rf "$tap_dir/full"
		tap_says 1 'File too large; what is in .* is not whole: remove it' evspace export --to "$format" --from "$tap_dir/made" "$tap_dir/full" && [ "$(wc -l <"$tap_dir/said")" -eq 1 ] || { echo "$format"; return 1; }
	done
}

# OTF2's library says nothing of a write that was cut short: a real disk, which is full after this one or that.
otf2_disk_is_full() {
	local size code

	mkdir "$tap_dir/small"
	for size in 16 60 120 180 240 300 360; do
		mount -t tmpfs -o size=${size}k none "$tap_dir/small" || return
		evspace export --to otf2 --from "$tap_dir/made" "$tap_dir/small/x" 2>"$tap_dir/err"
		code=$?
		otf2-print "$tap_dir/small/x/traces.otf2" 2>/dev/null | grep -c '^ENTER' >"$tap_dir/entered"
		umount "$tap_dir/small"
		if [ "$code" -eq 0 ]; then
			[ "$(cat "$tap_dir/entered")" -eq "$(cut -d ' ' -f 1 "$tap_dir/true")" ] || { echo "$size KiB: $(cat "$tap_dir/entered" "$tap_dir/err")"; return 1; }
		else
			grep -q 'No space left on device; what is in .* is not whole: remove it' "$tap_dir/err" || { echo "$size KiB:"; cat "$tap_dir/err"; return 1; }
		fi
	done
}

bed_start agent evspace agent
tap_case "its agent is ready" bed_until bed_ready agent
tap_case "a run in an archive, as JSON lines" made
tap_case "CSV has a line for each event" csv_has_all
tap_case "... and what was in the file stays until something comes" unharmed
if [ ! -e "$EVSPACE_LIBDIR/libevspace-otf2.so" ]; then
	tap_skip "otf2-print reads OTF2" "it was not built: there is no OTF2"
elif ! command -v otf2-print >/dev/null; then
	tap_skip "otf2-print reads OTF2" "there is no otf2-print"
else
	tap_case "otf2-print reads OTF2: the same calls, sends, receives and collectives, in order" otf2_is_read
	tap_case "... and what communicators were made of" otf2_has_parents
	tap_case "... and one that is there is left alone" otf2_is_left_alone
	tap_case "... and what is moved by an operation with a root once" otf2_has_volumes
	tap_case "... also if that is at the other side" otf2_has_sides
fi
if command -v babeltrace2 >/dev/null; then
	tap_case "babeltrace2 reads CTF: the same" ctf_is_read
else
	tap_skip "babeltrace2 reads CTF" "there is no babeltrace2"
fi
tap_case "Paje: the same, and each message has both ends" paje_is_read
if command -v pj_dump >/dev/null; then
	tap_case "pj_dump reads it: the same" pj_dump_reads
else
	tap_skip "pj_dump reads it" "there is no pj_dump"
fi
tap_case "parts of runs have links of whole messages alone" parts_are_read
tap_case "Ctrl-C while an archive is read is said" interrupted
if command -v vite >/dev/null; then
	tap_case "ViTE reads Paje: the same messages" vite_reads_paje
	if [ -e "$tap_dir/otf2/traces.otf2" ]; then
		tap_case "... and OTF2" vite_reads "$tap_dir/otf2/traces.otf2"
	else
		tap_skip "ViTE reads OTF2" "it was not written"
	fi
else
	tap_skip "ViTE reads Paje and OTF2" "there is no vite"
fi
if command -v python3 >/dev/null; then
	tap_case "Perfetto's packets: the same, and each flow has both ends" perfetto_is_read
	tap_case "... of one message, also where some are lost" lost_messages_shift_nothing
	if [ -e "$tap_dir/otf2/traces.otf2" ]; then
		tap_case "... and OTF2 has these alone" otf2_has_pairs
	else
		tap_skip "OTF2 of a part" "it was not written"
	fi
else
	tap_skip "Perfetto's packets" "there is no python3"
fi
if [ -f "$PERFETTO_TRACE_PROTO" ] && command -v protoc-c >/dev/null; then
	tap_case "Perfetto's own schema: the same" perfetto_schema_reads
else
	tap_skip "Perfetto's own schema" "PERFETTO_TRACE_PROTO names no perfetto_trace.proto, which is in no package"
fi
tap_case "a run is exported as its archive" live_is_the_same
tap_case "what cannot be is said" nothing_is_written
tap_case "... and a full disk" disk_is_full
if [ -e "$tap_dir/otf2/traces.otf2" ] && unshare -m mount -t tmpfs none /mnt 2>/dev/null; then
	tap_case "... also where OTF2's library does not say so" otf2_disk_is_full
else
	tap_skip "a full disk, with OTF2" "needs root, and OTF2"
fi
tap_done
