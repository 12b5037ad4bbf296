# SPDX-License-Identifier: BSD-3-Clause
# evspace mir --listen: several tools at one socket, each with its probes; those that read nothing, send garbage, or go.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/mir-sir.sh"

mir_begin
socket=$tap_dir/mir.sock
bed_start wind evspace run --run wind -- mpirun -np 2 "$top_builddir/tests/apps/windtunnel" --threads 2 --seconds 600 --pause 5

blows() {
	[ "$(evspace mir - --run wind <<<'<snapshotreq/>' | grep -o '<thread' | wc -l)" -eq 4 ]
}

ready() {
	grep -q "ready on unix:$socket" "$bed_dir/mir.err"
}

# tools SCRIPT: Python with tool(), which connects, and its say(DOCUMENT) and hear(): the next answer as an element.
tools() {
	timeout 100 /usr/bin/python3 -c '
import socket, sys, time, xml.etree.ElementTree as ET
class tool:
    def __init__(self):
        self.s = socket.socket(socket.AF_UNIX); self.s.settimeout(30); self.s.connect(sys.argv[1]); self.left = b""
    def say(self, text):
        self.s.sendall(text.encode() if isinstance(text, str) else text)
    def line(self):
        while b"\n" not in self.left:
            more = self.s.recv(65536)
            if not more: return None
            self.left += more
        line, self.left = self.left.split(b"\n", 1)
        open("said", "ab").write(line + b"\n")
        return line
    def hear(self): return ET.fromstring(self.line())
    def ask(self, text):
        self.say(text)
        return self.hear()
    def probe(self, text):
        return self.ask("<instrreq activated=\"true\" flush=\"true\">%s</instrreq>" % text).get("id")
    def value(self, id, action="VALUE", more=""):
        return self.ask("<ctrlreq action=\"%s\"><probe id=\"%s\"/>%s</ctrlreq>" % (action, id, more))
calls = "<codeRegion from=\"p2p\"/><metric name=\"CALLS\"/><measuring%s><aggregate function=\"SUM\"/></measuring>"
'"$1" "$socket"
}

each_has_its_own() {
	tools '
a, b = tool(), tool()
p, q = a.probe(calls % ""), b.probe(calls % "")
assert p and q and p != q
while float(a.value(p).get("value", 0)) < 10: pass
assert float(b.value(p).get("value")) >= 10, "another tool may look"
for action in ("REMOVE", "RESET", "DEACTIVATE", "ACTIVATE"):
    e = b.value(p, action)
    assert e.tag == "errors" and "another tool" in e[0].text, e
assert b.value(p, "VALUE", "<metric name=\"NET_SEND\"/>").tag == "errors"
assert a.ask("<snapshotreq/>").tag == "snapshot"
assert b.value(q, "REMOVE").tag == "measurement" and b.value(q).tag == "errors"
'
}

# Neither what is wrong with one of several, nor that it cannot be measured, changes the others.
refused_ones_change_nothing() {
	tools '
a = tool()
p = a.probe(calls % "")
q = a.ask("<instrreq><codeRegion from=\"user:no\"/><metric name=\"CALLS\"/></instrreq>").get("id")
f = a.ask("<instrreq flush=\"true\"><codeRegion from=\"function:nobody_here\"/><metric name=\"CALLS\"/></instrreq>").get("id")
def count(): return float(a.value(p).get("value", 0))
while count() < 10: pass
before = count()
def ask(action, *ids, more=""):
    return a.ask("<ctrlreq action=\"%s\">%s%s</ctrlreq>" % (action, "".join("<probe id=\"%s\"/>" % i for i in ids), more))
e = ask("RESET", p, q, more="<metric name=\"NET_SEND\"/>")
assert e.tag == "errors" and "NET_SEND" in e[0].text, e
assert count() >= before, "it counts calls as before"
e = ask("ACTIVATE", p, f, more="<metric name=\"WC_TIME\"/>")
assert e.tag == "errors" and "cannot be measured" in e[0].text, e
after = count()
assert after >= before and after == int(after), (before, after)
while count() < after + 10: pass
assert ask("DEACTIVATE", p).tag == "measurement"
before = count()
assert ask("ACTIVATE", p, f).tag == "errors"
time.sleep(0.5)
assert count() == before, "it is off as before"
'
}

# One takes half of the probes there may be, not all; and what others take is no more than they leave.
each_has_its_share() {
	tools '
a, b = tool(), tool()
define = "<instrreq><metric name=\"CALLS\"/></instrreq>"
def take(t, n):
    t.say(define * n)
    return [t.hear().tag for i in range(n)]
assert take(a, 502) == ["probe"] * 500 + ["errors"] * 2
assert b.ask(define).tag == "probe"
e = a.ask(define)
assert "501 probes, and 500 of them are yours" in e[0].text, e[0].text
# nor are they of any size: a file of probes has all of all tools
def processes(n, text="/a/b/rank%d"):
    return "".join("<process id=\"" + text % i + "\"/>" for i in range(n))
def large(more): return b.ask("<instrreq><metric name=\"CALLS\"/>%s</instrreq>" % more)
assert "twice" in large(processes(3) + processes(1))[0].text
assert "CALLS&quot; is there twice" in large("<metric name=\"CALLS\"/>")[0].text.replace("\"", "&quot;")
# each entity was looked at with each metric that was said
def spent(): return sum(map(int, open("/proc/'"$(bed_pid mir)"'/stat").read().rsplit(") ", 1)[1].split()[11:13]))
before = spent()
assert "no metric" in b.ask("<instrreq>%s%s</instrreq>" % ("<metric name=\"A\"/>" * 48000, processes(1000)))[0].text
assert spent() - before < 300, spent() - before
assert "more than 1024" in large(processes(1025))[0].text
assert "more than 4096 bytes" in large("<measuring destination=\"file:///%s\"/>" % ("d" * 5000))[0].text
assert "more aggregates" in large("<measuring>%s</measuring>" % ("<aggregate function=\"SUM\"/>" * 6))[0].text
n = processes(4, "/a/b/rank%d" + "x" * 140000)
ids = [e.get("id") for e in [large(n) for i in range(5)] if e.tag == "probe"]
assert len(ids) == 3 and "more than 2 MiB" in large(n)[0].text, ids
assert "more than 2 MiB" in b.ask("<ctrlreq action=\"VALUE\"><probe id=\"%s\"/>%s</ctrlreq>" % (ids[0], n))[0].text
assert b.value(ids[0], "REMOVE").tag == "measurement" and large(n).tag == "probe"
'
}

# Nor the elements of the run that there may be.
elements_are_shared() {
	tools '
a, b = tool(), tool()
define = "<instrreq><metric name=\"CALLS\"/><measuring delivery=\"1000\" destination=\"element:%s\"/></instrreq>"
said = [a.ask(define % ("a%d" % i)) for i in range(9)]
assert [e.tag for e in said] == ["probe"] * 8 + ["errors"] and "8 of them yours" in said[8][0].text, said[8][0].text
assert b.ask(define % "b").tag == "probe"
'
}

# Its probe is not there any more, and a new tool has its own.
probes_end_with_their_tool() {
	tools '
a, b = tool(), tool()
p = a.probe(calls % "")
assert b.value(p).tag == "measurement"
a.s.close()
while b.value(p).tag != "errors": pass
'
}

# What was sent before the end is answered: twenty documents at once, in pieces.
documents_come_in_pieces() {
	tools '
a = tool()
text = "".join("<ctrlreq action=\"VALUE\"><probe id=\"no%d\"/></ctrlreq>\n" % i for i in range(20))
for i in range(0, len(text), 7): a.say(text[i:i + 7])
a.s.shutdown(socket.SHUT_WR)
for i in range(20): assert "no%d" % i in a.hear()[0].text
assert a.line() is None
'
}

values_come_by_themselves() {
	tools '
a = tool()
a.probe(calls % " delivery=\"50\"")
values = [float(a.hear().get("value", 0)) for i in range(5)]
assert values == sorted(values) and values[-1] > 0, values
'
}

# It reads nothing of what it asks for, and another one is answered all the same.
who_does_not_read_holds_up_nobody() {
	tools '
deaf, a = tool(), tool()
deaf.s.settimeout(1)
deaf.probe(calls % " delivery=\"1\"")
try:
    for i in range(20000): deaf.say("<snapshotreq named=\"true\"/>" * 10)
except socket.timeout: pass
for i in range(5): assert a.ask("<foo/>").tag == "errors"
'
	memory=$(awk '/VmRSS/ { print $2 }' "/proc/$(bed_pid mir)/status")
	[ "$memory" -lt 150000 ] || tap_sanitized || { echo "$memory KiB"; return 1; }
}

# While hosts do not answer one tool, another one is answered.
who_waits_holds_up_nobody() {
	local agent

	agent=$(bed_pid agent)
	tools '
import os, select, signal
a, b, c = tool(), tool(), tool()
p = b.probe(calls % "")
os.kill('"$agent"', signal.SIGSTOP)
try:
    a.say("<snapshotreq/>")
    c.say("<ctrlreq action=\"VALUE\"><probe id=\"%s\"/></ctrlreq>" % p)
    for i in range(20): assert b.ask("<foo/>").tag == "errors"
    assert not select.select([a.s, c.s], [], [], 0)[0], "hosts have answered"
finally:
    os.kill('"$agent"', signal.SIGCONT)
assert a.hear().tag == "snapshot" and c.hear().tag == "measurement"
'
}

# Twenty tools at once take as long as a few waves, not twenty times two.
waits_are_shared() {
	tools '
b = tool()
p = b.probe(calls % "")
all = [tool() for i in range(20)]
begun = time.time()
for t in all: t.say("<ctrlreq action=\"VALUE\"><probe id=\"%s\"/></ctrlreq><snapshotreq/>" % p)
for t in all: assert t.hear().tag == "measurement" and t.hear().tag == "snapshot"
assert time.time() - begun < 4, time.time() - begun
'
}

# Five sources are read by what does not end before it is told; four at once, and another tool is answered meanwhile. One that goes
# takes its process with it.
sources_hold_up_nobody() {
	mkdir -p alone && cp "$(command -v evspace)" alone && ln -sfn "$(realpath "$top_builddir/.libs")" alone/.libs && mkfifo gate && echo 'int f(void) { return 1; }' >slow.c || return
	printf '#!/bin/sh\necho $$ >>"%s/begun"\nread -r line <"%s/gate"\necho "0 1 1 0 25 0 0 f"\n' "$tap_dir" "$tap_dir" >alone/evspace-clang
	chmod +x alone/evspace-clang && : >begun || return
	bed_start slow alone/evspace mir --listen "unix:$tap_dir/slow.sock" --run wind
	bed_until grep -q "ready on unix:$tap_dir/slow.sock" "$bed_dir/slow.err" && socket=$tap_dir/slow.sock tools '
import os, time
ask = "<sirreq><resource in=\"file://%s/slow.c\"/></sirreq>" % os.getcwd()
def begun(): return open("begun").read().split()
some = [tool() for i in range(5)]
for one in some:
    one.say(ask)
    while some.index(one) < 4 and len(begun()) <= some.index(one): time.sleep(0.01)
other = tool()
for i in range(10): assert other.ask("<snapshotreq/>").tag == "snapshot"
assert len(begun()) == 4, begun()
some.pop(0).s.close()
while len(begun()) < 5: time.sleep(0.01)
def lives(pid):
    try: return ") Z " not in open("/proc/%s/stat" % pid).read()
    except FileNotFoundError: return False
while lives(begun()[0]): time.sleep(0.01)
assert other.ask("<snapshotreq/>").tag == "snapshot"
os.write(os.open("gate", os.O_RDWR), b"\n" * 1000)
for one in some:
    sir = one.hear()
    assert sir.tag == "sir" and sir.find("unit/codeRegion").get("name") == "f", ET.tostring(sir)
' || return
	bed_kill TERM slow
}

garbage_is_answered() {
	tools '
import random
random.seed(1)
for i in range(50):
    g = tool()
    g.say(bytes(random.randrange(256) for i in range(2000)) + b"<instrreq><foo")
    g.s.close()
a = tool()
assert "not well formed" in a.ask(b"\x00\xff\xfe<\x00")[0].text
b = tool()
assert b.ask("<snapshotreq/>").tag == "snapshot"
'
}

socket_is_this_users() {
	[ "$(stat -c %a "$socket")" = 600 ] &&
		tap_says 2 'somebody listens there already' evspace mir --listen "unix:$socket" &&
		touch file && tap_says 2 'file: Address already in use' evspace mir --listen "unix:$tap_dir/file" && [ -e file ] &&
		tap_says 2 'say which FILE' evspace mir - --listen "unix:$tap_dir/other"
}

# Who listens where another one did takes nothing of it, and loses nothing to it.
a_successor_keeps_its_socket() {
	rm "$socket" && bed_start second evspace mir --listen "unix:$socket" --run wind && bed_until grep -q "ready on unix:$socket" "$bed_dir/second.err" || return
	bed_kill TERM mir && [ -S "$socket" ] && tools 'assert tool().ask("<snapshotreq/>").tag == "snapshot"' || return
	bed_kill TERM second && [ ! -e "$socket" ] && bed_start mir evspace mir --listen "unix:$socket" --run wind && bed_until ready
}

it_ends_when_told() {
	bed_kill TERM mir && [ ! -e "$socket" ] && [ "$(wc -l <"$bed_dir/mir.err")" -eq 1 ] || { cat "$bed_dir/mir.err"; return 1; }
}

bed_until blows || exit 99
bed_start mir evspace mir --listen "unix:$socket" --run wind
bed_until ready || exit 99
tap_case "each tool has probes of its own, and may look at those of others" each_has_its_own
tap_case "refused control requests have changed nothing" refused_ones_change_nothing
tap_case "no tool takes the probes of all" each_has_its_share
tap_case "no tool takes the elements of all" elements_are_shared
tap_case "probes end with their tool" probes_end_with_their_tool
tap_case "documents come in pieces, and are answered when a tool sends no more" documents_come_in_pieces
tap_case "values come by themselves" values_come_by_themselves
tap_case "who does not read holds up nobody, and takes no memory" who_does_not_read_holds_up_nobody
tap_case "who waits for hosts holds up nobody" who_waits_holds_up_nobody
tap_case "what several wait for, they wait for together" waits_are_shared
tap_case "sources that take long hold up nobody" sources_hold_up_nobody
tap_case "garbage is answered" garbage_is_answered
tap_case "answers are valid by the schema" answers_are_valid said 30 150
tap_case "the socket is this user's alone" socket_is_this_users
tap_case "who listens after another one keeps its socket" a_successor_keeps_its_socket
tap_case "it ends when told, and leaves no socket" it_ends_when_told
tap_done
