# SPDX-License-Identifier: BSD-3-Clause
# Tests views over several agents: what each says of a run is what its events say, exactly, at every level.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

views='
	view volumes  { read stream; thread histogram of bytes by op by comm; }
	view all-volumes { use volumes; node histogram of bytes by op by comm; all histogram of bytes by op by comm; }
	view middle   { read stream; thread median of bytes by op; node median of bytes by op; all median of bytes by op; }
	view received { read stream; node matrix of receives by rank; all matrix of receives by rank; }
	view big      { read stream; node slowest 7 by bytes; cluster slowest 7 by bytes; all slowest 7 by bytes; }
	view calls    { read counts; thread counts by channel; }
	view of-one   { select /*/*/rank1/t1/p2p /*/*/rank1/t1/wait; read counts; element counts by channel; }
'

view() {
	evspace view --connect "$bed_entry" --run tunnel --rate 20 "$@"
}

# agrees WHAT OPTIONS...: the view with these options says the same as the events.
agrees() {
	local what=$1

	shift
	view "$@" --backlog --until-end --sum --json >"$tap_dir/view" 2>"$tap_dir/err" ||
		{ cat "$tap_dir/err"; return 1; }
	! grep -q UNACCOUNTED "$tap_dir/err" &&
		"$top_builddir/tests/answers" "$what" "$bed_dir/events.out" "$tap_dir/view" ||
		{ cat "$tap_dir/err"; return 1; }
}

has_all_events() {
	bed_ended events 0 && grep -q ' 0 lost' "$bed_dir/events.err" &&
		[ "$(wc -l <"$bed_dir/events.out")" -gt 1000 ]
}

# Each operation, joined in the tree: members, bytes, who came last, and all times but for what one look is off from another.
meetings_are_those_of_the_events() {
	view meet --backlog --until-end --json >"$tap_dir/view" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	grep '/collective"' "$bed_dir/events.out" | cat - "$tap_dir/view" | awk '
		function field(name) {
			match($0, "\"" name "\":[^,}]*")
			return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
		}
		# digits that do not change in a while are more than a number here can hold
		function at(name) { return substr(field(name), 5) + 0 }
		function least(of, key, value) { if (!(key in of) || value < of[key]) of[key] = value }
		function most(of, key, value) { if (!(key in of) || value > of[key]) of[key] = value }
		function off(a, b) { return a - b > 100000 || b - a > 100000 }
		/"type":"tuple"/ {
			key = field("comm") " " field("seq_or_tag")
			n[key]++; bytes[key] += field("bytes"); starts[key] += at("start_ns")
			if (!(key in last) || at("start_ns") > last[key]) who[key] = field("rank")
			least(first, key, at("start_ns")); most(last, key, at("start_ns"))
			least(end, key, at("end_ns")); most(last_end, key, at("end_ns"))
		}
		/"type":"meeting"/ {
			key = field("comm") " " field("number")
			seen++; came[key] += field("count"); had[key] += field("bytes")
			if (field("count") == n[key]) {
				whole++
				wrong += off(first[key], at("start_ns")) + off(last[key], at("last_start_ns"))
				wrong += off(end[key], at("end_ns")) + off(last_end[key], at("last_end_ns"))
				wrong += off(n[key] * last[key] - starts[key], field("waited_ns"))
				others += who[key] != field("last_rank")
				hosts += field("hosts") == "true"
			}
		}
		END {
			for (key in n) { all++; wrong += n[key] != came[key] || bytes[key] != had[key] }
			print all, seen, whole, hosts, others, wrong
			exit !(all > 10 && whole > all / 2 && hosts == whole && others < whole / 2 && wrong == 0)
		}' >"$tap_dir/said" || { cat "$tap_dir/said" "$tap_dir/err"; return 1; }
}

# numbers OPTIONS...: each tuple of the view with a number is an event of that number.
numbers() {
	local key='s/.*"type":"tuple","name":"\([^"]*\)","op":"\([^"]*\)".*"number":\([0-9]*\),.*"peer":\([^,]*\),"seq_or_tag":\([0-9]*\),.*/\1 \3 \2 \4 \5/p'

	view "$@" --backlog --until-end --json >"$tap_dir/view" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	sed -n "$key" "$tap_dir/view" | sort >"$tap_dir/numbers"
	[ "$(wc -l <"$tap_dir/numbers")" -gt 0 ] &&
		! sed -n "$key" "$bed_dir/events.out" | sort | comm -13 - "$tap_dir/numbers" | grep -m 3 .
}

all_accounted_for() {
	view slowest --backlog --until-end >/dev/null 2>"$tap_dir/err" || return
	awk '/ tuples read/ { gsub(/[,;:]/, ""); for (i = 1; i < NF; i++) n[$(i + 1)] = $i }
		END { exit !(n["tuples"] == n["delivered"] + n["filtered"] + n["reduced"] && n["tuples"] > 1000) }' \
		"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}

# What was counted only grows, and there is a rate from the second wave on.
rates_while_it_runs() {
	view rates --count 4 --json >"$tap_dir/rates" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	grep '"channel":"p2p".*"world":true' "$tap_dir/rates" >"$tap_dir/p2p"
	[ "$(wc -l <"$tap_dir/p2p")" -eq 4 ] &&
		sed 's/.*"calls":\([0-9]*\).*/\1/' "$tap_dir/p2p" | sort -nc &&
		head -n 1 "$tap_dir/p2p" | grep -q '"calls_per_s":null' &&
		tail -n 1 "$tap_dir/p2p" | grep -q '"calls_per_s":[0-9.e+]*,' || { cat "$tap_dir/rates"; return 1; }
}

# shows PATTERN OPTIONS...: a line of the text matches.
shows() {
	local pattern=$1

	shift
	view "$@" >"$tap_dir/text" 2>"$tap_dir/err"
	grep -q -e "$pattern" "$tap_dir/text" || { cat "$tap_dir/text" "$tap_dir/err"; return 1; }
}

# All sends of the eight threads are of one size.
medians_are_told() {
	view middle --level thread --backlog --count 1 --json 2>"$tap_dir/err" |
		grep -c '"type":"median","name":"[^"]*/t[01]","op":"MPI_Isend".*"what":"bytes","median":272,' >"$tap_dir/medians"
	[ "$(cat "$tap_dir/medians")" -eq 8 ] || { cat "$tap_dir/medians" "$tap_dir/err"; return 1; }
}

refuses() {
	local code=$1 pattern=$2

	shift 2
	view "$@" >/dev/null 2>"$tap_dir/err"
	[ $? -eq "$code" ] && grep -q -e "$pattern" "$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}

# Rates of all who answer, and who does not is named.
names_the_missing() {
	bed_kill KILL b1 && bed_until shows '/B/b1 ' rates --count 3
}

# Of what all this has said.
json_has_one_rule() {
	local what

	{
		cat "$bed_dir/events.out" "$tap_dir/rates"
		for what in rates matrix middle slowest meet; do
			view "$what" --backlog --count 2 --json 2>"$tap_dir/err" || return
		done
	} | "$top_builddir/tests/json_rows" &&
		evspace heartbeat --connect "$bed_entry" --run tunnel --count 2 --json 2>"$tap_dir/err" |
		"$top_builddir/tests/json_rows"
}

bed_begin
sed -i '/^}/d; s/capacity 1000/capacity 50000/' "$bed_dir/maps/application.map"
printf '%s}\n' "$views" >>"$bed_dir/maps/application.map"
bed_agents front ga a0 a1 b0 b1 || exit 99
bed_start tunnel evspace run --pathmap "$bed_dir/maps" --run tunnel --threads 2 -- mpirun -np 4 \
	"$top_builddir/tests/apps/windtunnel" --threads 2 --steps 120 --pause 20
tap_case "rates grow while the program runs" bed_until rates_while_it_runs
bed_wait tunnel
bed_start events evspace events --wait --connect "$bed_entry" --run tunnel --backlog --until-end --json
bed_wait events
tap_case "all events are there" has_all_events
tap_case "histograms of sizes are exact" agrees sizes all-volumes
tap_case "histograms of sizes are exact at level node" agrees sizes all-volumes --level node
tap_case "histograms of sizes are exact at level thread" agrees sizes volumes
tap_case "histograms of durations have all calls" agrees durations histogram
tap_case "a matrix of what was sent is exact" agrees sent matrix
tap_case "a matrix of what was received is exact" agrees received received
tap_case "a matrix of nodes is exact" agrees nodes traffic
tap_case "collective operations are joined exactly over four hosts" meetings_are_those_of_the_events
tap_case "what classes counted is what was written" agrees counts calls
tap_case "the time that classes counted is that of the events" agrees times calls
tap_case "the largest are the largest" agrees largest=7 big
tap_case "filtered tuples have their numbers, or none" numbers --define 'element filter op!=MPI_Irecv'
tap_case "... also in a second stage" numbers --define 'element filter op!=MPI_Irecv; thread filter bytes>0; all slowest 1000'
tap_case "all tuples are accounted for" all_accounted_for
tap_case "a view of one thread's channels has no others" \
	eval '[ "$(view of-one --count 1 --json 2>/dev/null | grep -c "\"name\":\"/A/a1/rank1/t1/")" -eq 2 ]'
tap_case "quantiles as text" shows '^/ *MPI_Isend .* B *272 B' sizes --backlog --count 1
tap_case "medians as text" shows '^/ *MPI_Isend *[0-9,]* *272 B$' middle --backlog --count 1
tap_case "medians as JSON" medians_are_told
tap_case "rows of JSON have the same keys, each of one kind" json_has_one_rule
tap_case "bars" shows ' ####' sizes --backlog --count 1 --bars
tap_case "operations as text" shows '^/ *MPI_[A-Z][a-z]*@world *#[0-9]* *[1-4] of 4 .* rank[0-3] ' meet --backlog --count 1
tap_case "a matrix as text" shows '^rank1 .* KiB' matrix --backlog --count 1
tap_case "no more lines than wanted" shows '^and [0-9]* more ' rates --level thread --top 3 --count 1
tap_case "an unknown view" refuses 2 'no view `nosuch`; there are ' nosuch
tap_case "an unknown level" refuses 2 "'rank' is not one of thread, node, cluster" rates --level rank
tap_case "no view" refuses 2 'which view?'
tap_case "a host that does not answer is named" names_the_missing
tap_done
