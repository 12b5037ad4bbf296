# SPDX-License-Identifier: BSD-3-Clause
# Tests remaps: a consumer looks on while the entry agent goes from map to map, or cannot; nothing is lost, nothing comes twice.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

new=$tap_dir/new
leap=$top_builddir/tests/preload/.libs/leap.so

begun() {
	[ "$(ls "$EVSPACE_DIR/wind/" | grep -c '\.seg$')" -eq 4 ]
}

# edit FILE SED: the first map with that file changed, in $new.
edit() {
	rm -rf "$new"
	cp -r "$tap_dir/first" "$new"
	[ $# -eq 0 ] || sed -i -E "$2" "$new/$1.map"
}

# also FILE SED: another change of $new.
also() {
	sed -i -E "$2" "$new/$1.map"
}

# map ACTION...: what evspace map says, in $tap_dir/said.
map() {
	local action=$1

	shift
	timeout -k 5 180 evspace map "$action" "$@" --connect "$bed_entry" --identity control \
		>"$tap_dir/said" 2>&1
}

# ended CODE COMMAND...: it ends with that code.
ended() {
	local code=$1 status=0

	shift
	"$@" || status=$?
	[ "$status" -eq "$code" ] && return
	echo "exit code $status, not $code"
	cat "$tap_dir/said"
	return 1
}

# says PATTERN...: it was printed.
says() {
	tap_printed "$tap_dir/said" -- "$@"
}

lines() {
	grep -c "/$1/" "$bed_dir/watch.out"
}

more_than() {
	[ "$(lines "$1")" -gt "$2" ]
}

# goes_on LEAF...: new tuples of these leaves come to the consumer.
goes_on() {
	local leaf

	for leaf; do
		bed_until more_than "$leaf" "$(lines "$leaf")" || return
	done
}

generation() {
	map diff "$tap_dir/first" --json && sed -n 's/.*"type":"map","generation":\([0-9]*\).*/\1/p' "$tap_dir/said"
}

# is_remapped GENERATION: the consumer's stream names it.
is_remapped() {
	grep -q "\"type\":\"remapped\",\"generation\":$1,\"wave\":[0-9]" "$bed_dir/watch.out"
}

# applied LEAF...: $new is applied, the consumer's stream says so, and these leaves go on.
applied() {
	local before

	before=$(generation) && ended 0 map apply "$new" && bed_until is_remapped $((before + 1)) && goes_on "$@"
}

# refused TEXT...: $new is refused with these words, and nothing has changed.
refused() {
	local before

	before=$(generation) && ended 1 map apply "$new" && says "$@" && ! says ': : ' >/dev/null && [ "$(generation)" = "$before" ] &&
		goes_on a0 a1 b0 b1
}

accounted() {
	local lost

	lost=$(sed -n 's/.*delivered.* \([0-9,]*\) lost.*/\1/p' "$bed_dir/watch.err" | tr -d ,)
	sed 's/^/# /' "$bed_dir/watch.err"
	bed_ended watch 0 && [ "$lost" = 0 ] && ! grep -i unaccounted "$bed_dir/watch.err" &&
		"$top_builddir/tests/account" "$EVSPACE_DIR/wind" all=0 <"$bed_dir/watch.out"
}

bed_begin
"$top_srcdir/deploy/certs" agent "$EVSPACE_TLS" 'b[2-4]' >>"$bed_dir/certs.log" 2>&1 || exit 99
cp -r "$bed_dir/maps" "$tap_dir/first"
base=${bed_entry##*:}
bed_agents front ga a0 a1 b0 b1 || exit 99
bed_start wind evspace run --run wind --threads 1 --capacity 60000 -- mpirun -np 4 \
	"$top_builddir/tests/apps/windtunnel" --seconds 100000 --pause 50
bed_until begun
bed_start watch evspace events --wait --connect "$bed_entry" --run wind --backlog --until-end --json --rate 100
tap_case "a consumer follows the program" goes_on a0 a1 b0 b1

# --- what would change ---

edit mapping 's/^tree .*/tree flat;/'
tap_case "diff of another shape" ended 0 map diff "$new"
tap_case "it says who moves, and in which views" says '^from map generation 1 to ' '^  all views: b1 from b0 to front$'
tap_case "in few lines" eval '[ "$(wc -l <"$tap_dir/said")" -le 6 ] || { cat "$tap_dir/said"; false; }'
tap_case "and which stages, when asked" eval 'ended 0 map diff "$new" --verbose && says "view rates.*: .*b0 no longer runs .cluster counts"'
edit application 's/capacity [0-9]+/capacity 7/'
tap_case "channels that change alike are one line" eval 'ended 0 map diff "$new" && [ "$(grep -c "capacity 7" "$tap_dir/said")" -eq 1 ] && says "^  p2p collective wait .*: element thread, capacity 7"'
edit mapping 's/^tree .*/tree flat;/'
tap_case "in JSON, too" eval 'map diff "$new" --json && says "\"what\":\"place\",\"subject\":\"b1\",\"from\":\"b0\",\"to\":\"front\".*\"view\":\"events\""'
tap_case "an observe certificate may look" eval 'evspace map diff "$new" --connect "$bed_entry" --identity observe'
tap_case "but not change" ended 3 eval 'evspace map apply "$new" --connect "$bed_entry" --identity observe >"$tap_dir/said" 2>&1'
tap_case "there is no map before the first" eval 'ended 1 map rollback && says "no map before this one"'
tap_case "a dry run prepares and changes nothing" eval 'ended 0 map apply "$new" --dry-run && says "it can be applied" && [ "$(generation)" = 1 ]'

# --- one edit after the other ---

tap_case "flat" applied a0 a1 b0 b1
tap_case "the agent's log says who did it" grep -q 'audit: control (.*): apply a map: done, map generation 2: .* 1 open scope switched' "$bed_dir/front.err"
tap_case "so does the consumer" grep -q 'from wave [0-9]* on by map generation 2' "$bed_dir/watch.err"
same() {
	local before

	before=$(generation) && ended 0 map apply "$new" && says 'nothing is different' "nothing is applied: map generation $before stays" &&
		[ "$(generation)" = "$before" ] && ended 0 map rollback --dry-run && says 'b1 from front to b0'
}
tap_case "the same again is not applied, and what rollback goes to stays" same
edit mapping 's/^tree .*/tree fanout 2;/'
tap_case "a fan-out" applied a0 a1 b0 b1
edit mapping 's/^tree .*/tree by-hand { ga { a0; a1; } b1 { b0; } }/'
tap_case "drawn by hand: a cluster joins on another host" applied a0 a1 b0 b1
edit mapping 's/^tree .*/tree by-hand { ga { a0; a1; b1; } b0; }/'
tap_case "a node below the other cluster's head" applied a0 a1 b0 b1
edit application 's/^(\tview volume)/\tview events { select \/**; read stream; all sort; }\n\1/'
tap_case "a stage for the view that is looked at" applied a0 a1 b0 b1
edit application 's/capacity [0-9]+/capacity 7/'
tap_case "what is collected later" applied a0 a1 b0 b1
edit cluster 's/^\tnodes   b\[0-1\];/\tnodes   b0;/'
also cluster 's/127.0.0.1:\[[0-9]*4-[0-9]*5\]/127.0.0.1:'$((base + 4))'/'
also application 's/rank\[0-3\]/rank[0-2]/'
also mapping 's/^place rank\[2-3\].*/place rank2 on b0;/'
tap_case "a node is taken away, with its ranks" applied a0 a1 b0
edit
tap_case "and comes back" applied a0 a1 b0 b1
bed_start b2 evspace agent --node b2 --above front --listen 127.0.0.1:$((base + 6))
bed_until bed_ready b2
edit mapping 's/^tree .*/cluster on b2;/'
also cluster 's/^\tnodes   b\[0-1\];/\tnodes   b[0-2];/; s/\['$((base + 4))'-[0-9]*\]/['$((base + 4))'-'$((base + 6))']/'
tap_case "a new node, whose agent has no map, joins a cluster" applied a0 a1 b0 b1
# Its own map does not have b2 above it; the entry, which has signed it, does.
known_again() {
	bed_kill TERM b1 && bed_agents b1 && goes_on a0 a1 b0 b1 && ! grep 'may not stand above' "$bed_dir"/*.err
}
tap_case "... and may stand above a host that is started again without the new map" known_again
rolled_back() {
	local before

	before=$(generation) && ended 0 map rollback && bed_until is_remapped $((before + 1)) && goes_on a0 a1 b0 b1
}
tap_case "rollback" rolled_back
edit cluster 's/^\tnodes   a\[0-1\];/\tnodes   a0 b1;/; s/^\tnodes   b\[0-1\];/\tnodes   b0 a1;/'
also cluster 's/address 127.0.0.1:\['$((base + 2))'-'$((base + 3))'\]/address a0 127.0.0.1:'$((base + 2))'; address b1 127.0.0.1:'$((base + 5))'/'
also cluster 's/address 127.0.0.1:\['$((base + 4))'-'$((base + 5))'\]/address b0 127.0.0.1:'$((base + 4))'; address a1 127.0.0.1:'$((base + 3))'/'
tap_case "two nodes change clusters: names of what is open say so" applied A/a0 B/a1 B/b0 A/b1
edit
tap_case "and change back" applied A/a0 A/a1 B/b0 B/b1

# --- what cannot be ---

edit mapping 's/^tree .*/tree sideways;/'
tap_case "a bad map" refused 'mapping.map:'
EVSPACE_DIR=$tap_dir/elsewhere bed_start b4 evspace agent --node b4 --above front --listen 127.0.0.1:$((base + 8))
bed_until bed_ready b4
edit mapping 's/^place rank\[2-3\].*/place rank[2-3] on b4 b1;/'
also cluster 's/^\tnodes   b\[0-1\];/\tnodes   b[0-1,4];/; s/(address 127.0.0.1:\['$((base + 4))'-[0-9]*)\]/\1,'$((base + 8))']/'
stays="b0: rank 2 of run wind is here, where the program put it; a map cannot move it to"
tap_case "ranks where the program has not put them" refused "$stays b4: leave it on b0 in mapping.map" 'nothing has changed'
edit mapping 's/^place rank\[2-3\].*/place rank[2-3] on b1;/'
tap_case "... also between agents of one event space" refused "$stays b1: leave it on b0 in mapping.map" 'nothing has changed'
tap_case "... nor would a dry run do it" eval 'ended 1 map apply "$new" --dry-run && says "$stays b1"'
edit mapping 's/^place rank\[2-3\].*/place rank[3,2] on b[0-1];/'
also mapping 's/^tree .*/tree flat;/'
tap_case "... in another tree" refused 'rank [23] of run wind is here, .* leave it on b[01]'
edit mapping 's/^entry front/entry b0/'
tap_case "another entry" refused 'mapping.map:[0-9]*: .entry b0;.* write .entry front;'
edit mapping 's/^tree .*/cluster on b3;/'
also cluster 's/^\tnodes   b\[0-1\];/\tnodes   b[0-1,3];/; s/(address 127.0.0.1:\['$((base + 4))'-[0-9]*)\]/\1,'$((base + 7))']/'
tap_case "a host that does not answer" refused 'b3 does not answer' 'nothing has changed'
two_at_once() {
	local try

	for try in 1 2 3 4 5; do
		bed_start slow timeout 60 evspace map apply "$new" --connect "$bed_entry" --identity control
		while ! bed_gone "$(bed_pid slow)"; do
			map apply "$tap_dir/first" --dry-run
			says 'is applying a map already; nothing has changed' && bed_wait slow && return
		done
		bed_wait slow
	done
	return 1
}
tap_case "two at once: the second is refused" two_at_once
strange_certificate() {
	"$top_srcdir/deploy/certs" init "$tap_dir/strange" >"$tap_dir/strange.log" 2>&1 &&
		"$top_srcdir/deploy/certs" agent "$tap_dir/strange" b3 >>"$tap_dir/strange.log" 2>&1 || return
	bed_start b3 evspace agent --node b3 --listen 127.0.0.1:$((base + 7)) --tls "$tap_dir/strange"
	bed_until bed_ready b3 && refused 'b3 does not answer' 'ertificate'
}
tap_case "a host with a certificate of somebody else" strange_certificate
tap_case "a leaf that is gone: a map that has it still can be applied, and says so" eval 'edit mapping "s/^tree .*/tree flat;/" &&
	bed_kill KILL b1 && ended 0 map apply "$new" && says "b1 did not answer before" && bed_agents b1 && goes_on a0 a1 b0 b1'

# --- the agent keeps it ---

last=$(generation)
bed_kill KILL front
bed_agents front
tap_case "an entry agent that is started again goes on with the map" grep -q "map generation $last, which was applied, stays in effect" "$bed_dir/front.err"
tap_case "and the consumer with its waves" goes_on a0 a1 b0 b1
bed_kill KILL front
echo '# edited' >>"$bed_dir/maps/mapping.map"
LD_PRELOAD=$leap LEAP_FILE=$tap_dir/leap bed_agents front
tap_case "files that were changed since count" grep -q "map generation $((last + 1)) is of the files, which were changed" "$bed_dir/front.err"
tap_case "the consumer is told" eval 'bed_until is_remapped '$((last + 1))' && goes_on a0 a1 b0 b1'

# --- what the entry has signed ends some day ---

connected_again() {
	grep -c 'connected again' "$bed_dir/watch.err"
}
passes_renewed() {
	local before

	before=$(connected_again)
	echo $((16 * 86400)) >"$tap_dir/leap.new" && mv "$tap_dir/leap.new" "$tap_dir/leap"
	bed_until eval '[ "$(connected_again)" -gt "$before" ]' || { tail -n 3 "$bed_dir/watch.err"; return 1; }
	goes_on a0 a1 b0 b1 && [ "$(connected_again)" -eq $((before + 1)) ]
}
tap_case "who looks on for half of the passes' time comes back for new ones" passes_renewed

kill -TERM "$(bed_pid wind)"
bed_wait wind
bed_wait watch
tap_case "lost 0, duplicated 0 over all of it" accounted
edit mapping 's/^place rank\[2-3\].*/place rank[3,2] on b[0-1];/'
tap_case "where a run has ended, and nobody reads it, its ranks may be put elsewhere" eval 'ended 0 map apply "$new" && says "applied as generation"'
tap_done
