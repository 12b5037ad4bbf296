# SPDX-License-Identifier: BSD-3-Clause
# evspace mir: functions of a program compiled with -finstrument-functions are switched on and off one by one while it runs, and
# measured as often as they were called.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/mir-sir.sh"

mir_begin

# Each step calls `once`, which calls `thrice` three times, which calls `leaf`; `deep` calls itself 20 times, and `leaf` at last; `grows`
# takes memory of its stack by a size that is not known; `jumps` is left by longjmp(3). `other` is a region, `_hidden` and `_c0` to `_c9` are
# functions of no pattern, and with `a0` to `a14` there are nearly as many as can be on. Then all ranks meet.
cat >hooked.c <<'EOT'
#include <alloca.h>
#include <evspace.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>
#define APART __attribute__((noinline)) static
static jmp_buf back;
static volatile int sink;
APART int leaf(int n) { sink += n; return sink; }
APART int thrice(int n) { return leaf(n) + 1; }
APART void once(int n) { for (int i = 0; i < 3; i++) sink += thrice(n); }
APART int deep(int n) { return n > 1 ? deep(n - 1) + 1 : leaf(n); }
APART int grows(int n) { volatile char *some = alloca((size_t)(64 + n % 64)); some[n % 64] = 1; return some[n % 64]; }
APART void jumps(int n) { sink += n; longjmp(back, 1); }
APART void step(int n) { once(n); deep(20); sink += grows(n); if (setjmp(back) == 0) jumps(n); }
static inline __attribute__((always_inline)) int within(int n) { return n + sink; }
APART void outer(int n) { sink += within(n) + within(n); }
#define HOLLOW(name) APART void name(int n) { sink += n; }
#define FIVE(some, way) way(some##0) way(some##1) way(some##2) way(some##3) way(some##4)
#define TEN(some, way) FIVE(some, way) way(some##5) way(some##6) way(some##7) way(some##8) way(some##9)
#define CALL(name) name(n);
HOLLOW(_hidden) TEN(_c, HOLLOW) TEN(a, HOLLOW) FIVE(a1, HOLLOW) TEN(b, HOLLOW) FIVE(b1, HOLLOW)
#ifdef CROWDED
#define MORE(way) TEN(a2, way) TEN(a3, way) TEN(a4, way) TEN(a5, way)
#else
#define MORE(way)
#endif
MORE(HOLLOW)
APART void hollows(int n) { MORE(CALL) _hidden(n); TEN(_c, CALL) TEN(a, CALL) FIVE(a1, CALL) TEN(b, CALL) FIVE(b1, CALL) }
int main(int argc, char **argv)
{
	int stop = 0;
	MPI_Init(&argc, &argv);
	for (int n = 1; !stop; n++) {
		step(n);
		outer(n);
		hollows(n);
		evspace_region("other", EVSPACE_BEGIN);
		evspace_region("other", EVSPACE_END);
		stop = access("stop", F_OK) == 0;
		MPI_Allreduce(MPI_IN_PLACE, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
		usleep(5000);
	}
	return MPI_Finalize();
}
EOT
hooked_built() {
	mpicc -O1 -g -finstrument-functions "-I$(realpath "$top_srcdir/node-agent/collect/core")" "${@:2}" -o "$1" hooked.c -ldl
}

hooked_built hooked && hooked_built crowded -DCROWDED || exit 99

lives() {
	[ "$(evspace mir - --run "$1" <<<'<snapshotreq/>' | grep -o '<thread' | wc -l)" -eq 2 ]
}

hooked_begins() {
	rm -f stop
	bed_start "$1" evspace run --run "$1" -- mpirun -np 1 ./hooked : -np 1 "./$1" && bed_until lives "$1"
}

hooked_ends() {
	touch stop && bed_until bed_gone "$(bed_pid "$1")"
}

# mir SCRIPT: Python with ask(DOCUMENT), on(NAME), off(PROBES), values(PROBE).
mir() {
	timeout 100 /usr/bin/python3 -c '
import subprocess, sys, time, xml.etree.ElementTree as ET
p = subprocess.Popen(["evspace", "mir", "-", "--run", sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
said = open("said", "ab")
def ask(text):
    p.stdin.write(text.encode()); p.stdin.flush()
    line = p.stdout.readline()
    said.write(line)
    return ET.fromstring(line)
def define(name, active="true"):
    # on a busy machine there may be no time to look for all of them at once
    while True:
        e = ask("<instrreq activated=\"%s\" flush=\"true\"><codeRegion from=\"function:%s\"/><metric name=\"CALLS\"/><metric name=\"WC_TIME\"/><measuring><aggregate function=\"SUM\"/></measuring></instrreq>" % (active, name))
        if e.tag != "errors" or "not all functions are looked for yet" not in e[0].text: return e
def ctrl(action, *probes):
    return ask("<ctrlreq action=\"%s\">%s</ctrlreq>" % (action, "".join("<probe id=\"%s\"/>" % one for one in probes)))
def values(probe):
    return [float(m.get("value")) for m in ctrl("VALUE", probe).iter("measurement") if m.get("value") is not None]
'"$2" "$1"
}

# Of all that is between two looks, both ranks have taken the same steps, but for the one they are in.
counts_are_exact() {
	mir hooked '
names = ["step", "once", "thrice", "deep", "grows", "outer", "within"]
probes = {name: define(name, "false").get("id") for name in names}
assert ctrl("ACTIVATE", *probes.values()).tag == "measurement"
while values(probes["step"])[0] < 100: pass
assert ctrl("DEACTIVATE", *probes.values()).tag == "measurement"
calls = {name: values(probes[name]) for name in names}
steps = calls["step"][0]
print(calls)
for name, times in (("once", 1), ("thrice", 3), ("grows", 1), ("outer", 1), ("within", 2)):
    assert abs(calls[name][0] - times * steps) <= 2 * times * 2, (name, calls)
# step, and seven of deep, are as deep as regions go
assert abs(calls["deep"][0] - 7 * steps) <= 7 * 4, calls
assert calls["step"][1] >= calls["once"][1] >= calls["thrice"][1] > 0, calls
'
}

# Off: nothing of it is recorded any more; on again: it is. One is switched while another one is measured.
one_by_one() {
	mir hooked '
leaf, once = define("leaf").get("id"), define("once").get("id")
while values(leaf)[0] < 40: pass
assert ctrl("DEACTIVATE", leaf).tag == "measurement"
before, steps = values(leaf)[0], values(once)[0]
while values(once)[0] < steps + 40: pass
assert values(leaf)[0] == before
assert ctrl("ACTIVATE", leaf).tag == "measurement"
while values(leaf)[0] < before + 40: pass
assert ctrl("REMOVE", once, leaf).tag == "measurement"
'
}

# Several of them are one region: by their names, or a pattern.
several_are_one_region() {
	mir hooked '
step, two, some, all = (define(name).get("id") for name in ("step", "once,outer", "o*", "*"))
assert step and two and some and all
assert ctrl("RESET", step, two, some, all).tag == "measurement"
while sum(values(step)[:1]) < 60: pass
assert ctrl("DEACTIVATE", step, two, some, all).tag == "measurement"
n = {one: values(one)[0] for one in (step, two, some, all)}
assert abs(n[two] - 2 * n[step]) <= 20 and abs(n[some] - n[two]) <= 20, n
# once, 3 thrice, 3 leaf, 6 of deep, grows, outer, 2 within, and step itself
assert n[all] > 12 * n[step], n
assert ctrl("REMOVE", two).tag == "measurement"
e = define("x*")
assert e.tag == "errors" and "no process has a function" in e[0].text, ET.tostring(e)
'
}

# Whichever are on: regions are no functions, and what begins with `_` is of no pattern.
patterns_have_functions_alone() {
	mir hooked '
both, hidden, once = (define(name).get("id") for name in ("once,?hidden", "_hidden", "once"))
region = ask("<instrreq activated=\"true\" flush=\"true\"><codeRegion from=\"user:other\"/><metric name=\"CALLS\"/><measuring><aggregate function=\"SUM\"/></measuring></instrreq>").get("id")
function = ask("<instrreq activated=\"true\" flush=\"true\"><codeRegion from=\"user:once\"/><metric name=\"CALLS\"/><measuring><aggregate function=\"SUM\"/></measuring></instrreq>").get("id")
assert ctrl("RESET", both, hidden, once, region, function).tag == "measurement"
while sum(values(hidden)[:1]) < 60 or sum(values(region)[:1]) < 60: pass
assert ctrl("DEACTIVATE", both, hidden, once, region, function).tag == "measurement"
n = [sum(values(one)[:1]) for one in (both, once, function)]
print(n)
assert abs(n[0] - n[1]) <= 20 < n[1] and n[2] == 0, n
'
}

# Functions that several patterns stand for are counted once; those for which there is no room are refused, all of them.
all_of_them_or_none() {
	mir hooked '
some, step = define("a*,b*,a1*,*").get("id"), define("step").get("id")
assert some and step
assert ctrl("RESET", some, step).tag == "measurement"
while sum(values(step)[:1]) < 60: pass
assert ctrl("DEACTIVATE", step).tag == "measurement"
n = [values(one)[0] for one in (some, step)]
print(n)
# 20 as before, hollows and 30 in it
assert n[0] > 45 * n[1], n
e = define(",".join("_c%d" % i for i in range(10)))
assert e.tag == "errors" and "no room for more" in e[0].text, ET.tostring(e)
assert ctrl("REMOVE", some, step).tag == "measurement"
'
}

# Of two programs one has too many of them: a part of the calls is no answer.
on_everywhere_or_nowhere() {
	hooked_begins crowded && mir crowded '
e = define("a*")
assert e.tag == "errors" and "has 55 functions a*; 48 can be on" in e[0].text, ET.tostring(e)
both, one = define("once").get("id"), define("a59").get("id")
while sum(values(one)[:1]) < 40 or sum(values(both)[:1]) < 80: pass
assert ctrl("REMOVE", both, one).tag == "measurement"
'
	set -- $?
	hooked_ends crowded
	return "$1"
}

# What longjmp leaves takes the place of nothing else.
left_ones_are_forgotten() {
	mir hooked '
jumps, grows = define("jumps").get("id"), define("grows").get("id")
while sum(values(grows)[:1]) < 60: pass
assert sum(values(jumps)) == 0, values(jumps)
'
}

what_is_none_is_told() {
	mir hooked '
for name in ("nobody", "once_more"):
    e = define(name)
    assert e.tag == "errors" and "no process has a function" in e[0].text, ET.tostring(e)
e = define("a" * 56)
assert e.tag == "errors" and "at most 55 bytes" in e[0].text
e = ask("<instrreq><codeRegion from=\"function:leaf\"/><metric name=\"NET_SEND\"/></instrreq>")
assert e.tag == "errors" and "WC_TIME and CALLS are" in e[0].text
e = ask("<instrreq><codeRegion from=\"function:\"/><metric name=\"CALLS\"/></instrreq>")
assert e.tag == "errors"
'
}

# Who observes may not have a program do more; agents log who has.
it_is_a_command() {
	grep -q 'audit: .* have functions be regions in run "\?hooked' "$bed_dir/agent.err" &&
		grep -q 'audit: .* have functions be none any more in run "\?hooked' "$bed_dir/agent.err" || { cat "$bed_dir/agent.err"; return 1; }
}

hooked_begins hooked || exit 99
tap_case "functions are measured as often as they were called" counts_are_exact
tap_case "each is switched on and off alone" one_by_one
tap_case "several functions are one region, by a list or a pattern" several_are_one_region
tap_case "patterns have functions alone, and none that begins with _" patterns_have_functions_alone
tap_case "functions that have room together are on; of others none is" all_of_them_or_none
tap_case "functions that are left by longjmp are forgotten" left_ones_are_forgotten
tap_case "what is no function that can be switched is told" what_is_none_is_told
tap_case "answers are valid by the schema" answers_are_valid said 20 60
tap_case "it is a command, which agents log" it_is_a_command
hooked_ends hooked
tap_case "functions that cannot be on in one of the processes are refused" on_everywhere_or_nowhere
tap_done
