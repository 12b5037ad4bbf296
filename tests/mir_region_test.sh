# SPDX-License-Identifier: BSD-3-Clause
# evspace mir: call sites of a program that knows nothing of it, from one region to another, events, durations, and destinations that
# are there, slow, or gone.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/mir-sir.sh"

mir_begin
mkdir out

# Each step has two MPI_Bcast of 4 bytes in one line and one in another one, then 10 ms in a region, and an MPI_Allreduce 20 ms later.
cat >steps.c <<'EOT'
#define _GNU_SOURCE
#include <evspace.h>
#include <mpi.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
static void hop(void) /* to another processor, if there is one */
{
	cpu_set_t all, one;
	sched_getaffinity(0, sizeof(all), &all);
	for (int cpu = 0; cpu < 64; cpu++)
		if (cpu != sched_getcpu()) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			if (sched_setaffinity(0, sizeof(one), &one) == 0) break;
		}
	sched_setaffinity(0, sizeof(all), &all);
}
static void touch(void) /* a page that is new */
{
	volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[0] = 1;
	munmap((void *)page, 4096);
}
int main(int argc, char **argv)
{
	int step, stop = 0, x = 0;
	MPI_Init(&argc, &argv);
	for (step = 0; !stop; step++) {
		for (int i = 0; i < 2; i++)
			MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD); /* twice */
		MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD); /* once */
		evspace_region("assemble", EVSPACE_BEGIN);
		usleep(10000);
		evspace_region("assemble", EVSPACE_END);
		usleep(20000);
		touch();
		hop();
		stop = access("stop", F_OK) == 0;
		MPI_Allreduce(MPI_IN_PLACE, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD); /* last */
	}
	return MPI_Finalize();
}
EOT
mpicc -O1 -g "-I$(realpath "$top_srcdir/node-agent/collect/core")" -o steps steps.c -ldl || exit 99

# line TEXT: of the source
line() {
	grep -n "/\\* $1" steps.c | cut -d: -f1
}

lives() {
	[ "$(evspace mir - --run "$1" <<<'<snapshotreq/>' | grep -o '<thread' | wc -l)" -eq 2 ]
}

steps_begin() {
	bed_start "$1" evspace run --run "$@" -- mpirun -np 2 ./steps && bed_until lives "$1"
}

# mir RUN SCRIPT OPTION...: Python with ask(DOCUMENT), define(WHAT), ctrl(ACTION, PROBE...), values(PROBE).
mir() {
	local run=$1 script=$2

	shift 2
	timeout 100 /usr/bin/python3 -c '
import json, os, socket, subprocess, sys, threading, time, xml.etree.ElementTree as ET
served = subprocess.Popen(["evspace", "mir", "-", "--run", *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("mir.err", "w"))
said = open("documents", "ab")
here = os.getcwd()
def ask(text):
    served.stdin.write(text.encode()); served.stdin.flush()
    line = served.stdout.readline()
    said.write(line); said.flush()
    ask.line = line.decode()
    return ET.fromstring(line)
def define(what, active="true"):
    return ask("<instrreq activated=\"%s\" flush=\"true\">%s</instrreq>" % (active, what))
def probe(what, active="true"):
    e = define(what, active)
    assert e.tag == "probe", ET.tostring(e)
    return e.get("id")
def ctrl(action, *probes):
    return ask("<ctrlreq action=\"%s\">%s</ctrlreq>" % (action, "".join("<probe id=\"%s\"/>" % one for one in probes)))
def values(probe):
    return [float(m.get("value")) for m in ctrl("VALUE", probe).iter("measurement") if m.get("value") is not None]
# nobody may have executed it as yet
def newest(probe): return (values(probe) + [0])[0]
def lines(): return open("mir.err").read()
def until(what, seconds=30):
    end = time.time() + seconds
    while not what():
        assert time.time() < end, lines() + ask.line
        time.sleep(0.05)
sums = "<measuring><aggregate function=\"SUM\"/></measuring>"
both = "<metric name=\"CALLS\"/><metric name=\"WC_TIME\"/>" + sums
'"$script" "$run" "$@"
}

# Of a program that was compiled with -g alone, by the places and by the ids of its SIR.
call_sites_are_regions() {
	mir sites "
ask('<sirreq><resource in=\"file://%s/steps\"/></sirreq>' % here)
unit = [u for u in ET.fromstring(ask.line).iter('unit') if u.get('name').endswith('/steps.c')][0].get('id')
twice, once, last = (probe('<codeRegion from=\"%s\"/>' % r + both, 'false') for r in ('call:steps.c:$(line twice)', '%s-$(line once)' % unit, 'call:steps.c:$(line last)'))
bytes = probe('<codeRegion from=\"call:steps.c:$(line twice)\"/><metric name=\"CALLS\"/><measuring interval=\"300\"/>', 'false')
none = probe('<codeRegion from=\"call:steps.c:1\"/>' + both, 'false')
assert ctrl('ACTIVATE', twice, once, last, bytes, none).tag == 'measurement'
while newest(last) < 40: pass
ctrl('DEACTIVATE', twice, once, last, bytes, none)
all = values(twice), values(once), values(last)
print(all)
# both ranks may have been between two of them
assert abs(all[0][0] - 2 * all[2][0]) <= 8 and abs(all[1][0] - all[2][0]) <= 4, all
assert all[0][1] > 0 and values(bytes)[0] > 0 and values(none) in ([], [0, 0], [0.0, 0.0]), values(none)
assert 'not recorded' not in ask.line
e = define('<codeRegion from=\"0123abcd-12\"/><metric name=\"CALLS\"/>')
assert e.tag == 'errors' and 'ask for its SIR' in e[0].text
e = define('<codeRegion from=\"call:steps\"/><metric name=\"CALLS\"/>')
assert e.tag == 'errors' and 'call:solver.c:212' in e[0].text
"
}

# The other run has elements of threads.
missing_sites_are_said() {
	mir plain "
p = probe('<codeRegion from=\"call:steps.c:$(line twice)\"/>' + both)
until(lambda: ctrl('VALUE', p) is not None and 'call sites are not recorded' in ask.line)
"
}

# A step is 30 ms from the begin of the region to the Allreduce; and 20 from its end.
from_one_to_another() {
	mir plain "
pairs = probe('<codeRegion from=\"user:assemble\" to=\"MPI_Allreduce\"/>' + both, 'false')
back = probe('<codeRegion from=\"MPI_Allreduce\" to=\"user:assemble\"/>' + both, 'false')
ends = probe('<codeRegion from=\"MPI_Allreduce\"/><metric name=\"CALLS\"/>' + sums, 'false')
longest = probe('<codeRegion from=\"user:assemble\" to=\"collective\"/><metric name=\"WC_TIME\"/><measuring><aggregate function=\"MINIMUM\"/></measuring>', 'false')
never = probe('<codeRegion from=\"user:assemble\" to=\"MPI_Send\"/>' + both, 'false')
assert ctrl('ACTIVATE', pairs, back, ends, longest, never).tag == 'measurement'
while newest(ends) < 100: pass
ctrl('DEACTIVATE', pairs, back, ends, longest, never)
all = values(pairs), values(back), values(ends), values(longest), values(never)
print(all)
# those come a wave or two later
assert all[2][0] - 40 <= all[0][0] <= all[2][0] and abs(all[0][0] - all[1][0]) <= 4, all
assert all[0][1] / all[0][0] >= 29.9 and all[3][0] >= 29.9 and all[1][1] / all[1][0] >= 10, all
assert sum(all[4]) == 0, all
e = define('<codeRegion from=\"user:assemble\" to=\"MPI_Allreduce\"/><metric name=\"NET_SEND\"/>')
assert e.tag == 'errors' and 'from one region to another' in e[0].text
e = define('<codeRegion from=\"MPI_Send\" to=\"nowhere\"/><metric name=\"CALLS\"/>')
assert e.tag == 'errors' and 'no region \"nowhere\"' in e[0].text
"
}

# What the kernel says is taken when a time from the one to the other ends, beside what there is of that itself; twice it has waited in each.
kernel_from_one_to_another() {
	mir plain "
waits = probe('<codeRegion from=\"user:assemble\" to=\"MPI_Allreduce\"/><metric name=\"BLOCKED_COUNT\"/><metric name=\"CALLS\"/>')
each = probe('<codeRegion from=\"MPI_Allreduce\"/><metric name=\"WC_TIME\"/><metric name=\"CPU_TIME\"/><metric name=\"BLOCKED_COUNT\"/><process id=\"*\"/>')
never = probe('<codeRegion from=\"user:assemble\" to=\"MPI_Send\"/><metric name=\"BLOCKED_COUNT\"/><metric name=\"CALLS\"/>')
most = probe('<codeRegion from=\"user:assemble\"/><metric name=\"CALLS\"/><metric name=\"BLOCKED_COUNT\"/><measuring><aggregate function=\"MAXIMUM\"/></measuring>')
until(lambda: len(values(waits)) >= 4 and min(values(waits)[0::2]) > 20)
assert set(values(waits)[1::2]) == {1}, ask.line
until(lambda: len(values(each)) == 6 and values(each)[2] > 20)
all = values(each)
assert all[0] == all[3] > 0 and all[1] > 0, all
assert values(never) == [], ask.line
until(lambda: len(values(most)) == 2 and values(most)[1] > 20)
assert values(most)[0] == 1
"
}

# As lines: read by what reads archives. Those that go on behind what is there have it once.
events_are_archived() {
	mir plain "
def kept(name): return [e for e in map(json.loads, subprocess.run(['evspace', 'events', '--view', '', '--from', 'out/' + name, '--json'], stdout=subprocess.PIPE).stdout.splitlines()) if e['type'] == 'tuple']
def whole(name): return subprocess.run(['evspace', 'archive', 'check', 'out/' + name], stdout=subprocess.DEVNULL).returncode == 0
first = ask('<snapshotreq/>').find('.//process').get('id')
to = '<event/><measuring destination=\"archive:%s/out/%%s\"/>' % here
trace = probe('<codeRegion from=\"MPI_Bcast\"/>' + to % 'bcasts' + '<process id=\"%s\"/>' % first, 'false')
region = probe('<codeRegion from=\"user:assemble\" to=\"user:assemble\"/>' + to % 'labels', 'false')
calls = probe('<codeRegion from=\"MPI_Bcast\"/><metric name=\"CALLS\"/>' + sums + '<process id=\"%s\"/>' % first, 'false')
assert ctrl('ACTIVATE', trace, region, calls).tag == 'measurement', ask.line
while newest(calls) < 100: pass
assert ctrl('DEACTIVATE', trace, region, calls).tag == 'measurement'
until(lambda: whole('bcasts') and whole('labels') and len(kept('bcasts')) >= 60)
got, n = kept('bcasts'), values(calls)[0]
print(len(got), n)
assert all(e['op'] == 'MPI_Bcast' and e['name'].startswith(first + '/') for e in got), got[0]
assert abs(len(got) - n) <= 60 and len({e['number'] for e in got}) == len(got)
got = kept('labels')
assert len(got) > 10 and all(e['label'] == 'assemble' for e in got), got[:1]
assert ctrl('ACTIVATE', trace).tag == 'measurement', ask.line
again = ask('<instrreq activated=\"true\" flush=\"true\"><codeRegion from=\"MPI_Bcast\"/>%s</instrreq>' % (to % 'bcasts'))
assert again.tag == 'errors' and 'archive' in again[0].text, ask.line
for what, why in (('<codeRegion from=\"user:a\" to=\"MPI_Send\"/>', 'one region'), ('<codeRegion from=\"user:a b\"/>', 'one region'), ('<codeRegion from=\"user:a|op=MPI_Send\"/>', 'one region'), ('<metric name=\"CALLS\"/>', 'archives take events')):
    e = define(what + (to % 'x' if 'metric' not in what else (to % 'x').replace('<event/>', '')))
    assert e.tag == 'errors' and why in e[0].text, ask.line
for where in '/elsewhere/x', here + '/out/.':
    e = define('<event/><measuring destination=\"archive:%s\"/>' % where)
    assert e.tag == 'errors' and 'not below' in e[0].text, ask.line
# nothing else is written into it
for name in 'bcasts/index', 'bcasts/00000001.evspace', 'labels/more/x':
    e = define('<metric name=\"CALLS\"/><measuring delivery=\"1000\" destination=\"file://%s/out/%s\"/>' % (here, name))
    assert e.tag == 'errors' and 'is in an archive' in e[0].text, ask.line
# nor is one made around what is written already
os.mkdir('out/files')
e = define('<metric name=\"CALLS\"/><measuring delivery=\"1000\" destination=\"file://%s/out/files/x\"/>' % here, 'false')
assert e.tag == 'probe', ask.line
assert ctrl('REMOVE', region).tag == 'measurement'
around = define(to % 'files', 'false')
assert around.tag == 'errors' and 'files there are destinations' in around[0].text, ask.line
assert ctrl('REMOVE', e.get('id')).tag == 'measurement'
region = probe(to % 'files', 'false')
# each has a view of its own, and others are to have some
e = define(to % 'third')
assert e.tag == 'errors' and 'there are 2 archives' in e[0].text, ask.line
assert ctrl('REMOVE', region).tag == 'measurement' and define(to % 'third').tag == 'probe', ask.line
" --deliver "$tap_dir/out" && bed_until whole_archive && evspace events --view '' --from out/bcasts --json 2>err >again && [ "$(grep -o '"number":[0-9]*' again | sort | uniq -d | wc -l)" -eq 0 ]
}

whole_archive() {
	evspace archive check out/bcasts
}

# One process ends, the other one goes on: a snapshot has that alone.
ended_ones_are_gone() {
	cat >leaves.c <<-'EOT'
		#include <mpi.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int rank;
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Finalize();
			while (rank == 0 && access("leave", F_OK) != 0) usleep(10000);
			return 0;
		}
	EOT
	mpicc -o leaves leaves.c && bed_start leaves evspace run --run leaves -- mpirun -np 2 ./leaves && bed_until one_is_left
	set -- $?
	touch leave && bed_wait leaves
	return "$1"
}

one_is_left() {
	evspace mir - --run leaves <<<'<snapshotreq/>' >left && [ "$(grep -o '<thread ' left | wc -l)" -eq 1 ] && grep -q '<thread id="[^"]*/rank0/t0"' left && ! grep -q rank1 left && ! grep -q '<[?]ended' left
}

# One line for each, of that region and those entities alone; as many as another probe counts.
events_are_a_stream() {
	mir plain "
e = define('<codeRegion from=\"MPI_Bcast\"/><event/><measuring delivery=\"-1\"/>')
assert e.tag == 'errors' and 'a stream of their own' in e[0].text
e = define('<metric name=\"CALLS\"/><event/><measuring destination=\"file://%s/out/x\"/>' % here)
assert e.tag == 'errors' and 'two requests' in e[0].text
first = ask('<snapshotreq/>').find('.//process').get('id')
trace = probe('<codeRegion from=\"MPI_Bcast\"/><event/><measuring destination=\"file://%s/out/events\"/><process id=\"%s\"/>' % (here, first), 'false')
region = probe('<codeRegion from=\"user:assemble\"/><event/><measuring destination=\"file://%s/out/regions\"/>' % here, 'false')
calls = probe('<codeRegion from=\"MPI_Bcast\"/><metric name=\"CALLS\"/>' + sums + '<process id=\"%s\"/>' % first, 'false')
assert ctrl('ACTIVATE', trace, region, calls).tag == 'measurement'
while newest(calls) < 100: pass
assert ctrl('DEACTIVATE', trace, region, calls).tag == 'measurement'
got = [json.loads(line) for line in open('out/events')]
print(len(got), values(calls))
assert all(one['op'] == 'MPI_Bcast' and one['name'].startswith(first + '/') and one['end_ns'] > one['start_ns'] for one in got), got[0]
assert abs(len(got) - values(calls)[0]) <= 60 and len(got) >= 60
# none twice, none left out between the first and the last
numbers = [one['number'] for one in got]
assert len(set(numbers)) == len(numbers)
got = [json.loads(line) for line in open('out/regions')]
assert len(got) > 10 and all(one['label'] == 'assemble' for one in got)
" --deliver "$tap_dir/out"
}

# A step takes 30 ms and more, so in 500 ms there are 17 at most, on each of two ranks.
durations_are_measured() {
	mir plain "
e = define('<metric name=\"CALLS\"/><measuring interval=\"100\" duration=\"200\"/>')
assert e.tag == 'errors' and 'a duration of that at most' in e[0].text
region = '<codeRegion from=\"MPI_Allreduce\"/><metric name=\"CALLS\"/><measuring %s/><site id=\"/local\"/>'
once = probe(region % 'duration=\"1000\"')
assert values(once) == [], ask.line
again = probe(region % 'interval=\"1500\" duration=\"1000\"')
until(lambda: values(once))
first = values(once)
assert 0 < first[0] <= 90, first
time.sleep(1.5)
assert values(once) == first
assert ctrl('RESET', once).tag == 'measurement' and values(once) == []
until(lambda: values(once))
until(lambda: values(again))
assert 0 < values(again)[0] <= 90, values(again)
ran = probe('<metric name=\"CPU_TIME\"/><measuring interval=\"600\" duration=\"500\"/><process id=\"*\"/>')
until(lambda: len(values(ran)) == 2)
assert all(0 <= v <= 1100 for v in values(ran)), values(ran)
"
}

# Each step has a page fault, and leaves its processor twice at least.
counts_are_the_kernels() {
	mir plain "
ends, faults, switches = (probe(what + sums, 'false') for what in ('<codeRegion from=\"MPI_Allreduce\"/><metric name=\"CALLS\"/>', '<metric name=\"PAGE_FAULTS\"/>', '<metric name=\"CONTEXT_SWITCHES\"/>'))
assert ctrl('ACTIVATE', faults, switches, ends).tag == 'measurement'
while newest(ends) < 60: pass
ctrl('DEACTIVATE', ends, faults, switches)
all = values(ends)[0], values(faults)[0], values(switches)[0]
print(all)
assert all[0] - 4 <= all[1] <= 3 * all[0] + 100 and all[2] >= 2 * (all[0] - 4), all
"
}

# Those of processors, or why there are none; how often a process has moved, which it does in each step if it has where to.
counters_are_the_kernels() {
	mir plain "
for name, least in (('CYCLES', 1e6), ('INSTRUCTIONS', 1e6), ('CACHE_MISSES', 1)):
    e = define('<metric name=\"%s\"/><process id=\"*\"/>' % name)
    if e.tag == 'errors':
        assert 'cannot be measured: /local/' in e[0].text and ('this machine has no counter of it' in e[0].text or 'perf_event_paranoid' in e[0].text), e[0].text
    else:
        until(lambda: len(values(e.get('id'))) == 2 and min(values(e.get('id'))) > least)
    print(name, e.tag)
steps = probe('<codeRegion from=\"MPI_Allreduce\"/><metric name=\"CALLS\"/>' + sums, 'false')
moves = probe('<metric name=\"MIGRATIONS\"/>' + sums + '<site id=\"/local\"/>', 'false')
on = ctrl('ACTIVATE', moves, steps)
if on.tag == 'errors':
    assert 'perf_event_paranoid' in on[0].text, on[0].text
else:
    until(lambda: newest(steps) >= 40)
    ctrl('DEACTIVATE', steps, moves)
    print(values(steps), values(moves))
    assert values(moves)[0] >= values(steps)[0] * 0.8 - 4 or os.cpu_count() == 1
    assert values(moves)[0] == values(moves)[0]
    # no counter is open a while after the last question
    agent = int(open('$bed_dir/pids/agent').read())
    def counters(): return sum('perf_event' in os.readlink(f) for f in __import__('glob').glob('/proc/%d/fd/*' % agent))
    assert counters() > 0
    until(lambda: counters() == 0, 60)
    # an agent that begins anew counts from nothing, which is added
    ctrl('ACTIVATE', moves)
    begun = values(moves)[0]
    until(lambda: values(moves)[0] >= begun + 100 or os.cpu_count() == 1)
    os.kill(agent, 15)
    until(lambda: 'Z' in open('/proc/%d/stat' % agent).read().split(')')[1][:3] if os.path.exists('/proc/%d' % agent) else True)
    again = subprocess.Popen(['evspace', 'agent'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open('$bed_dir/agent.err', 'w'), start_new_session=True)
    open('$bed_dir/pids/agent', 'w').write(str(again.pid))
    until(lambda: 'ready on' in open('$bed_dir/agent.err').read())
    before, later = values(moves)[0], probe('<codeRegion from=\"MPI_Allreduce\"/><metric name=\"CALLS\"/>' + sums)
    until(lambda: sum(values(later)[:1]) >= 60)
    print(before, values(moves))
    assert values(moves)[0] >= before + 20 or os.cpu_count() == 1
    ctrl('REMOVE', moves, later)
e = define('<metric name=\"CYCLES\"/><thread id=\"*\"/>')
assert e.tag == 'errors' and 'CYCLES is not that of a thread' in e[0].text
"
}

# Four threads block for a lock that one has at a time, or for time; one of them enters once, and one never. Each says how often the
# kernel has it blocked.
critical_begins() {
	cat >critical.c <<-'EOT'
		#define _GNU_SOURCE
		#include <mpi.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/resource.h>
		#include <unistd.h>
		#include "evspace.h"
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static pthread_barrier_t barrier;
		static long blocks(void)
		{
			struct rusage used;
			getrusage(RUSAGE_THREAD, &used);
			return used.ru_nvcsw;
		}
		static void critical(void)
		{
			evspace_region("c1", EVSPACE_BEGIN);
			pthread_mutex_lock(&lock);
			usleep(5000);
			pthread_mutex_unlock(&lock);
			evspace_region("c1", EVSPACE_END);
		}
		static void *work(void *arg)
		{
			int me = *(int *)arg;
			char name[16];
			for (int i = 1; i <= me; i++) {
				/* in the order of their numbers */
				if (i == me) evspace_region("first", EVSPACE_BEGIN), evspace_region("first", EVSPACE_END);
				pthread_barrier_wait(&barrier);
			}
			for (int i = me; i < 4; i++) pthread_barrier_wait(&barrier);
			while (access("enter", F_OK) != 0) usleep(1000);
			long entered = blocks();
			if (me == 3) critical();
			while (access("halt", F_OK) != 0) me <= 2 ? critical() : (void)usleep(3000);
			snprintf(name, sizeof(name), "blocks-%d", me);
			FILE *out = fopen(name, "w");
			fprintf(out, "%ld %ld\n", entered, blocks());
			fclose(out);
			while (access("end", F_OK) != 0) usleep(100000);
			return NULL;
		}
		int main(int argc, char **argv)
		{
			pthread_t threads[4];
			int me[4];
			MPI_Init(&argc, &argv);
			pthread_barrier_init(&barrier, NULL, 4);
			for (int i = 0; i < 4; i++) me[i] = i + 1, pthread_create(&threads[i], NULL, work, &me[i]);
			for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
			return MPI_Finalize();
		}
	EOT
	mpicc -g -pthread "-I$(realpath "$top_srcdir/node-agent/collect/core")" -o critical critical.c -ldl &&
		bed_start critical evspace run --run critical -- mpirun -np 1 ./critical && bed_until critical_lives
}

critical_lives() {
	[ "$(evspace mir - --run critical <<<'<snapshotreq/>' | grep -o '<thread' | wc -l)" -eq 5 ]
}

# The report's example: the threads block whenever, and are asked about when any executes c1. Of "?" each has its value of when it did.
critical_sections_are_measured() {
	critical_begins && mir critical "
import glob
process = ask('<snapshotreq/>').find('.//process').get('id')
blocked = '<codeRegion from=\"user:c1\"/><metric name=\"BLOCKED_COUNT\"/>'
def by_thread(p): return {m.get('threadId', '').rsplit('/', 1)[-1]: float(m.get('value')) for m in ctrl('VALUE', p).iter('measurement') if m.get('value')}
most = probe(blocked + '<measuring delivery=\"1000\" destination=\"file://%s/out/foo.txt\"><aggregate function=\"MAXIMUM\"/></measuring><thread id=\"%s/t1\"/><thread id=\"%s/t2\"/>' % (here, process, process), 'false')
own, all = (probe(blocked + '<thread id=\"%s\"/>' % which, 'false') for which in '?*')
named = probe(blocked + '<thread id=\"%s/t4\"/><thread id=\"%s/t3\"/>' % (process, process), 'false')
alone = probe(blocked + '<process id=\"?\"/>', 'false')
assert ctrl('ACTIVATE', most, own, all, named, alone).tag == 'measurement'
assert by_thread(own) == {}, ask.line
open('enter', 'w').close()
until(lambda: len(by_thread(own)) == 3 and len(by_thread(all)) == 6)
first = by_thread(own)
assert sorted(first) == ['t1', 't2', 't3'] and sorted(by_thread(all)) == ['others', 't0', 't1', 't2', 't3', 't4'], ask.line
until(lambda: by_thread(own)['t1'] > first['t1'] + 200 and by_thread(all)['t4'] > 200)
open('halt', 'w').close()
until(lambda: len(glob.glob('blocks-*')) == 4 and '' not in [open(f).read() for f in glob.glob('blocks-*')])
entered, halted = zip(*[map(int, open('blocks-%d' % i).read().split()) for i in (1, 2, 3, 4)])
# until the last execution has come, and what was asked at that
def settled(): return by_thread(all)['t1'] >= halted[0] - entered[0] and by_thread(all)['t2'] >= halted[1] - entered[1] and by_thread(own) == (time.sleep(0.7), by_thread(own))[1]
until(settled)
those, them, whole = by_thread(own), by_thread(all), values(alone)[0]
print(those, them, whole, values(named), entered, halted, open('out/foo.txt').read())
# who waits for the end looks for it ten times a second
for i in (0, 1):
    assert halted[i] - entered[i] <= those['t%d' % (i + 1)] <= halted[i] + 60, i
assert 1 <= those['t3'] < halted[2] - entered[2] - 100 and those['t3'] < them['t3'] <= halted[2] + 60
assert 't4' not in those and 200 < them['t4'] <= halted[3] + 60
assert abs(whole - sum(them.values())) <= 0.1 * whole + 20, whole
assert [abs(v - them[t]) <= 50 for v, t in zip(values(named), ('t4', 't3'))] == [True, True], ask.line
file = [ET.fromstring(line) for line in open('out/foo.txt')]
got = [float(m.get('value')) for m in file if m.get('value')]
assert got == sorted(got) and len(got) >= 1 and {m.get('threadId').rsplit('/', 1)[1] for m in file if m.get('value')} <= {'t1', 't2'}
assert abs(values(most)[0] - max(them['t1'], them['t2'])) <= 50, ask.line
# it begins where it is forgotten, also what is taken now and then
every = probe('<metric name=\"BLOCKED_COUNT\"/><measuring interval=\"100\"/><thread id=\"%s/t1\"/>' % process)
until(lambda: values(every))
assert ctrl('RESET', every).tag == 'measurement'
until(lambda: values(every))
assert values(every)[0] < 100, ask.line
e = define(blocked + '<measuring interval=\"100\"/>')
assert e.tag == 'errors' and 'leave one of them out' in e[0].text
open('end', 'w').close()
" --deliver "$tap_dir/out"
}

# Somebody listens from the beginning; later; and not for a while.
sockets_are_destinations() {
	mir plain "
def listen(name):
    s = socket.socket(socket.AF_UNIX); s.bind(here + '/out/' + name); s.listen(5); s.settimeout(30)
    return s
def take(connection, n):
    text = b''
    while text.count(b'\n') < n:
        more = connection.recv(65536)
        assert more
        text += more
    said.write(text[:text.rindex(b'\n') + 1]); said.flush()
    return [float(ET.fromstring(line).get('value', 'nan')) for line in text.split(b'\n')[:n]]
calls = '<codeRegion from=\"MPI_Bcast\"/><metric name=\"CALLS\"/><measuring delivery=\"100\" destination=\"unix:%s/out/%s\"><aggregate function=\"SUM\"/></measuring>'
e = define('<metric name=\"CALLS\"/><measuring delivery=\"100\" destination=\"unix:/tmp/x\"/>')
assert e.tag == 'errors' and 'write unix:' in e[0].text
there = listen('there')
p = probe(calls % (here, 'there'))
c, _ = there.accept()
while not (got := take(c, 5))[-1] > 0: pass
assert got == sorted(got), got
c.close(); there.close(); os.unlink('out/there')
until(lambda: 'out/there: ' in lines())
there = listen('there')
c, _ = there.accept()
# what has come meanwhile has waited
got = take(c, 5)
assert got == sorted(got)
until(lambda: 'takes what comes again; 0 are dropped' in lines())
q = probe(calls % (here, 'late'))
until(lambda: 'out/late: ' in lines())
late = listen('late')
assert take(late.accept()[0], 3)
os.symlink(here + '/out/there', 'out/link')
link = probe(calls % (here, 'link'))
until(lambda: 'out/link: Socket operation on non-socket' in lines())
ctrl('REMOVE', link)
" --deliver "$tap_dir/out"
}

# A tuple for each value, which is what anybody reads of the run's elements, and what views have.
elements_are_destinations() {
	mir plain "
calls = '<codeRegion from=\"MPI_Bcast\"/><metric name=\"CALLS\"/><metric name=\"WC_TIME\"/><measuring delivery=\"100\" destination=\"element:%s\">%s</measuring>%s'
first = ask('<snapshotreq/>').find('.//process').get('id')
p = probe(calls % ('bcasts', '<aggregate function=\"SUM\"/><aggregate function=\"MAXIMUM\"/>', ''))
q = probe(calls % ('each', '', '<process id=\"%s\"/>' % first))
def read(name): return [json.loads(l)['fields'] for l in subprocess.run(['evspace', 'element', 'read', name, '--run', 'plain', '--json'], stdout=subprocess.PIPE).stdout.splitlines()]
until(lambda: len(read('bcasts')) >= 40 and len(read('each')) >= 20)
got = read('bcasts')
print(got[-4:], read('each')[-2:])
counts = [v['value'] for v in got if (v['metric'], v['function']) == ('CALLS', 'SUM')]
assert counts == sorted(counts) and counts[-1] > 6 and all(v['probe'] == p for v in got)
known = values(p)[0]
until(lambda: [v['value'] for v in read('bcasts') if (v['metric'], v['function']) == ('CALLS', 'SUM')][-1] >= known)
assert {(v['metric'], v['function']) for v in got} == {(m, f) for m in ('CALLS', 'WC_TIME') for f in ('SUM', 'MAXIMUM')}
assert all((v['entity'] or '').startswith('/local/') == (v['function'] == 'MAXIMUM') for v in got)
assert all(v['entity'] == first and not v['function'] for v in read('each'))
# one that waits for its readers would hold up everybody, and one that is cut short ended the server
subprocess.run(['evspace', 'element', 'make', 'slow', '--run', 'plain', '--fields', 'value f64, probe text[16], entity text[128], communicator text[16], metric text[32], function text[16]', '--patience', '600s'], check=True)
e = define(calls % ('slow', '', ''))
assert e.tag == 'errors' and 'was made to wait for its readers' in e[0].text, ET.tostring(e)
cut = probe(calls % ('cut', '', ''))
until(lambda: len(read('cut')) >= 4)
os.truncate(os.environ['EVSPACE_DIR'] + '/plain/cut.elem', 4096)
def sum_of(): return [v['value'] for v in read('bcasts') if (v['metric'], v['function']) == ('CALLS', 'SUM')][-1]
known = sum_of()
until(lambda: sum_of() > known)
assert ctrl('REMOVE', cut).tag == 'measurement'
e = define(calls % ('a/b', '', ''))
assert e.tag == 'errors' and 'element:a/b: ' in e[0].text, ET.tostring(e)
e = define('<event/><measuring destination=\"element:bcasts\"/>')
assert e.tag == 'errors' and 'elements take values' in e[0].text
ctrl('REMOVE', p, q)
e = define('<metric name=\"CALLS\"/><measuring delivery=\"100\" destination=\"element:bcasts\"/>')
assert e.tag == 'probe', ET.tostring(e)
ctrl('REMOVE', e.get('id'))
def makes(name):
    e = define('<metric name=\"CALLS\"/><measuring delivery=\"100\" destination=\"element:%s\"/>' % name, 'false')
    if e.tag == 'probe': ctrl('REMOVE', e.get('id'))
    return e.tag == 'probe' or e[0].text
made = [makes('made%d' % i) for i in range(62)]
assert made[:61] == [True] * 61 and '64 elements were made already, which stay' in made[61], made
assert makes('made7') is True
" && echo '<instrreq><metric name="CALLS"/><measuring delivery="1" destination="element:x"/></instrreq>' | evspace mir - | grep -q 'says --run NAME'
}

# It takes nothing: all others go on, a part of it waits, the rest is counted.
slow_ones_hold_up_nobody() {
	mir plain "
deaf = socket.socket(socket.AF_UNIX); deaf.bind(here + '/out/deaf'); deaf.listen(1)
trace = '<event/><measuring destination=\"unix:%s/out/deaf\"/>' % here
# a document is larger than what a socket holds
some = [probe(trace) for i in range(20)]
c, _ = deaf.accept()
def dropped():
    v = ctrl('VALUE', some[0])
    return 'documents were dropped' in ask.line
begun = time.time()
until(dropped, 60)
longest = 0
for i in range(20):
    begun = time.time()
    assert ask('<snapshotreq/>').tag == 'snapshot'
    longest = max(longest, time.time() - begun)
assert longest < 3, longest
memory = int([line for line in open('/proc/%d/status' % served.pid) if 'VmRSS' in line][0].split()[1])
print(memory, longest)
assert memory < 150000 or '$(tap_sanitized && echo san)'
" --deliver "$tap_dir/out"
}

# A server that asks for certificates gets each document; one that is not the host gets nothing.
hosts_are_posted_to() {
	local port

	port=$(bed_ports)
	mir plain "
import http.server, ssl
got, refuse = [], []
class Taker(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        if refuse: code = refuse[0]
        else:
            code = 200
            got.append((self.path, body, self.connection.getpeercert(), self.headers['Host']))
        self.send_response(code); self.send_header('Content-Length', '0'); self.end_headers()
    def log_message(self, *some): pass
def serve():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', $port), Taker)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain('$EVSPACE_TLS/ga.pem', '$EVSPACE_TLS/ga.key')
    context.load_verify_locations('$EVSPACE_TLS/ca.pem')
    context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
calls = '<codeRegion from=\"MPI_Bcast\"/><metric name=\"CALLS\"/><measuring delivery=\"100\" destination=\"https://%s/values\"><aggregate function=\"SUM\"/></measuring>'
for other in ('ga:1', 'gb:$port', 'ga:${port}0', 'ga:$port@evil'):
    e = define(calls % other)
    assert e.tag == 'errors' and 'not at the host of --post' in e[0].text, ET.tostring(e)
q = probe(calls % 'ga:$port')
until(lambda: 'https://ga:$port/values: no answer' in lines())
server = serve()
until(lambda: len(got) >= 5)
values_got = [float(ET.fromstring(body).get('value', 0)) for _, body, _, _ in got]
assert values_got == sorted(values_got) and values_got[-1] > 0, values_got
assert got[0][0] == '/values' and got[0][3] == 'ga:$port' and 'front' in str(got[0][2]), got[0]
said.write(b''.join(body for _, body, _, _ in got)); said.flush()
# what is refused is dropped; a server that fails is tried again
refuse.append(403)
until(lambda: ctrl('VALUE', q) is not None and 'dropped' in ask.line)
refuse[0] = 503
until(lambda: 'answers 503' in lines() or 'answers 403' in lines())
n = len(got)
refuse.clear()
until(lambda: len(got) >= n + 3)
" --deliver "$tap_dir/out" --certificate front --post "ga=127.0.0.1:$port"
}

nobody_is_posted_to_unless_stated() {
	mir plain "
e = define('<metric name=\"CALLS\"/><measuring delivery=\"100\" destination=\"https://127.0.0.1/\"/>')
assert e.tag == 'errors' and 'says --post HOST:PORT' in e[0].text
" && tap_says 2 'write HOST:PORT' evspace mir - --post nowhere </dev/null
}

steps_begin sites --elements p2p=site,collective=site
tap_case "call sites are regions, by place and by the ids of a SIR" call_sites_are_regions
touch stop && bed_until bed_gone "$(bed_pid sites)"
rm -f stop
steps_begin plain
tap_case "that call sites are not recorded is said" missing_sites_are_said
tap_case "from one region to another, in the order of times" from_one_to_another
tap_case "what the kernel says from one region to another, beside what is measured there" kernel_from_one_to_another
tap_case "events are a stream of their own" events_are_a_stream
tap_case "events are kept in archives" events_are_archived
tap_case "a process that has ended is not in a snapshot of those that go on" ended_ones_are_gone
tap_case "what has come in a duration is measured, once and again" durations_are_measured
tap_case "page faults and context switches are counted" counts_are_the_kernels
tap_case "counters of processors, or why there are none; moves between processors" counters_are_the_kernels
tap_case "critical sections of threads: MAXIMUM to a file every second, ? and *" critical_sections_are_measured
touch enter halt end && bed_until bed_gone "$(bed_pid critical)"
tap_case "sockets are destinations; those that are gone get what has waited" sockets_are_destinations
tap_case "elements of the run are destinations: a tuple for each value" elements_are_destinations
tap_case "a destination that takes nothing holds up nobody, and is counted" slow_ones_hold_up_nobody
tap_case "the host that is stated gets documents by POST, with certificates" hosts_are_posted_to
tap_case "no other host is posted to" nobody_is_posted_to_unless_stated
tap_case "answers are valid by the schema" answers_are_valid documents 50 300
touch stop && bed_until bed_gone "$(bed_pid plain)"
tap_done
