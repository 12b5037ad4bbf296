# SPDX-License-Identifier: BSD-3-Clause
# evspace mir --listen HOST:PORT: documents by POST, from curl with certificates; who may ask what; those that are slow, large or many.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/mir-sir.sh"

command -v curl >/dev/null || { echo "1..0 # SKIP needs curl"; exit 0; }
certs=$top_srcdir/deploy/certs

mir_begin
port=$(bed_ports)
bed_start wind evspace run --run wind -- mpirun -np 2 "$top_builddir/tests/apps/windtunnel" --threads 2 --seconds 600 --pause 5
{ "$certs" observe "$EVSPACE_TLS" guest --run other && "$certs" observe "$EVSPACE_TLS" bob --run wind --run st &&
	"$certs" control "$EVSPACE_TLS" carol && "$certs" init strangers && "$certs" control strangers control; } >certs.log 2>&1 || exit 99

blows() {
	[ "$(evspace mir - --run wind <<<'<snapshotreq/>' | grep -o '<thread' | wc -l)" -eq 4 ]
}

ready() {
	grep -q 'ready on 127.0.0.1:' "$bed_dir/$1.err"
}

# post WHO [OPTION...]: curl; the code is the last line of `got`, the answer is above it.
post() {
	local who=$1

	shift
	curl -sS --max-time 60 --resolve "front:$port:127.0.0.1" --cacert "$EVSPACE_TLS/ca.pem" --cert "$EVSPACE_TLS/$who.pem" \
		--key "$EVSPACE_TLS/$who.key" -w '%{http_code}\n' "$@" "https://front:$port/" >got 2>curl.err
}

# gets WHO CODE PATTERN DOCUMENT: the answer is valid, and has the pattern.
gets() {
	post "$1" --data-binary "$4" && [ "$(tail -n 1 got)" = "$2" ] && grep -qE "$3" got &&
		head -n 1 got | xmllint --nonet --noout --schema "$schema" - 2>xmllint.err || { cat got curl.err xmllint.err; return 1; }
}

id_of() {
	sed -n 's/.*"\(p[0-9]*\)".*/\1/p' got
}

instr() {
	echo "<instrreq activated='true' flush='true'><codeRegion from='p2p'/><metric name='CALLS'/><measuring$1><aggregate function='SUM'/></measuring></instrreq>"
}

ctrl() {
	echo "<ctrlreq action='$1'><probe id='$2'/></ctrlreq>"
}

roles_say_what_is_answered() {
	local id

	gets observe 200 '<thread id="/local/[^/]*/rank1/t1"' '<snapshotreq/>' &&
		gets observe 403 'may observe: .* certificate of control' "$(instr '')" &&
		gets control 200 '<probe id="p[0-9]+"/>' "$(instr '')" || return
	id=$(id_of)
	grew() { gets observe 200 '^<measurement value="[1-9]' "$(ctrl VALUE "$id")"; }
	bed_until grew && gets observe 403 'certificate of control' "$(ctrl REMOVE "$id")" &&
		gets observe 403 'certificate of control' "<ctrlreq action='VALUE' flush='true'><probe id='$id'/></ctrlreq>" &&
		gets bob 200 '^<measurement' "$(ctrl VALUE "$id")" &&
		gets carol 200 'another tool' "$(ctrl REMOVE "$id")" && gets control 200 '^<measurement/>' "$(ctrl REMOVE "$id")" &&
		gets control 200 'no probe' "$(ctrl VALUE "$id")" && gets front 403 'is that of an agent' '<snapshotreq/>' &&
		gets guest 403 'for other runs' '<snapshotreq/>' && grep -q 'audit: control (127.0.0.1:[0-9]*): instrreq$' "$bed_dir/mir.err"
}

sirreq() {
	echo "<sirreq><resource in='file://$1'/></sirreq>"
}

files_elsewhere_are_not_read() {
	local file

	gets observe 200 '^<sir>.*name="s"' "$(sirreq "$tap_dir/sources/s.f90")" || return
	for file in beside.f90 sources/link.c sources/../beside.f90 nowhere.f90; do
		gets observe 200 'is not in the folder whose files tools elsewhere may ask about' "$(sirreq "$tap_dir/$file")" || return
	done
}

# refused OPTION...: the connection ends without an answer.
refused() {
	! curl -sS --max-time 60 --resolve "front:$port:127.0.0.1" --cacert "$EVSPACE_TLS/ca.pem" "$@" --data '<snapshotreq/>' \
		"https://front:$port/" >got 2>curl.err && [ ! -s got ]
}

wrong_certificates_are_refused() {
	refused && refused --cert strangers/control.pem --key strangers/control.key &&
		! curl -sS --max-time 60 "http://127.0.0.1:$port/" --data '<snapshotreq/>' >got 2>curl.err && [ ! -s got ] &&
		! curl -sS --max-time 60 --cert "$EVSPACE_TLS/control.pem" --key "$EVSPACE_TLS/control.key" --cacert strangers/ca.pem \
			--resolve "front:$port:127.0.0.1" "https://front:$port/" --data x 2>curl.err &&
		gets bob 200 '<snapshot>' '<snapshotreq/>' && "$certs" revoke "$EVSPACE_TLS" bob >certs.log &&
		refused --cert "$EVSPACE_TLS/bob.pem" --key "$EVSPACE_TLS/bob.key" && gets observe 200 '<snapshot>' '<snapshotreq/>'
}

wrong_requests_are_answered() {
	head -c $((17 << 20)) /dev/zero | tr '\0' ' ' >large
	gets control 400 'POST a document' '' && gets control 200 'not well formed' '<snapshotreq/><snapshotreq/>' &&
		gets control 200 'not well formed' '<snapshotreq' && gets control 200 'add a destination' "$(instr ' delivery="100"')" &&
		post control --data-binary @large; [ "$(tail -n 1 got)" = 413 ] || { cat got curl.err; return 1; }
	post control -X PUT --data x; [ "$(tail -n 1 got)" = 501 ] && post control -H "a: $(head -c 20000 /dev/zero | tr '\0' a)" --data x
	[ "$(tail -n 1 got)" != 200 ] && gets observe 200 '<snapshot>' '<snapshotreq/>'
}

# They neither say who they are, nor what they want, nor take the answer: all are cut off, and others are answered meanwhile.
the_slow_and_the_many_are_bounded() {
	/usr/bin/python3 - "$port" "$EVSPACE_TLS" <<-'EOF' &
		import socket, ssl, sys, time
		def dial(): return socket.create_connection(('127.0.0.1', int(sys.argv[1])), 60)
		def gone(s):
		    begun = time.time()
		    try:
		        while s.recv(65536): pass
		    except OSError as e:
		        assert not isinstance(e, socket.timeout), e
		    return time.time() - begun
		tls = ssl.create_default_context(cafile=sys.argv[2] + '/ca.pem')
		tls.load_cert_chain(sys.argv[2] + '/observe.pem', sys.argv[2] + '/observe.key')
		slow = tls.wrap_socket(dial(), server_hostname='front')
		slow.sendall(b'POST / HTTP/1.1\r\nHost: front\r\nContent-Length: 1000\r\n\r\n<')
		silent = [dial() for i in range(200)]
		open('many', 'w').close()
		for s in silent: gone(s)
		assert gone(slow) < 60
		open('cut', 'w').close()
	EOF
	set -- $! "$(date +%s)"
	# sooner than those go who do not prove who they are
	bed_until test -e many && gets observe 200 '<snapshot>' '<snapshotreq/>' && [ $(($(date +%s) - $2)) -lt 5 ] &&
		[ "$(ls "/proc/$(bed_pid mir)/fd" | wc -l)" -lt 90 ] && wait "$1" && [ -e cut ] && gets observe 200 '<snapshot>' '<snapshotreq/>'
}

# Requests in pieces, several at once, half closed, and damaged ones: the good are answered, and those after them.
odd_bytes_end_nothing() {
	/usr/bin/python3 - "$port" "$EVSPACE_TLS" "$top_srcdir/tests/fuzz/seeds" <<-'EOF' || return
		import glob, os, random, re, socket, ssl, sys
		tls = ssl.create_default_context(cafile=sys.argv[2] + '/ca.pem')
		tls.load_cert_chain(sys.argv[2] + '/control.pem', sys.argv[2] + '/control.key')
		def dial(): return tls.wrap_socket(socket.create_connection(('127.0.0.1', int(sys.argv[1])), 60), server_hostname='front')
		def post(body, head=b''): return b'POST / HTTP/1.1\r\nHost: front\r\n' + (head or b'Content-Length: %d\r\n' % len(body)) + b'\r\n' + body
		def read(s, until=lambda got: False):
		    got = b''
		    try:
		        while not until(got) and (more := s.recv(65536)): got += more
		    except OSError:
		        pass
		    return got
		def answers(n): return lambda got: len(re.findall(b'</(?:snapshot|errors)>\n|<measurement/>\n', got)) >= n
		look = b'<snapshotreq/>'
		s = dial()
		for at in range(0, len(post(look)), 3): s.sendall(post(look)[at:at + 3])
		assert b' 200 ' in read(s, answers(1))
		s.sendall(post(b''.join(b'%x\r\n%s\r\n' % (len(p), p) for p in (look[:5], look[5:])) + b'0\r\n\r\n', b'Transfer-Encoding: chunked\r\n'))
		assert b'<snapshot' in read(s, answers(1))
		s = dial()
		s.sendall(post(look) + post(b'<foo/>') + post(look))
		got = read(s, answers(3))
		assert got.count(b' 200 ') == 3 and got.index(b'<errors') > got.index(b'<snapshot'), got
		s = dial()
		s.sendall(post(look))
		socket.socket(fileno=os.dup(s.fileno())).shutdown(socket.SHUT_WR)
		read(s)
		rng = random.Random(18)
		seeds = [open(f, 'rb').read() for f in glob.glob(sys.argv[3] + '/mir/*')]
		words = re.findall(rb'"(.*)"', open(sys.argv[3] + '/mir.dict', 'rb').read())
		for i in range(120):
		    body = rng.choice(seeds)
		    for k in range(rng.randrange(4)):
		        at = rng.randrange(len(body) + 1)
		        body = body[:at] + rng.choice(words) + body[at + rng.randrange(8):]
		    text = bytearray(post(body))
		    for k in range(rng.choice((0, 0, 1, 3))):
		        text[rng.randrange(len(text))] = rng.randrange(256)
		    s = dial()
		    s.settimeout(0.02 if i % 3 else 5)
		    try:
		        if i % 4 == 0: s.sendall(text[:rng.randrange(len(text))])
		        else: s.sendall(text)
		        if i % 3 == 0 and i % 4: read(s, lambda got: b'\n<' in got or b'HTTP/1.1 4' in got)
		    except OSError:
		        pass
		    s.close()
	EOF
	gets observe 200 '<snapshot>' '<snapshotreq/>' && kill -0 "$(bed_pid mir)"
}

# libxml2 compares each attribute with all others: that would take minutes, for whoever may ask nothing, too.
attributes_are_few() {
	local many

	many=$(seq -f "a%.0f='1'" 65 | tr '\n' ' ')
	/usr/bin/python3 -c "print('<snapshotreq ' + ' '.join('a%d=\"1\"' % i for i in range(99000)) + '/>')" >attributes
	/usr/bin/python3 -c "print('<x ' + ' '.join('xmlns:a%d=\"u\"' % i for i in range(20000)) + '>' + '<a19999:x/>' * 49000 + '</x>')" >spaces
	gets observe 200 'line 2, column 1, element snapshotreq: .*more than 64 attributes' $'\n'"<snapshotreq $many/>" &&
		gets observe 200 'element snapshotreq: .*more than 64 attributes' @attributes && gets observe 200 'names of namespaces' @spaces &&
		gets front 403 'is that of an agent' @attributes
}

# Whoever has asked for what takes minutes and has gone leaves nothing; meanwhile others have their turn.
nobody_waits_for_who_has_gone() {
	local i

	cp "$(command -v evspace)" sources/large
	echo "<sirreq>$(yes "<resource in='file://$tap_dir/sources/large'/>" | head -n 256)</sirreq>" >long
	echo "<sirreq>$(yes "<resource in='file://$tap_dir/sources/large'/>" | head -n 257)</sirreq>" >longer
	for i in 1 2 3 4 5 6; do
		(mkdir "away$i" && cd "away$i" && post carol --data-binary @../long) &
	done
	works() { [ "$(pgrep -c -P "$(bed_pid mir)")" -ge 2 ]; }
	# those that are killed are looked after with the next ones
	idle() { ! ps -o stat= --ppid "$(bed_pid mir)" | grep -qv Z; }
	bed_until works && gets observe 200 '^<sir>' "$(sirreq "$tap_dir/sources/s.f90")" &&
		gets observe 200 'more than 256 resources' @longer || return
	pkill -f "^curl .*front:$port:"
	bed_until idle && gets carol 200 '^<sir>' "$(sirreq "$tap_dir/sources/s.f90")"
}

# What it has asked for while no host answers, and has not waited for, was not: neither a new probe, nor another metric of one.
nothing_is_done_for_who_has_gone() {
	local id lost

	gets control 200 '<probe' "$(instr '')" && id=$(id_of) && lost=p$((${id#p} + 1)) || return
	grew() { gets observe 200 '^<measurement value="[1-9][0-9]*"' "$(ctrl VALUE "$id")"; }
	is_gone() { gets observe 200 "no probe &quot;$lost&quot;" "$(ctrl VALUE "$lost")"; }
	bed_until grew && kill -STOP "$(bed_pid agent)" || return
	post control --max-time 1 --data-binary "<ctrlreq action='RESET'><probe id='$id'/><metric name='WC_TIME'/></ctrlreq>"
	post control --max-time 1 --data-binary "$(instr '')"
	bed_until is_gone
	set -- $?
	kill -CONT "$(bed_pid agent)"
	[ "$1" -eq 0 ] && bed_until grew && gets control 200 '^<measurement/>' "$(ctrl REMOVE "$id")"
}

# Nobody can be taken while all descriptors are: it is said once, and goes on when there are some.
without_descriptors_it_rests() {
	local port=$((port + 3))

	bed_start few bash -c 'ulimit -n 40; exec "$@"' few evspace mir --listen "127.0.0.1:$port" --certificate front --run wind
	bed_until ready few && /usr/bin/python3 - "$port" "$bed_dir/few.err" <<-'EOF' || return
		import socket, sys, time
		some = [socket.create_connection(('127.0.0.1', int(sys.argv[1])), 60) for i in range(60)]
		end = time.time() + 60
		while 'Too many open files' not in open(sys.argv[2]).read(): assert time.time() < end; time.sleep(0.05)
		time.sleep(0.5)
	EOF
	gets observe 200 '<snapshot>' '<snapshotreq/>' && bed_kill TERM few && [ "$(grep -c 'Too many open files' "$bed_dir/few.err")" -eq 1 ] ||
		{ tail -n 5 "$bed_dir/few.err"; return 1; }
}

# What one tool has of them leaves as many for others, who may share those, too.
nobody_takes_all_destinations() {
	local port=$((port + 4))

	mkdir -p sink
	bed_start sink evspace mir --listen "127.0.0.1:$port" --certificate front --run wind --deliver "$tap_dir/sink"
	bed_until ready sink && /usr/bin/python3 - "$port" "$EVSPACE_TLS" "$tap_dir/sink" <<-'EOF' && bed_kill TERM sink
		import http.client, ssl, sys
		def asker(name):
		    tls = ssl.create_default_context(cafile=sys.argv[2] + '/ca.pem')
		    tls.check_hostname = False
		    tls.load_cert_chain('%s/%s.pem' % (sys.argv[2], name), '%s/%s.key' % (sys.argv[2], name))
		    return http.client.HTTPSConnection('127.0.0.1', int(sys.argv[1]), timeout=60, context=tls)
		def names(c, i):
		    c.request('POST', '/', '<instrreq><metric name="CALLS"/><measuring delivery="1" destination="unix:%s/n%d"/></instrreq>' % (sys.argv[3], i))
		    return c.getresponse().read().decode()
		control, carol = asker('control'), asker('carol')
		said = [names(control, i) for i in range(129)]
		assert all('<probe ' in s for s in said[:128]) and '128 destinations, and 128 of them are yours' in said[128], said[-2:]
		said = [names(carol, i) for i in (129, 0)]
		assert all('<probe ' in s for s in said), said
	EOF
}

# Documents of 15 MiB that do not end: there is room for four, and for others beside them.
unended_ones_are_bounded() {
	/usr/bin/python3 - "$port" "$EVSPACE_TLS" <<-'EOF' || return
		import select, socket, ssl, sys
		tls = ssl.create_default_context(cafile=sys.argv[2] + '/ca.pem')
		tls.load_cert_chain(sys.argv[2] + '/observe.pem', sys.argv[2] + '/observe.key')
		some = []
		cut = 0
		for i in range(7):
		    s = tls.wrap_socket(socket.create_connection(('127.0.0.1', int(sys.argv[1])), 60), server_hostname='front')
		    some.append(s)
		    try:
		        s.sendall(b'POST / HTTP/1.1\r\nHost: front\r\nContent-Length: 16000000\r\n\r\n' + b' ' * (15 << 20))
		    except OSError:
		        pass
		while cut < 3:
		    ready = select.select(some, [], [], 10)[0]
		    assert ready, cut
		    for s in ready:
		        try: left = s.recv(65536)
		        except ssl.SSLWantReadError: continue
		        except OSError: left = b''
		        if not left: some.remove(s); cut += 1
	EOF
	gets observe 200 '<snapshot>' '<snapshotreq/>'
}

# Nor do answers that nobody takes: there is room for two of 50 MiB, then the first one's connection ends: it is the largest, while one that
# waits for longer does not. Where that goes, too, as its time is over, it says nothing.
untaken_ones_are_bounded() {
	yes '      call a' | head -n 75000 | sed '1i\      subroutine many' >sources/many.f
	echo '      end subroutine' >>sources/many.f
	/usr/bin/python3 - "$port" "$EVSPACE_TLS" "$tap_dir/sources/many.f" <<-'EOF' || return
		import http.client, ssl, sys
		tls = ssl.create_default_context(cafile=sys.argv[2] + '/ca.pem')
		tls.check_hostname = False
		tls.load_cert_chain(sys.argv[2] + '/observe.pem', sys.argv[2] + '/observe.key')
		def asks(n):
		    c = http.client.HTTPSConnection('127.0.0.1', int(sys.argv[1]), timeout=100, context=tls)
		    c.request('POST', '/', '<sirreq>' + '<resource in="file://%s"/>' % sys.argv[3] * n + '</sirreq>')
		    return c.getresponse()
		def taken(answer):
		    try: return len(answer.read()) == int(answer.headers['Content-Length'])
		    except (OSError, http.client.IncompleteRead): return False
		one = int(asks(1).headers['Content-Length'])
		n = (50 << 20) // one
		assert b'the answer is larger than 65536 KiB' in asks(2 * n).read()
		for i in range(4):
		    older = some = None
		    older = asks(n // 2)
		    some = [asks(n) for i in range(3)]
		    first, old = taken(some[0]), taken(older)
		    print(one, n, first, old)
		    if old: break
		assert old and not first and taken(some[2])
	EOF
	gets observe 200 '<snapshot>' '<snapshotreq/>'
}

# A probe outlives its connection, and ends when its owner has not asked for anything for as long as its lease.
leases_run_by_time() {
	local id port=$((port + 2))

	bed_start brief evspace mir --listen "127.0.0.1:$port" --certificate front --run wind --lease 1s --keep "$tap_dir/brief"
	bed_until ready brief && gets carol 200 '<probe' "$(instr '')" && id=$(id_of) && grep -q "^carol $id " brief || return
	# nobody asks it for anything, and so wakes it up
	forgotten() { ! grep -q "^carol $id " brief; }
	bed_until forgotten || return
	is_gone() { gets observe 200 "no probe &quot;$id&quot;" "$(ctrl VALUE "$id")"; }
	bed_until is_gone
}

keeper_starts() {
	bed_start keeper evspace mir --listen "127.0.0.1:$((port + 1))" --certificate front --run wind --keep "$tap_dir/kept/probes" &&
		bed_until ready keeper
}

# at-keeper COMMAND...: with the port of the one that keeps probes.
at_keeper() {
	(port=$((port + 1)) && "$@")
}

# Killed, it goes on with all probes: whose they are, which are active, what was said of later ones; and does not give an id twice.
probes_survive_a_restart() {
	local grows silent id nested='<site id="/local"><node id="*"><process id="?"/></node></site><process id="/local/vm/rank1"/>'

	keeper_starts && at_keeper gets carol 200 '<probe' "$(instr '')" && grows=$(id_of) &&
		at_keeper gets control 200 '<probe' "<instrreq><metric name='NET_SEND'/><metric name='CALLS'/>$nested</instrreq>" && silent=$(id_of) &&
		at_keeper gets carol 200 '<measurement/>' "<instrreq><measuring interval='20'><aggregate/></measuring></instrreq>" || return
	grew() { at_keeper gets observe 200 '^<measurement value="[1-9]' "$(ctrl VALUE "$grows")"; }
	bed_until grew && [ "$(stat -c %a kept/probes)" = 600 ] && cp kept/probes before || return
	bed_kill KILL keeper
	keeper_starts && bed_until grew && at_keeper gets observe 200 '^<measurement' "$(ctrl VALUE "$silent")" &&
		at_keeper gets control 200 'another tool' "$(ctrl REMOVE "$grows")" &&
		at_keeper gets carol 200 '<probe' "$(instr '')" && id=$(id_of) && [ "${id#p}" -gt "${silent#p}" ] &&
		at_keeper gets carol 200 '^<measurement/>' "$(ctrl REMOVE "$id")" && diff before kept/probes &&
		at_keeper gets carol 200 '^<measurement/>' "$(ctrl REMOVE "$grows")" && ! grep -q "^carol $grows " kept/probes &&
		at_keeper gets control 200 '^<measurement' "$(ctrl ACTIVATE "$silent")" || { cat before kept/probes "$bed_dir/keeper.err"; return 1; }
}

# What is wrong in the file is left out; no file of this kind, or one that others may write, is not touched.
damaged_files_are_not_believed() {
	local file

	bed_kill TERM keeper && [ "$(wc -l <before)" -eq 4 ] && grep -v 'carol -' before >kept/probes &&
		printf 'carol p1 <instrreq/>\ncarol p0 <instrreq/>\ncarol p77 <snapshotreq/>\n\ncarol\n%s\n%s\ncarol p99 <instrr' "$(sed -n 2p before)" "$(sed -n '2s/ p/ p0/p' before)" >>kept/probes &&
		keeper_starts && [ "$(grep -c 'left out' "$bed_dir/keeper.err")" -eq 8 ] && grep -q 'line 5: left out: no metric\|line 4: left out' "$bed_dir/keeper.err" &&
		at_keeper gets observe 200 '<snapshot>' '<snapshotreq/>' && bed_kill TERM keeper || { cat "$bed_dir/keeper.err" kept/probes; return 1; }
	echo 'evspace mir probes 2' >other
	cp before open && chmod 666 open
	ln -s before link
	for file in other open link; do
		tap_says 2 "$file" evspace mir --listen "127.0.0.1:$((port + 1))" --certificate front --keep "$tap_dir/$file" || return
	done
	[ "$(cat other)" = 'evspace mir probes 2' ] && cmp before open
}

# Two that have the same certificate change one probe at once: each is answered, and it is as the last one had it.
two_change_one_probe() {
	local id i pids=

	gets control 200 '<probe' "$(instr '')" && id=$(id_of) || return
	for i in 1 2 3 4 5 6; do
		for what in "<ctrlreq action='ACTIVATE'><probe id='$id'/><metric name='NET_SEND'/></ctrlreq>" "$(ctrl DEACTIVATE "$id")" "$(ctrl RESET "$id")" \
			"<ctrlreq action='VALUE'><probe id='$id'/><metric name='CALLS'/></ctrlreq>"; do
			curl -sS --max-time 60 --resolve "front:$port:127.0.0.1" --cacert "$EVSPACE_TLS/ca.pem" --cert "$EVSPACE_TLS/control.pem" \
				--key "$EVSPACE_TLS/control.key" --data "$what" "https://front:$port/" >>changed 2>&1 &
			pids+=" $!"
		done
	done
	wait $pids
	[ "$(grep -c '^<measurement' changed)" -eq 24 ] || { cat changed; return 1; }
	gets control 200 '^<measurement' "<ctrlreq action='ACTIVATE'><probe id='$id'/><metric name='CALLS'/></ctrlreq>" || return
	grew() { gets observe 200 '^<measurement value="[1-9]' "$(ctrl VALUE "$id")"; }
	bed_until grew && gets control 200 '^<measurement' "$(ctrl REMOVE "$id")"
}

# However much there is of them: the server writes nothing of it itself, and who has changed something is answered when it is there.
keeping_holds_up_nobody() {
	local i before size many id

	many=$(seq -f '<process id="/a/b/rank%.0f"/>' 1024 | tr -d '\n')
	# without that of its processes
	written() { sed -n 's/wchar: //p' "/proc/$(bed_pid keeper)/task/$(bed_pid keeper)/io"; }
	for i in 1 2 3 4; do
		at_keeper gets carol 200 '<probe' "<instrreq><metric name='CALLS'/>$many</instrreq>" || return
	done
	# what it has measured is not there
	id=$(id_of) before=$(stat -c %y kept/probes)
	at_keeper gets carol 200 '^<measurement/>' "$(ctrl RESET "$id")" && [ "$(stat -c %y kept/probes)" = "$before" ] || return
	size=$(stat -c %s kept/probes) before=$(written)
	for i in 1 2 3 4 5; do
		at_keeper gets carol 200 '^<measurement/>' "<instrreq><measuring interval='$i'/></instrreq>" && grep -q "^carol - .* interval=\"$i\"" kept/probes || return
	done
	[ "$size" -gt 100000 ] && [ $(($(written) - before)) -lt "$size" ] || { echo "$size, $before to $(written)"; return 1; }
}

# While nothing can be written it goes on, and says so once; then all is kept without another change, at its end at once.
keeping_is_tried_again() {
	local id

	mkdir -p kept/probes.new/full && at_keeper gets carol 200 '<probe' "$(instr '')" && id=$(id_of) &&
		at_keeper gets carol 200 '^<measurement/>' "$(ctrl DEACTIVATE "$id")" && ! grep -q "^carol $id " kept/probes || return
	is_kept() { grep -q "^carol $id .*activated=\"false\"" kept/probes; }
	rm -r kept/probes.new && bed_until is_kept && bed_until grep -q 'probes are kept again' "$bed_dir/keeper.err" &&
		[ "$(grep -c 'not kept so far: .*/kept/probes cannot be written: ' "$bed_dir/keeper.err")" -eq 1 ] || { cat "$bed_dir/keeper.err"; return 1; }
	mkdir -p kept/probes.new/full && at_keeper gets carol 200 '^<measurement/>' "$(ctrl REMOVE "$id")" && is_kept &&
		rm -r kept/probes.new && bed_kill TERM keeper && ! is_kept && keeper_starts
}

# A second one would replace the file of the first, and both give the same ids.
one_keeps_its_probes_there() {
	tap_says 2 'another evspace mir keeps its probes there' \
		evspace mir --listen "127.0.0.1:$((port + 5))" --certificate front --run wind --keep "$tap_dir/kept/probes"
}

# Sixty at once, each answered with its own.
many_ask_at_once() {
	local i pids=

	for i in $(seq 1 60); do
		curl -sS --max-time 100 --resolve "front:$port:127.0.0.1" --cacert "$EVSPACE_TLS/ca.pem" --cert "$EVSPACE_TLS/observe.pem" \
			--key "$EVSPACE_TLS/observe.key" --data "<ctrlreq action='VALUE'><probe id='none$i'/></ctrlreq>" "https://front:$port/" >"got-$i" 2>&1 &
		pids+=" $!"
	done
	wait $pids
	for i in $(seq 1 60); do
		grep -q "no probe &quot;none$i&quot;" "got-$i" || { cat "got-$i"; return 1; }
	done
}

wrong_usage_is_said() {
	tap_says 2 'no certificate\|No such file\|evspace-certs' evspace mir --listen 127.0.0.1:1 --certificate nobody &&
		tap_says 2 "127.0.0.1:$port: Address already in use" evspace mir --listen "127.0.0.1:$port" --certificate front &&
		tap_says 2 'evspace mir' evspace mir --listen nonsense --certificate front &&
		tap_says 2 'are of --listen HOST:PORT' evspace mir --listen "unix:$tap_dir/mir" --keep x
}

it_ends_when_told() {
	post observe --data '<snapshotreq/>' && bed_kill TERM mir && grep -vE 'audit|ready' "$bed_dir/mir.err"
	[ $? -eq 1 ]
}

bed_until blows || exit 99
mkdir sources && ln -s ../beside.f90 sources/link.c
printf 'subroutine s\nend subroutine\n' | tee sources/s.f90 >beside.f90
bed_start mir evspace mir --listen "127.0.0.1:$port" --certificate front --run wind --sources "$tap_dir/sources"
bed_until ready mir || exit 99
tap_case "roles and limits of certificates say what is answered" roles_say_what_is_answered
tap_case "files below a stated folder alone are read for them" files_elsewhere_are_not_read
tap_case "wrong certificates are refused" wrong_certificates_are_refused
tap_case "wrong requests are answered, too large ones refused" wrong_requests_are_answered
tap_case "who is slow is cut off, and many hold up nobody" the_slow_and_the_many_are_bounded
tap_case "requests in pieces, several at once, half closed or damaged end nothing" odd_bytes_end_nothing
tap_case "an element has few attributes" attributes_are_few
tap_case "nobody waits for who has gone, or asks for much" nobody_waits_for_who_has_gone
tap_case "nothing is done for who has gone before the answer" nothing_is_done_for_who_has_gone
tap_case "documents without an end take bounded memory" unended_ones_are_bounded
tap_case "answers that nobody takes use bounded memory" untaken_ones_are_bounded
tap_case "without descriptors it rests, and says so once" without_descriptors_it_rests
tap_case "nobody takes all destinations" nobody_takes_all_destinations
tap_case "probes outlive their connection, by their lease" leases_run_by_time
tap_case "probes survive a restart" probes_survive_a_restart
tap_case "two change one probe at once" at_keeper two_change_one_probe
tap_case "keeping probes holds up nobody" keeping_holds_up_nobody
tap_case "what cannot be kept is tried again" keeping_is_tried_again
tap_case "one server keeps its probes in a file" one_keeps_its_probes_there
tap_case "damaged files of probes are not believed" damaged_files_are_not_believed
tap_case "many ask at once" many_ask_at_once
tap_case "wrong usage is said" wrong_usage_is_said
tap_case "it ends when told" it_ends_when_told
tap_done
