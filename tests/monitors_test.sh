# SPDX-License-Identifier: BSD-3-Clause
# The monitors monitored: what views of run evspace say of agents and consumers is what these did;
# where nobody looks nothing is recorded, and nothing is left behind.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

tap_cleanup() {
	bed_end
}

nodes='front ga a0 a1 b0 b1'

# look VIEW OPTION...: a look at the monitors.
look() {
	evspace view "$@" --connect "$bed_entry" --of evspace --json 2>"$tap_dir/err"
}

# counted KEY NAME CHANNEL: what the look at rates says of view sizes there.
counted() {
	grep "\"name\":\"$2/t0\",\"channel\":\"$3\"" "$tap_dir/look" | grep '"label":"sizes"' |
		sed "s/.*\"$1\":\([0-9]*\),.*/\1/"
}

segments() {
	find "$EVSPACE_DIR/evspace" -name '*.seg' 2>/dev/null | wc -l
}

has_segments() {
	[ "$(segments)" = "$1" ]
}

# in_vain VIEW OPTION...: wait for a program, while none lives; $tap_dir/waves says how many waves were taken meanwhile.
in_vain() {
	evspace view "$@" --connect "$bed_entry" --wait >/dev/null 2>"$tap_dir/vain"
	[ $? -le 1 ] || { cat "$tap_dir/vain"; return 1; } # 0: of one that has ended
	sed -n 's/^\([0-9]*\) waves* .*/\1/p' "$tap_dir/vain" >"$tap_dir/waves"
	[ "$(cat "$tap_dir/waves")" -ge 1 ] || { cat "$tap_dir/vain"; return 1; }
}

# The waves of the views that are looked at leave no trace, for nobody looks at the looking.
nothing_recorded() {
	in_vain latest --rate 10 --duration 1s && [ ! -e "$EVSPACE_DIR/evspace" ] || { ls -R "$EVSPACE_DIR/evspace"; return 1; }
}

# An observer makes all agents record, and sees the waves of somebody else, but not its own.
begins_when_looked_at() {
	bed_start watcher evspace events --connect "$bed_entry" --of evspace --json --rate 20
	bed_until has_segments 6 || { ls -R "$EVSPACE_DIR"; return 1; }
	in_vain slowest --rate 50 --duration 1s || return
	bed_until watcher_saw '"label":"slowest"' || { tail -n 3 "$bed_dir/watcher.out" "$bed_dir/watcher.err"; return 1; }
	! watcher_saw '"label":"events"'
}

watcher_saw() {
	grep -q "$1" "$bed_dir/watcher.out"
}

ends_when_nobody_looks() {
	bed_kill INT watcher && bed_until test ! -e "$EVSPACE_DIR/evspace" ||
		{ ls -R "$EVSPACE_DIR"; return 1; }
}

agents_monitored() {
	local node

	for node in $nodes; do
		bed_kill TERM "$node" || return
		bed_start "$node" evspace agent --pathmap "$bed_dir/maps" --node "$node" --monitored
	done
	for node in $nodes; do
		bed_until grep -q 'ready on' "$bed_dir/$node.err" || { cat "$bed_dir/$node.err"; return 1; }
	done
}

# name_of NODE WHO: what its elements are called by.
name_of() {
	case $1 in
	a?) echo "/A/$1/$2" ;;
	b?) echo "/B/$1/$2" ;;
	*) echo "/-/$1/$2" ;;
	esac
}

# The consumer says what it took; the agents may have one more that it did not wait for.
waves_agree() {
	local node

	local waves

	in_vain sizes --deadline 20000 --rate 20 --duration 2s --monitored || return
	cp "$tap_dir/waves" "$tap_dir/waves_made"
	waves=$(cat "$tap_dir/waves")
	look rates --level thread --count 1 >"$tap_dir/look" || { cat "$tap_dir/err"; return 1; }
	for node in $nodes; do
		case $(counted calls "$(name_of "$node" agent)" gather) in
		"$waves" | $((waves + 1))) ;;
		*) echo "$node"; cat "$tap_dir/look"; return 1 ;;
		esac
	done
	[ "$(counted calls /-/front/consumer gather)" = "$waves" ] && [ "$(counted calls /-/front/consumer cpu)" = "$waves" ] ||
		{ cat "$tap_dir/look"; return 1; }
}

# Wave by wave: each agent has one of that number, and what a hop received is what that child sent.
bytes_agree() {
	look events --backlog --count 1 >"$tap_dir/look" || { cat "$tap_dir/err"; return 1; }
	grep '"label":"sizes"' "$tap_dir/look" >"$tap_dir/sizes"
	awk -v waves_made="$(cat "$tap_dir/waves_made")" '
		function number(key) {
			match($0, "\"" key "\":[0-9]*")
			return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
		}
		{ split($0, part, "\""); split(part[10], name, "/"); who = name[3] "/" name[4]; wave = number("seq_or_tag") }
		/"op":"evspace_wave"/ { waves[who, wave]++; sent[who, wave] += number("bytes") }
		/"op":"evspace_ask"/ { asks[who, wave]++; received[who, wave] += number("bytes") }
		function same(wave, parent, a, b) {
			if (waves[parent "/agent", wave] != 1 || waves[a "/agent", wave] != 1 || (b != "" && waves[b "/agent", wave] != 1))
				exit 1
			if (asks[parent "/agent", wave] != 1 + (b != ""))
				exit 2
			if (received[parent "/agent", wave] != sent[a "/agent", wave] + (b == "" ? 0 : sent[b "/agent", wave]))
				exit 3
		}
		END {
			for (wave = 1; wave <= waves_made; wave++) {
				same(wave, "front", "ga", "b0")
				same(wave, "ga", "a0", "a1")
				same(wave, "b0", "b1", "")
				if (waves["front/consumer", wave] != 1 || sent["front/consumer", wave] != sent["front/agent", wave] || sent["a0/agent", wave] == 0)
					exit 4
			}
		}' "$tap_dir/sizes" || { echo "awk: $?"; head -n 40 "$tap_dir/sizes"; return 1; }
}

# Elements say how long each took: a hop waits for less than its wave takes, stages have their kinds.
durations_agree() {
	local op

	for op in wave ask cpu source filter histogram; do
		grep -q "\"op\":\"evspace_$op\"" "$tap_dir/sizes" || { echo "no $op"; head "$tap_dir/sizes"; return 1; }
	done
	awk -v waves_made="$(cat "$tap_dir/waves_made")" '
		function number(key) {
			match($0, "\"" key "\":[0-9]*")
			return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
		}
		!/\/-\/front\/agent/ { next }
		{ took = number("end_ns") - number("start_ns"); wave = number("seq_or_tag") }
		/evspace_wave/ { whole[wave] = took }
		/evspace_ask/ { if (took > most[wave]) most[wave] = took }
		END {
			for (w in whole) {
				n++
				# both ends are read one after the other
				if (!(w in most) || most[w] > whole[w] + 1000000 || whole[w] <= 0)
					exit 1
			}
			exit n < waves_made * 3 / 4
		}' "$tap_dir/sizes" || { grep /-/front "$tap_dir/sizes"; return 1; }
}

# Collectors around a stage: what it takes at its place; and one between two others: what a collector takes.
brackets() {
	in_vain --define 'node collector; node histogram; node collector; node collector; node collector' --rate 20 --duration 2s || return
	evspace events --connect "$bed_entry" --of evspace --backlog --count 1 --json --select '/**/stage' >"$tap_dir/stages" 2>"$tap_dir/err"
	awk '
		function number(key) {
			match($0, "\"" key "\":[0-9]*")
			text = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
			# more digits than 15 are not exact
			return (length(text) > 15 ? substr(text, length(text) - 14) : text) + 0
		}
		/"name":"\/A\/a0\/agent/ && /evspace_(collector|histogram)/ && /"label":"\(defined\)"/ {
			wave = number("seq_or_tag"); at = number("peer")
			start[wave, at] = number("start_ns"); end[wave, at] = number("end_ns")
			seen[wave]++
		}
		END {
			for (w in seen) {
				if (seen[w] != 5)
					continue
				n++
				if (start[w, 1] < end[w, 0] || start[w, 2] < end[w, 1])
					exit 1
				one = start[w, 4] - start[w, 3]
				if (one <= 0 || one > 1000000)
					exit 2
			}
			exit n < 5
		}' "$tap_dir/stages" || { echo "awk: $?"; grep -c . "$tap_dir/stages"; grep a0 "$tap_dir/stages" | head; return 1; }
}

# The same by a command, on each host; another view with something else between collectors does not count.
bracketed() {
	local host

	bed_start around evspace view --connect "$bed_entry" --wait --rate 200 --define 'node collector; node histogram; node collector'
	evspace perturb --collector --connect "$bed_entry" --json >"$tap_dir/bracket" 2>"$tap_dir/err" ||
		{ cat "$tap_dir/err"; return 1; }
	kill -0 "$(bed_pid around)" && bed_kill INT around || { cat "$bed_dir/around.err"; return 1; }
	# 50 a second, for two
	awk -F '"waves":' '{ most = $2 + 0 > most ? $2 + 0 : most } END { exit most > 120 }' "$tap_dir/bracket" || { cat "$tap_dir/bracket"; return 1; }
	for host in A/a0 A/a1 B/b0 B/b1; do
		grep -q '"host":"/'$host'","ns":[1-9][0-9.]*,.*"waves":[1-9]' "$tap_dir/bracket" || { cat "$tap_dir/bracket"; return 1; }
	done
	! evspace perturb --collector --ab 1s --connect "$bed_entry" >/dev/null 2>"$tap_dir/err" &&
		grep -q 'goes with neither' "$tap_dir/err"
}

# Who holds a wave up is seen by how long it was waited for, and that it was in vain.
names_who_is_late() {
	bed_start looker evspace view latest --connect "$bed_entry" --deadline 400 --rate 20 --json
	bed_until looker_saw '"answered":4,' && kill -STOP "$(bed_pid b1)" &&
		bed_until looker_saw '"host":"/B/b1","why":"late"'
	kill -CONT "$(bed_pid b1)"
	bed_kill INT looker
	evspace events --connect "$bed_entry" --of evspace --backlog --count 1 >"$tap_dir/text" 2>&1
	grep '/B/b0/agent/.*evspace_ask /B/b1 #[0-9]* of latest, FAILED' "$tap_dir/text" | grep -q '[2-9][0-9][0-9] ms \|[0-9] s ' ||
		{ grep 'latest, FAILED' "$tap_dir/text"; return 1; }
}

looker_saw() {
	grep -q "$1" "$bed_dir/looker.out"
}

# shows PATTERN COMMAND...: a line of its text matches.
shows() {
	local pattern=$1

	shift
	evspace "$@" --connect "$bed_entry" --of evspace >"$tap_dir/text" 2>"$tap_dir/err"
	grep -q -e "$pattern" "$tap_dir/text" || { cat "$tap_dir/text" "$tap_dir/err"; return 1; }
}

refuses() {
	local pattern=$1

	shift
	"$@" >/dev/null 2>"$tap_dir/err"
	[ $? -ne 0 ] && grep -q -e "$pattern" "$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}

# The only live run is the program's, whoever else has segments.
program_is_the_only_run() {
	bed_start writer "$top_builddir/tests/writer" "$EVSPACE_DIR/prog" 4 100 1000
	bed_until has_program && evspace view latest --connect "$bed_entry" --count 1 >"$tap_dir/text" 2>&1 &&
		grep -q '^latest of prog,' "$tap_dir/text" || { cat "$tap_dir/text"; return 1; }
	bed_kill TERM writer
}

has_program() {
	[ "$(find "$EVSPACE_DIR/prog" -name '*.seg' | wc -l)" = 4 ]
}

# `evspace runs` marks it, and has it last.
runs_say_so() {
	evspace runs --json >"$tap_dir/text" && tail -n 1 "$tap_dir/text" | grep -q '"run":"evspace".*"monitors":true' &&
		! grep -v '"run":"evspace"' "$tap_dir/text" | grep -q '"monitors":true' || { cat "$tap_dir/text"; return 1; }
}

collect_switches_it() {
	evspace collect --connect "$bed_entry" --identity control --of evspace --class stage count \
		>"$tap_dir/text" 2>&1 || { cat "$tap_dir/text"; return 1; }
	in_vain sizes --deadline 20000 --rate 10 --duration 0.5 || return
	look rates --level thread --count 1 >"$tap_dir/look"
	# its source, a filter and two histograms
	[ "$(counted not_recorded /A/a0/agent stage)" -ge 20 ] && [ "$(counted not_recorded /A/a0/agent gather)" = 0 ] ||
		{ cat "$tap_dir/look"; return 1; }
}

# A killed agent's elements stay, and those of the one after it are told from them.
survives_kill() {
	local before waves

	bed_kill KILL a0 && bed_start a0 evspace agent --pathmap "$bed_dir/maps" --node a0 --monitored &&
		bed_until grep -q 'ready on' "$bed_dir/a0.err" || return
	bed_until whole || { cat "$tap_dir/text"; return 1; }
	before=$(cat "$tap_dir/waves_made")
	in_vain sizes --deadline 20000 --rate 10 --duration 0.5 || return
	waves=$(cat "$tap_dir/waves")
	look rates --level thread --count 1 >"$tap_dir/look"
	[ "$(counted calls /A/a0/agent gather)" -ge "$waves" ] && [ "$(counted calls /A/a0/agent gather)" -le $((waves + 1)) ] &&
		[ "$(counted calls '/A/a0/agent\.[0-9]*' gather)" -ge "$before" ] || { cat "$tap_dir/look"; return 1; }
}

whole() {
	evspace view latest --connect "$bed_entry" --count 1 >"$tap_dir/text" 2>&1 && grep -q '6 of 6\|4 of 4' "$tap_dir/text"
}

# When its owners are dead it is a run as any other.
purged_at_last() {
	local node

	refuses 'are living' evspace purge evspace || return
	for node in $nodes; do
		bed_kill TERM "$node" || return
	done
	[ "$(segments)" -ge 7 ] && evspace purge evspace >"$tap_dir/text" 2>&1 && [ ! -e "$EVSPACE_DIR/evspace" ] ||
		{ cat "$tap_dir/text"; ls -R "$EVSPACE_DIR"; return 1; }
	! grep -H 'Sanitizer\|runtime error' "$bed_dir"/*.err
}

bed_begin
bed_agents $nodes || exit 99
tap_case "nothing is recorded where nobody looks" nothing_recorded
tap_case "agents record while somebody looks, but not the looking" begins_when_looked_at
tap_case "nothing is left when nobody looks any more" ends_when_nobody_looks
tap_case "agents that record from their start" agents_monitored
tap_case "every agent has made the waves that the consumer took" waves_agree
tap_case "what hops received is what children sent" bytes_agree
tap_case "durations and stages are those of the waves" durations_agree
tap_case "rates as text, by view" shows '^/  *gather@sizes' view rates --count 1
tap_case "rates of a level" shows '^/A/a0  *cpu@sizes' view rates --level node --count 1 --top all
tap_case "the slowest" shows 'evspace_wave of [0-9]* inputs* #[0-9]* of sizes' view slowest --backlog --count 1
tap_case "events, with the hosts that were asked" shows 'evspace_ask /B/b0 #[0-9]* of sizes' events --backlog --count 1
tap_case "a histogram" shows '^/ *evspace_wave ' view histogram --backlog --count 1
tap_case "who holds a wave up" names_who_is_late
tap_case "collectors on a path, around a stage and around each other" brackets
tap_case "... measured by evspace perturb --collector" bracketed
tap_case "nothing else is looked at this way" refuses 'cannot be looked at' evspace view rates --of program
tap_case "no program has this name" refuses 'not evspace' evspace run --run evspace -- true
tap_case "the only live run is the program's" program_is_the_only_run
tap_case "runs marks it" runs_say_so
tap_case "its classes are switched as any others" collect_switches_it
tap_case "a killed agent leaves no broken state" survives_kill
tap_case "it is purged when its owners have gone" purged_at_last
tap_done
