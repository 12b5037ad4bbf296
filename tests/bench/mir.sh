#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What evspace mir costs, and how soon it answers, with many probes, tools and hosts.

usage='usage: tests/bench/mir.sh [--json] [--quick] [--case load|stacks|cost] [--hosts N] [--probes N] [--rate HZ] [--seconds S] [--pairs N]
load: agents of so many hosts (64), a rank on each, so many active probes (1000) of as few tools as may have them, and others that ask for the
value of one of them, so often a second (100) in all, for so long (10 s): how long answers take, and processor time of the server and
of all agents. stacks: how long a snapshot with stacks of all threads takes there, and how many threads have one. cost: ten
active probes beside none, in blocks of one run of the wind tunnel (small, 2 ranks) in random order, which the probes are
switched on and off by a request each: steps a second of blocks of 4 s without them, divided by those with them; the median of so
many pairs (32), and an interval that has the true one with 95 %. --quick: fewer hosts, probes, seconds, pairs.'
quick= case= hosts= probes= rate= seconds= pairs=
. "${0%/*}/bench.sh"
bench_options "quick case hosts probes rate seconds pairs" "$@"
[[ " load stacks cost " = *" ${case:-load} "* ]] || { echo "$0: there is no case $case; see --help" >&2 && exit 2; }
hosts=${hosts:-${quick:+8}} probes=${probes:-${quick:+100}} seconds=${seconds:-${quick:+3}}
hosts=${hosts:-64} probes=${probes:-1000} rate=${rate:-100} seconds=${seconds:-10}
pairs=${pairs:-${quick:+6}} && pairs=${pairs:-32}
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

tap_cleanup() {
	bed_end
	rm -rf "$EVSPACE_DIR"
}

# say CASE FIGURE VALUE UNIT
say() {
	if [ -n "$json" ]; then
		printf '{"bench":"mir","case":"%s","figure":"%s","value":%s,"unit":"%s"}\n' "$@"
	else
		printf '%-7s %-46s %10s %s\n' "$@"
	fi
}

# ask SCRIPT ARG...: Python with tool(), which connects to the server, and say(); what it prints is said.
ask() {
	/usr/bin/python3 -c '
import random, socket, sys, threading, time
class tool:
    def __init__(self):
        self.s = socket.socket(socket.AF_UNIX); self.s.settimeout(60); self.s.connect(sys.argv[1]); self.left = b""
    def hear(self):
        while b"\n" not in self.left:
            more = self.s.recv(1 << 20)
            assert more, "the server has gone"
            self.left += more
        line, self.left = self.left.split(b"\n", 1)
        return line.decode()
    def ask(self, text):
        self.s.sendall(text.encode())
        return self.hear()
    def action(self, action, *ids):
        return self.ask("<ctrlreq action=\"%s\">%s</ctrlreq>" % (action, "".join("<probe id=\"%s\"/>" % i for i in ids)))
def id_of(answer):
    assert "<probe" in answer, answer
    return answer.split("\"")[1]
metrics, entities = ("NET_SEND", "CALLS", "NET_BYTES_SEND", "NET_RECV"), ("", "<node id=\"*\"/>", "<process id=\"*\"/>")
def define(i, on):
    return "<instrreq activated=\"%s\" flush=\"true\"><metric name=\"%s\"/>%s</instrreq>" % (on, metrics[i % 4], entities[i // 4 % 3])
'"$1" "$tap_dir/mir.sock" "${@:2}" || failed "$case"
}

# ticks PID...: processor time so far, in ms.
ticks() {
	local pid

	for pid; do
		cat "/proc/$pid/stat" 2>/dev/null
	done | sed 's/.*) //' | awk -v hz="$(getconf CLK_TCK)" '{ n += $12 + $13 } END { printf "%d", n * 1000 / hz }'
}

agents() {
	pgrep -f "evspace agent --pathmap $tap_dir/maps"
}

# serve RUN: the server for that run.
serve() {
	bed_start mir evspace mir --listen "unix:$tap_dir/mir.sock" --run "$1" "${@:2}"
	bed_until grep -q 'ready on' "$bed_dir/mir.err" || failed "evspace mir"
}

is_whole() {
	[ "$(evspace mir - --connect "unix:$tap_dir/w0" --run crowd <<<'<snapshotreq/>' | grep -o '<process id=[^/]*/[^/]*/w[0-9]*/rank[0-9]*">' | wc -l)" -ge "$hosts" ]
}

# Hosts with a rank each, which sleeps most of the time.
crowd_begins() {
	local last=$((hosts - 1))

	mkdir -p "$tap_dir/maps" && echo "application crowd { ranks rank[0-$last]; }" >"$tap_dir/maps/application.map"
	echo "cluster A { nodes w[0-$last]; address unix:$tap_dir/w[0-$last]; }" >"$tap_dir/maps/cluster.map"
	printf '%s\n' 'entry w0;' "place rank[0-$last] on w[0-$last] by 1;" >"$tap_dir/maps/mapping.map"
	bed_start agents evspace agent --pathmap "$tap_dir/maps" --node "w[0-$last]"
	bed_until grep -q 'agents are ready' "$bed_dir/agents.err" || { cat "$bed_dir/agents.err" >&2; failed "evspace agent"; }
	bed_start crowd evspace run --no-summary --pathmap "$tap_dir/maps" --run crowd -- mpirun -np "$hosts" "$top_builddir/tests/apps/windtunnel" --threads 1 --seconds 3600 --pause 1000
	bed_until is_whole || { cat "$bed_dir/crowd.err" >&2; failed "the program"; }
	serve crowd --connect "unix:$tap_dir/w0"
}

crowd_ends() {
	bed_kill TERM mir
	bed_kill INT crowd
	bed_kill TERM agents
}

# asked PID FILE: the file is there, or who is to make it has gone.
asked() {
	[ -e "$2" ] || bed_gone "$1"
}

load() {
	local before after

	crowd_begins
	ask '
n, rate, seconds = int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
begun = time.time()
# none has more than what it leaves for others
owners, ids = [], []
while len(ids) < n:
    owner, its = tool(), []
    owners.append(owner)
    while len(ids) + len(its) < n:
        answer = owner.ask(define(len(ids) + len(its), "false"))
        if "are yours" in answer: break
        its.append(id_of(answer))
    assert its, answer
    answer = owner.action("ACTIVATE", *its)
    assert answer.startswith("<measurement"), answer
    ids += its
print("defined", time.time() - begun)
open("go", "w").close()
took, late = [], [0]
def asks(who, k, of):
    t = begin + k / rate
    while t < begin + seconds:
        time.sleep(max(0, t - time.time()))
        asked = time.time()
        late[0] += asked - t > 0.1
        answer = who.action("VALUE", random.choice(ids))
        assert answer.startswith("<measurement"), answer
        took.append(time.time() - asked)
        t += of / rate
others = [tool() for k in range(64 - len(owners))]
begin = time.time()
some = [threading.Thread(target=asks, args=(who, k, len(others))) for k, who in enumerate(others)]
for one in some: one.start()
for one in some: one.join()
over = time.time() - begin
took.sort()
print("answered", len(took) / over)
for share in (0.5, 0.95, 1): print("took", share, took[min(len(took) - 1, int(share * len(took)))])
print("late", late[0])
open("done", "w").close()
while open("done").read() != "x": time.sleep(0.05)
' "$probes" "$rate" "$seconds" >"$tap_dir/said" &
	set -- $!
	bed_limit=600 bed_until asked "$1" go && [ -e go ] || failed "defining probes"
	before="$(ticks "$(bed_pid mir)") $(ticks $(agents))"
	bed_limit=600 bed_until asked "$1" "done" && [ -e done ] || failed "asking"
	after="$(ticks "$(bed_pid mir)") $(ticks $(agents))"
	printf x >done
	wait "$1" || { cat "$tap_dir/said" >&2; failed "load"; }
	say load "hosts" "$hosts" ""
	say load "probes, all active" "$probes" ""
	say load "defining and activating all of them" "$(awk '/^defined/ { printf "%.2f", $2 }' "$tap_dir/said")" s
	say load "answers a second" "$(awk '/^answered/ { printf "%.1f", $2 }' "$tap_dir/said")" 1/s
	say load "time to answer, median" "$(awk '/^took 0.5/ { printf "%.0f", $3 * 1000 }' "$tap_dir/said")" ms
	say load "time to answer, 95 %" "$(awk '/^took 0.95/ { printf "%.0f", $3 * 1000 }' "$tap_dir/said")" ms
	say load "time to answer, longest" "$(awk '/^took 1 / { printf "%.0f", $3 * 1000 }' "$tap_dir/said")" ms
	say load "processor time of the server" "$(awk -v s="$seconds" '{ printf "%.3f", ($3 - $1) / s / 1000 }' <<<"$before $after")" cores
	say load "processor time of all agents" "$(awk -v s="$seconds" '{ printf "%.3f", ($4 - $2) / s / 1000 }' <<<"$before $after")" cores
	crowd_ends
}

stacks() {
	crowd_begins
	ask '
one = tool()
times, threads, unread = [], [], []
for i in range(10):
    begun = time.time()
    answer = one.ask("<snapshotreq named=\"true\" stack=\"20\"/>")
    times.append(time.time() - begun)
    threads.append(sum(1 for t in answer.split("<thread ")[1:] if "<stack>" in t))
    unread.append(answer.count("<?unread") + answer.count("<?missing"))
    longest = float(answer.split("longest_ms=\"")[1].split("\"")[0]) if "longest_ms" in answer else 0
    print("one", times[-1], threads[-1], unread[-1], longest)
' >"$tap_dir/said"
	say stacks "hosts" "$hosts" ""
	say stacks "time to answer, longest of ten" "$(sort -g -k2 "$tap_dir/said" | tail -n 1 | awk '{ printf "%.0f", $2 * 1000 }')" ms
	say stacks "threads with a stack, median" "$(sort -g -k3 "$tap_dir/said" | sed -n 5p | cut -d' ' -f3)" ""
	say stacks "threads, processes, hosts named without, median" "$(sort -g -k4 "$tap_dir/said" | sed -n 5p | cut -d' ' -f4)" ""
	say stacks "longest stop of a thread, median" "$(sort -g -k5 "$tap_dir/said" | sed -n 5p | cut -d' ' -f5)" ms
	crowd_ends
}

cost() {
	local block=4 used begun=0

	[ -z "$quick" ] || block=2
	bed_start agent evspace agent
	bed_until bed_ready agent || failed "the agent"
	bed_start tunnel evspace run --no-summary --run tunnel -- mpirun -np 2 "$top_builddir/tests/apps/windtunnel" --size small --report --seconds 3600
	bed_until grep -q 'steps' "$bed_dir/tunnel.err" || { cat "$bed_dir/tunnel.err" >&2; failed "the program"; }
	serve tunnel
	used=$(ticks "$(bed_pid mir)" "$(bed_pid agent)")
	begun=$SECONDS
	ask '
import re
one = tool()
ids = [id_of(one.ask(define(i, "false"))) for i in range(10)]
def rates(): return [float(m) for m in re.findall(r"step [^\n]*, ([0-9.]+) steps", open(sys.argv[2]).read())]
def pace(on):
    answer = one.action("ACTIVATE" if on else "DEACTIVATE", *ids)
    assert answer.startswith("<measurement"), answer
    # not the second that has begun, nor the next
    n = len(rates()) + 2
    while len(rates()) < n + block: time.sleep(0.05)
    return sum(rates()[n:n + block]) / block
block = int(sys.argv[3])
pairs = []
for i in range(int(sys.argv[4])):
    order = random.sample((True, False), 2)
    said = {on: pace(on) for on in order}
    pairs.append(said[False] / said[True])
pairs.sort()
# of 32 the eleventh ones are a 95 % interval, of six the outermost a 97 % one
k = max(0, int((len(pairs) - 1.96 * len(pairs) ** 0.5) / 2))
print(len(pairs), pairs[len(pairs) // 2], pairs[k], pairs[-1 - k])
' "$bed_dir/tunnel.err" "$block" "$pairs" >"$tap_dir/said"
	# they are active half of the time
	used=$(($(ticks "$(bed_pid mir)" "$(bed_pid agent)") - used))
	say cost "processor time of server and agent meanwhile" "$(awk -v ms="$used" -v s=$((SECONDS - begun)) 'BEGIN { printf "%.4f", 2 * ms / s / 1000 }')" cores
	say cost "pairs of blocks" "$(cut -d' ' -f1 "$tap_dir/said")" ""
	say cost "slowdown by 10 active probes" "$(awk '{ printf "%.4f", $2 }' "$tap_dir/said")" ""
	say cost "from" "$(awk '{ printf "%.4f", $3 }' "$tap_dir/said")" ""
	say cost "to" "$(awk '{ printf "%.4f", $4 }' "$tap_dir/said")" ""
	bed_kill TERM mir
	bed_kill INT tunnel
	bed_kill TERM agent
}

make -s -C "$top_builddir" tests/apps/windtunnel >&2 || failed "building the program"
bed_begin
unset EVSPACE_ENTRY EVSPACE_TLS
cd "$tap_dir" || exit 1
for one in ${case:-load stacks cost}; do
	"$one"
done
