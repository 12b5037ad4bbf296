# SPDX-License-Identifier: BSD-3-Clause
# What somebody without the right certificate, or another user of the host, can do to an agent: nothing,
# and without filling its log, its memory or its places. What refuse_test, tls_test and listener_test try
# is not tried again here.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

certs=$top_srcdir/deploy/certs
attacker=$top_builddir/tests/attacker
KB_MORE=1024 # what an agent may have more after 12,000 connections than after 1,000
other=64123     # a user that this host does not know

# --- the bed: one agent with a certificate, two runs of a program ---

attack_begin() {
	mkdir -p "$bed_dir/pids"
	EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
	export EVSPACE_DIR EVSPACE_TLS=$bed_dir/tls EVSPACE_ENTRY=w0
	port=$(bed_ports)
	bed_entry=127.0.0.1:$port
	{ "$certs" init "$EVSPACE_TLS" && "$certs" agent "$EVSPACE_TLS" w0 w1 &&
		"$certs" observe "$EVSPACE_TLS" observe eve && "$certs" control "$EVSPACE_TLS" control &&
		"$certs" observe "$EVSPACE_TLS" one --run one && "$certs" control "$EVSPACE_TLS" two --run two &&
		"$certs" observe "$EVSPACE_TLS" mine --user "$(id -un)" &&
		"$certs" observe "$EVSPACE_TLS" other --user nobody; } >"$bed_dir/certs.log" 2>&1 ||
		{ sed 's/^/# /' "$bed_dir/certs.log"; exit 99; }
}

agent_start() {
	bed_start w0 evspace agent --node w0 --listen "$bed_entry" --tls "$bed_dir/tls" "$@"
	bed_until bed_ready w0 && grep 'ready on' "$bed_dir/w0.err" || { cat "$bed_dir/w0.err"; return 1; }
}

runs_start() {
	bed_start one "$top_builddir/tests/writer" "$EVSPACE_DIR/one" 2 100 900
	bed_start two "$top_builddir/tests/writer" "$EVSPACE_DIR/two" 2 100 900
	bed_until eval '[ "$(ls "$EVSPACE_DIR/one" "$EVSPACE_DIR/two" | grep -c "\.seg$")" -eq 4 ]'
}

# looks NAME [OPTION...]: with that certificate, one look at the last events.
looks() {
	evspace events --connect "$bed_entry" --identity "$1" --count 1 --csv "${@:2}" >"$tap_dir/seen" 2>"$tap_dir/why"
}

# sees NAME [OPTION...]: it does.
sees() {
	looks "$@" || { cat "$tap_dir/seen" "$tap_dir/why"; return 1; }
}

# refuses TEXT NAME [OPTION...]: it does not, and is told why.
refuses() {
	local text=$1

	shift
	! looks "$@" && grep -F -e "$text" "$tap_dir/why" || { cat "$tap_dir/seen" "$tap_dir/why"; return 1; }
}

# The agent's log has that line.
logged() {
	bed_until grep -q -e "$1" "$bed_dir/w0.err" || { tail "$bed_dir/w0.err"; return 1; }
}

lines() {
	wc -l <"$bed_dir/w0.err"
}

# no_more_lines BEFORE MOST: the log has grown by no more than that.
no_more_lines() {
	local now

	now=$(lines)
	[ $((now - $1)) -le "$2" ] || { tail -n $((now - $1)) "$bed_dir/w0.err"; return 1; }
}

sizes() {
	echo "$(ls "/proc/$(bed_pid w0)/fd" | wc -l)" \
		"$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$(bed_pid w0)/status")"
}

kb_are() {
	[ "$(sizes | cut -d" " -f2)" -le "$1" ]
}

descriptors_are() {
	[ "$(ls "/proc/$(bed_pid w0)/fd" | wc -l)" -le "$1" ]
}

attack_begin
runs_start
tap_case "an agent with a certificate" agent_start
tap_case "serves who has one" sees observe --run one
tap_case "and who may control" sees control --run two

# --- roles, and what they are limited to ---

tap_case "limited to a run: sees it" sees one --run one
tap_case "... and no other" refuses "may not see run 'two'" one --run two
tap_case "... also when it does not name it" sees one
tap_case "... it is that one" eval 'evspace status --connect "$bed_entry" --identity one --json >"$tap_dir/status" &&
	grep -q "\"one\"" "$tap_dir/status" && ! grep "\"two\"" "$tap_dir/status"'
tap_case "limited to users: sees their runs" sees mine --run two
tap_case "... another's certificate does not" refuses "limited to other runs" other --run two
tap_case "... nor a word of them in the status" eval '
	evspace status --connect "$bed_entry" --identity other --json >"$tap_dir/status" && ! grep "\"one\"\|\"two\"" "$tap_dir/status"'
switches() {
	evspace collect --connect "$bed_entry" --identity "$1" --run "$2" --class p2p "$3" >"$tap_dir/switched" 2>&1
}
tap_case "control limited to a run switches there" switches two two off
# Who may not look at the monitors does not have them record either.
no_monitors() {
	refuses "limited to other runs" one --of evspace && [ ! -e "$EVSPACE_DIR/evspace" ]
}
tap_case "... not at the monitors, which do not record for it" no_monitors
# counted NAME: processes and elements that the table of all agents counts for that certificate.
counted() {
	mkdir -p "$bed_dir/alone"
	echo 'application any { ranks any; }' >"$bed_dir/alone/application.map"
	echo 'cluster local { nodes w0; }' >"$bed_dir/alone/cluster.map"
	echo 'entry w0;' >"$bed_dir/alone/mapping.map"
	evspace deploy status "$bed_dir/alone" --connect "$bed_entry" --tls "$EVSPACE_TLS" --identity "$1" --json |
		sed -n 's/.*"processes":\([0-9]*\),"elements":\([0-9]*\),.*/\1 \2/p'
}
only_its_own_are_counted() {
	[ "$(counted observe)" = '4 8' ] && [ "$(counted one)" = '2 4' ] && [ "$(counted other)" = '0 0' ] ||
		{ echo "$(counted observe), $(counted one), $(counted other)"; return 1; }
}
tap_case "... what it may not see is not counted" only_its_own_are_counted
tap_case "... and nowhere else" eval '! switches two one off && grep -F "may not see run" "$tap_dir/switched"'
tap_case "who did what, from where, and what came of it is logged" \
	logged 'audit: two (127\.0\.0\.1:[0-9]*): switch p2p to off in run "two": done, 2 processes on 1 of 1 host$'
tap_case "... also what failed" logged 'audit: two (127.*): switch p2p to off in run "one": failed: two may not see run'
tap_case "a discard is logged" eval 'evspace discard --connect "$bed_entry" --identity control --run two >/dev/null 2>&1
	logged "audit: control (127.*): discard what is held of run \"two\": done, 2 processes"'
tap_case "... the name of a run is no part of the line" eval '! switches two "x: done, 9 processes" off
	logged "audit: two (127.*): switch p2p to off in run \"x: done, 9 processes\": failed: two may not see run"'
no_such_name() {
	! switches control ../two off && grep -F "cannot be the name of a run" "$tap_dir/switched" && ! grep 'audit: .*\.\./two' "$bed_dir/w0.err"
}
tap_case "... what cannot be one is refused before that" no_such_name
no_orders() {
	"$attacker" orders "$bed_entry" "$EVSPACE_TLS" "$1" >"$tap_dir/orders" 2>&1 &&
		[ "$(grep -c '^refused: ' "$tap_dir/orders")" -eq 8 ] && ! grep granted "$tap_dir/orders" ||
		{ cat "$tap_dir/orders"; return 1; }
}
tap_case "observe asks for control, and for what agents ask: refused, each" no_orders observe
tap_case "... logged as failures, with who and from where" \
	logged 'audit: observe (127\.0\.0\.1:[0-9]*): .*: failed: observe may not '
no_grant() {
	# It may roll a map back, but there is none; what agents may, it may not.
	"$attacker" orders "$bed_entry" "$EVSPACE_TLS" control >"$tap_dir/orders" 2>&1
	[ "$(grep -c 'refused: control may not .* parts' "$tap_dir/orders")" -eq 3 ] || { cat "$tap_dir/orders"; return 1; }
}
tap_case "control asks for what agents ask: refused" no_grant
no_other_runs() {
	"$attacker" orders "$bed_entry" "$EVSPACE_TLS" two >"$tap_dir/orders" 2>&1
	grep -q 'refused: two may not switch what is collected: its certificate is limited to some runs' "$tap_dir/orders" || { cat "$tap_dir/orders"; return 1; }
}
tap_case "control limited to a run asks for elements of all: refused" no_other_runs
tap_case "failures in plenty are rationed" eval '
	for ((i = 0; i < 20; i++)); do no_orders observe || exit 1; done
	[ "$(grep -c "audit: observe (.*failed" "$bed_dir/w0.err")" -le 12 ] || { grep audit "$bed_dir/w0.err"; exit 1; }'
# One that is refused over and over has used up what is said of it, not what is said of others.
of_others() {
	local before

	before=$(grep -c 'audit: two (.*failed' "$bed_dir/w0.err")
	! evspace collect --connect "$bed_entry" --identity two --run one --class p2p off >"$tap_dir/why" 2>&1 &&
		bed_until eval '[ "$(grep -c "audit: two (.*failed" "$bed_dir/w0.err")" -eq $((before + 1)) ]' || { cat "$tap_dir/why"; grep audit "$bed_dir/w0.err"; return 1; }
}
tap_case "... and what others do is told all the same" of_others
unknown_limit() {
	(cd "$EVSPACE_TLS" && printf 'subjectAltName=URI:evspace:role=observe,URI:evspace:hours=9-17\nextendedKeyUsage=clientAuth\n' >ext &&
		openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout later.key -subj /CN=later -out later.csr -config /dev/null &&
		openssl x509 -req -in later.csr -CA ca.pem -CAkey ca.key -days 2 -extfile ext -out later.pem && chmod 600 later.*) || return
	refuses "limited in a way that is not known here" later
}
tap_case "a limit that is not understood lets nobody in" unknown_limit

# --- another agent of the same CA, which no map puts above this one ---

# as_agent GRANTED REFUSED: w1 asks for everything; so many times it gets it, and not.
as_agent() {
	"$attacker" agent "$bed_entry" "$EVSPACE_TLS" w1 >"$tap_dir/orders" 2>&1 &&
		[ "$(grep -c '^granted: ' "$tap_dir/orders")" -eq "$1" ] && [ "$(grep -c '^refused: ' "$tap_dir/orders")" -eq "$2" ] ||
		{ cat "$tap_dir/orders"; return 1; }
}
tap_case "another agent's certificate opens, orders and discards nothing" eval 'as_agent 0 8 &&
	[ "$(grep -c "refused: agent w1 may not stand above w0.*--above w1" "$tap_dir/orders")" -eq 3 ] || { cat "$tap_dir/orders"; exit 1; }'
tap_case "... and is named in the log" logged '127\.0\.0\.1:[0-9]*: agent w1 may not stand above w0: '
# Views that are none are refused one by one, and who has sent them is served like anybody.
defines() {
	"$attacker" defines "$bed_entry" "$EVSPACE_TLS" observe >"$tap_dir/defined" 2>&1 &&
		grep 'refused: --define: 90000 bytes; the text of a view has 4096 at most' "$tap_dir/defined" &&
		grep 'refused: --define:1:77: more than 8 stages' "$tap_dir/defined" &&
		grep 'refused: --define:1:7: a zero byte' "$tap_dir/defined" &&
		grep 'refused: --define:1:5: the byte 0xff is not UTF-8' "$tap_dir/defined" &&
		grep 'refused: --define:1:.*: more than 16 blocks in one another\|refused: --define:1:1: `view`' "$tap_dir/defined" &&
		[ "$(grep -c '^refused: ' "$tap_dir/defined")" -eq 5 ] && [ "$(grep -c '^granted: a frame of kind 3' "$tap_dir/defined")" -eq 1 ] ||
		{ cat "$tap_dir/defined"; return 1; }
}
tap_case "views that nobody would define" defines

# large TEXT: w1 selects by many patterns, and asks with a large part; so it is answered.
large() {
	"$attacker" large "$bed_entry" "$EVSPACE_TLS" w1 >"$tap_dir/large" 2>&1
	grep "refused: more than 256 patterns" "$tap_dir/large" && grep "$1" "$tap_dir/large" || { cat "$tap_dir/large"; return 1; }
}
tap_case "... may say no more than a consumer, which is seen before it is unpacked" \
	large "refused: .*kind 8 with a header of 6.* does not know it as one that may stand above it"
bed_kill TERM w0
agent_start --above w1 >/dev/null
tap_case "... parents may, but for patterns beyond count" large "granted: a frame of kind 9"
tap_case "... nor order more classes at once than the command does" large "refused: 65 classes in one command; at most 64 are possible"
tap_case "... and no more functions" large "refused: 1025 functions in one command; at most 1024 are possible"
tap_case "... nor experiments of more arms than there can be" large "refused: 9 arms in one command; at most 8 are possible"
tap_case "unless this one was started with --above" as_agent 3 5
tap_case "... the audit has who it is, beside whom it names" \
	logged 'audit: relayed by w1 (127\.0\.0\.1:[0-9]*): "bob (10\.0\.0\.7:51422)" discarded '
bed_kill TERM w0
agent_start >/dev/null

# --- name servers that say nothing ---

# The maps have hosts by names; who is asked where those are never answers. The agent alone sees that.
silent_begin() {
	mkdir -p "$bed_dir/silent"
	echo 'application any { ranks any; }' >"$bed_dir/silent/application.map"
	echo 'cluster local { nodes w[2-3]; address name[2-3].invalid.test:7440; } node w0 { }' >"$bed_dir/silent/cluster.map"
	echo 'entry w0;' >"$bed_dir/silent/mapping.map"
	printf 'nameserver 127.0.0.99\noptions timeout:10 attempts:3\n' >"$bed_dir/resolv.conf"
	python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.99", 53))
print("ready", flush=True)
while True: print(s.recvfrom(512)[0], flush=True)' >"$bed_dir/asked" 2>&1 &
	echo $! >"$bed_dir/pids/names"
	bed_until grep ready "$bed_dir/asked" || return
	EVSPACE_DIR=$bed_dir/elsewhere bed_start silent unshare -m sh -c 'mount --bind "$0/resolv.conf" /etc/resolv.conf &&
		exec evspace agent --pathmap "$0/silent" --node w0' "$bed_dir"
	bed_until bed_ready silent && grep 'ready on' "$bed_dir/silent.err"
}
silent_holds_nobody_up() {
	local socket=unix:$bed_dir/elsewhere/agent-w0.sock i

	bed_start silent-view evspace events --connect "$socket" --count 1 --deadline 20000
	bed_until grep -q 'name3' "$bed_dir/asked" || return
	for ((i = 0; i < 3; i++)); do
		timeout 5 evspace status --connect "$socket" --json >"$tap_dir/status" || { echo "no answer"; return 1; }
	done
	kill -TERM "$(bed_pid silent-view)" && bed_until bed_gone "$(bed_pid silent-view)"
	bed_kill TERM silent
}
mkdir -m 700 "$bed_dir/elsewhere"
if [ "$(id -u)" -eq 0 ] && unshare -m mount --bind /etc/hosts /etc/resolv.conf 2>/dev/null; then
	tap_case "an agent whose name server says nothing" silent_begin
	tap_case "... answers all the same" silent_holds_nobody_up
else
	tap_skip "an agent whose name server says nothing" "that takes root, and a resolv.conf"
fi

# --- certificates that are wrong ---

self_signed() {
	mkdir -p "$bed_dir/self" && cp "$EVSPACE_TLS/ca.pem" "$bed_dir/self" &&
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$bed_dir/self/observe.key" \
			-out "$bed_dir/self/observe.pem" -subj /CN=observe -days 2 \
			-addext subjectAltName=URI:evspace:role=control &&
		chmod 600 "$bed_dir/self/observe.key" &&
		refuses "refused: our certificate is from another CA" observe --tls "$bed_dir/self"
}
tap_case "a self-signed certificate" self_signed

# An agent's certificate under another node's name: in a tree, its parent would not take it.
other_node() {
	cp "$EVSPACE_TLS/w1.pem" "$bed_dir/self/w0.pem" && cp "$EVSPACE_TLS/w1.key" "$bed_dir/self/w0.key" || return
	EVSPACE_DIR=$bed_dir/elsewhere bed_start false evspace agent --node w0 --listen "127.0.0.1:$((port + 1))" --tls "$bed_dir/self"
	bed_until bed_ready false
	! evspace status --connect "127.0.0.1:$((port + 1))" --identity observe >"$tap_dir/why" 2>&1 &&
		grep -F 'calls itself "w0" but its certificate is for "w1"' "$tap_dir/why" || { cat "$tap_dir/why"; return 1; }
	bed_kill TERM false
}
tap_case "an agent's certificate under another node's name" other_node

# A compute node's own certificate at the address of the entry.
other_entry() {
	local at

	EVSPACE_DIR=$bed_dir/elsewhere bed_start false evspace agent --node w1 --listen "127.0.0.1:$((port + 1))" --tls "$EVSPACE_TLS"
	bed_until bed_ready false
	for at in 127.0.0.1 localhost; do
		bed_entry=$at:$((port + 1)) refuses 'this is agent "w1", not "w0"; if you mean it, say --entry w1' observe || return
	done
	bed_entry=localhost:$((port + 1)) EVSPACE_ENTRY='' refuses 'this is agent "w1", not "localhost"; if you mean it' observe &&
		EVSPACE_ENTRY='' bed_entry=127.0.0.1:$((port + 1)) \
			refuses 'this is agent "w1", and a number does not say who should be there; if you mean it, say --entry w1' observe &&
		evspace status --connect "127.0.0.1:$((port + 1))" --entry w1 --identity observe || return
	bed_kill TERM false
}
tap_case "a compute node's certificate where the entry should be" other_entry

# An existing CA, of another kind of key than ours.
other_authority() {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$bed_dir/corp.key" -out "$bed_dir/corp.pem" -subj /CN=Corp \
		-days 30 -addext keyUsage=keyCertSign,cRLSign 2>/dev/null &&
		"$certs" init "$bed_dir/corp" --ca "$bed_dir/corp.pem" --ca-key "$bed_dir/corp.key" &&
		"$certs" agent "$bed_dir/corp" w0 && "$certs" observe "$bed_dir/corp" observe zed &&
		"$certs" revoke "$bed_dir/corp" zed || return
	EVSPACE_DIR=$bed_dir/elsewhere bed_start corp evspace agent --node w0 --listen "127.0.0.1:$((port + 1))" --tls "$bed_dir/corp"
	bed_until bed_ready corp
	evspace status --connect "127.0.0.1:$((port + 1))" --tls "$bed_dir/corp" >"$tap_dir/why" 2>&1 || { cat "$tap_dir/why"; return 1; }
	rm "$bed_dir/corp/ca.crl"
	# Whom it listed is refused on, until a restart.
	bed_until grep -q 'ca.crl is gone; its certificates are refused until this process ends' "$bed_dir/corp.err" &&
		! evspace status --connect "127.0.0.1:$((port + 1))" --tls "$bed_dir/corp" --identity zed &&
		bed_kill TERM corp || return
	EVSPACE_DIR=$bed_dir/elsewhere bed_start corp evspace agent --node w0 --listen "127.0.0.1:$((port + 1))" --tls "$bed_dir/corp"
	bed_until bed_ready corp
	bed_until eval 'evspace status --connect "127.0.0.1:$((port + 1))" --tls "$bed_dir/corp" --identity zed'
	"$certs" crl "$bed_dir/corp" && bed_until grep -c 'certificates loaded again' "$bed_dir/corp.err" &&
		bed_until eval '! evspace status --connect "127.0.0.1:$((port + 1))" --tls "$bed_dir/corp" --identity zed'
}
tap_case "certificates and list of an existing CA, with RSA" other_authority
bed_kill TERM corp

# --- revoked, renewed, without a restart ---

# What agent and consumers have; the folder of the CA is another one.
mv "$EVSPACE_TLS" "$bed_dir/ca" && cp -r "$bed_dir/ca" "$EVSPACE_TLS" && rm "$EVSPACE_TLS"/ca.{key,index}
bed_kill TERM w0
agent_start >/dev/null
cp -r "$EVSPACE_TLS" "$bed_dir/consumer"
eve() {
	evspace events --connect "$bed_entry" --tls "$bed_dir/consumer" --identity eve --run one "$@"
}

revoked_at_once() {
	bed_until test -s "$bed_dir/eve.out" && bed_until test -s "$bed_dir/alice.out" || return
	"$certs" revoke "$bed_dir/ca" eve && cp "$bed_dir/ca/ca.crl" "$EVSPACE_TLS" || return
	bed_until bed_gone "$(bed_pid eve)" && logged 'certificates loaded again' && logged '1 connection closed' || return
	grep -F 'its certificate was revoked' "$bed_dir/eve.err" || { cat "$bed_dir/eve.err"; return 1; }
}
bed_start eve eve --csv
bed_start alice evspace events --wait --connect "$bed_entry" --identity observe --run one --csv
tap_case "who is revoked is cut off when the list comes" revoked_at_once
bed_wait eve
tap_case "... and told why" bed_ended eve 3
tap_case "... and does not come back" eval '! eve --count 1 2>"$tap_dir/why"; grep -F "our certificate was revoked" "$tap_dir/why"'
tap_case "who is not goes on" eval '! bed_gone "$(bed_pid alice)" && ! grep -i "again\|closed" "$bed_dir/alice.err"'
tap_case "a consumer does not start with a certificate that it knows to be revoked" \
	refuses "eve.pem has been revoked; make a new one with: evspace-certs" eve --run one

bad_list() {
	local before

	before=$(lines)
	echo 'no list' >"$EVSPACE_TLS/ca.crl"
	bed_until eval '[ "$(lines)" -gt '"$before"' ]' && tail -n 1 "$bed_dir/w0.err" |
		grep -F 'ca.crl is damaged' | grep -F 'evspace-certs crl DIR' | grep 'the earlier ones stay in use'
}
tap_case "a damaged list: what to do, and what was before counts" bad_list
tap_case "... for consumers, too" refuses "ca.crl is damaged" observe --run one
tap_case "... who was revoked is so still" eval '! eve --count 1 2>"$tap_dir/why"; grep -F "our certificate was revoked" "$tap_dir/why"'
foreign_list() {
	"$certs" init "$bed_dir/foreign" && "$certs" agent "$bed_dir/foreign" w0 && "$certs" revoke "$bed_dir/foreign" w0 &&
		cp "$bed_dir/foreign/ca.crl" "$EVSPACE_TLS" && logged 'ca.crl is not from the CA of'
}
tap_case "another CA's list" foreign_list
old_list() {
	"$certs" crl "$bed_dir/ca" --days 0 && sleep_until_over && cp "$bed_dir/ca/ca.crl" "$EVSPACE_TLS" &&
		logged 'ca.crl has ended; its certificates stay refused'
}
# It ends with the second in which it was made.
sleep_until_over() {
	bed_until eval '[ "$(date +%s)" -gt "$(date -d "$(openssl crl -in "$bed_dir/ca/ca.crl" -noout -nextupdate | cut -d= -f2)" +%s)" ]'
}
tap_case "a list that has ended is told" old_list
tap_case "... consumers tell it, and go on" eval 'sees observe --run one && [ "$(grep -c "ca.crl has ended" "$tap_dir/why")" -eq 1 ]'
tap_case "... who is in it is refused all the same" eval '! eve --count 1 2>"$tap_dir/why"; grep -F "our certificate was revoked" "$tap_dir/why"'
"$certs" crl "$bed_dir/ca" >/dev/null && cp "$bed_dir/ca/ca.crl" "$EVSPACE_TLS"

agent_revoked() {
	"$certs" revoke "$bed_dir/ca" w0 && cp "$bed_dir/ca/ca.crl" "$bed_dir/consumer" &&
		! evspace events --connect "$bed_entry" --tls "$bed_dir/consumer" --identity observe --count 1 2>"$tap_dir/why" &&
		grep -F 'its certificate was revoked' "$tap_dir/why" || { cat "$tap_dir/why"; return 1; }
}
tap_case "a consumer does not speak to an agent that is revoked" agent_revoked

# shown: the serial number of the certificate that the agent shows.
shown() {
	openssl s_client -connect "$bed_entry" -cert "$bed_dir/consumer/observe.pem" -key "$bed_dir/consumer/observe.key" \
		</dev/null 2>/dev/null | openssl x509 -noout -serial
}
agent_renewed() {
	"$certs" renew "$bed_dir/ca" w0 --days 10 &&
		cp "$bed_dir/ca/w0.key" "$bed_dir/ca/w0.pem" "$bed_dir/ca/ca.crl" "$EVSPACE_TLS" &&
		bed_until eval '[ "$(shown)" = "$(openssl x509 -in "$EVSPACE_TLS/w0.pem" -noout -serial)" ]' &&
		evspace events --connect "$bed_entry" --tls "$bed_dir/consumer" --identity observe --run one --count 1
}
tap_case "... renewed, it shows the new one without a restart" agent_renewed
tap_case "a certificate that ends in two weeks is told" logged 'w0.pem ends in [0-9]* days; make a new one with: evspace-certs renew'
half_renewed() {
	cp "$bed_dir/ca/w1.key" "$EVSPACE_TLS/w0.key" && logged 'w0.key is not the key of' &&
		evspace events --connect "$bed_entry" --identity observe --run one --count 1
}
tap_case "a key that does not fit: the old ones stay" half_renewed
hangup() {
	cp "$bed_dir/ca/w0.key" "$EVSPACE_TLS/w0.key" && kill -HUP "$(bed_pid w0)" &&
		bed_until eval 'tail -n 2 "$bed_dir/w0.err" | grep "certificates loaded again"'
}
tap_case "SIGHUP is survived" hangup
soon_over() {
	"$certs" renew "$bed_dir/ca" observe --days 13 && cp "$bed_dir/ca"/observe.* "$EVSPACE_TLS" && sees observe --run one &&
		[ "$(grep -c 'observe.pem ends in 1[23] days; make a new one with' "$tap_dir/why")" -eq 1 ] || { cat "$tap_dir/why"; return 1; }
}
tap_case "consumers tell it of their own, once" soon_over
"$certs" renew "$bed_dir/ca" observe w0 >/dev/null && cp "$bed_dir/ca"/{observe,w0}.* "$EVSPACE_TLS"
kill -INT "$(bed_pid alice)"
bed_wait alice
tap_case "the consumer that was there all the while was not disturbed" eval '
	bed_ended alice 0 && ! grep -i "reconnect\|unaccounted" "$bed_dir/alice.err"'

# --- protocols ---

# s_client OPTION...: with a good certificate, and what it says of that in $tap_dir/tls.
s_client() {
	timeout 20 openssl s_client -connect "$bed_entry" -CAfile "$EVSPACE_TLS/ca.pem" \
		-cert "$EVSPACE_TLS/observe.pem" -key "$EVSPACE_TLS/observe.key" "$@" >"$tap_dir/tls" 2>&1
}
for version in tls1 tls1_1 tls1_2; do
	tap_case "$version is not spoken, with the weakest that a client can do" eval \
		'! s_client -"$version" -cipher ALL:@SECLEVEL=0 </dev/null; ! grep "Cipher is TLS\|Cipher is ECD" "$tap_dir/tls"'
done
tap_case "TLS 1.3 is, with AES-GCM and P-256" eval 's_client -tls1_3 </dev/null
	grep "New, TLSv1.3, Cipher is TLS_AES_[0-9]*_GCM" "$tap_dir/tls" && grep "Server Temp Key: ECDH, prime256v1" "$tap_dir/tls" &&
	grep "Verify return code: 0 (ok)" "$tap_dir/tls"'
for option in '-ciphersuites TLS_CHACHA20_POLY1305_SHA256' '-groups X25519' '-sigalgs RSA-PSS+SHA256'; do
	tap_case "nothing else: $option" eval '! s_client -tls1_3 $option </dev/null; ! grep "Cipher is TLS" "$tap_dir/tls"'
done
tap_case "no tickets, so nobody comes back without proof" eval \
	's_client -tls1_3 -sess_out "$tap_dir/session" </dev/null; [ ! -s "$tap_dir/session" ]'
renegotiates() {
	# In TLS 1.3 there is none; a key update, which there is, is answered.
	printf 'R\nK\nK\nk\nR\n' | s_client -tls1_3 -no_ign_eof
	sees observe --run one
}
tap_case "renegotiation and new keys do no harm" renegotiates
huge() {
	{ printf '\x00\x00\x00\x04\xff\xff\xff\xff'; head -c 65536 /dev/zero; } | s_client -tls1_3 -quiet
	logged 'sent what cannot be understood: a frame with a header of .* bytes'
}
tap_case "a frame that says it has 4 GiB" huge
raw() {
	{ exec 3<>"/dev/tcp/127.0.0.1/$port" && cat >&3; timeout 20 cat <&3; exec 3>&-; } 2>/dev/null | head -c 100000 | wc -c
}
tap_case "a record that says it is larger than any" eval '[ "$({ printf "\x16\x03\x01\xff\xff"; head -c 70000 /dev/zero; } | raw)" -lt 100 ]'
tap_case "... is refused" logged 'refused 127.*: the peer does not speak TLS'

replayed() {
	local before

	bed_start recorder "$attacker" record "$bed_entry" "$((port + 2))" "$bed_dir/recorded"
	bed_until grep -q here "$bed_dir/recorder.out"
	evspace collect --connect "127.0.0.1:$((port + 2))" --identity control --run one --class p2p count || return
	bed_wait recorder && [ "$(stat -c %s "$bed_dir/recorded")" -gt 1000 ] && logged 'control (.*switch p2p to count in run "one": done' || return
	evspace collect --connect "$bed_entry" --identity control --run one --class p2p trace || return
	before=$(grep -c 'audit.*: done' "$bed_dir/w0.err")
	raw <"$bed_dir/recorded" >"$tap_dir/answer"
	logged 'refused 127.*: .*TLS failed\|refused 127.*: the peer .*' &&
		[ "$(grep -c 'audit.*: done' "$bed_dir/w0.err")" -eq "$before" ]
}
tap_case "what was recorded cannot be said again" replayed

# --- many, slow, loud ---

# A crowd, and a consumer, have come and gone, so that what they take is not taken for growth.
"$attacker" flood "$bed_entry" 1000 >/dev/null
sees observe --run one
bed_until eval '[ "$(evspace status --connect "$bed_entry" --json | grep -o "\"links\":[0-9]*")" = "\"links\":1" ]'
read -r fds kb < <(sizes)
slow() {
	"$attacker" drip "$bed_entry" >"$tap_dir/drip" && cat "$tap_dir/drip" && [ "$(sed 's/[^0-9]*\([0-9]*\).*/\1/' "$tap_dir/drip")" -lt 8000 ]
}
tap_case "who says a byte now and then has five seconds" slow
before=$(lines)
tap_case "10,000 connections that speak no TLS are refused" eval '[ "$("$attacker" flood "$bed_entry" 10000)" = "10000 refused" ]'
tap_case "... in a few lines" no_more_lines "$before" 8
before=$(lines)
tap_case "all alerts that there might be" "$attacker" alerts "$bed_entry"
tap_case "... in a few lines" no_more_lines "$before" 16
before=$(lines)
crowded() {
	bed_until grep -q here "$bed_dir/crowd.out"
	sees observe --run one
}
bed_start crowd "$attacker" crowd "$bed_entry" 1000
tap_case "while 1,000 say nothing, who has a certificate gets in" crowded
bed_wait crowd
tap_case "... they are gone soon" bed_ended crowd 0
tap_case "... in a few lines" no_more_lines "$before" 12
tap_case "no descriptor is kept" bed_until descriptors_are "$fds"
has_not_grown() {
	sees observe --run one # when nobody looks any more, the agent gives back what it can
	bed_until kb_are $((kb + KB_MORE))
	read -r _ now < <(sizes)
	echo "$kb KiB before, $now KiB now"
	[ "$now" -le $((kb + KB_MORE)) ]
}
tap_memory "no memory is kept" has_not_grown
echo "# agent: $fds descriptors, $kb KiB before all that; $(sizes) after it; $(cat "$tap_dir/drip"); $(tail -n 1 "$bed_dir/crowd.out")"
tap_case "and it serves" sees observe --run one

# --- very many scopes ---

# scopes: somebody who is limited to a run opens as many as it can; others look, and programs start.
scopes() {
	local kb now before

	read -r _ kb < <(sizes)
	before=$(lines)
	mkfifo "$tap_dir/end"
	"$top_builddir/tests/opener" "$bed_entry" "$EVSPACE_TLS" one one events 12 1000 \
		<"$tap_dir/end" >"$tap_dir/scopes" 2>"$tap_dir/why" &
	exec 3>"$tap_dir/end"
	bed_until grep -q refused "$tap_dir/scopes"
	read -r _ now < <(sizes)
	echo "$kb $now" >"$tap_dir/scopes.kb"
	grep -q '^64 open, 11936 refused' "$tap_dir/scopes" &&
		grep -q '64 scopes of one are open on this host already' "$tap_dir/why" &&
		[ "$(ls "$EVSPACE_DIR/one" | grep -c '\.cursor$')" -lt 100 ] &&
		no_more_lines "$before" 12 && sees observe --run one || { cat "$tap_dir/scopes" "$tap_dir/why"; ls "$EVSPACE_DIR/one" | wc -l; return 1; }
	timeout 60 "$top_builddir/tests/writer" "$EVSPACE_DIR/more" 1 100 1 >"$tap_dir/more" 2>&1 || { cat "$tap_dir/more"; return 1; }
	exec 3>&-
}
tap_case "who opens 12,000 scopes has 64 of them, and others all that they need" scopes
scopes_take_little() {
	local kb now

	read -r kb now <"$tap_dir/scopes.kb"
	echo "$kb KiB, then $now KiB with $(cat "$tap_dir/scopes")"
	[ "$now" -le $((kb + 64 * 1024)) ]
}
tap_memory "... in little memory" scopes_take_little
# of_one_id: somebody opens one scope again and again; a map that is applied has room for as many more.
of_one_id() {
	rm -f "$tap_dir/end" "$tap_dir/scopes" && mkfifo "$tap_dir/end"
	"$top_builddir/tests/opener" "$bed_entry" "$EVSPACE_TLS" one one events 2 10 same \
		<"$tap_dir/end" >"$tap_dir/scopes" 2>"$tap_dir/why" &
	exec 3>"$tap_dir/end"
	bed_until grep -q refused "$tap_dir/scopes"
	exec 3>&-
	grep -q '^4 open, 16 refused' "$tap_dir/scopes" &&
		grep -q 'this scope is open 4 times here already' "$tap_dir/why" || { cat "$tap_dir/scopes" "$tap_dir/why"; return 1; }
}
tap_case "who opens one scope again and again leaves room for a map that is applied" of_one_id

# --- what can be seen on the host ---

no_secrets() {
	local keys

	keys=$(cat "$EVSPACE_TLS"/*.key | grep -v -e -----)
	! grep -aF -e "$keys" "/proc/$(bed_pid w0)/cmdline" "/proc/$(bed_pid w0)/environ" "$bed_dir"/*.err "$bed_dir"/*.out
}
tap_case "no key is in the log, on the command line or in the environment" no_secrets

# as USER COMMAND...: another user, of no group of ours.
as() {
	setpriv --reuid "$1" --regid "$1" --clear-groups env HOME=/ EVSPACE_DIR="$bed_dir/nowhere" "${@:2}"
}
socket=unix:$EVSPACE_DIR/agent-w0.sock
# stranger OPTION...: another user looks through the agent's Unix socket.
stranger() {
	as "$other" evspace events --connect "$socket" --run one --count 5 --csv "$@" >"$tap_dir/seen" 2>"$tap_dir/why"
}
if [ "$(id -u)" != 0 ] || ! as "$other" evspace --help >/dev/null 2>&1; then
	tap_skip "other users see nothing but what they may" "needs root, setpriv, and a build that others may read"
else
	tap_case "another user does not get at the agent" eval '! stranger && [ ! -s "$tap_dir/seen" ]'
	tap_case "... nor at the runs' names or elements" eval '! as "$other" ls "$EVSPACE_DIR" 2>/dev/null &&
		! as "$other" cat "$EVSPACE_DIR"/one/*.seg 2>/dev/null && ! as "$other" ls "$EVSPACE_DIR/one" 2>/dev/null'
	tap_case "... nor when the folder is left open" eval 'chmod 755 "$EVSPACE_DIR"; ! stranger && [ ! -s "$tap_dir/seen" ] &&
		! as "$other" cat "$EVSPACE_DIR"/one/*.seg 2>/dev/null; chmod 700 "$EVSPACE_DIR"'
	bed_kill TERM w0
	tap_case "its owner may allow a user" agent_start --allow "nobody,$other"
	tap_case "... who sees the run" eval 'stranger && [ "$(wc -l <"$tap_dir/seen")" -gt 1 ]'
	tap_case "... is told whose agent it is" grep -F "belongs to uid $(id -u)" "$tap_dir/why"
	tap_case "... may not control" eval '! as "$other" evspace collect --connect "$socket" --run one --class p2p off >"$tap_dir/why" 2>&1 &&
		grep -F "lets other users observe only" "$tap_dir/why" && logged "audit: uid $other (unix, .*): switch p2p to off in run \"one\": failed"'
	tap_case "... and has no other way to the elements" eval '! as "$other" ls "$EVSPACE_DIR" 2>/dev/null && ! as "$other" cat "$EVSPACE_DIR"/one/*.seg 2>/dev/null'
	tap_case "a third user sees nothing, and is told so" eval '! as 64124 evspace events --connect "$socket" --run one --count 1 2>"$tap_dir/why" &&
		grep -F "this agent serves uid 0 and root only, you are uid 64124; its owner can start it with --allow" "$tap_dir/why"'
	bed_kill TERM w0
	tap_case "its owner may allow a group" agent_start --allow @64200
	tap_case "... whose members see the run" setpriv --reuid "$other" --regid "$other" --groups 64199,64200 \
		env HOME=/ evspace events --connect "$socket" --run one --count 1
	tap_case "... and nobody else" eval '! stranger'
	tap_case "somebody else's socket is not taken for ours" eval 'mkdir -m 700 "$bed_dir/trap" && chown "$other" "$bed_dir/trap" && chmod 711 "$bed_dir" "$tap_dir" &&
		as "$other" python3 -c "import socket,sys,time; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(1, flush=True); s.settimeout(60); s.accept()" "$bed_dir/trap/agent-w0.sock" >"$tap_dir/trap" 2>&1 &
		trap_pid=$!; bed_until test -s "$tap_dir/trap"; ! EVSPACE_DIR=$bed_dir/trap evspace events --count 1 2>"$tap_dir/why"; kill $trap_pid 2>/dev/null
		grep -F "belongs to another user" "$tap_dir/why"'
fi
tap_case "a user whom nobody knows cannot be allowed" eval '! evspace agent --node w9 --allow nosuchuser 2>"$tap_dir/why" && grep -F "there is no user \"nosuchuser\" here" "$tap_dir/why"'

tap_case "it ends when it is told to, with no error of a sanitizer" eval 'bed_kill TERM w0 && ! grep "Sanitizer\|runtime error" "$bed_dir"/*.err'
tap_done
