# SPDX-License-Identifier: BSD-3-Clause
# Tests that who may not control is refused, by real agents, what the public calls of evspace-control.h order, and told why; whatever
# else is asked on the connection is answered.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

certs=$top_srcdir/deploy/certs

# asks IDENTITY WORD...: what came of each is in $tap_dir/said.
asks() {
	local identity=$1

	shift
	timeout -k 5 120 "$top_builddir/tests/asker" "${address:-$bed_entry}" "$identity" "${run-tunnel}" "$bed_dir/maps" "$@" \
		>"$tap_dir/said" 2>&1
}

# said PATTERN...: each is a whole line of it.
said() {
	local pattern

	for pattern; do
		grep -qx -e "$pattern" "$tap_dir/said" || { echo "not said: $pattern"; cat "$tap_dir/said"; return 1; }
	done
}

begun() {
	[ "$(ls "$EVSPACE_DIR/tunnel" | grep -c '\.seg$')" -eq 4 ]
}

# of FAILURE TEXT WORD...: what each of these, and the view, was told.
of() {
	local failure=$1 text=$2 word

	shift 2
	for word; do
		said "$word: $failure: .*$text.*" || return
	done
}

# mode_is MODE: of p2p in all processes, as who may look says.
mode_is() {
	EVSPACE_TLS=$bed_dir/tls EVSPACE_ENTRY=front evspace collect --connect "$bed_entry" --run tunnel --json >"$tap_dir/json" 2>&1 &&
		grep -q "\"class\":\"p2p@world\".*\"mode\":\"$1\",\"processes\":4," "$tap_dir/json" || { cat "$tap_dir/json"; return 1; }
}

# commands_refused IDENTITY TEXT...: of switch, discard, and maps; questions and the view beside are answered.
commands_refused() {
	! asks "$1" status look switch discard map apply try undo &&
		said 'status: fine, node front, .*' 'look: fine, 4 processes, 0 changed' 'map: fine, generation 1, hidden' 'view: fine' &&
		of 'no connection' "$1 may not switch what is collected: $2" switch &&
		of 'no connection' "$1 may not discard what is held: $2" discard &&
		of 'no connection' "$1 may not apply a map: $2" apply try undo &&
		mode_is trace && evspace map diff --connect "$bed_entry" "$bed_dir/maps"
}

another_run_refused() {
	! asks other status look switch discard map try &&
		said 'status: fine, node front, 0 processes' 'map: fine, generation 1, hidden' &&
		of 'no connection' 'other may not see run .tunnel.: its certificate is limited to other runs' view look switch discard &&
		of 'no connection' 'other may not apply a map: its certificate is limited to some runs' try && mode_is trace
}

# Whose runs it may not see, for it there are none.
another_user_finds_nothing() {
	! asks alice look switch discard try &&
		said 'look: fine, 0 processes, 0 changed' 'switch: fine, 0 processes, 0 changed' \
			'discard: fine, 0 processes, 0 changed' &&
		of 'no connection' 'alice may not apply a map: its certificate is limited to some runs' try && mode_is trace
}

control_may() {
	asks control status look switch discard map try && said 'status: fine, node front, .*' 'look: fine, 4 processes, 0 changed' \
		'switch: fine, 4 processes, [1-9][0-9]* changed' 'discard: fine, 4 processes, [1-9][0-9]* changed' \
		'map: fine, generation 1' 'try: fine, generation 1' 'view: fine' && mode_is off &&
		asks control back && mode_is trace
}

# Commands that are given at once, with and without the run's name, are carried out, answered and logged in turn.
in_turn() {
	local words=(switch back tunnel:switch back switch tunnel:back) word said

	said=$(wc -l <"$bed_dir/front.err")
	run='' asks control "${words[@]}" && grep -v '^view: ' "$tap_dir/said" | cut -d, -f1 >"$tap_dir/answers" || { cat "$tap_dir/said"; return 1; }
	printf '%s: fine\n' "${words[@]}" | diff - "$tap_dir/answers" && mode_is trace || return
	for word in 1 2 3; do
		printf 'switch p2p to off\nswitch p2p to trace\n'
	done | diff - <(tail -n "+$((said + 1))" "$bed_dir/front.err" | grep -o 'switch p2p to [a-z]*') || { tail -n 8 "$bed_dir/front.err"; return 1; }
}

no_such_order() {
	! asks control odd stray late && of wrong 'there is no mode 7' odd && of wrong '`p2q` is not a channel' stray &&
		of wrong 'a deadline of 999999 ms; 60000 at most' late && mode_is trace
}

# none FAILURE TEXT IDENTITY: nothing is answered to it, and everything is told why.
none() {
	! asks "$3" status switch discard map try && of "$1" "$2" view status switch discard map try && mode_is trace
}

# Those of another CA: @key is that of the CA that agents know.
of_another_ca() {
	"$certs" init "$tap_dir/other" && "$certs" control "$tap_dir/other" control || return
	EVSPACE_TLS=$tap_dir/other none 'no connection' 'its certificate is from a CA that is not ours; use certificates of one CA on all hosts' control || return
	cp "$EVSPACE_TLS/ca.pem" "$tap_dir/other" &&
		EVSPACE_TLS=$tap_dir/other none 'no connection' 'our certificate is from another CA; use certificates of one CA on all hosts' control
}

# What was in use when it was revoked: the agent closes the connection, and what is asked then is told.
revoked() {
	asks gone status && said 'status: fine, .*' && "$certs" revoke "$EVSPACE_TLS" gone || return
	none wrong 'gone.pem has been revoked; make a new one with: ' gone || return
	# who does not know it yet is told by the agent, which looks at its files now and then
	mkdir -m 700 "$tap_dir/unaware" && cp "$EVSPACE_TLS"/{ca.pem,gone.pem,gone.key} "$tap_dir/unaware" &&
		EVSPACE_TLS=$tap_dir/unaware bed_until none 'no connection' 'revoked' gone
}

mixed() {
	cp "$EVSPACE_TLS/observe.pem" "$EVSPACE_TLS/mixed.pem" && cp "$EVSPACE_TLS/control.key" "$EVSPACE_TLS/mixed.key" &&
		none wrong 'mixed.key is not the key of .*mixed.pem' mixed
}

bed_begin
for limits in "observe gone" "control late --days 0" "control other --run other" "control alice --user alice"; do
	# shellcheck disable=SC2086
	set -- $limits
	"$certs" "$1" "$EVSPACE_TLS" "${@:2}" >>"$bed_dir/certs.log" 2>&1 || exit 99
done
bed_agents front ga a0 a1 b0 b1 || exit 99
bed_start tunnel evspace run --run tunnel -- mpirun -np 4 "$top_builddir/tests/apps/windtunnel" --seconds 100000 --pause 20
bed_until begun || exit 99

tap_case "observers may look, and neither switch, discard nor apply maps" commands_refused observe \
	'its certificate does not have the role for that; make one: evspace-certs control DIR NAME, and say --identity NAME'
tap_case "a certificate for another run controls that alone" another_run_refused
tap_case "... for another user's runs" another_user_finds_nothing
tap_case "control may" control_may
tap_case "... what it orders at once is done in turn" in_turn
tap_case "... modes, patterns and deadlines that there are not are refused" no_such_order
tap_case "an agent's certificate is not for consumers" none 'no connection' \
	'the certificate of agent "a0" is not for consumers; make one: evspace-certs observe DIR NAME, and say --identity NAME' a0
tap_case "one that has ended" none wrong 'late.pem has expired; make a new one with: ' late
tap_case "one that was revoked" revoked
tap_case "one that does not exist" none wrong 'nobody.pem: No such file or directory; make it with: ' nobody
tap_case "one with another's key" mixed
tap_case "one of another CA" of_another_ca
tap_case "no folder of certificates" eval 'EVSPACE_TLS=$tap_dir/nowhere none wrong "nowhere/ca.pem: No such file" control'
tap_case "another agent than is meant" eval 'EVSPACE_ENTRY=ga none "no connection" "this is agent .front., not .ga.; if you mean it, say --entry front" control'
bed_kill TERM tunnel
tap_done
