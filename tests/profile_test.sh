# SPDX-License-Identifier: BSD-3-Clause
# evspace profile, and --profile: what it remembers, what counts before it, what is wrong with one.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
tls=$EVSPACE_TLS
unset EVSPACE_TLS EVSPACE_CONNECT EVSPACE_ENTRY EVSPACE_RUN EVSPACE_PROFILE
export XDG_CONFIG_HOME=$tap_dir/config HOME=$tap_dir/home
profiles=$XDG_CONFIG_HOME/evspace/profiles

saves() {
	(cd "$bed_dir" && evspace profile save lab --connect "$bed_entry" --tls tls --identity observe --entry front)
}

is_private() {
	[ "$(stat -c %a "$profiles/lab" "$profiles" | tr '\n' ' ')" = '600 700 ' ] || {
		stat -c '%a %n' "$profiles/lab" "$profiles"
		return 1
	}
	grep -q "^tls \"$tls\";" "$profiles/lab" && ! grep -r 'PRIVATE KEY' "$profiles"
}

works_everywhere() {
	tap_says 0 front evspace --profile lab status && tap_says 0 front evspace --profile=lab status &&
		tap_says 0 front evspace status --profile lab && EVSPACE_PROFILE=lab tap_says 0 front evspace status &&
		tap_says 2 "$HOME/.config/evspace/tls" evspace status --connect 127.0.0.1:1
}

# A flag counts before a variable, and that before a profile; of profiles, the last that was named.
precedes() {
	tap_says 3 "at 127.0.0.1:1;" evspace status --profile lab --connect 127.0.0.1:1 &&
		EVSPACE_CONNECT=127.0.0.1:2 tap_says 3 "at 127.0.0.1:2;" evspace status --profile lab &&
		EVSPACE_CONNECT=127.0.0.1:2 tap_says 0 front evspace status --profile lab --connect "$bed_entry" --entry front &&
		tap_says 3 'this is agent "front".* --entry front' evspace status --profile lab --connect "$bed_entry" &&
		EVSPACE_ENTRY=ga tap_says 3 'this is agent "front", not "ga"' evspace status --profile lab &&
		EVSPACE_ENTRY=ga tap_says 0 front evspace status --profile lab --entry front &&
		EVSPACE_TLS=/nowhere tap_says 2 /nowhere evspace status --profile lab &&
		EVSPACE_TLS=/nowhere tap_says 0 front evspace status --profile lab --tls "$tls" &&
		tap_says 2 nobody evspace status --profile lab --identity nobody &&
		EVSPACE_PROFILE=none tap_says 0 front evspace status --profile lab &&
		EVSPACE_PROFILE=none tap_says 0 front evspace --profile lab status &&
		tap_says 2 none evspace --profile lab status --profile none &&
		EVSPACE_CONNECT='' EVSPACE_TLS='' EVSPACE_RUN='' tap_says 0 front evspace status --profile lab
}

run_and_rate() {
	evspace profile save slow --connect "$bed_entry" --entry front --tls "$tls" --run nosuch --rate 4 &&
		# 8 pauses of 250 ms, not of 100 ms
		tap_says 1 'waves ([0-4]\.[0-9]/s)' evspace events --profile slow --wait --duration 3s --csv
}

run_is_asked_for() {
	tap_says 1 '"run":"nosuch"' evspace collect --profile slow --json &&
		EVSPACE_RUN=other tap_says 1 '"run":"other"' evspace collect --profile slow --json &&
		EVSPACE_RUN=other tap_says 1 '"run":"third"' evspace collect --profile slow --json --run third
}

shows() {
	tap_says 0 '^lab$' evspace profile && grep -q "^  connect  $bed_entry$" "$tap_dir/said" &&
		tap_says 0 '"profile":"lab"' evspace profile --json && [ "$(grep -c '"schema":1' "$tap_dir/said")" -eq 2 ]
}

is_replaced() {
	evspace profile save slow --connect "$bed_entry" && [ "$(grep -vc '^#' "$profiles/slow")" -eq 1 ]
}

# wrong TEXT LINE...: a profile with these lines, and what is said of it.
wrong() {
	local text=$1

	shift
	printf '%s\n' "$@" >"$profiles/bad"
	tap_says 2 "$profiles/bad:$text" evspace heartbeat --profile bad
}

bad_files() {
	wrong '2:1: ' 'connect front:7440;' 'conect ga:7440;' && grep -q 'did you mean `connect`' "$tap_dir/said" &&
		wrong '1:9: .*not an address' 'connect front;' &&
		wrong '2:1: ' 'run a;' 'run b;' &&
		wrong '1:6: .*not a rate' 'rate often;' &&
		wrong '1:5: .*not an absolute path' 'tls certs;' &&
		wrong '1:1: ' 'tls;' && head -c 100000 /dev/urandom >"$profiles/bad" &&
		tap_says 2 "$profiles/bad" evspace status --profile bad &&
		tap_says 1 "$profiles/bad" evspace profile && grep -q '^lab' "$tap_dir/said" && rm "$profiles/bad"
}

bad_words() {
	tap_says 2 'there are: lab, slow' evspace status --profile nobody &&
		tap_says 2 'is not a name of a profile' evspace status --profile ../lab &&
		tap_says 2 'is not a name of a profile' evspace profile save a/b --run x &&
		tap_says 2 'there are: lab, slow' evspace profile remove nobody &&
		tap_says 2 'what shall x remember' evspace profile save x &&
		tap_says 2 'not an address' evspace profile save x --connect front &&
		tap_says 2 'No such file' evspace profile save x --tls /nowhere/at/all &&
		tap_says 2 'control characters' evspace profile save x --run $'tab\e[31m' &&
		tap_says 2 'is not a name' evspace profile save x --identity ../../else/secret &&
		mkfifo "$profiles/fifo" && tap_says 2 'is not a file' evspace status --profile fifo && rm "$profiles/fifo" &&
		mkdir "$profiles/folder" && tap_says 2 'is not a file' evspace status --profile folder && rmdir "$profiles/folder" &&
		tap_says 2 'not one of save, remove' evspace profile drop lab &&
		tap_says 2 'save NAME' evspace profile save &&
		tap_says 2 'does not use profiles' evspace --profile lab agent &&
		tap_says 2 'needs a name' evspace --profile && [ ! -e "$profiles/x" ]
}

is_removed() {
	evspace profile remove slow && [ ! -e "$profiles/slow" ] && evspace profile remove lab &&
		tap_says 2 'nor any other; make one: evspace profile save lab' evspace status --profile lab &&
		tap_says 0 'there are no profiles' evspace profile
}

cannot_be_written() {
	XDG_CONFIG_HOME=/proc tap_says 1 'cannot be written' evspace profile save lab --run x
}

# Without $HOME it is where the user's home is by the password file; where that is may not be written to.
without_home() {
	env -u HOME -u XDG_CONFIG_HOME evspace status --connect 127.0.0.1:1 >"$tap_dir/said" 2>&1
	grep -qF "$(getent passwd "$(id -u)" | cut -d: -f6)/.config/evspace/tls" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}

tap_case "a profile is saved" saves
tap_case "a home is known without \$HOME" without_home
tap_case "it is its user's alone, without secrets, and its paths are absolute" is_private
EVSPACE_TLS=$tls bed_agents front ga a0 a1 b0 b1 >"$tap_dir/agents" 2>&1 || { sed 's/^/# /' "$tap_dir/agents"; exit 99; }
tap_case "before and behind the command, and as a variable" works_everywhere
tap_case "flag before variable before profile" precedes
tap_case "how often to look is remembered" run_and_rate
tap_case "so is the run" run_is_asked_for
tap_case "all are shown" shows
tap_case "a profile that is saved again is another one" is_replaced
tap_case "a wrong file is named with line and column" bad_files
tap_case "wrong words are answered with right ones" bad_words
tap_case "a profile is removed" is_removed
tap_case "what cannot be written is said" cannot_be_written
tap_done
