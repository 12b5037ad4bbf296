# SPDX-License-Identifier: BSD-3-Clause
# Tests elements as the application map wants them: by call site, operation, communicator; with a lifetime; discarded.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

apps=$top_builddir/tests/apps
sources=$top_srcdir/tests/apps

mkdir -p "$bed_dir/pids" "$bed_dir/maps"
EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR

# map COLLECT...: a pathmap of this host alone, which says that of what is collected.
map() {
	printf 'application calls { ranks any; capacity 20000; %s }\n' "$*" >"$bed_dir/maps/application.map"
	echo 'node here;' >"$bed_dir/maps/cluster.map"
	echo 'entry here;' >"$bed_dir/maps/mapping.map"
	sed -i 's/node here;/cluster c { nodes here; }/' "$bed_dir/maps/cluster.map"
	echo 'place all on here;' >>"$bed_dir/maps/mapping.map"
	evspace map check "$bed_dir/maps"
}

# program RUN: `calls` with two ranks; what it says that it did is in $tap_dir/RUN.counts.
program() {
	timeout -k 5 120 evspace run --keep --pathmap "$bed_dir/maps" --run "$1" -- \
		mpirun -np 2 "$apps/calls" --json >"$tap_dir/$1.counts" 2>"$tap_dir/$1.err" ||
		{ cat "$tap_dir/$1.err"; return 1; }
}

agent() {
	bed_start agent evspace agent --pathmap "$bed_dir/maps" --node here
	bed_until bed_ready agent && grep -q 'ready on' "$bed_dir/agent.err" || { cat "$bed_dir/agent.err"; return 1; }
}

# events RUN [OPTION...]: all that its elements hold, as JSON in $tap_dir/RUN.json, and the tuples of
# it as "LABEL OP COMM" in $tap_dir/RUN.tuples.
events() {
	local run=$1

	shift
	timeout -k 5 120 evspace events --connect "unix:$EVSPACE_DIR/agent-here.sock" --run "$run" --backlog \
		--until-end --json "$@" >"$tap_dir/$run.json" 2>"$tap_dir/$run.said" ||
		{ cat "$tap_dir/$run.said"; return 1; }
	sed -n 's/^{"schema":1,"type":"tuple","name":"[^"]*\/\([^"/]*\)","op":"\([^"]*\)",.*"comm":"*\([0-9a-z]*\)"*,.*/\1 \2 \3/p' \
		"$tap_dir/$run.json" >"$tap_dir/$run.tuples"
}

# tuples RUN PATTERN: those whose label matches the extended regular expression.
tuples() {
	grep -E "^$2" "$tap_dir/$1.tuples"
}

# calls RUN OP: how often all ranks called it, as they say.
calls() {
	sed -n "s/.*\"op\":\"$2\",\"calls\":\([0-9]*\).*/\1/p" "$tap_dir/$1.counts" | awk '{ n += $1 } END { print n + 0 }'
}

# same WHAT A B
same() {
	[ "$2" -eq "$3" ] || { echo "$1: $2, not $3"; return 1; }
}

# The line that each site names calls the operation that the site's tuples have, through a pointer or
# macro perhaps; or the next one does, since what stands around a call is moved across it.
sites_are_lines() {
	local label op file line n=0

	while read -r label op; do
		file=${label#*:} line=${label##*:}
		file=${file%%:*} line=${line%%+*}
		sed -n "$line,$((line + 1))p" "$sources/$file" | grep -qE "$op|AGAIN\(|\.send\(|\.start\(|\.init\(|COLL\(|->|\.call" ||
			{ echo "$label has $op, but:"; sed -n "${line}p" "$sources/$file"; return 1; }
		n=$((n + 1))
	done < <(tuples site 'p2p:' | awk '{ print $1, $2 }' | sort -u)
	[ "$n" -gt 40 ] || { echo "only $n sites"; tuples site p2p | sort | uniq -c; return 1; }
}

# A site has calls of one operation only, unless its line calls through a pointer.
sites_are_exact() {
	local op

	for op in MPI_Send MPI_Ssend MPI_Recv MPI_Isend MPI_Irecv MPI_Sendrecv MPI_Mrecv; do
		same "$op" "$(tuples site 'p2p:' | grep -c " $op ")" "$(calls site "$op")" || return
	done
	tuples site 'p2p ' && { echo "an element of the whole channel"; return 1; }
	tuples site 'p2p:.*\?' && { echo "a site that is not known"; return 1; }
	return 0
}

# known LINE-TEXT OP N: the only line of calls_p2p.c with that text has so many calls in all ranks.
known_line() {
	local line

	line=$(grep -n -F "$1" "$sources/calls_p2p.c" | head -n 1 | cut -d : -f 1)
	same "calls_p2p.c:$line" "$(tuples site "p2p:calls_p2p.c:$line " | grep -c " $2 ")" "$3"
}

# With a class that is off, requests are completed where the program does it, still.
completions_are_lines() {
	local label file line n=0

	while read -r label; do
		file=${label#*:} line=${label##*:}
		file=${file%%:*} line=${line%%+*}
		sed -n "$line,$((line + 1))p" "$sources/$file" | grep -qE 'MPI_(Wait|Test|Sendrecv)|AGAIN\(|->|ways\[|\.call' ||
			{ echo "$label:"; sed -n "${line}p" "$sources/$file"; return 1; }
		n=$((n + 1))
	done < <(tuples quiet 'completion:' | awk '{ print $1 }' | sort -u)
	[ "$n" -gt 3 ] || { echo "only $n sites"; return 1; }
}

ops_are_exact() {
	local op label

	for op in MPI_Wait MPI_Waitall MPI_Waitany; do
		same "$op" "$(tuples site "wait\.$op ")" "$(calls site "$op")" 2>/dev/null ||
			same "$op" "$(tuples site "wait\.$op " | wc -l)" "$(calls site "$op")" || return
	done
	tuples site 'wait\.' | while read -r label op _; do
		[ "${label#wait.}" = "$op" ] || { echo "$label has $op"; return 1; }
	done
}

comms_are_exact() {
	local label comm

	[ "$(tuples site 'collective@' | wc -l)" -gt 400 ] &&
		[ "$(tuples site 'collective@world ' | cut -d ' ' -f 3 | sort -u | wc -l)" -eq 1 ] &&
		tuples site 'collective@[0-9a-f]* ' | while read -r label _ comm; do
			[ "$label" = "collective@$comm" ] || { echo "$label has $comm"; return 1; }
		done
}

# selects PATTERN REGEX: what the pattern selects is what has labels like that, of all that there is.
selects() {
	local all

	all=$(tuples site "$2" | wc -l)
	cp "$tap_dir/site.tuples" "$tap_dir/all.tuples"
	events site --select "$1" && same "$1" "$(tuples site '' | wc -l)" "$all" && [ "$all" -gt 0 ]
	local rc=$?
	mv "$tap_dir/all.tuples" "$tap_dir/site.tuples"
	return $rc
}

# written RUN: tuples that all elements were given, as their heads say.
written() {
	"$top_builddir/tests/segdump" "$EVSPACE_DIR/$1" --headers | sed -n 's/.*"events":\([0-9]*\).*/\1/p' |
		awk '{ n += $1 } END { print n + 0 }'
}

discarded() {
	sed -n 's/.*"type":"discard",.*"name":"[^"]*\/'"$2"'",.*"discarded":\([0-9]*\)}.*/\1/p' "$tap_dir/$1.json" |
		awk '{ n += $1 } END { print n + 0 }'
}

# Everything is delivered or discarded, and the summary says the same.
adds_up() {
	local said

	said=$(sed -n 's/.* \([0-9,]*\) discarded.*/\1/p' "$tap_dir/$1.said" | tr -d ,)
	same "discarded" "${said:-0}" "$(discarded "$1" '.*')" &&
		same "delivered + discarded" $(($(tuples "$1" '' | wc -l) + ${said:-0})) "$(written "$1")"
}

outlived() {
	events short && same "completions" "$(tuples short 'completion ' | wc -l)" 0 &&
		[ "$(discarded short completion)" -gt 500 ] && [ "$(discarded short 'wait')" -eq 0 ] && adds_up short
}

# What outlived its lifetime is not there for those who count, either: it is discarded.
is_not_kept() {
	local there

	evspace status --connect "unix:$EVSPACE_DIR/agent-here.sock" --json >"$tap_dir/status" || return
	there=$(grep -o '"run":"short"[^}]*"discarded":[0-9]*' "$tap_dir/status" | sed 's/.*://' | awk '{ n += $1 } END { print n + 0 }')
	same "discarded, by the agent" "$there" "$(discarded short completion)" &&
		grep -E '^  discarded +[1-9][0-9,]* events: on request, or as older than the lifetime' "$tap_dir/short.err" || { cat "$tap_dir/short.err"; return 1; }
}

discard() {
	evspace discard --connect "unix:$EVSPACE_DIR/agent-here.sock" --run "$@" >"$tap_dir/discard" 2>&1
}

discarded_on_request() {
	local before

	events long && before=$(tuples long 'p2p ' | wc -l) && [ "$before" -gt 500 ] &&
		discard long --select '/**/p2p' &&
		grep -q ": $before tuples of 2 elements of 2 processes" "$tap_dir/discard" || { cat "$tap_dir/discard"; return 1; }
	events long && same "p2p" "$(tuples long 'p2p ' | wc -l)" 0 && same "discarded" "$(discarded long p2p)" "$before" &&
		adds_up long
}

tap_case "a map with elements by site, operation and communicator" map \
	'collect p2p { element site; } collect wait { element op; } collect collective { element comm; } collect env { element site; } collect completion comm rma io user pack;'
tap_case "the program runs" program site
tap_case "an agent that comes when the program is gone" agent
tap_case "its events" events site
tap_case "call sites are lines of the program" sites_are_lines
tap_case "every call is in an element of a site" sites_are_exact
tap_case "one line, known by its text" known_line 'MPI_Sendrecv(out, N / 2' MPI_Sendrecv 2
tap_case "MPI_Init was called by the program" eval \
	'same MPI_Init "$(tuples site "env:calls.c:" | grep -c " MPI_Init ")" 2'
tap_case "elements by operation" ops_are_exact
tap_case "elements by communicator" comms_are_exact
tap_case "the channel's name selects all its elements" selects '/**/p2p' 'p2p:'
tap_case "one operation is selected" selects '/**/wait.MPI_Wait' 'wait\.MPI_Wait '
tap_case "lines of a file are selected" selects '/**/p2p:calls_p2p.c:[1-99]' 'p2p:calls_p2p.c:[0-9]{1,2} '
tap_case "one communicator is selected" selects '/**/collective@world' 'collective@world '
tap_case "a class that only keeps book" eval \
	'map "collect p2p; collect wait { mode off; } collect completion { element site; }" && program quiet && events quiet'
tap_case "its completions are at lines that complete requests" completions_are_lines
bed_kill TERM agent
tap_case "a map with a lifetime" map 'collect completion { lifetime 1ms; } collect p2p wait collective { lifetime 10000s; } collect env;'
tap_case "the program runs with that" program short
tap_case "and once more, without" eval 'map "collect p2p wait completion collective env;" && program long'
tap_case "an agent" agent
tap_case "what outlived its lifetime is discarded, and counted" outlived
tap_case "... also where elements are counted, and when the program ends" is_not_kept
tap_case "nothing else is" eval 'events long && [ "$(discarded long ".*")" -eq 0 ] && adds_up long'
tap_case "evspace discard drops what elements hold, and it is counted" discarded_on_request
tap_case "there is nothing to discard twice" eval 'discard long --select "/**/p2p" && grep -q ": 0 tuples of 2 elements" "$tap_dir/discard"'
tap_case "a selection of nothing: 1" eval '! discard long --select "/**/p2p.MPI_Send"'
tap_case "a mode in the map: nothing is recorded, everything counted" eval 'map "collect p2p { mode count; } collect wait;" &&
	program mode && [ "$("$top_builddir/tests/segdump" "$EVSPACE_DIR/mode" --tuples | grep -c "\"channel\":\"p2p\"")" -eq 0 ] &&
	[ "$("$top_builddir/tests/segdump" "$EVSPACE_DIR/mode" --tuples | grep -c "\"channel\":\"wait\"")" -gt 100 ]'
tap_done
