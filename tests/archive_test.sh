# SPDX-License-Identifier: BSD-3-Clause
# Tests archives: what is in them is what the program has written, whoever is killed when; what is cut, damaged or foreign is
# refused or read as far as it goes.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
unset EVSPACE_ENTRY
tunnel=$top_builddir/tests/apps/windtunnel
kills=10

# ran NAME SECONDS: the wind tunnel, with rests, whose elements have room for all of it however fast the machine is.
ran() {
	timeout -k 5 100 evspace run --no-summary --capacity 100000 --run "$1" -- mpirun -np 4 "$tunnel" --seconds "$2" --pause 10
}

# is_all DIR RUN: the archive has each tuple that the program has written, once, by the counters in its segments.
is_all() {
	evspace events --from "$1" --json 2>"$tap_dir/err" >"$tap_dir/kept" &&
		"$top_builddir/tests/account" "$EVSPACE_DIR/$2" all=0 <"$tap_dir/kept" && evspace archive check "$1" >"$tap_dir/check" &&
		grep -q '^0 lost.* 0 unaccounted' "$tap_dir/check" || { cat "$tap_dir/err" "$tap_dir/check"; return 1; }
}

whole_run_is_kept() {
	ran whole 2 && evspace archive --run whole "$tap_dir/whole" && is_all "$tap_dir/whole" whole
}

# Who waits for the run has waves before it, which --count does not mean.
count_begins_with_the_run() {
	bed_start begun evspace archive --wait --run begun "$tap_dir/begun"
	ran begun 1 && bed_wait begun && [ "$(evspace events --from "$tap_dir/begun" --count 1 --json 2>/dev/null | grep -c '"type":"tuple"')" -gt 0 ] &&
		tap_says 0 '"type":"bin"' evspace view --from "$tap_dir/begun" --view histogram --count 1 --json && tap_says 0 '^/local/.*/rank[0-3]/t0 ' evspace heartbeat --from "$tap_dir/begun" --count 1
}

# All that consumers say of it; times of events differ by how well the clock is known when they are read.
consumers_say_the_same() {
	local said='s/"\(start\|end\)_ns":[0-9]*,//g; s/"error_ns":[^,]*,//; /"type":"summary"/d'

	evspace events --run whole --backlog --json 2>/dev/null | sed "$said" | sort >"$tap_dir/live"
	evspace events --from "$tap_dir/whole" --json 2>/dev/null | sed "$said" | sort | cmp - "$tap_dir/live" &&
		evspace events --run whole --backlog --select '/**/rank2/**/p2p' --json 2>/dev/null | sed "$said" | sort >"$tap_dir/live" &&
		evspace events --from "$tap_dir/whole" --select '/**/rank2/**/p2p' --json 2>/dev/null | sed "$said" | sort |
		cmp - "$tap_dir/live"
}

# was_read OPTION...: how many tuples the waves of a view say that they have read.
was_read() {
	evspace view sizes "$@" --json 2>/dev/null | sed -n 's/.*"type":"wave".*"read":\([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

# A view's stages make of the archive of all events what they make on the hosts.
# (Durations may differ by 1 ns, by when the clock was read.)
stages_say_the_same() {
	local view of_class='s/.*"type":"class".*"operations":\([0-9]*\).*"op":"\([^"]*\)".*/\1 \2/p'

	for view in --view=sizes --view=matrix@node '--define=thread filter bytes>=10; node reduce mean of bytes by op'; do
		evspace view --run whole --backlog "$view" --json 2>/dev/null | grep -v '"type":"\(wave\|summary\|cost\)"' | sort >"$tap_dir/live"
		evspace view --from "$tap_dir/whole" "$view" --json 2>/dev/null | grep -v '"type":"\(wave\|summary\|cost\)"' | sort >"$tap_dir/kept"
		[ -s "$tap_dir/live" ] && cmp "$tap_dir/live" "$tap_dir/kept" || { echo "$view"; return 1; }
	done
	[ "$(was_read --run whole --backlog)" -gt 0 ] && [ "$(was_read --run whole --backlog)" -eq "$(was_read --from "$tap_dir/whole")" ] || return
	evspace colop --run whole --backlog --json 2>/dev/null | sed -n "$of_class" >"$tap_dir/live"
	evspace colop --from "$tap_dir/whole" --json 2>/dev/null | sed -n "$of_class" | cmp - "$tap_dir/live" && [ -s "$tap_dir/live" ] &&
		tap_says 2 'archive ls: write evspace archive ls DIR' evspace archive ls &&
		tap_says 2 'no view .nosuch' evspace view --from "$tap_dir/whole" --view nosuch
}

# rates VIEW...: what each class has counted by the last wave of it (but times: see above).
rates() {
	evspace view "$@" --json 2>/dev/null | awk '/"type":"wave"/ { n = 0 } /"type":"rate"/ { last[++n] = $0 } END { for (i = 1; i <= n; i++) print last[i] }' |
		sed 's/"time_ns":[0-9]*,//; s/,"calls_per_s".*//' | sort
}

# counted DIR RUN: at its end the archive has what the classes of the run have counted, for views by any stages.
counted() {
	local view

	for view in --view=rates@node --view=rates@element '--define=select /**/p2p; cluster counts by channel'; do
		rates "$view" --run "$2" --count 1 >"$tap_dir/live"
		rates "$view" --from "$1" >"$tap_dir/kept"
		[ -s "$tap_dir/live" ] && cmp "$tap_dir/live" "$tap_dir/kept" || { echo "$view"; return 1; }
	done
	[ "$(rates rates@element --from "$1" --select '/**/rank1/**/p2p' | wc -l)" -eq 1 ]
}

# Rates are between its waves, and parts of it have them in common.
rates_are_kept() {
	local part

	counted "$tap_dir/whole" whole && counted "$tap_dir/killed" killed &&
		evspace view rates --level node --from "$tap_dir/killed" --json 2>/dev/null | grep '"channel":"p2p"' >"$tap_dir/rates" &&
		[ "$(grep -c '"calls_per_s":[1-9]' "$tap_dir/rates")" -ge 2 ] &&
		for part in first second; do evspace view rates --level node --from "$tap_dir/$part" --json 2>/dev/null; done |
		grep '"channel":"p2p"' >"$tap_dir/parts" && [ "$(wc -l <"$tap_dir/parts")" -eq "$(wc -l <"$tap_dir/rates")" ] && rm -rf "$tap_dir/without" && cp -r "$tap_dir/whole" "$tap_dir/without" &&
		rm -r "$tap_dir/without/counts" && evspace archive check "$tap_dir/without" &&
		tap_says 2 'reads counts, which this archive of events does not have' evspace view --from "$tap_dir/without" --view rates &&
		tap_says 2 'has the view rates@element' evspace events --from "$tap_dir/whole/counts" &&
		cp -r "$tap_dir/whole" "$tap_dir/without/counts" &&
		tap_says 2 'the archive has the view events' evspace view --from "$tap_dir/without" --view rates
}

# Views of the map by which the run was seen are those of its archive, and of one that was cut or merged.
maps_are_kept() {
	local map=$tap_dir/map view

	export EVSPACE_DIR=$EVSPACE_DIR/mapped
	mkdir -m 700 "$EVSPACE_DIR"
	mkdir "$map"
	echo 'application windtunnel {
	ranks any;
	view mine { read stream; select /**/p2p; node filter bytes>=10; node reduce mean of bytes by op; }
	view slow { read latest; select /**/collective; thread reduce last; }
	view busy { read counts; select /**/p2p; node counts by channel; }
}' >"$map/application.map"
	echo 'cluster local { nodes a0; } # secret' >"$map/cluster.map"
	printf 'entry a0;\nplace all on a0;\n' >"$map/mapping.map"
	bed_start mapped evspace agent --pathmap "$map" --node a0
	bed_until bed_ready mapped && ! bed_gone "$(bed_pid mapped)" || { cat "$bed_dir/mapped.err"; return 1; }
	ran mapped 1 && evspace archive --run mapped "$tap_dir/mapped" &&
		evspace archive cut --end 1h "$tap_dir/mapped" "$tap_dir/mapped-cut" &&
		evspace archive merge "$tap_dir/mapped" --into "$tap_dir/mapped-merged" || return
	for view in mine mine@thread slow busy; do
		evspace view "$view" --run mapped --backlog --json --count 1 2>/dev/null | grep -v '"type":"\(wave\|summary\|cost\)"' |
			sed 's/,"calls_per_s".*//; s/"\(start\|end\|read\|time\)_ns":[0-9]*,//g; s/"error_ns":[^,]*,//' | sort -u >"$tap_dir/live"
		for archive in mapped mapped-cut mapped-merged; do
			[ "$view" != busy ] || [ "$archive" != mapped-merged ] || continue
			evspace view "$view" --from "$tap_dir/$archive" --json 2>/dev/null | grep -v '"type":"\(wave\|summary\|cost\)"' |
				sed 's/,"calls_per_s".*//; s/"\(start\|end\|read\|time\)_ns":[0-9]*,//g; s/"error_ns":[^,]*,//' | sort -u >"$tap_dir/kept"
			[ -s "$tap_dir/live" ] && cmp "$tap_dir/live" "$tap_dir/kept" || { echo "$view of $archive"; return 1; }
		done
	done
	! grep -r secret "$tap_dir/mapped" && bed_kill TERM mapped
}

# has_view NAME DIR: that map's view can be made of the archive.
has_view() {
	evspace view "$1" --from "$2" --json 2>"$tap_dir/err" >"$tap_dir/kept" && grep -q '"type":"total"' "$tap_dir/kept"
}

# counted DIR VIEW: the tuples that are in totals of it.
counted() {
	evspace view "$2" --from "$1" --json 2>/dev/null | sed -n 's/.*"type":"total".*"count":\([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

# A map that is applied while an archiver is at work: its views are there from then on, those that were there before all the time, and changed ones are by the map of the time.
applied_maps_are_kept() {
	local map=$tap_dir/later all part

	export EVSPACE_DIR=$EVSPACE_DIR/later
	mkdir -m 700 "$EVSPACE_DIR"
	mkdir "$map" && echo 'application windtunnel { ranks any; view sends { read stream; select /**/p2p; all reduce count by op; }
		view changed { read stream; select /**/p2p; all reduce count; } }' >"$map/application.map"
	echo 'cluster local { nodes a0; }' >"$map/cluster.map"
	printf 'entry a0;\nplace all on a0;\n' >"$map/mapping.map"
	bed_start later evspace agent --pathmap "$map" --node a0
	bed_until bed_ready later && ! bed_gone "$(bed_pid later)" || { cat "$bed_dir/later.err"; return 1; }
	: >"$tap_dir/goes-on"
	bed_start keeper evspace archive --wait --run later "$tap_dir/later.archive"
	bed_start tunnel timeout -k 5 100 evspace run --no-summary --capacity 100000 --run later -- mpirun -np 4 "$tunnel" --while "$tap_dir/goes-on" --pause 10
	bed_until has_view sends "$tap_dir/later.archive" || { cat "$tap_dir/err"; return 1; }
	tap_says 2 'no view .waits' evspace view waits --from "$tap_dir/later.archive" || return
	cp -r "$map" "$map.new"
	echo 'application windtunnel { ranks any; view sends { read stream; select /**/p2p; all reduce count by op; }
		view waits { read stream; select /**/wait; all reduce count by op; }
		view changed { read stream; select /**/wait; all reduce count; } }' >"$map.new/application.map"
	evspace map apply "$map.new" >"$tap_dir/applied" 2>&1 || { cat "$tap_dir/applied"; return 1; }
	bed_until has_view waits "$tap_dir/later.archive" || { cat "$tap_dir/err"; return 1; }
	rm "$tap_dir/goes-on"
	bed_wait tunnel && bed_wait keeper && bed_ended keeper 0 && is_all "$tap_dir/later.archive" later || return
	# all sends; of waits a part, those of the later map
	all=$(grep -c '"type":"tuple".*/p2p"' "$tap_dir/kept") part=$(grep -c '"type":"tuple".*/wait"' "$tap_dir/kept")
	[ "$(counted "$tap_dir/later.archive" sends)" -eq "$all" ] || { echo "not $all sends"; return 1; }
	[ "$(counted "$tap_dir/later.archive" waits)" -gt 0 ] && [ "$(counted "$tap_dir/later.archive" waits)" -lt "$part" ] || { echo "not fewer than $part waits"; return 1; }
	all=$(counted "$tap_dir/later.archive" changed)
	[ "$all" -gt "$(counted "$tap_dir/later.archive" waits)" ] && [ "$all" -lt "$((part + $(counted "$tap_dir/later.archive" sends)))" ] || { echo "changed: $all"; return 1; }
	tap_says 2 'no view .none' evspace view none --from "$tap_dir/later.archive" &&
		evspace archive cut --end 1h "$tap_dir/later.archive" "$tap_dir/later-cut" && [ "$(counted "$tap_dir/later-cut" waits)" -eq "$(counted "$tap_dir/later.archive" waits)" ] &&
		bed_kill TERM later
}

# ... also of the newest tuples, at the end of the archive those of the run.
newest_are_the_same() {
	local view='read latest; select /**/p2p; select /**/collective; thread reduce last' n

	evspace view --run whole --define "$view" --count 1 --json 2>/dev/null | grep -v '"type":"\(wave\|summary\|cost\)"' |
		sed 's/"\(start\|end\|read\)_ns":[0-9]*,//g; s/"error_ns":[^,]*,//' | sort >"$tap_dir/live"
	n=$(wc -l <"$tap_dir/live")
	[ "$n" -ge 4 ] && evspace view --from "$tap_dir/whole" --define "$view" --json 2>/dev/null | grep -v '"type":"\(wave\|summary\|cost\)"' |
		tail -n "$n" | sed 's/"\(start\|end\|read\)_ns":[0-9]*,//g; s/"error_ns":[^,]*,//' | sort | cmp - "$tap_dir/live" || return
	evspace heartbeat --from "$tap_dir/killed" --json >"$tap_dir/heartbeat" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	grep '"type":"thread"' "$tap_dir/heartbeat" | sed -n 's/.*"op":"\([^"]*\)".*/\1/p' | sort -u >"$tap_dir/ops"
	[ "$(grep -c . "$tap_dir/ops")" -ge 2 ] && grep -q '"rank":3' "$tap_dir/heartbeat"
}

few_bytes_a_tuple() {
	evspace archive info "$tap_dir/whole" --json |
		sed -n 's/.*"type":"archive".*"bytes":\([0-9]*\),.*"tuples":\([0-9]*\),.*/\1 \2/p' >"$tap_dir/size"
	awk '{ print $1 / $2 " bytes a tuple"; exit !(NF == 2 && $1 / $2 < 6) }' "$tap_dir/size"
}

elements_are_accounted() {
	evspace archive info "$tap_dir/whole" --json | sed -n 's/.*"type":"element","name":"\([^"]*\)","tuples":\([0-9]*\),"first":0,.*"lost":0,.*/\1 \2/p' |
		sort >"$tap_dir/said"
	evspace events --run whole --backlog --json 2>/dev/null | sed -n 's/.*"type":"tuple","name":"\([^"]*\)".*/\1/p' |
		sort | uniq -c | awk '{ print $2, $1 }' | sort |
		cmp - "$tap_dir/said"
}

# The archiver dies again and again while the program runs: each time the archive is whole, and at its end has everything.
# ... or the program is over, and there may be no more.
has_grown_or_all() {
	has_grown "$1" "$2" || bed_gone "$(bed_pid tunnel)"
}

killed_again_and_again() {
	local i seen=0 now

	bed_start tunnel ran killed 8
	for ((i = 0; i < kills; i++)); do
		bed_start archive evspace archive --wait --run killed --rate 20 "$tap_dir/killed"
		bed_limit=40 bed_until has_grown_or_all "$tap_dir/killed" "$seen" || return
		# on a slow machine the program may be over before all kills
		bed_kill KILL archive 2>/dev/null || bed_until bed_gone "$(bed_pid archive)" || return
		evspace archive check "$tap_dir/killed" --json >"$tap_dir/check" || return
		now=$(tuples)
		[ "$now" -ge "$seen" ] || { echo "after $i kills $now tuples, before $seen"; return 1; }
		seen=$now
		! bed_gone "$(bed_pid tunnel)" || break
	done
	[ "$i" -ge 3 ] || { echo "the program was over after $i kills"; return 1; }
	evspace archive --run killed "$tap_dir/killed" && bed_wait tunnel && bed_ended tunnel 0 && is_all "$tap_dir/killed" killed
}

tuples() {
	sed -n 's/.*"type":"archive".*"tuples":\([0-9]*\),.*/\1/p' "$tap_dir/check"
}

has_grown() {
	evspace archive check "$1" --json >"$tap_dir/check" && [ "$(tuples)" -gt "$2" ]
}

# Whatever comes meanwhile, what was there when it began is checked.
checked_while_written() {
	local n

	: >"$tap_dir/on"
	bed_start tunnel timeout -k 5 100 evspace run --no-summary --capacity 200000 --run busy -- mpirun -np 2 "$tunnel" --while "$tap_dir/on"
	bed_start archive evspace archive --wait --run busy --rate 50 "$tap_dir/busy"
	bed_limit=40 bed_until has_grown "$tap_dir/busy" 0 || return
	for ((n = 0; n < 10; n++)); do
		evspace archive check "$tap_dir/busy" >"$tap_dir/check" 2>&1 || { cat "$tap_dir/check"; return 1; }
	done
	rm "$tap_dir/on"
	bed_wait tunnel && bed_wait archive && bed_ended archive 0 && evspace purge busy
}

# Nobody can read what is written to a file without a name.
removed_is_noticed() {
	: >"$tap_dir/on"
	bed_start tunnel timeout -k 5 100 evspace run --no-summary --capacity 100000 --run gone -- mpirun -np 4 "$tunnel" --while "$tap_dir/on" --pause 10
	bed_start archive evspace archive --wait --run gone "$tap_dir/gone"
	bed_limit=40 bed_until has_grown "$tap_dir/gone" 0 || return
	rm -r "$tap_dir/gone"
	bed_wait archive && rm "$tap_dir/on" && bed_ended archive 1 && bed_wait tunnel && grep -q 'it was removed; what was kept is gone' "$bed_dir/archive.err" && evspace purge gone
}

# What counts, or the newest tuples, are as long as they are asked for: the end of the run is that of the archive.
answers_end_with_the_run() {
	local view

	for view in rates heartbeat; do
		timeout 30 evspace archive --run whole --view "$view" "$tap_dir/of-$view" || { echo "$view does not end"; return 1; }
	done
	evspace view rates --from "$tap_dir/of-rates" 2>"$tap_dir/err" | grep -q p2p
}

# What it is read from ends hard, too, and comes back.
agent_is_killed() {
	bed_start tunnel ran agent 3
	bed_start archive evspace archive --wait --run agent "$tap_dir/agent"
	bed_limit=40 bed_until has_grown "$tap_dir/agent" 0 || return
	bed_kill KILL agent
	bed_start agent evspace agent
	bed_until bed_ready agent && bed_wait tunnel && bed_ended tunnel 0 && bed_wait archive && bed_ended archive 0 &&
		is_all "$tap_dir/agent" agent && evspace purge agent
}

# Ctrl-C, and on with it: the cursors were kept.
interrupted() {
	bed_start tunnel ran interrupted 3
	bed_start archive evspace archive --wait --run interrupted "$tap_dir/interrupted"
	bed_limit=40 bed_until has_grown "$tap_dir/interrupted" 0 || return
	bed_kill INT archive && bed_wait tunnel && evspace archive --run interrupted "$tap_dir/interrupted" &&
		is_all "$tap_dir/interrupted" interrupted && evspace purge interrupted
}

# A host that has forgotten where the archiver was begins anew: what came before does not come again.
cursors_are_lost() {
	bed_start tunnel ran forgotten 3
	bed_start archive evspace archive --wait --run forgotten "$tap_dir/forgotten"
	bed_limit=40 bed_until has_grown "$tap_dir/forgotten" 0 || return
	bed_kill KILL archive
	bed_kill KILL agent
	find "$EVSPACE_DIR" -name '*.cursor' -delete
	bed_start agent evspace agent
	bed_until bed_ready agent && bed_wait tunnel && evspace archive --run forgotten "$tap_dir/forgotten" &&
		is_all "$tap_dir/forgotten" forgotten && evspace purge forgotten
}

# With a bound the oldest files go, and what is left is whole, also gone on with.
oldest_are_dropped() {
	bed_start tunnel ran bound 12
	bed_start archive evspace archive --wait --run bound --rate 50 --keep 100k "$tap_dir/bound"
	bed_limit=40 bed_until [ -e "$tap_dir/bound/00000004.evspace" ] || return
	bed_kill KILL archive
	evspace archive check "$tap_dir/bound" >"$tap_dir/check" && evspace archive --run bound --keep 100k "$tap_dir/bound" && bed_wait tunnel || return
	# what stays behind the first file and before the newest is less than the bound
	stat -c %s "$tap_dir/bound"/*.evspace | sed '1d; $d' | awk '{ sum += $1 } END { exit sum >= 102400 }' && [ ! -e "$tap_dir/bound/00000001.evspace" ] &&
		evspace archive check "$tap_dir/bound" --json >"$tap_dir/check" && grep -q '"lost":0,.*"unaccounted":0' "$tap_dir/check" &&
		[ "$(evspace events --from "$tap_dir/bound" --json 2>/dev/null | grep -c '"type":"tuple"')" -eq "$(tuples)" ] &&
		evspace events --from "$tap_dir/bound" --json 2>/dev/null | grep '"type":"tuple"' | tail -n 1 | grep -q '"comm_size":\|/rank' &&
		! evspace events --from "$tap_dir/bound" --json 2>/dev/null | grep -q '"name":"?"' && evspace purge bound ||
		{ ls -l "$tap_dir/bound"; cat "$tap_dir/check"; return 1; }
}

# The waves of four seconds or so, at once and not.
speed_is_kept() {
	local begun=${EPOCHREALTIME/./}

	evspace archive ls "$tap_dir/killed" --json >"$tap_dir/chunks"
	span=$(sed -n 's/.*"from_ns":\([0-9]*\),"to_ns":\([0-9]*\),.*/\1 \2/p' "$tap_dir/chunks" | awk '{ if (!from) from = $1; to = $2 } END { printf "%d\n", (to - from) / 1000 }')
	evspace export --to csv --from "$tap_dir/killed" --speed 4 "$tap_dir/csv" || return
	took=$((${EPOCHREALTIME/./} - begun))
	echo "$took us for $span us at four times the speed"
	[ "$((took * 4))" -ge "$((span * 9 / 10))" ] && tap_says 2 'is no speed' evspace events --from "$tap_dir/killed" --speed 0
}

# Parts have together what the whole has, each with its names.
parts_are_cut() {
	evspace archive cut --end 2s "$tap_dir/killed" "$tap_dir/first" && evspace archive cut --begin 2s "$tap_dir/killed" "$tap_dir/second" &&
		evspace archive check "$tap_dir/first" && evspace archive check "$tap_dir/second" &&
		evspace events --from "$tap_dir/killed" --json 2>/dev/null | grep '"type":"tuple"' | sort >"$tap_dir/live" &&
		{ evspace events --from "$tap_dir/first" --json && evspace events --from "$tap_dir/second" --json; } 2>/dev/null |
		grep '"type":"tuple"' | sort | cmp - "$tap_dir/live" &&
		tap_says 1 'no wave is in that time$' evspace archive cut --begin 1h "$tap_dir/killed" "$tap_dir/third" && [ ! -e "$tap_dir/third" ] &&
		tap_says 2 'end is not behind --begin' evspace archive cut --begin 2s --end 1s "$tap_dir/killed" "$tap_dir/third" && [ ! -e "$tap_dir/third" ] &&
		tap_says 1 'an archive in it already' evspace archive cut "$tap_dir/killed" "$tap_dir/first" &&
		tap_says 2 'no identity to go on with' evspace archive --run killed "$tap_dir/first" &&
		tap_says 2 'archive cut: write evspace archive cut DIR OUT' evspace archive cut "$tap_dir/killed"
}

# interrupt OUT WORDS...: Ctrl-C when OUT is begun; gives its exit code.
interrupt() {
	local pid

	rm -rf "$1"
	evspace archive "${@:2}" 2>"$tap_dir/err" &
	pid=$!
	until [ -d "$1" ] || bed_gone "$pid"; do :; done
	kill -INT "$pid"
	wait "$pid"
}

# cut_short WORD OUT WORDS...: on a busy machine it may have ended before Ctrl-C, and begins again.
cut_short() {
	local code=0 tries=50

	while [ "$code" -eq 0 ] && [ $((tries -= 1)) -gt 0 ]; do
		interrupt "${@:2}" || code=$?
	done
	[ "$code" -eq 1 ] && [ "$(cat "$tap_dir/err")" = "evspace archive $1: interrupted; what is in $2 is not all of it: remove it" ] || { echo "exit code $code"; cat "$tap_dir/err"; return 1; }
}

interrupted_is_said() {
	cut_short cut "$tap_dir/short" cut "$tap_dir/killed" "$tap_dir/short" && cut_short merge "$tap_dir/short" merge "$tap_dir/killed" "$tap_dir/killed" --into "$tap_dir/short"
}

# Started again on a run that has ended, an archiver keeps nothing of it once more.
nothing_is_kept_twice() {
	local bytes

	cp -r "$tap_dir/whole" "$tap_dir/again"
	bytes=$(cat "$tap_dir/again"/*.evspace | wc -c)
	tap_says 0 'nothing new: ' evspace archive --run whole "$tap_dir/again" && tap_says 0 'nothing new: ' evspace archive --run whole "$tap_dir/again" || return
	echo "$bytes bytes, then $(cat "$tap_dir/again"/*.evspace | wc -c)"
	[ "$(cat "$tap_dir/again"/*.evspace | wc -c)" -lt "$((bytes + bytes / 10))" ] && is_all "$tap_dir/again" whole
}

# What has the answers of a view that was defined says so, and how they are read.
defined_is_said() {
	local text='thread filter bytes>=10' command said='s/"\(start\|end\|read\)_ns":[0-9]*,//g; s/"error_ns":[^,]*,//'

	evspace archive --run whole --define "$text" "$tap_dir/defined" || return
	for command in events colop heartbeat phase 'view sizes' 'export --to csv'; do
		tap_says 2 "the archive has the view --define '$text', and nothing else; evspace view --define '$text' --from $tap_dir/defined shows it" \
			evspace $command --from "$tap_dir/defined" $([ "$command" != 'export --to csv' ] || echo "$tap_dir/csv") || { echo "$command"; return 1; }
	done
	tap_says 2 "the archive has the view --define '$text'; keep another one in a folder of its own" evspace archive --run whole "$tap_dir/defined" &&
		evspace archive check "$tap_dir/defined" && evspace view --from "$tap_dir/defined" --define "$text" --json 2>/dev/null | grep '"type":"tuple"' | sed "$said" | sort >"$tap_dir/kept" &&
		evspace view --from "$tap_dir/whole" --define "$text" --json 2>/dev/null | grep '"type":"tuple"' | sed "$said" | sort | cmp - "$tap_dir/kept" && [ -s "$tap_dir/kept" ]
}

second_is_refused() {
	bed_start tunnel ran two 2
	bed_start archive evspace archive --wait --run two "$tap_dir/two"
	bed_limit=40 bed_until has_grown "$tap_dir/two" 0 || return
	tap_says 2 'another process writes to this archive' evspace archive --run two "$tap_dir/two" &&
		bed_wait archive && bed_ended archive 0 && bed_wait tunnel && is_all "$tap_dir/two" two && evspace purge two
}

other_question_is_refused() {
	tap_says 2 'begun with another --select' evspace archive --run whole --select '/**/p2p' "$tap_dir/whole" &&
		tap_says 2 'the archive has the view events' evspace archive --run whole --view latency "$tap_dir/whole" &&
		tap_says 2 'the archive has the run whole' evspace archive --run killed "$tap_dir/whole"
}

# Cut at any byte, an archive ends with its last whole chunk, and can be gone on with.
cut_anywhere() {
	local file=$tap_dir/cut/00000001.evspace bytes at i

	bytes=$(stat -c %s "$tap_dir/killed/00000001.evspace")
	for i in 1 2 3 4 5 6 7 8; do
		rm -rf "$tap_dir/cut"
		cp -r "$tap_dir/killed" "$tap_dir/cut"
		at=$(((RANDOM * 32768 + RANDOM) % bytes))
		[ "$i" -gt 1 ] || at=$((bytes - 1))
		truncate -s "$at" "$file"
		evspace archive check "$tap_dir/cut" >"$tap_dir/said" 2>&1 || grep -q 'nothing was written' "$tap_dir/said" ||
			{ echo "cut at $at of $bytes"; cat "$tap_dir/said"; return 1; }
	done
	evspace archive --run killed "$tap_dir/cut" && is_all "$tap_dir/cut" killed
}

# damaged AT BYTES TEXT: with these bytes there, check says the text.
damaged() {
	rm -rf "$tap_dir/damaged"
	cp -r "$tap_dir/killed" "$tap_dir/damaged"
	printf "$2" | dd of="$tap_dir/damaged/00000001.evspace" bs=1 seek="$1" conv=notrunc status=none
	tap_says 1 "$3" evspace archive check "$tap_dir/damaged" && tap_says 1 "$3" evspace events --from "$tap_dir/damaged" &&
		tap_says 1 "$3" evspace phase --from "$tap_dir/damaged" && tap_says 1 "$3" evspace export --to csv --from "$tap_dir/damaged" "$tap_dir/csv" &&
		tap_says 1 "$3" evspace view sizes --from "$tap_dir/damaged" && tap_says 1 "$3" evspace archive --run killed "$tap_dir/damaged"
}

# One byte of what classes have counted.
counts_are_damaged() {
	rm -rf "$tap_dir/damaged"
	cp -r "$tap_dir/whole" "$tap_dir/damaged"
	printf 'x' | dd of="$tap_dir/damaged/counts/00000001.evspace" bs=1 seek=200 conv=notrunc status=none
	tap_says 1 'what is counted is not read: .*checksum' evspace colop --from "$tap_dir/damaged" && tap_says 1 checksum evspace view rates --from "$tap_dir/damaged" &&
		tap_says 1 checksum evspace archive check "$tap_dir/damaged"
}

damage_is_found() {
	damaged 8 '\01\02\03\04' 'other byte order' && damaged 12 '\011' 'version 9' && damaged 200 'x' 'checksum' &&
		damaged 40 '\077' 'checksum' && damaged 0 'X' 'no chunk of an archive' && damaged 23 '\377' 'cannot be'
}

nothing_is_no_archive() {
	local word

	mkdir "$tap_dir/empty"
	for word in info ls check; do
		tap_says 2 'no archive in it' evspace archive "$word" "$tap_dir/empty" && tap_says 2 'No such file' evspace archive "$word" "$tap_dir/nowhere" || return
	done
	tap_says 2 'nowhere: No such file' evspace archive cut "$tap_dir/nowhere" "$tap_dir/none" &&
		tap_says 2 'empty: there is no archive in it' evspace archive merge "$tap_dir/whole" "$tap_dir/empty" --into "$tap_dir/none" && [ ! -e "$tap_dir/none" ] &&
		tap_says 2 'No such file' evspace events --from "$tap_dir/nowhere" &&
		tap_says 2 'in which folder' evspace archive
}

disk_is_full() {
	mkdir "$tap_dir/small"
	# a chunk, of 24 waves, has room in it however fast the machine is
	mount -t tmpfs -o size=160k none "$tap_dir/small" || return
	bed_start tunnel ran filled 12
	tap_says 1 'No space left.*; what came before is whole and can be read, and this goes on behind it' evspace archive --wait --run filled --rate 200 "$tap_dir/small/ar" &&
		tap_says 0 'events in' evspace export --to csv --from "$tap_dir/small/ar" "$tap_dir/csv" &&
		evspace archive check "$tap_dir/small/ar" --json >"$tap_dir/check" && [ "$(tuples)" -gt 0 ] &&
		cp -r "$tap_dir/small/ar" "$tap_dir/moved" && evspace archive --run filled "$tap_dir/moved" && bed_wait tunnel &&
		is_all "$tap_dir/moved" filled && { head -c 200k /dev/zero 2>/dev/null >"$tap_dir/small/rest" || true; } &&
		tap_says 1 'No space left' evspace archive --run filled "$tap_dir/small/other" &&
		tap_says 1 'No space left.*; what is in .*/cut is not all of it: remove it' evspace archive cut "$tap_dir/moved" "$tap_dir/small/cut" &&
		tap_says 1 'No space left.*; what is in .*/merged is not all of it: remove it' evspace archive merge "$tap_dir/moved" --into "$tap_dir/small/merged"
	set -- $?
	umount "$tap_dir/small"
	return "$1"
}

bed_start agent evspace agent
tap_case "its agent is ready" bed_until bed_ready agent
tap_case "an archive has all that a run has written" whole_run_is_kept
tap_case "consumers say of it what they say of the run" consumers_say_the_same
tap_case "... and so do views, by the same stages" stages_say_the_same
tap_case "archives of counts and of the newest tuples end with the run" answers_end_with_the_run
tap_case "a tuple takes less than 6 bytes" few_bytes_a_tuple
tap_case "info says of each element which tuples there are" elements_are_accounted
tap_case "killed $kills times during a run: whole each time, exact at the end" killed_again_and_again
tap_case "check while it is written" checked_while_written
tap_case "an archive that is removed meanwhile" removed_is_noticed
tap_case "the agent is killed, and comes back" agent_is_killed
tap_case "Ctrl-C, and on later" interrupted
tap_case "the host forgets where it was: nothing comes twice" cursors_are_lost
tap_case "--keep drops the oldest, and what is left is whole" oldest_are_dropped
tap_case "--speed: the waves come in their times" speed_is_kept
tap_case "cut: parts have what the whole has" parts_are_cut
tap_case "Ctrl-C while it is cut, or merged, is said" interrupted_is_said
tap_case "rates: an archive has what classes have counted, at its end all of it" rates_are_kept
tap_case "a map's own views by name, also when it is cut or merged" maps_are_kept
tap_case "... and those of a map that was applied meanwhile" applied_maps_are_kept
tap_case "the newest tuples of an archive are those of the run" newest_are_the_same
tap_case "--count begins with the run" count_begins_with_the_run
tap_case "an archiver started again keeps nothing twice" nothing_is_kept_twice
tap_case "a view that was defined: what its archive has is said" defined_is_said
tap_case "a second archiver is refused" second_is_refused
tap_case "an archive goes on with its own question alone" other_question_is_refused
tap_case "cut anywhere: readable to the last whole chunk, and gone on with" cut_anywhere
tap_case "damage, another version or byte order: said where" damage_is_found
tap_case "damage of what was counted is said" counts_are_damaged
tap_case "what is no archive is said" nothing_is_no_archive
if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs none /mnt 2>/dev/null; then
	tap_case "a full disk ends it, and what is there is whole" disk_is_full
else
	tap_skip "a full disk" "needs root"
fi
tap_done
