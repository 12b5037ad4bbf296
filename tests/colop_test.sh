# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace colop on a real program whose ranks are late as planned: who is found, and that all figures are those that
# the events of the same run give.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
unset EVSPACE_ENTRY
late=$top_builddir/tests/apps/late

# ran NAME OPTIONS...: the program with these options, of which there is nothing left to come.
ran() {
	local name=$1

	shift
	timeout -k 5 60 evspace run --no-summary --run "$name" -- mpirun -np 4 "$late" "$@"
}

colop() {
	evspace colop --backlog --until-end "$@" 2>"$tap_dir/err" >"$tap_dir/out" || { cat "$tap_dir/err"; return 1; }
}

# field NAME: its value in each line.
field() {
	sed -n "s/.*\"$1\":\"\{0,1\}\([^,}\"]*\).*/\1/p"
}

# Rank 2 comes 30 ms late to all operations, more than what a busy machine does.
chronic_is_found() {
	ran chronic --operations 100 --pause 1000 --late 2:30000:1:0 || return
	colop --run chronic --json || return
	grep '"type":"often".*"op":"MPI_Allreduce"' "$tap_dir/out" | head -n 1 >"$tap_dir/often"
	[ "$(field rank <"$tap_dir/often")" = 2 ] && [ "$(field operations <"$tap_dir/often")" = 25 ] &&
		awk -v late="$(field late_ns <"$tap_dir/often")" -v cost="$(field cost_share <"$tap_dir/often")" \
			'BEGIN { exit !(late > 20e6 && late < 60e6 && cost > 0.05) }' ||
		{ cat "$tap_dir/often" "$tap_dir/out"; return 1; }
}

sentence_is_said() {
	colop --run chronic && grep -q '^call sites are told of runs .* evspace run --elements collective=site' "$tap_dir/err" && grep -q '^rank 2 is late in MPI_Barrier@world in .* of 25 operations (.*), by .*; costs .* of the run$' \
		"$tap_dir/out" && grep -q '^MPI_Allreduce@world .* 32 B .* 25 ' "$tap_dir/out" &&
		grep -q '^rank 2 is late in MPI_Allreduce@world of 32 B in ' "$tap_dir/out" &&
		grep -q '^100 operations of all ranks$' "$tap_dir/err" || { cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

# What costs most is ten long ones of a hundred, which the median does not say.
long_ones_are_said() {
	ran some --operations 100 --pause 1000 --sums --late 2:3000:1:0,2:150000:10:5 && colop --run some || return
	grep -q '^rank 2 is late in MPI_Allreduce@world .*, by [0-9.]* ms, on average by [0-9.]* ms; costs .* of the run$' "$tap_dir/out" || { cat "$tap_dir/out"; return 1; }
	colop --run some --json && grep '"type":"often"' "$tap_dir/out" | awk '{ match($0, /"late_ns":[0-9]*/); late = substr($0, RSTART + 10, RLENGTH - 10)
		match($0, /"mean_ns":[0-9]*/); exit !(substr($0, RSTART + 10, RLENGTH - 10) + 0 > 2 * late) }' || { cat "$tap_dir/out"; return 1; }
}

# All classes and members are what the events say; consumers round times each for itself.
figures_are_those_of_the_events() {
	evspace events --backlog --until-end --json --run chronic --select '/**/collective' 2>/dev/null |
		awk -f "$top_srcdir/tests/meetings.awk" | sort >"$tap_dir/wanted"
	colop --run chronic --json || return
	awk -v q='"' '
		function field(name) { match($0, q name q ":[^,}]*"); s = substr($0, RSTART, RLENGTH); gsub(/.*:|"/, "", s); return s }
		/"type":"class"/ { print "class", field("op"), field("operations"), field("spread_ns"), field("most_ns"),
			field("waited_ns"), field("inside_ns") }
		/"type":"member".*(Barrier|Allreduce)/ && field("times") > 0 { print "member", field("op"), field("rank"), field("times") }
	' "$tap_dir/out" | sort >"$tap_dir/said"
	[ "$(wc -l <"$tap_dir/wanted")" -gt 4 ] &&
		paste -d ' ' "$tap_dir/wanted" "$tap_dir/said" | awk '{
			half = NF / 2
			for (i = 1; i <= half; i++)
				wrong += $i ~ /^[0-9]/ ? $i - $(i + half) > 1000 || $i - $(i + half) < -1000 : $i != $(i + half)
		} END { exit wrong > 0 }' || { paste -d '\n' "$tap_dir/wanted" "$tap_dir/said"; return 1; }
}

# What the tree has joined says the same, as far as it tells, in fewer bytes. Times are rounded once instead of each.
reduced_says_the_same() {
	local how

	for how in "" --reduced; do
		colop --run chronic --json $how || return
		awk '
			function field(name) { match($0, "\"" name "\":[^,}]*"); s = substr($0, RSTART, RLENGTH); gsub(/.*:|"/, "", s); return s }
			/"type":"class"/ {
				op = field("op")
				print "class", op, field("operations"), field("members"), field("bytes"), field("most_number"), field("most_rank"),
					field("spread_ns"), field("most_ns"), field("inside_ns"),
					op ~ /Barrier|Allreduce/ ? field("waited_ns") " " field("waited_share") * 1e6 : ""
			}
			/"type":"often".*(Barrier|Allreduce)/ {
				print "often", field("op"), field("rank"), field("operations"), field("times"), field("cost_share") * 1e6
			}' "$tap_dir/out" | sort >"$tap_dir/says$how"
		sed -n 's/.*"received_bytes":\([0-9]*\).*/\1/p' "$tap_dir/out" >"$tap_dir/bytes$how"
	done
	[ "$(grep -c ^often "$tap_dir/says")" -ge 2 ] && [ "$(cat "$tap_dir/bytes--reduced")" -lt "$(cat "$tap_dir/bytes")" ] &&
		paste -d ' ' "$tap_dir/says" "$tap_dir/says--reduced" | awk '{
			half = NF / 2
			for (i = 1; i <= half; i++)
				wrong += $i ~ /^[0-9]/ ? $i - $(i + half) > 1000 || $i - $(i + half) < -1000 : $i != $(i + half)
		} END { exit wrong > 0 }' || { paste -d '\n' "$tap_dir/says" "$tap_dir/says--reduced"; cat "$tap_dir"/bytes*; return 1; }
}

# Rank 1 comes 1.5 s late to a sum, which is more than any noise.
most_is_found() {
	mkdir -p "$tap_dir/times"
	ran once --operations 150 --pause 1000 --sums --late 1:1500000:1000:100 --times "$tap_dir/times" || return
	colop --run once --json &&
		grep -q '"type":"class".*"operations":150,.*"most_number":100,"most_rank":1,"op":"MPI_Allreduce"' "$tap_dir/out" ||
		{ cat "$tap_dir/out"; return 1; }
}

# Whoever is said to have been late, was late by as much as the program itself has seen: since the middle one of the others.
lateness_is_true() {
	sed -n 's/.*"type":"late","number":\([0-9]*\),.*"late_ns":\([0-9]*\),.*"rank":\([0-9]*\),.*/late \1 \3 \2/p' "$tap_dir/out" |
		cat "$tap_dir/times"/* - | awk '
			$1 != "late" { at[$1, $2] = $4; next }
			{
				a = at[$2, ($3 + 1) % 4]; b = at[$2, ($3 + 2) % 4]; c = at[$2, ($3 + 3) % 4]
				middle = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b)
				off = at[$2, $3] - middle - $4
				if (off > 2e6 || off < -2e6) { print; wrong++ }
			}
			END { exit wrong > 0 }'
}

# One operation closely: rank 1 is the last to come, the others have waited for it.
one_is_shown() {
	colop --run once --show world#100 --json || return
	[ "$(grep -c '"type":"arrival"' "$tap_dir/out")" = 4 ] && [ "$(grep -c . "$tap_dir/out")" -le 6 ] &&
		grep -q '"type":"instance",.*"op":"MPI_Allreduce".*"number":100,.*"gap":"whole"' <(tr -d '\n' <"$tap_dir/out") &&
		tail -n 1 < <(grep '"type":"arrival"' "$tap_dir/out") | grep -q '"rank":1,' &&
		[ "$(awk '/"type":"arrival"/ && match($0, /"waited_ns":[0-9]+/) && substr($0, RSTART + 12) + 0 > 1e9' "$tap_dir/out" | wc -l)" = 3 ] ||
		{ cat "$tap_dir/out"; return 1; }
	colop --run once --show world#100 && head -n 1 "$tap_dir/out" | grep -q '^MPI_Allreduce@world #100 at .*: 4 of 4 ranks, which came 1\.[4-9]' &&
		grep -q '^rank 1  *+1\..* |  *=*| ' "$tap_dir/out" || { cat "$tap_dir/out"; return 1; }
}

# None such has come.
none_is_shown() {
	! colop --run once --show world#100000 >/dev/null && grep -q 'world#100000 has not come' "$tap_dir/err"
}

# What live elements do not hold any more is not waited for; the world has a number, too.
overwritten_is_not_awaited() {
	bed_start laps timeout -k 5 300 evspace run --no-summary --capacity collective=50 --run laps -- mpirun -np 4 "$late" --operations 100000 --pause 1000
	bed_until newest_is 200 || return
	tap_says 1 'world#1 has not come' timeout 30 evspace colop --run laps --show world#1 && bed_kill TERM laps
}

newest_is() {
	[ "$(evspace colop --run laps --backlog --count 1 --json 2>/dev/null | field most_number | sort -n | tail -n 1)" -gt "$1" ]
}

number_of_the_world() {
	colop --run once --json && colop --run once --show "$(field comm <"$tap_dir/out" | head -n 1)#100" && head -n 1 "$tap_dir/out" | grep -q '^MPI_Allreduce@world #100 ' ||
		{ cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

check_tells() {
	colop --run once --check --max-spread 100s && grep -q '^call sites are told of runs ' "$tap_dir/err" || return
	! colop --run once --check --max-spread 5ms && ! colop --run chronic --check && ! colop --run chronic --check --max-spread 1ms
}

# flow FROM TO OP TO_OP: sets it, with what is said of the messages of one rank to another.
flow() {
	grep '"type":"messages","rank":'"$1"',"op":"'"$3"'".*"to_rank":'"$2"',"to_op":"'"$4"'"' "$tap_dir/out" >"$tap_dir/flow"
}

# waited PATTERN TIMES LEAST_US: in so many messages at least, by so much each.
waited() {
	sed -n 's/.*"'"$1"'":{"times":\([0-9]*\),"waited_ns":\([0-9]*\),.*/\1 \2/p' "$tap_dir/flow" |
		awk -v times="$2" -v us="$3" '{ said = $1 >= times && $2 >= times * us * 1000 } END { exit !said }' ||
		{ cat "$tap_dir/flow" "$tap_dir/out"; return 1; }
}

# All messages are matched; rank 1 sends late and rank 2 receives late each fifth time, 20 ms, in either way.
messages_are_matched() {
	timeout -k 5 60 evspace run --no-summary --run pairs -- mpirun -np 4 "$top_builddir/tests/apps/pairs" --messages 100 --late 20000 || return
	colop --run pairs --messages --json &&
		grep -q '"type":"matched","messages":200,"open":0,"lost":0,"strange":0,"crowded":0,"left_out":0' "$tap_dir/out" ||
		{ cat "$tap_dir/out"; return 1; }
}

late_senders_are_found() {
	flow 1 0 MPI_Send MPI_Recv && waited late_sender 10 15000 && flow 1 0 MPI_Send MPI_Irecv && waited late_sender 10 15000
}

# A small message that is sent to a late receiver waits for nobody; a synchronous one does.
late_receivers_are_found() {
	flow 3 2 MPI_Ssend MPI_Recv && waited late_receiver 10 15000 && flow 3 2 MPI_Send MPI_Recv &&
		grep -q '"late_receiver":{"times":0,"waited_ns":0,' "$tap_dir/flow" || { cat "$tap_dir/flow"; return 1; }
}

waits_are_said() {
	colop --run pairs --messages &&
		grep -q '^rank 0 has waited for rank 1 in MPI_Recv@world in [0-9]* of 50 messages (Late Sender: MPI_Send), by .*; costs .* of the run$' "$tap_dir/out" &&
		grep -q '^rank 3 has waited for rank 2 in MPI_Ssend@world in [0-9]* of 50 messages (Late Receiver: MPI_Recv), by ' "$tap_dir/out" &&
		grep -q '^200 messages$' "$tap_dir/err" || { cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

# As long as the program itself has measured that it waited in calls that do, if less: it measures more than the calls.
requests_are_found() {
	timeout -k 5 60 evspace run --no-summary --run awaited -- mpirun -np 4 "$top_builddir/tests/apps/awaited" --times 60 --late 20000 \
		>"$tap_dir/truth" || return
	colop --run awaited --messages --json && grep -q '"type":"matched","messages":240,.*"unknown":0' "$tap_dir/out" || { cat "$tap_dir/out"; return 1; }
	for rank in 0 2; do
		flow $((rank + 1)) $rank MPI_Send MPI_Irecv && awk -v rank=$rank '
			NR == FNR { if ($1 == rank && $2 ~ /Wait/) all += $3; next }
			match($0, /"waited_ns":[0-9]*/) { said = said ? said : substr($0, RSTART + 12) + 0 }
			END { exit !(said > 0.5 * all && said < 1.01 * all) }' "$tap_dir/truth" "$tap_dir/flow" ||
			{ cat "$tap_dir/truth" "$tap_dir/flow"; return 1; }
	done
}

# Only the last 20 of 70 calls that complete something are left: the others are counted, not taken for none.
overwritten_waits_are_counted() {
	timeout -k 5 60 evspace run --no-summary --run lapped --capacity wait=20 -- mpirun -np 2 "$top_builddir/tests/apps/awaited" --times 60 --late 100 \
		>/dev/null && colop --run lapped --messages --json || return
	unknown=$(sed -n 's/.*"type":"matched".*"unknown":\([0-9]*\).*/\1/p' "$tap_dir/out")
	[ "${unknown:-0}" -gt 60 ] && [ "$unknown" -lt 110 ] || { cat "$tap_dir/out"; return 1; }
	colop --run lapped --messages --least 0 && grep -q "^120 messages; $unknown receives untold: " "$tap_dir/err" &&
		grep -q "of 120 messages, of which $unknown are untold (Late Sender: MPI_Send)" "$tap_dir/out" || { cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

# Elements by call site come one after the other; what members did since the collective before is so all the same.
sites_keep_the_order() {
	EVSPACE_ELEMENTS=collective=site ran sites --operations 60 --pause 1000 --late 2:20000:1:0 && colop --run sites --json || return
	[ "$(grep '"type":"class"' "$tap_dir/out" | field imbalance | awk '$1 > 2' | wc -l)" = 4 ] || { cat "$tap_dir/out"; return 1; }
}

# ... also of a backlog for which one wave has no room (65,536 events of a host): the last element comes after all others then.
waves_keep_the_order() {
	EVSPACE_ELEMENTS=collective=site EVSPACE_CAPACITY=collective=5000 ran waves --operations 17481 --pause 0 && colop --run waves --json || return
	[ "$(grep -c '"type":"class".*"imbalance":[0-9]' "$tap_dir/out")" = 4 ] || { cat "$tap_dir/out"; return 1; }
}

# Of one process in several elements three waves have the events: nothing is given up, or matched, before all have come.
long_backlogs_are_whole() {
	EVSPACE_ELEMENTS=collective=site EVSPACE_CAPACITY=collective=71000 timeout -k 5 60 evspace run --no-summary --run long -- \
		mpirun -np 2 "$late" --operations 140000 --pause 0 --waitless || return
	evspace archive --run long "$tap_dir/long" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	for from in '--run long --backlog --until-end' "--from $tap_dir/long"; do
		timeout 60 evspace colop $from --json >"$tap_dir/out" 2>"$tap_dir/err" &&
			grep -q '"type":"summary","whole":140000,"before":0,"lost":0,"absent":0,.*"strays":0,' "$tap_dir/out" ||
			{ echo "$from"; tail -n 1 "$tap_dir/out"; cat "$tap_dir/err"; return 1; }
	done
}

# What is counted is that of the run that was the only live one when looking began, even if another one is there in the end.
counts_are_of_one_run() {
	EVSPACE_MODES=collective=1/8 bed_start one timeout -k 5 300 evspace run --no-summary --run one -- mpirun -np 4 "$late" --operations 100000 --pause 1000
	bed_until eval 'evspace runs | grep -q "^one  *running"' || { evspace runs; return 1; }
	bed_start looks evspace colop --watch --until-end
	bed_until grep -q '^MPI_' "$bed_dir/looks.out" || return
	bed_start two timeout -k 5 300 evspace run --no-summary --run two -- mpirun -np 2 "$late" --operations 100000 --pause 1000
	bed_until eval 'evspace runs | grep -q "^two  *running"' && bed_kill TERM one && bed_wait looks || return
	bed_kill TERM two
	grep -q ' calls of collectives are recorded (1[0-9] %)' "$bed_dir/looks.err" || { cat "$bed_dir/looks.err"; return 1; }
}

# Of the world's no call is recorded: nothing can be scaled to these, and that is said.
unseen_ones_are_said() {
	bed_start unseen timeout 60 evspace run --no-summary --run unseen -- mpirun -np 2 "$top_builddir/tests/apps/comms" --rounds 20 --after "$tap_dir/go"
	bed_until eval 'evspace collect --run unseen --class collective@world count --json 2>"$tap_dir/err" | grep -q "\"processes\":2,"' || { cat "$tap_dir/err"; return 1; }
	: >"$tap_dir/go"
	bed_wait unseen && colop --run unseen || return
	grep -q '^40 of 42 calls of collectives are recorded .*; of 2 on communicators of which none is recorded nothing is said$' "$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}

# Three ranks wait for the fourth most of the time; of one in eight operations it is known.
samples_are_scaled() {
	EVSPACE_MODES=collective=1/8 ran eighth --operations 1000 --pause 100 --sums --late 2:8000:1:0 && colop --run eighth --json || return
	awk 'function field(name) { match($0, "\"" name "\":[^,}]*"); s = substr($0, RSTART, RLENGTH); sub(/.*:/, "", s); return s + 0 }
		/"type":"class"/ { good += field("scale") > 5 && field("scale") < 13 && field("recorded_share") < 0.2 && /"imbalance":null/ && field("waited_share") > 0.3 }
		/"type":"often".*"rank":2/ { good += field("cost_share") > 0.3 }
		END { exit good != 2 }' "$tap_dir/out" || { cat "$tap_dir/out"; return 1; }
	colop --run eighth --reduced && grep -q '^rank 2 is late .* costs [3-9][0-9] % of the run$' "$tap_dir/out" &&
		grep -q '^[0-9,]* of 4,000 calls of collectives are recorded (1[0-9] %), as their modes have it: WAITED and costs are scaled to all$' "$tap_dir/err" ||
		{ cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

# Of a rank whose host has no agent nothing comes: no operation is whole, and that is said.
absent_ones_are_said() {
	colop --run chronic --select '/*/*/rank[0-2]/*/collective' && grep -q '^0 operations of all ranks, 100 that not all ranks have come to' "$tap_dir/err" &&
		grep -q '^no collective operation has come from all ranks' "$tap_dir/out" || { cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

# What is left in the elements is said to be less than all.
lost_ones_are_said() {
	EVSPACE_CAPACITY=collective=100 ran few --operations 300 --pause 100 && colop --run few &&
		grep -q '^804 of 1,200 events were overwritten before they were read, or had no element: all is said of the others$' "$tap_dir/err" ||
		{ cat "$tap_dir/err"; return 1; }
}

# Of messages of which not all calls are events nothing is told, as any could be another one.
sampled_messages_are_not_told() {
	EVSPACE_MODES=p2p=1/2 timeout -k 5 60 evspace run --no-summary --run half -- mpirun -np 2 "$top_builddir/tests/apps/awaited" --times 60 --late 100 \
		>/dev/null && colop --run half --messages --json && ! grep -q '"type":"messages"' "$tap_dir/out" &&
		grep -q '"type":"matched",.*"skipped":[1-9]' "$tap_dir/out" || { cat "$tap_dir/out"; return 1; }
	colop --run half --messages && grep -q 'calls are no event, as the mode of their class has it: nothing is told' "$tap_dir/err" ||
		{ cat "$tap_dir/err"; return 1; }
}

# While p2p is off, what is sent has no event on one side: what follows could be any other message.
messages_after_a_gap_are_not_told() {
	bed_start gap timeout -k 5 60 evspace run --no-summary --run gap --capacity p2p=8000,completion=8000,wait=8000 -- \
		mpirun -np 4 "$top_builddir/tests/apps/pairs" --messages 3000 --late 10000 --every 1
	bed_until moved 1 && evspace collect --run gap --class p2p off >"$tap_dir/out" && evspace collect --run gap --class p2p trace >>"$tap_dir/out" &&
		bed_until moved $(($(events_of_gap) + 40)) || { cat "$tap_dir/out"; return 1; }
	colop --run gap --messages --duration 1s --json && grep -q '"type":"matched",.*"skipped":[1-9]' "$tap_dir/out" && ! grep -q '"type":"messages"' "$tap_dir/out" ||
		{ cat "$tap_dir/out"; return 1; }
	bed_kill TERM gap
}

events_of_gap() {
	evspace events --run gap --backlog --count 1 --select '/**/p2p' --json 2>/dev/null | grep -c '"type":"tuple"'
}

moved() {
	[ "$(events_of_gap)" -ge "$1" ]
}

# The table again and again, with what is known so far; and how call sites would be.
watch_shows_it_again() {
	bed_start grows ran grows --operations 6000 --pause 1000
	timeout 60 evspace colop --watch --wait --run grows --until-end >"$tap_dir/out" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	bed_wait grows && [ "$(grep -c '^OPERATION  *CALLED AT' "$tap_dir/out")" -ge 3 ] && grep -q '^call sites are told of runs ' "$tap_dir/out" &&
		awk '/^MPI_Barrier@world/ { if ($4 + 0 < times) exit 1; times = $4 + 0; first = first ? first : times } END { exit !(times > first) }' "$tap_dir/out" ||
		{ cat "$tap_dir/out"; return 1; }
}

# A program that writes it, and one that reads it, while both of what is looked at and of who looks go on.
findings_are_read_meanwhile() {
	bed_start found timeout -k 5 300 evspace run --no-summary --run found -- mpirun -np 4 "$late" --operations 100000 --pause 1000 --late 2:20000:1:0
	bed_start finds evspace colop --wait --until-end --run found --into findings --json
	bed_until has_finding || { tail -n 3 "$bed_dir/finds.err" "$tap_dir/found.json"; return 1; }
	tap_says 1 'another one writes to the element findings' evspace colop --run found --into findings --duration 5s || return
	evspace view --run found --define 'select /**/element:findings; read latest; all reduce max of field late_ns' --count 1 --json >"$tap_dir/out" 2>"$tap_dir/err" &&
		grep -q '"type":"figure"' "$tap_dir/out" || { cat "$tap_dir/out" "$tap_dir/err"; return 1; }
	bed_kill TERM found && bed_wait finds && bed_ended finds 0
}

has_finding() {
	evspace element read findings --run found --json >"$tap_dir/found.json" 2>&1 && grep '"kind":"often","rank":2,' "$tap_dir/found.json" |
		grep -q '"op":"MPI_[A-Z][a-z]*","site":null,"process":"/local/vm/rank2","late_ns":[1-9][0-9]\{7\}'
}

# Threads without elements: any of their messages could be one that others have sent or got.
overflowed_is_lost() {
	timeout -k 5 60 evspace run --no-summary --run narrow --threads 1 -- mpirun -np 2 "$top_builddir/tests/apps/threads" --threads 2 --rounds 20 \
		>/dev/null && colop --run narrow --messages && ! grep -q 'has waited for' "$tap_dir/out" &&
		grep -q '^0 messages, .* of ranks of which events are missing' "$tap_dir/err" && grep -q ' or had no element: ' "$tap_dir/err" ||
		{ cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

# Without the first of one rank's events, of its messages nothing is said; of others all.
holes_are_counted() {
	colop --run pairs --messages --json --select '/*/*/rank[0,2-3]/*/*' &&
		grep -q '"type":"matched","messages":100,"open":100,' "$tap_dir/out" || { cat "$tap_dir/out"; return 1; }
}

bed_start agent evspace agent
tap_case "its agent is ready" bed_until bed_ready agent
tap_case "who is late often is found, with how often, by how much, at what cost" chronic_is_found
tap_case "... and said in a sentence, below the table" sentence_is_said
tap_case "... with the mean, where a few are much longer" long_ones_are_said
tap_case "figures are those that the events give offline" figures_are_those_of_the_events
tap_case "... and those that the tree joins, in fewer bytes" reduced_says_the_same
tap_case "the one operation in which ranks come furthest apart is named" most_is_found
tap_case "who is said to be late was late by as much as the program itself has seen" lateness_is_true
tap_case "one operation is shown, with who came and left when" one_is_shown
tap_case "... and one that has not come is bad news" none_is_shown
tap_case "... also by the number of the world" number_of_the_world
# drawn END: a bar at least for each rank, with their names.
drawn() {
	local picture=$tap_dir/one.$1

	colop --run once --show world#100 --plot "$picture" || return
	case $1 in
	svg) grep -q '<svg' "$picture" && [ "$(grep -c 'fill=\|fill:' "$picture")" -ge 4 ] ;;
	png) [ "$(head -c 8 "$picture" | od -An -c | tr -d ' ')" = '211PNG\r\n032\n' ] ;;
	esac
}

if [ -e "$top_builddir/.libs/libevspace-draw.so" ]; then
	tap_case "one operation is drawn as SVG" drawn svg
	tap_case "... as PNG" drawn png
	tap_case "... not without one: 2" tap_says 2 'add --show' evspace colop --plot "$tap_dir/none.svg"
else
	tap_skip "one operation is drawn" "this was built without cairo"
fi
tap_case "... nor as what is no picture: 2" tap_says 2 'neither .svg nor .png' evspace colop --show world#1 --plot one.gif
tap_case "what is proposed of an archive goes into no map: 2" tap_says 2 'an archive has no map' evspace colop --from "$tap_dir" --apply
tap_case "what is joined on the way tells of no ranks: 2" tap_says 2 'does not tell of all ranks' evspace colop --reduced --show world#1
tap_case "... nor of one operation: 2" tap_says 2 'are two things' evspace colop --show world#1 --suggest
tap_case "... one of no communicator: 2" tap_says 2 "is no communicator" evspace colop --show wrld#5
tap_case "one that was overwritten is not awaited" overwritten_is_not_awaited
tap_case "a check of what has ended says so: 1" tap_says 1 "the run has ended" timeout 8 evspace colop --run chronic --check
tap_case "no operation: 2" tap_says 2 'world#1200' evspace colop --show world
tap_case "sends are matched to receives" messages_are_matched
tap_case "... late senders are found, in receives and in waits for them" late_senders_are_found
tap_case "... and late receivers, of sends that wait" late_receivers_are_found
tap_case "... and said in sentences" waits_are_said
tap_case "... for requests as long as the program has waited, in each way to wait" requests_are_found
tap_case "... receives whose waits were overwritten are counted" overwritten_waits_are_counted
tap_case "... what lacks its other side is counted" holes_are_counted
tap_case "... not what is joined on the way: 2" tap_says 2 'goes with neither' evspace colop --messages --reduced
tap_case "... nor messages of which one in two calls is an event" sampled_messages_are_not_told
tap_case "... nor what came after p2p was off for a time" messages_after_a_gap_are_not_told
tap_case "... nor those of ranks with threads that have no elements" overflowed_is_lost
tap_case "operations of several call sites come in order" sites_keep_the_order
tap_case "... in several waves, too" waves_keep_the_order
tap_case "... and of three waves of each process none is given up, live and of an archive" long_backlogs_are_whole
tap_case "what is counted is counted of the run that is looked at" counts_are_of_one_run
tap_case "costs of one in eight operations are scaled to all, and said to be" samples_are_scaled
tap_case "... and of what none is recorded nothing is said" unseen_ones_are_said
tap_case "what is found is in an element, too, for others to read meanwhile" findings_are_read_meanwhile
tap_case "what was overwritten is said" lost_ones_are_said
tap_case "... and what not all ranks have come to" absent_ones_are_said
tap_case "--check is an exit code" check_tells
tap_case "--watch shows what is known so far, again and again" watch_shows_it_again
# What would do nothing is refused.
for options in '--max-spread 5ms' '--watch --json' '--watch --show world#1' '--check --suggest' '--into findings --show world#1' '--top 5 --json' '--top 5 --show world#1' \
	'--least 1% --show world#1'; do
	tap_case "$options: 2" tap_says 2 "${options%% *}" evspace colop $options
done
tap_case "a wrong bound: 2" tap_says 2 'max-spread' evspace colop --check --max-spread much
tap_done
