# SPDX-License-Identifier: BSD-3-Clause
# Consumers with the same question share everything below the entry, and do not disturb each other; others have trees of their own.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

# look NAME RATE OPTIONS...: somebody looks; each wave is a line with "type":"wave".
look() {
	local name=$1 rate=$2

	shift 2
	bed_start "$name" evspace heartbeat --connect "$bed_entry" --run run --rate "$rate" --deadline 20000 --json "$@"
}

# scopes NODE NUMBER: so many are open there.
scopes() {
	evspace status --connect "unix:$EVSPACE_DIR/agent-$1.sock" --json >"$tap_dir/status" &&
		grep -q "\"scopes\":$2," "$tap_dir/status"
}

# shared ABOVE BELOW: so many scopes at the entry, and at each host below it.
shared() {
	local node

	scopes front "$1" || return
	for node in ga a0 a1 b0 b1; do
		scopes "$node" "$2" || return
	done
}

waves() {
	grep -c "\"type\":\"wave\".*\"answered\":${2-4}," "$bed_dir/$1.out"
}

# more NAME NUMBER [HOSTS]: so many more waves come, of so many hosts.
more() {
	local had

	had=$(waves "$1" "${3-4}")
	bed_until eval '[ "$(waves '"$1 ${3-4}"')" -ge '"$((had + $2))"' ]'
}

ends() {
	kill "-$1" "$(bed_pid "$2")" && bed_until bed_gone "$(bed_pid "$2")"
}

each_its_rate() {
	local fast slow

	fast=$(waves fast) slow=$(waves slow)
	more slow 10 || return
	fast=$(($(waves fast) - fast)) slow=$(($(waves slow) - slow))
	# ten times as often; the machine has other things to do
	[ "$fast" -ge $((slow * 5)) ] && [ "$fast" -le $((slow * 12)) ] || { echo "$fast and $slow waves"; return 1; }
}

all_hosts_in_all_waves() {
	local name

	for name; do
		grep '"type":"wave"' "$bed_dir/$name.out" | grep -v '"answered":4,' && return 1
		grep '"type":"wave"' "$bed_dir/$name.out" | sed 's/.*"written":\([0-9]*\).*/\1/' | sort -nc || return
	done
}

the_others_go_on() {
	kill -STOP "$(bed_pid fast)"
	more slow 5 && more other 5
	set -- $?
	kill -CONT "$(bed_pid fast)"
	more fast 5 && return "$1"
}

# It is dropped at 64 MiB, and none that the others ask for comes later, or is another one's.
deaf_one() {
	bed_start deaf "$top_builddir/tests/hostile" deaf "$bed_entry" "$EVSPACE_TLS" observe run heartbeat
	bed_until shared 3 1 && kill -CONT "$(bed_pid deaf)" && more fast 5 && more slow 2 &&
		bed_until grep -q 'does not read: 671[0-9]* bytes wait for it' "$bed_dir/front.err" &&
		bed_until shared 2 1 && bed_until bed_gone "$(bed_pid deaf)" && grep -q '^dropped after' "$bed_dir/deaf.out" &&
		more fast 5 && more slow 2 && all_hosts_in_all_waves fast slow ||
		{ scopes front 9; cat "$tap_dir/status" "$bed_dir"/{deaf.out,deaf.err,front.err}; return 1; }
}

inner_node_dies() {
	bed_kill KILL b0 && more slow 3 3 && more fast 3 3 && bed_agents b0 && more slow 3 && more fast 3 && shared 2 1
}

map_comes() {
	cp -r "$bed_dir/maps" "$bed_dir/maps2" && sed -i 's/^tree .*/tree flat;/' "$bed_dir/maps2/mapping.map" &&
		evspace map apply "$bed_dir/maps2" --connect "$bed_entry" --identity control >"$tap_dir/said" 2>&1 ||
		{ cat "$tap_dir/said"; return 1; }
	more slow 3 && more fast 3 && bed_until shared 2 1
}

# Each of them counts twice while there are two trees.
many_go_over() {
	local i=0

	while [ $((i += 1)) -le 34 ]; do
		look "many$i" 1
	done
	bed_until shared 36 1 || return
	map_goes_back || return
	while [ $((i -= 1)) -ge 1 ]; do
		kill -INT "$(bed_pid "many$i")"
	done
	bed_until shared 2 1
}

map_goes_back() {
	evspace map rollback --connect "$bed_entry" --identity control >"$tap_dir/said" 2>&1 || { cat "$tap_dir/said"; return 1; }
	more many1 3 && bed_until shared 36 1
}

# Another entry, with a map of its own, above the same hosts.
other_entry() {
	local port=${bed_entry##*:}

	cp -r "$bed_dir/maps" "$bed_dir/other" &&
		sed -i "s/front/second/; s/:$port;/:$((port + 6));/" "$bed_dir/other/"*.map &&
		bed_start second evspace agent --pathmap "$bed_dir/other" --node second &&
		bed_until grep -q 'ready on' "$bed_dir/second.err" || { cat "$bed_dir/second.err"; return 1; }
	look one 10
	EVSPACE_ENTRY=second look two 5 --connect "127.0.0.1:$((port + 6))"
	# the gateway has a scope of each, what is behind it has one
	bed_limit=10 bed_until eval 'scopes front 1 && scopes second 1 && scopes ga 2 && scopes a0 1 && scopes a1 1' &&
		more one 5 && more two 5 && all_hosts_in_all_waves one two ||
		{ for n in front second ga a0; do scopes $n 9; cat $tap_dir/status; done; cat "$bed_dir"/{one,two,ga}.err; return 1; }
}

one_entry_dies() {
	bed_kill KILL second && more one 5 && scopes a0 1
}

# wakes NODE: how often it has slept so far.
wakes() {
	sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$(bed_pid "$1")/status"
}

# wakes_a_wave NODE: how often it sleeps in a hundred waves of `fast`.
wakes_a_wave() {
	local had slept

	had=$(waves fast) slept=$(wakes "$1")
	more fast 40 && echo $((100 * ($(wakes "$1") - slept) / ($(waves fast) - had)))
}

# The paper's claim. CPU time is in tests/bench/share; what a wave costs is wake-ups, which load does not change.
four_cost_one() {
	local view one four

	one=$(wakes_a_wave b1) || return
	for view in latest rates volume; do
		bed_start "beside-$view" evspace view "$view" --connect "$bed_entry" --run run --rate 20 --deadline 20000 --json
		bed_until eval '[ "$(grep -c "\"type\":\"wave\"" "$bed_dir/beside-'"$view"'.out")" -ge 5 ]' || { cat "$bed_dir/beside-$view.err"; return 1; }
	done
	four=$(wakes_a_wave b1) || return
	echo "$one and $four"
	for view in latest rates volume; do
		ends INT "beside-$view" || return
	done
	[ "$four" -le $((one * 3 / 2)) ]
}

# reads NAME RATE: a stream of all events of the run `read`, from the first one on.
reads() {
	bed_start "$1" evspace events --connect "$bed_entry" --run read --backlog --until-end --rate "$2" --json
}

# These streams go on.
grow() {
	local name had

	for name; do
		had=$(wc -l <"$bed_dir/$name.out")
		bed_until eval '[ "$(wc -l <"$bed_dir/'"$name"'.out")" -gt '"$had"' ]' || return
	done
}

# Streams of one question: of equal rates, a slow one, a late one. One stops for a while, one is killed, the entry is killed.
streams() {
	bed_start read "$top_builddir/tests/writer" "$EVSPACE_DIR/read" 4 400 300
	bed_until eval '[ "$(ls "$EVSPACE_DIR/read" | grep -c "\.seg$")" -eq 4 ]' || return
	reads even 20 && reads equal 20 && reads slow_one 2 && reads killed 20 && grow even equal slow_one killed || return
	kill -STOP "$(bed_pid equal)" && bed_kill KILL killed && reads late 10 && grow even slow_one late || return
	bed_kill KILL front && bed_agents front && grow even slow_one late || return
	kill -CONT "$(bed_pid equal)" && grow equal || return
	kill -TERM "$(bed_pid read)"
}

# What each of them got is what was written, and nothing came twice; the writer counts no classes.
stream_is_exact() {
	local name

	for name in even equal slow_one late; do
		bed_limit=300 bed_until bed_gone "$(bed_pid "$name")" || return
		"$top_builddir/tests/account" "$EVSPACE_DIR/read" "all=$(bed_lost "$name")" <"$bed_dir/$name.out" >"$tap_dir/account" 2>&1
		[ "$(bed_lost "$name")" = 0 ] && ! grep -i unaccounted "$bed_dir/$name.err" &&
			grep -Eq '^all: ([0-9]+) written, \1 delivered, 0 lost' "$tap_dir/account" &&
			! grep -v "^all: \|class's counter\|^4 faults" "$tap_dir/account" ||
			{ echo "$name"; cat "$tap_dir/account"; tail -n 5 "$bed_dir/$name.err"; return 1; }
	done
}

bed_begin
"$top_srcdir/deploy/certs" agent "$EVSPACE_TLS" second >>"$bed_dir/certs.log" 2>&1 || exit 99
bed_agents front a0 a1 b1 || exit 99
for node in ga b0; do
	bed_start "$node" evspace agent --pathmap "$bed_dir/maps" --node "$node" --above second
	bed_until grep -q 'ready on' "$bed_dir/$node.err" || { cat "$bed_dir/$node.err"; exit 99; }
done
bed_start writer "$top_builddir/tests/writer" "$EVSPACE_DIR/run" 4 100 600
bed_until eval '[ "$(ls "$EVSPACE_DIR/run" | grep -c "\.seg$")" -eq 4 ]'

tap_case "two entries share what is behind a gateway" other_entry
tap_case "one entry is killed: the other goes on" one_entry_dies
ends INT one
ends INT two
look fast 20
look slow 2
tap_case "two with one question: two scopes at the entry, one below it" bed_until shared 2 1
tap_case "each gets its rate" each_its_rate
tap_case "four different monitors wake a host hardly more often than one" four_cost_one
look other 10 --select '/**/p2p'
tap_case "who selects otherwise has a tree of its own" bed_until shared 3 2
tap_case "all hosts are in all waves, and numbers only grow" all_hosts_in_all_waves fast slow
look control 10 --identity control
tap_case "who has another certificate has one, too" bed_until shared 4 3
ends INT control
tap_case "one that does not read holds up nobody" the_others_go_on
ends INT other
tap_case "one that asks, and never reads, is dropped at 64 MiB, and holds up nobody" deaf_one
tap_case "an inner node is killed, and comes back: both are whole again, and share" inner_node_dies
tap_case "a map comes: both go over to it, and share" map_comes
tap_case "many come: a map can still be applied" many_go_over
ends INT fast
tap_case "the first leaves: the other goes on" more slow 5
look late 10
tap_case "a third comes" bed_until shared 2 1
ends KILL slow
tap_case "one is killed: the other goes on" more late 5
tap_case "and its scope is gone" bed_until shared 1 1
ends INT late
tap_case "nothing is left of them" bed_until shared 0 0
tap_case "streams of one question, of other rates, late, stopped, killed, and the entry killed: they go on" streams
tap_case "each stream has got all, and nothing twice" stream_is_exact
tap_done
