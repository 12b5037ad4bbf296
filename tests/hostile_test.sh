# SPDX-License-Identifier: BSD-3-Clause
# What somebody with a good certificate can do to an agent, from above and from below: nothing. A client of
# each role and a child say valid frames of random content; an honest peer looks all the while how long the
# agent takes to answer. HOSTILE_SEED=N says the same again, HOSTILE_SECONDS=N for how long (60; `make soak`:
# 3600).

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

seconds=${HOSTILE_SECONDS:-60}
seed=${HOSTILE_SEED:-$((SRANDOM % 32768))}
certs=$top_srcdir/deploy/certs
hostile=$top_builddir/tests/hostile
STALL_MS=100
KB_PEAK=$((400 * 1024)) # what an agent may have at most while they are at it, with what it had before
KB_KEPT=$((24 * 1024))  # … and afterwards

bed_setup() {
	mkdir -p "$bed_dir/pids" "$bed_dir/maps"
	EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
	export EVSPACE_DIR EVSPACE_TLS=$bed_dir/tls EVSPACE_ENTRY=w0
	port=$(bed_ports)
	bed_entry=127.0.0.1:$port
	child=127.0.0.1:$((port + 1))
	echo 'application any { ranks any; }' >"$bed_dir/maps/application.map"
	echo "cluster local { nodes w[0-1]; address 127.0.0.1:[$port-$((port + 1))]; }" >"$bed_dir/maps/cluster.map"
	echo 'entry w0;' >"$bed_dir/maps/mapping.map"
	{ "$certs" init "$EVSPACE_TLS" && "$certs" agent "$EVSPACE_TLS" w0 w1 &&
		"$certs" observe "$EVSPACE_TLS" observe && "$certs" control "$EVSPACE_TLS" control; } >"$bed_dir/certs.log" 2>&1 ||
		{ sed 's/^/# /' "$bed_dir/certs.log"; exit 99; }
}

agent_start() {
	bed_agents w0 || return
	bed_start one "$top_builddir/tests/writer" "$EVSPACE_DIR/one" 2 100 "$((seconds + 600))"
	bed_until eval '[ "$(ls "$EVSPACE_DIR/one" | grep -c "\.seg$")" -eq 2 ]'
}

alive() {
	! bed_gone "$(bed_pid w0)" || { tail -n 20 "$bed_dir/w0.err"; return 1; }
}

# looks: somebody honest is served.
looks() {
	alive && evspace events --connect "$bed_entry" --identity observe --run one --count 1 --csv >"$tap_dir/seen" 2>"$tap_dir/why" ||
		{ cat "$tap_dir/why"; return 1; }
}

kb() {
	sed -n "s/^$1:[^0-9]*\([0-9]*\).*/\1/p" "/proc/$(bed_pid w0)/status"
}

descriptors() {
	ls "/proc/$(bed_pid w0)/fd" | wc -l
}

# --- too deep, never whole ---

deep_frames() {
	"$hostile" deep "$bed_entry" "$EVSPACE_TLS" observe && looks &&
		grep 'a frame header that is malformed, too long or too deep' "$bed_dir/w0.err"
}
deep_child() {
	local code=0

	bed_start w1 "$hostile" deepchild "$child" "$EVSPACE_TLS" w1 "$seed" 600
	bed_until grep -q here "$bed_dir/w1.out" &&
		evspace deploy status "$bed_dir/maps" --connect "$bed_entry" --identity observe >"$tap_dir/all" 2>&1
	grep 'NOT THERE' "$tap_dir/all" && looks || { cat "$tap_dir/all"; return 1; }
	evspace status --connect "$child" --entry w1 --identity observe >"$tap_dir/all" 2>&1 || code=$?
	[ "$code" -eq 3 ] && grep 'too deep' "$tap_dir/all" || { echo "exit code $code"; cat "$tap_dir/all"; return 1; }
}
# No reply to a question, but one to another.
odd_replies() {
	local command

	bed_start w1 "$hostile" swapper "$child" "$EVSPACE_TLS" w1 "$seed" 600
	bed_until grep -q here "$bed_dir/w1.out"
	for command in collect discard; do
		bed_until eval "talks_nonsense $command" || { cat "$tap_dir/all"; return 1; }
	done
}
# Until it is the first that the child says; where replies are lost a sanitizer changes the exit code.
talks_nonsense() {
	local code=0

	evspace "$1" --connect "$child" --entry w1 --identity control --run one >"$tap_dir/all" 2>&1 || code=$?
	grep -q "^evspace $1: .* answers something else; is it of another release?$" "$tap_dir/all" && [ "$code" -eq 3 ]
}
# A refusal is told in the log, quoted in one line: of what never gets there no line could be forged.
forger() {
	bed_start w1 "$hostile" forger "$child" "$EVSPACE_TLS" w1 "$seed" 600
	bed_until grep -q here "$bed_dir/w1.out"
	bed_until eval 'looks; grep -a "^evspace: agent w1 at .*: it says \"x?evspace agent: audit: mallory" "$bed_dir/w0.err"' || { tail "$bed_dir/w0.err"; return 1; }
	not_forged
}
# It says that ranks are there that the new map puts elsewhere, in words of its own.
stays() {
	mkdir -p "$tap_dir/maps"
	cp "$bed_dir/maps"/* "$tap_dir/maps" && echo "$1" >"$tap_dir/maps/cluster.map" && sed -i "s/ranks any;/& ${2-}/" "$tap_dir/maps/application.map"
	evspace map apply "$tap_dir/maps" --dry-run --connect "$bed_entry" --identity control >"$tap_dir/applied" 2>&1
}
stays_not() {
	stays "cluster local { nodes w0; address $bed_entry; }" && grep '^evspace map apply: w1 is not in the new map, but says: x' "$tap_dir/applied" ||
		{ cat "$tap_dir/applied"; return 1; }
}
stays_quoted() {
	! stays "$(cat "$bed_dir/maps/cluster.map")" 'views { window at most 9; }' &&
		grep -a '^evspace agent: audit: control (.*: prepare a map: failed: w1: "x?evspace agent: audit: mallory [^"]*"; nothing has changed$' "$bed_dir/w0.err" ||
		{ cat "$tap_dir/applied"; tail "$bed_dir/w0.err"; return 1; }
}
# Who brings more than any other is missing, with the reason, in each of several views; all that others bring comes.
glutton() {
	local i pids=() kb

	kb=$(kb VmHWM)
	bed_start w1 "$hostile" glutton "$child" "$EVSPACE_TLS" w1 "$seed" 600
	bed_until grep -q here "$bed_dir/w1.out"
	bed_until looks_without_w1 1 || { tail -n 3 "$tap_dir/view1"; return 1; }
	for i in 2 3 4; do
		looks_without_w1 $i &
		pids+=($!)
	done
	for i in 2 3 4; do
		wait "${pids[i - 2]}" || { tail -n 3 "$tap_dir/view$i"; return 1; }
	done
	echo "$kb kB, $(kb VmHWM) kB at most"
	tap_sanitized || [ "$(kb VmHWM)" -le $((kb + KB_KEPT)) ]
}
# looks_without_w1 N. Tuples of w1 would be many: they are not kept.
looks_without_w1() {
	{ timeout 60 evspace events --connect "$bed_entry" --identity observe --run one --deadline 30s --window 8 --rate max --count 8 --csv |
		head -c 1000000 | grep -c /local/w0/; } >"$tap_dir/view$1" 2>&1
	grep -q "^[1-9][0-9]*$" "$tap_dir/view$1" &&
		grep -q '/local/w1 is missing: its part of the wave stands for 64.0 MiB of records, more than any other' "$tap_dir/view$1"
}
only_run() {
	evspace events --connect "$bed_entry" --identity observe --count 1 --csv >"$tap_dir/seen" 2>"$tap_dir/why" || { cat "$tap_dir/why"; return 1; }
}
not_forged() {
	! grep -a "^evspace agent: audit: mallory" "$bed_dir/w0.err" && ! grep -aP "\x1b" "$bed_dir/w0.err"
}
hoarders() {
	local before now

	before=$(kb VmRSS)
	mkfifo "$tap_dir/end"
	"$hostile" hoard "$bed_entry" "$EVSPACE_TLS" "$1" 60 <"$tap_dir/end" >"$tap_dir/hoard" 2>&1 &
	exec 3>"$tap_dir/end"
	bed_until grep -q held "$tap_dir/hoard" && looks || { cat "$tap_dir/hoard"; return 1; }
	now=$(kb VmRSS)
	exec 3>&-
	rm "$tap_dir/end"
	echo "$before kB, $now kB with $(cat "$tap_dir/hoard")"
	[ "$now" -le $((before + 100 * 1024)) ] && bed_until eval '[ "$(descriptors)" -le "$fds" ]'
}

# --- random ---

# besiege: clients of each role, and a child, while somebody looks through the tree, and somebody honest asks.
besiege() {
	local who

	bed_start w1 "$hostile" child "$child" "$EVSPACE_TLS" w1 "$seed" "$seconds"
	bed_until grep -q here "$bed_dir/w1.out"
	bed_start pulse "$top_builddir/tests/pulse" "$bed_entry" "$EVSPACE_TLS" observe "$(bed_pid w0)" "$seconds"
	bed_start looker evspace events --connect "$bed_entry" --identity observe --run one --duration "${seconds}s" --csv
	for who in observe control; do
		bed_start "$who" "$hostile" client "$bed_entry" "$EVSPACE_TLS" "$who" "$((seed + ${#who}))" "$seconds"
	done
	bed_start parent "$hostile" client "$bed_entry" "$EVSPACE_TLS" w1 "$((seed + 1))" "$seconds" w1
	bed_limit=$((seconds + 120))
	for who in observe control parent w1 pulse looker; do
		bed_until bed_gone "$(bed_pid "$who")"
		echo "# $who: $(tail -n 1 "$bed_dir/$who.out" | cut -c 1-200)"
	done
	unset bed_limit
}

quick() {
	local ms

	ms=$(sed -n 's/^\([0-9]*\) ms at most.*/\1/p' "$bed_dir/pulse.out")
	grep 'of [1-9][0-9]* times' "$bed_dir/pulse.out" && [ -n "$ms" ] && [ "$ms" -le "$STALL_MS" ] || { cat "$bed_dir"/pulse.*; return 1; }
}

bed_setup
tap_case "an agent with a child, and a run" agent_start
looks || exit 99
fds=$(descriptors)
tap_case "who nests frames is refused, whichever way" deep_frames
tap_case "... also a child, by agents and by consumers" deep_child
bed_kill TERM w1
tap_case "a reply to something else is no answer" odd_replies
bed_kill TERM w1
tap_case "a line of the log that a child says is quoted in one" forger
tap_case "... in the audit, too, where it says that a map cannot be" stays_quoted
tap_case "... but not of a map without it" stays_not
tap_case "a live run of a child that would be a path is none" only_run
bed_kill TERM w1
tap_case "a child whose few bytes are 64 MiB is left out alone, in each of four views" glutton
bed_kill TERM w1
tap_case "observers hold little by frames that are not whole" hoarders observe
tap_case "... and agents" hoarders w1
kb=$(kb VmRSS)
echo "# HOSTILE_SEED=$seed, $seconds s"
besiege
tap_case "an agent besieged by valid frames is alive, and serves" looks
tap_case "... answered within $STALL_MS ms all the while" quick
peak_is_bounded() {
	echo "$kb kB before, $(kb VmHWM) kB at most"
	[ "$(kb VmHWM)" -le $((kb + KB_PEAK)) ]
}
tap_case "... with bounded memory" peak_is_bounded
given_back() {
	# a sanitizer keeps what was freed
	bed_until eval 'looks; { tap_sanitized || [ "$(kb VmRSS)" -le $((kb + KB_KEPT)) ]; } && [ "$(descriptors)" -le "$fds" ]' ||
		{ echo "$kb kB and $fds descriptors before, $(kb VmRSS) and $(descriptors) now"; return 1; }
}
tap_case "... given back afterwards, as are descriptors" given_back
tap_case "... no line of its log is forged" not_forged
crowd() {
	bed_start crowd "$top_builddir/tests/crowd" "$EVSPACE_DIR/crowd" 40000
	bed_until grep -q made "$bed_dir/crowd.out"
	bed_start pulse "$top_builddir/tests/pulse" "$bed_entry" "$EVSPACE_TLS" observe "$(bed_pid w0)" 4
	bed_until eval '[ "$(descriptors)" -gt "$fds" ]'
	evspace events --connect "$bed_entry" --identity observe --run crowd --backlog --count 2 --deadline 20000 --csv 2>&1 >/dev/null |
		grep '^40,000 tuples delivered.*, 0 lost' || return
	bed_until bed_gone "$(bed_pid pulse)"
	quick
}
tap_case "who opens 40,000 elements, of call sites, gets all of them; it answered all the while" crowd
tap_case "it ends when it is told to, with no error of a sanitizer" eval 'bed_kill TERM w0 && ! grep "Sanitizer\|runtime error" "$bed_dir"/*.err'
echo "# $(cat "$bed_dir/pulse.out")"
tap_done
