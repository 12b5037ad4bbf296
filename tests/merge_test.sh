# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace archive merge: what several archives have is in one, each tuple once, and what none has is named.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
unset EVSPACE_ENTRY
tunnel=$top_builddir/tests/apps/windtunnel

# ran NAME SECONDS: the wind tunnel, with rests, whose elements have room for all of it.
ran() {
	timeout -k 5 100 evspace run --no-summary --capacity 100000 --run "$1" -- mpirun -np 4 "$tunnel" --seconds "$2" --pause 10
}

merge() {
	evspace archive merge "$@" 2>"$tap_dir/merged"
}

# tuples DIR: its events, sorted; times differ by how well the clock was known when they were read.
tuples() {
	evspace events --from "$1" --json 2>"$tap_dir/err" | grep '"type":"tuple"' | sed 's/"\(start\|end\)_ns":[0-9]*,//g; s/"error_ns":[^,]*,//' | sort
}

# count KEY DIR: of the archive's account.
count() {
	evspace archive info "$2" --json | sed -n 's/.*"type":"archive".*"'"$1"'":\([0-9]*\).*/\1/p'
}

# span DIR: ms from its first wave to its last event; waves go on until the program has ended.
span() {
	local from to

	from=$(evspace archive ls "$1" --json | sed -n 's/.*"from_ns":\([1-9][0-9]*\),.*/\1/p' | head -n 1)
	to=$(evspace archive info "$1" --json | sed -n 's/.*"type":"archive".*"to_ns":\([0-9]*\),.*/\1/p')
	echo $(((to - from) / 1000000))
}

# is_whole DIR: it has what the whole archive has, and nothing is missing.
is_whole() {
	tuples "$1" >"$tap_dir/got" && cmp "$tap_dir/got" "$tap_dir/all" && evspace archive check "$1" >"$tap_dir/check" &&
		grep -q '^0 lost.* 0 unaccounted' "$tap_dir/check" || { cat "$tap_dir/merged" "$tap_dir/check" "$tap_dir/err"; return 1; }
}

archives_are_made() {
	bed_start tunnel ran solver 3
	bed_start archive evspace archive --wait --run solver --rate 20 "$tap_dir/whole"
	bed_wait archive && bed_ended archive 0 && bed_wait tunnel && evspace archive --run solver --select '/**/rank[0-1]/**' "$tap_dir/low" &&
		evspace archive --run solver --select '/**/rank[1-3]/**' "$tap_dir/high" &&
		tuples "$tap_dir/whole" >"$tap_dir/all" && [ -s "$tap_dir/all" ] && is_whole "$tap_dir/whole"
}

ranks_are_put_together() {
	merge "$tap_dir/low" "$tap_dir/high" --into "$tap_dir/ranks" && is_whole "$tap_dir/ranks" &&
		"$top_builddir/tests/account" "$EVSPACE_DIR/solver" all=0 < <(evspace events --from "$tap_dir/ranks" --json 2>/dev/null) &&
		evspace heartbeat --from "$tap_dir/ranks" 2>"$tap_dir/err" | grep -q 'has ended; this is how its 4 threads were left' &&
		grep -q ' came more than once, 0 are in none' "$tap_dir/merged" && ! grep -q ' 0 came more than once' "$tap_dir/merged"
}

# Both have all, one of them at another time, and in other waves.
nothing_is_there_twice() {
	evspace archive --run solver "$tap_dir/later" && merge "$tap_dir/later" "$tap_dir/whole" "$tap_dir/ranks" --into "$tap_dir/twice" &&
		is_whole "$tap_dir/twice" && merge "$tap_dir/whole" "$tap_dir/whole" --into "$tap_dir/same" && is_whole "$tap_dir/same"
}

times_are_put_together() {
	evspace archive cut --end 2s "$tap_dir/whole" "$tap_dir/first" && evspace archive cut --begin 1s "$tap_dir/whole" "$tap_dir/second" &&
		merge "$tap_dir/second" "$tap_dir/first" --into "$tap_dir/times" && is_whole "$tap_dir/times"
}

# What is between two parts is in none, and said; with an archive that has it, it is there.
holes_are_named_and_filled() {
	local lost all span

	# of the program's three seconds one, and the last half of one
	span=$(span "$tap_dir/whole")
	evspace archive cut --end "$((span - 1500))ms" "$tap_dir/whole" "$tap_dir/begin" &&
		evspace archive cut --begin "$((span - 500))ms" "$tap_dir/whole" "$tap_dir/end" &&
		merge "$tap_dir/begin" "$tap_dir/end" --into "$tap_dir/hole" && evspace archive check "$tap_dir/hole" || return
	lost=$(count lost "$tap_dir/hole")
	all=$(count tuples "$tap_dir/whole")
	[ "$lost" -gt 0 ] && [ "$((lost + $(count tuples "$tap_dir/hole")))" -eq "$all" ] && sed 's/\([0-9]\),\([0-9]\)/\1\2/g' "$tap_dir/merged" | grep -q ", $lost are in none" &&
		merge "$tap_dir/hole" "$tap_dir/whole" --into "$tap_dir/filled" && is_whole "$tap_dir/filled" &&
		merge "$tap_dir/later" "$tap_dir/hole" --into "$tap_dir/filled2" && is_whole "$tap_dir/filled2" &&
		merge "$tap_dir/hole" "$tap_dir/begin" --into "$tap_dir/hole2" && [ "$(count lost "$tap_dir/hole2")" -eq "$lost" ]
}

# What comes after the part that one archive has was discarded before the other one was made.
ends_are_named() {
	local all had

	all=$(count tuples "$tap_dir/whole")
	had=$(count tuples "$tap_dir/begin")
	evspace discard --run solver >"$tap_dir/discarded" 2>&1 && evspace archive --run solver "$tap_dir/gone" 2>"$tap_dir/err" || { cat "$tap_dir/discarded" "$tap_dir/err"; return 1; }
	[ "$(count tuples "$tap_dir/gone")" -eq 0 ] && [ "$(count discarded "$tap_dir/gone")" -eq "$all" ] || { evspace archive info "$tap_dir/gone"; return 1; }
	merge "$tap_dir/begin" "$tap_dir/gone" --into "$tap_dir/ends" && evspace archive check "$tap_dir/ends" >"$tap_dir/check" &&
		[ "$(count tuples "$tap_dir/ends")" -eq "$had" ] && [ "$(count discarded "$tap_dir/ends")" -eq "$((all - had))" ] && [ "$(count lost "$tap_dir/ends")" -eq 0 ] ||
		{ cat "$tap_dir/merged" "$tap_dir/check"; evspace archive info "$tap_dir/ends"; return 1; }
	merge "$tap_dir/gone" "$tap_dir/whole" --into "$tap_dir/ends-filled" && is_whole "$tap_dir/ends-filled"
}

# Of two runs names say which, and so do communicators; all views are made of it.
runs_are_told_apart() {
	local one two

	ran other 1 && evspace archive --run other "$tap_dir/other" && merge "$tap_dir/whole" "$tap_dir/other" --into "$tap_dir/both" &&
		evspace archive check "$tap_dir/both" >"$tap_dir/check" && grep -q '^0 lost.* 0 unaccounted' "$tap_dir/check" || { cat "$tap_dir/merged" "$tap_dir/check"; return 1; }
	one=$(count tuples "$tap_dir/whole")
	two=$(count tuples "$tap_dir/other")
	tuples "$tap_dir/both" >"$tap_dir/got"
	evspace archive info "$tap_dir/both" | grep -q '^run solver+other' && [ "$(grep -c '"name":"/solver\.' "$tap_dir/got")" -eq "$one" ] &&
		[ "$(grep -c '"name":"/other\.' "$tap_dir/got")" -eq "$two" ] && ! grep -q '"name":"?"' "$tap_dir/got" || return
	sed -n 's/.*"name":"\/\(solver\|other\)\..*"comm":\([^,]*\),.*/\1 \2/p' "$tap_dir/got" | sort -u >"$tap_dir/comms"
	cut -d ' ' -f 2 "$tap_dir/comms" | grep -v '^\(0\|null\)$' | sort | uniq -d >"$tap_dir/shared"
	[ -s "$tap_dir/comms" ] && [ ! -s "$tap_dir/shared" ] || { cat "$tap_dir/comms"; return 1; }
	evspace colop --from "$tap_dir/both" --json 2>/dev/null | grep -q '"type":"class".*"recorded_share":1.0' &&
		evspace events --from "$tap_dir/both" --select '/other.*/**' --json 2>/dev/null | grep -c '"type":"tuple"' | grep -qx "$two"
}

# counted DIR: the last that each class has counted.
counted() {
	evspace view rates --from "$1" --json 2>"$tap_dir/err" | sed -n 's/.*"type":"rate","name":"\([^"]*\)","channel":"\([^"]*\)","comm":\([^,]*\),.*"calls":\([0-9]*\),.*/\1 \2 \3 \4/p' |
		awk '{ of = $1 " " $2 " " $3; if (!(of in calls) || $4 > calls[of]) calls[of] = $4 } END { for (of in calls) print of, calls[of] }' | sort
}

# Of other ranks and of other times; where one has none, nobody knows.
counts_are_merged() {
	local dir

	counted "$tap_dir/whole" >"$tap_dir/counted" && [ "$(wc -l <"$tap_dir/counted")" -ge 3 ] || { cat "$tap_dir/counted" "$tap_dir/err"; return 1; }
	for dir in ranks times twice; do
		counted "$tap_dir/$dir" | diff - "$tap_dir/counted" || return
	done
	cp -r "$tap_dir/low" "$tap_dir/countless" && rm -r "$tap_dir/countless/counts" && merge "$tap_dir/countless" "$tap_dir/high" --into "$tap_dir/unknown" &&
		evspace archive check "$tap_dir/unknown" >"$tap_dir/check" && evspace colop --from "$tap_dir/unknown" --json 2>/dev/null | grep -q '"type":"class".*"recorded_share":null' &&
		evspace colop --from "$tap_dir/unknown" 2>&1 >/dev/null | grep -q '^nobody tells which share' || { cat "$tap_dir/merged" "$tap_dir/check"; return 1; }
}

# calls DIR: those of collectives in the last wave of its counts.
calls() {
	evspace view rates --from "$1" --json 2>"$tap_dir/err" | awk '
		/"type":"wave"/ { n = 0 }
		/"type":"rate".*"channel":"collective"/ { match($0, /"calls":[0-9]+/); n += substr($0, RSTART + 8, RLENGTH - 8) }
		END { print n + 0 }'
}

# Of communicators that come and go the class of one becomes that of another one: it has counted once.
freed_are_counted_once() {
	local truth

	bed_start freed timeout -k 5 100 evspace run --no-summary --run freed -- mpirun -np 2 "$top_builddir/tests/apps/comms" --rounds 20000
	bed_start archive evspace archive --wait --run freed --rate 5 "$tap_dir/freed"
	bed_wait archive && bed_ended archive 0 && bed_wait freed || return
	truth=$(calls "$tap_dir/freed")
	cp -r "$tap_dir/freed" "$tap_dir/freed2" && merge "$tap_dir/freed" "$tap_dir/freed2" --into "$tap_dir/frees" && [ "$truth" -ge 40000 ] &&
		[ "$(calls "$tap_dir/frees")" -eq "$truth" ] || { echo "$truth"; calls "$tap_dir/frees"; cat "$tap_dir/merged"; return 1; }
}

# damage FILE SHARE: the last chunk of events that begins before so many hundredths of the file.
damage() {
	local at bytes

	bytes=$(stat -c %s "$1")
	at=$(grep -abo EVSPARCH "$1" | cut -d : -f 1 | while read -r at; do
		[ "$at" -gt "$((bytes * $2 / 100))" ] || [ "$(od -An -tu2 -j "$((at + 14))" -N 2 "$1" | tr -d ' ')" -ne 0 ] || echo "$at"
	done | tail -n 1)
	[ -n "$at" ] && printf 'damage' | dd of="$1" bs=1 seek="$((at + 110))" conv=notrunc status=none
}

# What is not selected need not even be readable.
others_are_not_read() {
	local two

	cp -r "$tap_dir/both" "$tap_dir/damaged" && damage "$tap_dir/damaged/00000001.evspace" 40 || return
	two=$(count tuples "$tap_dir/other")
	evspace events --from "$tap_dir/damaged" --json >/dev/null 2>"$tap_dir/err" && return 1
	grep -q checksum "$tap_dir/err" && evspace events --from "$tap_dir/damaged" --select '/other.*/**' --json >"$tap_dir/got" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	[ "$(grep -c '"type":"tuple"' "$tap_dir/got")" -eq "$two" ] && ! grep -q '"type":"lost"' "$tap_dir/got" && grep '"type":"summary"' "$tap_dir/got" | grep -q '"unaccounted":0' &&
		! evspace events --from "$tap_dir/damaged" --select '/solver.*/**' --json >/dev/null 2>&1 &&
		evspace view --from "$tap_dir/both" --view sizes --select '/other.*/**' --json 2>/dev/null | grep -v '"type":"\(wave\|summary\|cost\)"' | grep -q .
}

# Of what was selected nothing is missing, whatever is not read.
selected_is_the_same() {
	for select in '/**/rank0/**' '/**/rank[1-2]/**/p2p' '/**/collective'; do
		evspace events --from "$tap_dir/whole" --select "$select" --json 2>/dev/null >"$tap_dir/kept"
		evspace events --run solver --backlog --select "$select" --json 2>/dev/null | grep '"type":"tuple"' |
			sed 's/"\(start\|end\)_ns":[0-9]*,//g; s/"error_ns":[^,]*,//' | sort >"$tap_dir/live"
		grep '"type":"tuple"' "$tap_dir/kept" | sed 's/"\(start\|end\)_ns":[0-9]*,//g; s/"error_ns":[^,]*,//' | sort | cmp - "$tap_dir/live" &&
			grep '"type":"summary"' "$tap_dir/kept" | grep -q '"lost":0.*"unaccounted":0' && [ -s "$tap_dir/live" ] || return
	done
}

# Of a time alone, too.
other_times_are_not_read() {
	local span

	span=$(span "$tap_dir/whole")
	cp -r "$tap_dir/whole" "$tap_dir/damaged2" && damage "$tap_dir/damaged2/00000001.evspace" 50 &&
		tap_says 1 checksum evspace archive cut "$tap_dir/damaged2" "$tap_dir/cut1" &&
		evspace archive cut --begin "$((span - 300))ms" "$tap_dir/damaged2" "$tap_dir/cut2" &&
		evspace archive cut --begin "$((span - 300))ms" "$tap_dir/whole" "$tap_dir/cut3" && evspace archive check "$tap_dir/cut2" &&
		tuples "$tap_dir/cut3" >"$tap_dir/got" && [ -s "$tap_dir/got" ] && tuples "$tap_dir/cut2" | cmp - "$tap_dir/got"
}

# Its communicators have ranks as members, of which two runs have the same.
runs_are_no_otf2() {
	[ ! -e "$EVSPACE_LIBDIR/libevspace-otf2.so" ] || { tap_says 1 'are both rank 0, which OTF2 would take for one' evspace export --to otf2 --from "$tap_dir/both" "$tap_dir/otf2" && [ ! -e "$tap_dir/otf2" ] &&
		tap_says 0 '0 lost' evspace export --to otf2 --from "$tap_dir/both" --select '/solver.*/**' "$tap_dir/otf2"; }
}

# One and the same archive when merged again.
merged_is_an_archive() {
	merge "$tap_dir/ranks" "$tap_dir/times" --into "$tap_dir/again" && is_whole "$tap_dir/again" &&
		evspace view --from "$tap_dir/again" --view sizes --json 2>/dev/null | grep -v '"type":"\(wave\|summary\|cost\)"' | grep -q . &&
		tap_says 2 'no identity to go on with' evspace archive --run solver "$tap_dir/again"
}

others_are_refused() {
	evspace archive --run solver --view sizes "$tap_dir/sizes" &&
		tap_says 1 'sizes: the archive has the view sizes' evspace archive merge "$tap_dir/whole" "$tap_dir/sizes" --into "$tap_dir/none" &&
		tap_says 1 'an archive in it already' evspace archive merge "$tap_dir/whole" "$tap_dir/low" --into "$tap_dir/high" &&
		tap_says 2 'No such file' evspace archive merge "$tap_dir/whole" "$tap_dir/nowhere" --into "$tap_dir/none" &&
		tap_says 2 'archive merge: write evspace archive merge DIR... --into OUT' evspace archive merge "$tap_dir/whole" && [ ! -e "$tap_dir/none" ]
}

bed_start agent evspace agent
tap_case "its agent is ready" bed_until bed_ready agent
tap_case "archives of a run, whole and of some ranks" archives_are_made
tap_case "ranks of several archives are put together" ranks_are_put_together
tap_case "what two have is there once" nothing_is_there_twice
tap_case "parts by time that overlap are put together" times_are_put_together
tap_case "what classes have counted is put together" counts_are_merged
tap_case "... also of communicators that come and go" freed_are_counted_once
tap_case "holes are named, and filled by who has what was in them" holes_are_named_and_filled
tap_case "runs are told apart" runs_are_told_apart
tap_case "... and are no one trace of OTF2" runs_are_no_otf2
tap_case "what is not selected is not read" others_are_not_read
tap_case "... and of what is, nothing is missing" selected_is_the_same
tap_case "a cut reads its own time alone" other_times_are_not_read
tap_case "what was merged is merged again" merged_is_an_archive
tap_case "other views, and folders in use, are refused" others_are_refused
tap_case "what is missing at the end of elements is named" ends_are_named
tap_done
