# SPDX-License-Identifier: BSD-3-Clause
# Tests what is refused: options, maps, ports, certificates, garbage; one clear message each, and nobody is disturbed.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

certs=$top_srcdir/deploy/certs

# refused CODE TEXT COMMAND...: it ends with CODE, says TEXT on stderr and nothing on stdout.
refused() {
	local code=$1 text=$2 status=0

	shift 2
	timeout -k 5 180 "$@" >"$tap_dir/stdout" 2>"$tap_dir/stderr" || status=$?
	if [ "$status" -ne "$code" ] || [ -s "$tap_dir/stdout" ] || ! grep -qF -e "$text" "$tap_dir/stderr"; then
		echo "exit code $status, not $code, or no '$text' in:"
		cat "$tap_dir/stdout" "$tap_dir/stderr"
		return 1
	fi
}

# usage TEXT COMMAND...: a usage error, in two lines at most, the last of which says how to go on.
usage() {
	refused 2 "$@" && [ "$(wc -l <"$tap_dir/stderr")" -le 2 ] || { cat "$tap_dir/stderr"; return 1; }
}

# unreachable TEXT COMMAND...: no connection, in one line.
unreachable() {
	refused 3 "$@" && [ "$(wc -l <"$tap_dir/stderr")" -eq 1 ] || { cat "$tap_dir/stderr"; return 1; }
}

# no_agent TEXT OPTION...: the agent does not start, and leaves no socket but those of the others.
no_agent() {
	local text=$1 before

	shift
	before=$(ls "$EVSPACE_DIR")
	refused 1 "$text" evspace agent "$@" && [ "$(ls "$EVSPACE_DIR")" = "$before" ]
}

consumer() {
	evspace heartbeat --connect "$bed_entry" --run steady --once --deadline 10000 "$@"
}

begun() {
	[ "$(ls "$EVSPACE_DIR/steady" | grep -c '\.seg$')" -eq 4 ]
}

# what the agent NODE says of those whom it refused
logged() {
	bed_until grep -qF -e "$2" "$bed_dir/$1.err" || { cat "$bed_dir/$1.err"; return 1; }
}

bed_begin
bed_agents front ga a0 a1 b0 b1 || exit 99
port=${bed_entry##*:}
bed_start program evspace run --run steady -- mpirun -np 4 "$top_builddir/tests/apps/windtunnel" \
	--seconds 100000 --pause 10
bed_until begun
bed_start steady evspace events --wait --connect "$bed_entry" --run steady --rate 20 --csv
bed_until test -s "$bed_dir/steady.out"

# --- options ---

for command in agent collect events exec heartbeat map purge run runs status; do
	tap_case "evspace $command: an unknown option" usage "--help" evspace "$command" --nonsense
done
tap_case "an option with a letter missing" usage "there is no option '--conect'; did you mean '--connect'? try 'evspace events --help'" \
	evspace events --conect x
tap_case "the same of run" usage "did you mean '--capacity'?" evspace run --capcity 3 -- true
# obeyed COMMAND...: a terminal would obey what it says.
obeyed() {
	timeout 60 "$@" 2>&1 | LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]'
}
esc=$'x\e]0;mine\a\xc2\x9b2J\r'
# A terminal of 8 bits obeys a byte that is in no character.
only_text() {
	timeout 60 evspace $'\xe9\x9b31m \xc3\xa9\xe2\x82\xac \xe2\x82' 2>&1 | tee "$tap_dir/said" | iconv -f UTF-8 -t UTF-8 >/dev/null &&
		grep -q $'\'??31m \xc3\xa9\xe2\x82\xac ??\'' "$tap_dir/said" || { od -c "$tap_dir/said"; return 1; }
}
tap_case "what is no text is shown as question marks" only_text
tap_case "words of the command line are shown, and not obeyed by a terminal" eval '! obeyed evspace "$esc" && ! obeyed evspace events "--$esc" &&
	! obeyed evspace status "$esc" && ! obeyed evspace map check "$esc" && ! obeyed evspace view "$esc" && ! obeyed evspace events --level "$esc" &&
	! obeyed evspace runs "$esc" && ! obeyed evspace collect "$esc" && ! obeyed evspace --profile "$esc" events && ! obeyed evspace map "$esc"'
tap_case "... what is no control character stays" usage "there is no command 'übermäßig…'" evspace übermäßig…
tap_case "an option that could be several" usage "--connect, --concurrency, --count, --compress: which of these is '--co'" evspace events --co x
tap_case "an option without its value" usage "--connect takes a value, which is missing" evspace events --connect
tap_case "... of several that are alike" usage "--run takes a value, which is missing" evspace profile save lab --run
tap_case "a class that is no option" usage "write: evspace collect --class p2p@world off" evspace collect p2p@world off
tap_case "an option with a value too many" usage "--json takes no value" evspace events --json=1
# What is no budget, weight, frequency or time; each says what is.
for budget in 0 -1% nan inf 101% 1%,all ''; do
	for command in heartbeat events 'view rates' plan; do
		tap_case "evspace $command: a budget of '$budget'" usage "--budget: '$budget' is not a share; write percent above 0 and up to 100" \
			evspace $command --budget "$budget"
	done
done
for weight in 0 -1 nan; do
	tap_case "a consumer's weight of $weight" usage "'$weight' is not a weight; write a number from 0.01 to 100" evspace heartbeat --weight "$weight"
done
for weight in -1 nan; do
	tap_case "a class's weight of $weight" usage "the weight \"$weight\" is " evspace plan --budget 1% --weight p2p="$weight"
	tap_case "the same of its least frequency" usage "the minimum \"$weight\" is " evspace plan --budget 1% --minimum p2p="$weight"
done
for rate in 0 -1 nan; do
	tap_case "a rate of $rate" usage "'$rate' is not a rate; write waves per second" evspace tune --rates 10,"$rate"
done
tap_case "a class that is none" usage "'fast' is not a class of operations" evspace tune --classes p2p,fast
tap_case "a mode that is none" usage "'fast' is not a mode: they are trace" evspace tune --modes trace,fast
tap_case "an urgency that is none" usage "it is idle, batch or normal" evspace tune --urgencies idle,eager
for window in 0 65; do
	tap_case "$window waves under way" usage "$window\` is not a number from 1 to 64" evspace tune --windows 1,"$window"
done
tap_case "a frequency of 0" usage "the frequency \"0\" is not above 0" evspace plan table --max-frequency 0
tap_case "an experiment of no time" usage "--ab: it must be longer than that, such as 500ms" evspace perturb --ab 0
tap_case "... or with blocks of none" usage "--block: it must be longer than that" evspace tune --block 0s
tap_case "evspace map alone lists what there is" usage "check, show, suggest, discover, diff, apply or rollback" evspace map
tap_case "evspace map: a letter missing" usage "did you mean 'suggest'?" evspace map sugest maps
tap_case "a channel that is none" usage 'not a channel; did you mean `/**/p2p.MPI_Send`' evspace events --select '/**/p2pp.MPI_Send'
tap_case "a name that ends above channels" usage 'write `/**/rank3/**`' evspace events --select '/**/rank3'
tap_case "an unknown command" usage "there is no command 'evnts'; did you mean 'events'" evspace evnts
tap_case "a level that is none" usage "--level: 'host' is not one of thread, node, cluster" evspace view rates --level host
tap_case "a rate that is none" usage "'fast' is not a rate" evspace events --rate fast
tap_case "a count that is none" usage '`-1` is not a number from 1' evspace heartbeat --count -1
tap_case "a time of nothing" usage "--duration: '0' is not a time to look" evspace heartbeat --duration 0
tap_case "... of events, too" usage "--duration: '0s' is not a time to look" evspace events --duration 0s
tap_case "a wait that no agent grants" usage "--deadline: '61s' is longer than 60 s, the most that a wave waits for hosts" \
	evspace view latest --deadline 61s
tap_case "a launcher's options in front of it" usage "there is no option '-np'; did you mean: evspace run -- mpirun -np 2 …?" \
	evspace run -np 4 true
tap_case "short options behind another" usage "there is no option '-np'" evspace events --json -np
tap_case "no name of a profile" usage "--profile needs a name" evspace --profile
tap_case "an option before the command" usage "there is no option '--conect' before a command" evspace --conect x heartbeat
tap_case "a short one there" usage "there is no option '-V' before a command" evspace -V
tap_case "a time that is none" usage '`soon` is not a time' evspace agent --retention soon
tap_case "a pattern that is none" usage "--select" evspace events --select 'rank['
tap_case "a capacity that is none" usage "--capacity many" evspace run --capacity many -- true
for command in collect discard status; do
	for option in --rate --window --count --duration; do
		tap_case "evspace $command: $option means nothing there" \
			usage "there is no option '$option'" evspace "$command" "$option" 5
	done
	tap_case "evspace $command --help lists only what it takes" eval \
		'evspace $command --help | grep -q -e "^  --connect" && ! evspace $command --help | grep -e "^  --rate" -e "^  --count"'
done
for command in archive collect discard element entropy mir perturb plan purge runs status tune; do
	tap_case "evspace $command says why it takes no archive" usage "it takes no archive (--from): " evspace "$command" --from "$tap_dir"
	tap_case "evspace $command --help does not have it" eval '! evspace $command --help | grep -e "^  --from" -e "^  --speed"'
done
fits() {
	! "$@" --help | LC_ALL=C.UTF-8 grep '.\{81\}'
}
tap_case "evspace --help has 80 columns" fits evspace
for command in $(evspace --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
	tap_case "evspace $command --help has 80 columns" fits evspace "$command"
done
tap_case "evspace status: --view means nothing there" usage "there is no option '--view'" evspace status --view events
tap_case "no program" usage "which program?" evspace run
tap_case "a word too many" usage "'extra' is not wanted here; try" evspace status extra
tap_case "an archive and an agent" usage "--from is an archive, and --connect an agent" evspace colop --from "$tap_dir" --connect 127.0.0.1:1
tap_case "--keep without a unit" usage "'10' has no unit: a size is as 10G, a time as 7d" evspace archive --keep 10 "$tap_dir/none"
tap_case "a run without --run" usage "'solver' is not wanted here; did you mean '--run solver'? try" evspace heartbeat solver
tap_case "a view that does not exist" usage "no view \`nonsense\`; there are volume" \
	evspace events --connect "$bed_entry" --view nonsense
# Where hosts are many, one that has no such run cannot say that nobody has it.
bed_start alone evspace agent --node alone
bed_until bed_ready alone
tap_case "a run that does not exist, and those that do" refused 1 "there is no run nonsense; there are steady" \
	evspace events --connect "unix:$EVSPACE_DIR/agent-alone.sock" --run nonsense
# One rule for all commands: a run that nobody has is found out by looking, so it is bad news.
for entry in "unix:$EVSPACE_DIR/agent-alone.sock" "$bed_entry"; do
	for command in heartbeat 'heartbeat --check --count 2' events 'view rates' 'events --wait --duration 1' 'view rates --wait --duration 1' \
		collect 'collect --identity control off' 'discard --identity control' \
		'map discover --identity control'; do
		tap_case "evspace $command, of ${entry/$EVSPACE_DIR/…}: a run that does not exist" \
			refused 1 '' sh -c "evspace $command --connect '$entry' --run nonsense >&2"
	done
done
tap_case "evspace purge: a run that does not exist" refused 1 "there is no run nonsense" evspace purge nonsense
tap_case "evspace map discover: the same of this host" refused 1 "there is no run nonsense in " evspace map discover --run nonsense
tap_case "a view with a letter too many" usage 'no view `ratess`; did you mean `rates`?' \
	evspace view ratess --connect "unix:$EVSPACE_DIR/agent-alone.sock"
tap_case "several agents on this host" usage "say which with --connect: unix:" evspace events
tap_case "an agent that is not the entry" usage "the entry of its pathmap is front: connect to $bed_entry" \
	evspace events --connect "127.0.0.1:$((port + 1))" --entry ga

# --- what is said ---

# unwritten COMMAND...: what cannot be written is told, in one line of its own.
unwritten() {
	local status=0

	timeout -k 5 180 "$@" >/dev/full 2>"$tap_dir/stderr" || status=$?
	[ "$status" -eq 1 ] && [ "$(grep -c "^evspace.*: cannot write the output: No space left on device$" "$tap_dir/stderr")" -eq 1 ] ||
		{ echo "exit code $status"; cat "$tap_dir/stderr"; return 1; }
}
for command in --help 'run --help' runs 'runs --json' 'map show pathmap/examples/local' \
	"heartbeat --connect $bed_entry --once" "heartbeat --connect $bed_entry --json --count 2" \
	"status --connect $bed_entry" "collect --connect $bed_entry --json" "view rates --connect $bed_entry --count 2" \
	"events --connect $bed_entry --csv --duration 1s"; do
	tap_case "evspace ${command/$bed_entry/…} on a full disk" eval "cd $top_srcdir && unwritten evspace $command"
done
tap_case "who does not read to the end is not told" eval \
	'evspace events --connect "$bed_entry" --csv --duration 1s 2>"$tap_dir/stderr" | head -n 1 >"$tap_dir/seen" && ! grep "cannot write" "$tap_dir/stderr"'
# Nor is a line of usage or an example wrapped.
wide() {
	local command

	for command in "" "map apply" "map discover" agent collect deploy discard doctor entropy events exec heartbeat map perturb plan profile purge run runs status tune view; do
		evspace $command --help | LC_ALL=C.UTF-8 awk '
			length > 80 || (FNR > 1 && !text && !/^(       evspace |$)/) || (example && /^  --/) { print; n = 1 }
			/^$/ { text = 1; example = 0 }
			/^examples:/ { example = 1 }
			END { exit n }' || return
	done
}
tap_case "help texts have 80 columns" wide
tap_case "the folder as JSON" eval '[ "$(evspace runs --folder --json)" = "{\"schema\":1,\"folder\":\"$EVSPACE_DIR\"}" ]'
switches_nothing() {
	evspace collect --connect "$bed_entry" --identity control --run steady --class p2p@deadbeef off >"$tap_dir/seen" 2>&1
	grep -q 'audit: control .*: switch p2p@deadbeef to off in run "steady": nothing to do, ' "$bed_dir/front.err" ||
		{ cat "$tap_dir/seen" "$bed_dir/front.err"; return 1; }
}
tap_case "a switch of nothing is logged as such" switches_nothing

# --- maps ---

tap_case "no map" no_agent "/nonexistent: No such file or directory; a pathmap is a directory with" \
	--pathmap /nonexistent --node a0
tap_case "... is said once" eval '[ "$(wc -l <"$tap_dir/stderr")" -eq 1 ]'
cp -r "$bed_dir/maps" "$bed_dir/broken"
echo 'cluser X { nodes x; }' >>"$bed_dir/broken/cluster.map"
tap_case "a map with a mistake: file, line, column, and what would be right" \
	no_agent "$bed_dir/broken/cluster.map:14:1: unknown word in \`cluster.map\`: \`cluser\`; did you mean \`cluster\`?" \
	--pathmap "$bed_dir/broken" --node a0
tap_case "a node that is in no map" no_agent "has no node 'nobody'" --pathmap "$bed_dir/maps" --node nobody

# --- addresses ---

tap_case "an agent of this node is there already" no_agent "agent-a0.sock is in use by pid $(bed_pid a0)" \
	--pathmap "$bed_dir/maps" --node a0
mkdir -m 700 "$bed_dir/elsewhere"
tap_case "a port in use" refused 1 "port $port is in use" \
	env EVSPACE_DIR="$bed_dir/elsewhere" evspace agent --pathmap "$bed_dir/maps" --node front
tap_case "its socket is not left behind" eval '[ -z "$(ls "$bed_dir/elsewhere")" ]'
tap_case "no agent at a port" unreachable "no agent listens at 127.0.0.1:$((port + 7)); start one there" \
	evspace events --connect "127.0.0.1:$((port + 7))"
tap_case "no agent at a socket" unreachable "no agent listens at unix:$EVSPACE_DIR/none.sock" \
	evspace events --connect "unix:$EVSPACE_DIR/none.sock"
tap_case "no agent on this host" unreachable "start one with 'evspace agent'" \
	env EVSPACE_DIR="$bed_dir/elsewhere" evspace events
tap_case "what is no address" usage '"127.0.0.1" is not an address; write HOST:PORT' \
	evspace events --connect 127.0.0.1
tap_case "what is no address, without any certificate" usage '"" is not an address' \
	env -u EVSPACE_TLS HOME="$bed_dir/elsewhere" evspace status --connect ''
tap_case "a node without a name" usage "--node: an empty name" evspace agent --node ''
tap_case "a port that is none" usage "--listen: \"a:b\" is not an address" evspace agent --listen a:b
tap_case "two formats" usage "--json or --csv, not both" evspace events --json --csv
tap_case "messages of options say who speaks" refused 2 "evspace events: there is no option" evspace events --nonsense
tap_case "a mode that is none" usage "--modes p2p=fast" evspace run --modes p2p=fast -- true
tap_case "one of several that is none, and the good ones" \
	refused 2 "--modes wait=count,p2p=fast: 'p2p=fast' is not understood; it must be trace, time, count, sample, off, or 1/2 to 1/65536" \
	evspace run --modes wait=count,p2p=fast -- true
tap_case "a channel that is none, and the good ones" refused 2 "(channels: p2p, collective, wait," \
	evspace run --modes send=off -- true
for setting in reserve threads quota elements lifetimes; do
	tap_case "--$setting that is none" refused 2 "--$setting none: not understood" evspace run "--$setting" none -- true
	tap_case "the same of exec" refused 125 "--$setting none: not understood" evspace exec "--$setting" none -- true
done
tap_case "a quota that nothing fits into, its unit and the least" \
	refused 2 "it must be a size of at least 64kB, such as 500M, 2G or 64MiB; a number alone is one of bytes" evspace run --quota 1 -- true
check_of_nobody() {
	local status=0

	evspace heartbeat --connect "$bed_entry" --run nobody --check --count 2 >"$tap_dir/nobody" || status=$?
	[ "$status" -eq 1 ] && grep -q 'nobody has run nobody' "$tap_dir/nobody" || { echo "$status"; cat "$tap_dir/nobody"; return 1; }
}
tap_case "a check of a run that nobody has is bad news" check_of_nobody

# --- certificates ---

{ "$certs" init "$bed_dir/other" && "$certs" observe "$bed_dir/other" observe &&
	"$certs" agent "$bed_dir/other" b1 && "$certs" observe "$EVSPACE_TLS" late --days 0 &&
	"$certs" agent "$bed_dir/other" late --days 0; } >"$bed_dir/certs.log" 2>&1
# One that the CA has signed, without a word of what it is for.
(cd "$EVSPACE_TLS" &&
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout plain.key \
		-subj /CN=plain -config /dev/null -out plain.csr &&
	openssl x509 -req -in plain.csr -CA ca.pem -CAkey ca.key -sha256 -days 20 -out plain.pem &&
	chmod 600 plain.key plain.pem) >>"$bed_dir/certs.log" 2>&1

tap_case "no certificate, for a consumer" usage "/ca.pem: No such file or directory; make it with: evspace-certs" \
	env -u EVSPACE_TLS HOME="$bed_dir/elsewhere" evspace events --connect "$bed_entry"
# The node's own agent would be in its way first.
tap_case "no certificate, for an agent" refused 1 "needs a certificate: make one with 'evspace-certs agent" \
	env -u EVSPACE_TLS EVSPACE_DIR="$bed_dir/elsewhere" evspace agent --pathmap "$bed_dir/maps" --node b1
tap_case "no such identity" usage "/nobody.pem: No such file or directory; make it with: evspace-certs" \
	evspace events --connect "$bed_entry" --identity nobody
tap_case "another CA" unreachable "from a CA that is not ours; use certificates of one CA on all hosts" \
	evspace events --connect "$bed_entry" --tls "$bed_dir/other"
tap_case "the agent says so, too" logged front "our certificate is from another CA"
tap_case "an expired certificate" usage "late.pem has expired; make a new one with: evspace-certs" \
	evspace events --connect "$bed_entry" --identity late
tap_case "a certificate without a role" unreachable 'the certificate of "plain" gives no role' \
	evspace events --connect "$bed_entry" --identity plain
tap_case "an agent's certificate does not observe" unreachable 'the certificate of agent "a0" is not for consumers' \
	evspace events --connect "$bed_entry" --identity a0
tap_case "a control certificate does" consumer --identity control
cp -r "$EVSPACE_TLS" "$bed_dir/open" && chmod 644 "$bed_dir/open/observe.key"
tap_case "a key that others can read" usage "chmod 600" \
	evspace events --connect "$bed_entry" --tls "$bed_dir/open"

# Of an agent with a certificate of another CA the tree says that it is missing, and why.
bed_kill TERM b1
bed_start b1 evspace agent --pathmap "$bed_dir/maps" --node b1 --tls "$bed_dir/other"
bed_until bed_ready b1
leaf_is_missing() {
	consumer >"$tap_dir/seen" 2>&1 && grep -q 'missing: /B/b1, unreachable' "$tap_dir/seen" &&
		[ "$(grep -c '^/[AB]/[ab][01]/rank[012]/' "$tap_dir/seen")" -eq 3 ] || { cat "$tap_dir/seen"; return 1; }
}
tap_case "an agent of another CA is missing, the others answer" leaf_is_missing
# Trees go by cluster: b0 connects to b1.
tap_case "the agent above says why" logged b0 "from a CA that is not ours"
bed_kill TERM b1
bed_agents b1

# --- garbage ---

# sends BYTES...: to the entry's port, whatever becomes of it.
sends() {
	{ exec 3<>"/dev/tcp/127.0.0.1/$port" && "$@" >&3; cat <&3; exec 3>&-; } >/dev/null 2>&1
	return 0
}

tls_client() {
	timeout 10 openssl s_client -connect "$bed_entry" "$@" </dev/null >/dev/null 2>&1
}

all_are_seen() {
	consumer >"$tap_dir/seen" 2>&1 && [ "$(grep -c '^/[AB]/[ab][01]/rank[0-3]/' "$tap_dir/seen")" -eq 4 ]
}

# On a busy machine a host may be late once.
still_serves() {
	bed_limit=20 bed_until all_are_seen || { cat "$tap_dir/seen"; return 1; }
}

sends head -c 100000 /dev/urandom
sends printf 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
tap_case "HTTP is refused" logged front "does not speak TLS"
sends head -c 100000 /dev/zero
tap_case "TLS 1.2 is refused" eval '! tls_client -tls1_2'
tap_case "the agent says why" logged front "it does not speak TLS 1.3"
tls_client
tap_case "TLS without a certificate is refused" logged front "it showed no certificate"
tls_client -cert "$bed_dir/other/late.pem" -key "$bed_dir/other/late.key"
head -c 100000 /dev/urandom | timeout 10 openssl s_client -quiet -connect "$bed_entry" \
	-cert "$EVSPACE_TLS/observe.pem" -key "$EVSPACE_TLS/observe.key" >/dev/null 2>&1
tap_case "garbage with a good certificate is refused" logged front "sent what cannot be understood"
tls_client -cert "$EVSPACE_TLS/late.pem" -key "$EVSPACE_TLS/late.key"
tap_case "an expired certificate is seen by the agent as well" logged front "expired"
tap_case "the entry agent still serves" still_serves

# Connections that say nothing may take all places for those without proof, but not for long.
(for ((i = 0; i < 80; i++)); do
	exec {fd}<>"/dev/tcp/127.0.0.1/$port"
done 2>/dev/null; exec sleep 60) &
silent=$!
tap_case "eighty silent connections do not lock others out" still_serves
kill "$silent"

memory() {
	[ "$(awk '$1 == "Pss:" { print $2 }' "/proc/$(bed_pid front)/smaps_rollup")" -lt 32768 ]
}
tap_memory "the entry agent has not grown" memory

# --- all the while ---

undisturbed() {
	bed_ended steady 0 && ! grep -i 'unaccounted\|reconnection' "$bed_dir/steady.err" &&
		grep ' 4 hosts' "$bed_dir/steady.err"
}
kill -TERM "$(bed_pid program)"
bed_wait program
kill -INT "$(bed_pid steady)"
bed_wait steady
tap_case "a consumer that was there all the while was not disturbed" undisturbed
for node in front ga a0 a1 b0 b1 alone; do
	bed_kill TERM "$node"
done
tap_case "agents that ended leave no sockets" eval '! ls "$EVSPACE_DIR"/*.sock 2>/dev/null'
tap_case "purge --all leaves nothing" eval 'evspace purge --all && [ -z "$(ls -A "$EVSPACE_DIR")" ]'
tap_done
