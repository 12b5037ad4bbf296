# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace doctor: what it finds, what it says to do, and that predictions go by what it measures.

. "$top_srcdir/tests/tap.sh"

export EVSPACE_DIR=$tap_dir/space XDG_CONFIG_HOME=$tap_dir/config EVSPACE_TLS=$tap_dir/tls
said=$tap_dir/said
cost=$XDG_CONFIG_HOME/evspace/cost
maps=$top_srcdir/pathmap/examples/local

# doctor CODE OPTION...: it ends with that code.
doctor() {
	local code=$1 status=0

	shift
	evspace doctor "$@" >"$said" 2>&1 || status=$?
	[ "$status" -eq "$code" ] && return
	echo "exit code $status, not $code"
	cat "$said"
	return 1
}

# says PATTERN...: it was printed.
says() {
	tap_printed "$said" -- "$@"
}

all_checks() {
	local check

	for check in folder space clock collector programs 'open files' inotify certificates agent cost; do
		says "^(ok|warn|fail) +$check " || return
	done
}

# Every line is an object with the same members; what is not ok says what to do.
json_lines() {
	doctor 0 --json && ! grep -vE '^\{"schema":1,"check":"[a-z ]+","state":"(ok|warn)","text":".+","remedy":null\}$' "$said" |
		grep -vE '"state":"warn",.*,"remedy":".+"\}$'
}

# The file has every figure, none of them 0.
cost_written() {
	local name

	for name in wake_us latency_us frame_us encrypt_ns copy_ns read_ns stage_ns cold_us cores; do
		grep -qE "^$name [0-9.e-]*[1-9][0-9.e-]*$" "$cost" && continue
		echo "no $name in:"
		cat "$cost"
		return 1
	done
}

predicted() {
	evspace map show "$maps" --view volume | grep '^predicted:'
}

# cpu_us: what a wave is predicted to take, all hosts together.
cpu_us() {
	evspace map show "$maps" --view volume --json | sed -n 's/.*"cpu_us": *\([0-9]*\)[.0-9]*, *"calibrated".*/\1/p'
}

predictions_follow() {
	local before after

	before=$(cpu_us)
	sed -i -E 's/^(wake|frame)_us .*/\1_us 1000/' "$cost"
	after=$(cpu_us)
	[ "$after" -gt "$before" ] && [ "$after" -gt 5000 ] && return
	echo "$before us before, $after us after"
	return 1
}

no_line_of_that() {
	echo "$1" >"$cost"
	evspace map show "$maps" --view volume >"$said" 2>&1
	says "$cost:1: not a line like .wake_us 7.5."
}

tap_case "predictions go by what is built in at first" eval 'predicted | grep -q "by built-in costs"'
tap_case "nothing fails on a host that tests can run on" doctor 0
tap_case "every check says something" all_checks
tap_case "what is missing has a remedy" says '^warn  agent +no agent runs on this host' '^ +-> evspace agent & starts one'
tap_case "what waves cost is written down" cost_written
tap_case "predictions go by that now" eval '! predicted | grep -q "built-in"'
tap_case "they follow the file" predictions_follow
tap_case "JSON" json_lines
tap_case "a file that is damaged is named" no_line_of_that 'wake_us fast'
tap_case "also when it is one long line" no_line_of_that "$(printf 'wake_us 1%0500d' 0)"
tap_case "it is written anew" eval 'doctor 0 && cost_written'
tap_case "an agent that is named and does not answer is a fault" eval \
	'doctor 1 --connect "unix:$tap_dir/nobody.sock" && says "^fail  agent "'
mkdir -p "$EVSPACE_DIR"
chmod 777 "$EVSPACE_DIR"
tap_case "so is a folder that is open to others" eval 'doctor 1 && says "^fail  folder " "name another folder in EVSPACE_DIR"'

# What messages and --help say to type, exists: each command takes the option that is named behind it.
advice() {
	local words command option bad=0

	find "$top_srcdir"/{consumers,node-agent,pathmap,tree} -name '*.c' -exec cat {} + | tr -d '\n\t' | sed 's/" *"//g' |
		grep -oE 'evspace (map [a-z]+|[a-z]+)( [A-Za-z0-9.]+)? --[a-z][a-z-]+' | sort -u >"$tap_dir/advice"
	[ "$(wc -l <"$tap_dir/advice")" -gt 20 ] || return
	while read -r _ words; do
		option=${words##* }
		command=${words%% *}
		[ "$command" != map ] || case $words in "map discover"* | "map apply"*) command=${words% --*} ;; esac
		# shellcheck disable=SC2086 # `map discover` is two words
		evspace ${command% maps} --help 2>&1 | grep -qe "$option" && continue
		echo "evspace $words: there is no $option"
		bad=1
	done <"$tap_dir/advice"
	! grep -rn --include='*.c' 'deploy/certs' "$top_srcdir"/{consumers,node-agent,pathmap,tree} && [ "$bad" -eq 0 ]
}

tap_case "what messages say to type, there is" advice
tap_done
