# SPDX-License-Identifier: BSD-3-Clause
# evspace mir: sources are written back with the regions of probes in them, compile, give the same results, and are measured.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/mir-sir.sh"

[ -x "$top_builddir/evspace-clang" ] || { echo "1..0 # SKIP evspace was built without libclang (libclang-14-dev)"; exit 0; }

mir_begin
mkdir written
include=-I$(realpath "$top_srcdir/node-agent/collect/core")
options=(--flags "-D_GNU_SOURCE -fopenmp $include")

# Whatever leaves a function, a loop or a call leaves its region, too.
odd_program() {
	cat >odd.c <<-'EOT'
		#if 0
		don't #include
		#endif
		#define _GNU_SOURCE /* it's
		   for asprintf */
		#include <stdio.h>
		#include <stdlib.h>
		#include <setjmp.h>

		static jmp_buf back; struct pair { int a, b; };

		__attribute__((noinline)) static int fib(int n)
		{
			if (n < 2)
				return n;
			return fib(n - 1) + fib(n - 2);
		}

		static struct pair make(int a) { struct pair p = {a, a + 1}; return p; }

		static void jump(int n) { if (n > 3) longjmp(back, n); }

		static int scan(const int *all, int n)
		{
			int found = -1;

			for (int i = 0; i < n; i++)
				if (all[i] > 7) { found = i; break; }
				else if (all[i] < 0) goto out;
			do found += 2; while (found < 5);
			if (n) while (n-- > 3) { if (n == 5) continue; found++; }
			else for (;;) return 7;
		again:
			for (int k = 0; k < 3; k++) for (int m = 0; m < k; m++) found += m * k;
			if (found < 30) goto again;
			switch (n) { case 2: for (int i = 0; i < 2; i++) found++; break; default: found--; }
		out:
			return found + make(found).b;
		}

		int main(int argc, char **argv)
		{
			int all[] = {3, 1, 8, 2, 9, 4, 4}, sum = 0;
			char *text = "} ; { \" # //";

			if (setjmp(back) == 0) jump(4);
			for (int i = 0; i < 7; i++) sum += scan(all + i, 7 - i);
		#pragma omp parallel for reduction(+ : sum)
			for (int i = 0; i < 100; i++)
				sum += i;
			printf("%d %d %s %zu %d\n", fib(12), sum, text, sizeof(make(1)), argc > 1 ? atoi(argv[1]) : 0);
			return scan(all, 0) == 7 ? 3 : 4;
		}
	EOT
}

# writes FILE OUT PYTHON: a tool asks for FILE with OUT, then for a probe of each region for which the condition holds of r (type,
# name, id), and flushes; all answers are in `answers`, one a line, and are valid.
writes() {
	local code=0

	/usr/bin/python3 - "$@" <<-'EOT' | sed 's/^/ /' || return
		import subprocess, sys, xml.etree.ElementTree as ET
		source, out, wanted = sys.argv[1:4]
		ask = "<sirreq><resource in='file://%s' out='file://%s'/></sirreq>\n" % (source, out)
		sir = ET.fromstring(subprocess.run(['evspace', 'mir', '-', *open('options').read().split('\n')[:-1]], input=ask.encode(), stdout=subprocess.PIPE, timeout=100).stdout)
		n = 0
		with open('requests', 'w') as requests:
		    requests.write(ask)
		    for r in sir.iter('codeRegion'):
		        if eval(wanted, {'type': r.get('type'), 'name': r.get('name'), 'id': r.get('id'), 'n': n}):
		            requests.write("<instrreq><codeRegion from='%s'/><metric name='CALLS'/></instrreq>\n" % r.get('id'))
		            n += 1
		    requests.write("<instrreq flush='true'><measuring interval='1000'/></instrreq>\n")
	EOT
	timeout 100 evspace mir requests "${options[@]}" --write "$tap_dir/written" >answers 2>err || code=$?
	[ ! -s err ] || { cat err; return 1; }
	answers_are_valid answers || return
	return "$code"
}

same_results() {
	local how of='' which=0

	odd_program && printf '%s\n' "${options[@]}" --write "$tap_dir/written" >options && gcc -fopenmp -O1 -o odd odd.c && ./odd 5 >plain
	[ $? -eq 3 ] || return 1
	for how in "type == 'subprogram'" "type == 'loop' and not id.endswith('-49')" "type == 'openmp'" \
		"type == 'call' and name != '_setjmp'"; do
		writes "$tap_dir/odd.c" "$tap_dir/written/odd.c" "$how" || of=$(tail -n 1 answers)
		[ -z "$of" ] && [ "$(grep -c '<probe' answers)" -ge 1 ] || { echo "$how: $of"; cat answers; return 1; }
		gcc -fopenmp -O1 -Werror=implicit -Werror=return-type "$include" -o "odd$which" written/odd.c -ldl && "./odd$which" 5 >got
		[ $? -eq 3 ] && cmp plain got && grep -q EVSPACE_SCOPE written/odd.c || { cat plain got written/odd.c; return 1; }
		which=$((which + 1))
	done
}

# What is compiled of it has the same lines, and so the same ids.
same_ids() {
	sir "$tap_dir/odd.c" && regions subprogram '{id} {name}' >of_source && gcc -g -O0 -fopenmp "$include" -o odd-g written/odd.c -ldl &&
		sir "$tap_dir/odd-g" && regions subprogram '{id} {name}' | grep -vE ' evspace_|omp_fn' | diff of_source -
}

in_cxx() {
	cat >shapes.cc <<-'EOT'
		#include <cstdio>
		#include <stdexcept>
		#include <vector>
		namespace {
		struct Square {
			int side;
			explicit Square(int n) : side(n) {}
			int area() const { if (side > 9) throw std::runtime_error("large"); return side * side; }
		};
		}
		template <typename T> T sum(const std::vector<T> &all)
		{
			T sum = 0;
			for (const T &one : all)
				sum += one;
			return sum;
		}
		int main()
		{
			int caught = 0;
			for (int i = 0; i < 20; i++)
				try { caught += Square(i).area() == 0; } catch (const std::exception &) { caught++; }
			std::printf("%d %g\n", caught, sum(std::vector<double>{1, 2.5}));
		}
	EOT
	printf '%s\n' "${options[@]}" --write "$tap_dir/written" >options
	g++ -o shapes shapes.cc && ./shapes >plain && writes "$tap_dir/shapes.cc" "$tap_dir/written/shapes.cc" "type in ('subprogram', 'loop')" ||
		{ cat answers; return 1; }
	[ "$(grep -c '<probe' answers)" -eq 6 ] && g++ -Wall -Werror "$include" -o shapes-w written/shapes.cc -ldl && ./shapes-w >got && cmp plain got
}

# refused PATTERN FILE OUT WANTED
refused() {
	! writes "$2" "$3" "$4" && tail -n 1 answers | grep -qE "$1" || { echo "no $1"; cat answers; return 1; }
}

nothing_else_is_written() {
	local before of="$tap_dir/written"

	before=$(md5sum odd.c shapes.cc)
	echo 'mine' >written/mine.c && ln -s "$tap_dir/odd.c" written/link.c && mkdir -p elsewhere written/sub && ln -s "$tap_dir/elsewhere" written/away || return
	refused 'only what evspace mir has written' "$tap_dir/odd.c" "$of/mine.c" "name == 'fib'" &&
		refused 'only what evspace mir has written|Too many' "$tap_dir/odd.c" "$of/link.c" "name == 'fib'" &&
		refused 'the folder of .*away/odd.c' "$tap_dir/odd.c" "$of/away/odd.c" "name == 'fib'" &&
		refused 'the folder of .*nowhere' "$tap_dir/odd.c" "$of/nowhere/odd.c" "name == 'fib'" || return
	[ "$(cat written/mine.c)" = mine ] && [ -z "$(ls -A elsewhere)" ] && [ "$before" = "$(md5sum odd.c shapes.cc)" ] &&
		writes "$tap_dir/odd.c" "$of/sub/odd.c" "name == 'fib' and type == 'subprogram'" && [ -s written/sub/odd.c ] && [ "$(ls -A written/sub)" = odd.c ] || return
	echo "<sirreq><resource in='file://$tap_dir/odd.c' out='file://$of/../odd.c'/></sirreq>" | evspace mir - --write "$of" | grep -q 'not below the folder of --write' &&
		echo "<sirreq><resource in='file://$tap_dir/odd.c' out='file://$tap_dir/odd.c'/></sirreq>" | evspace mir - --write "$of" | grep -q 'not below the folder of --write' &&
		echo "<sirreq><resource in='file://$tap_dir/odd.c' out='file://$of/odd.c'/></sirreq>" | evspace mir - | grep -q 'says --write DIR'
}

what_cannot_be_is_told() {
	cat >macros.c <<-'EOT'
		#include <setjmp.h>
		#define LOOP(n) for (int i = 0; i < (n); i++)
		static jmp_buf back;
		int f(int n)
		{
			int k = setjmp(back);
			LOOP(n) k++;
			for (int i = 0; i < n; i++) { inside: k++; }
			if (k < 3) goto inside;
			return k;
		}
	EOT
	refused 'around [0-9a-f]*-7 .for.: a macro makes it' "$tap_dir/macros.c" "$tap_dir/written/macros.c" "id.endswith('-7')" &&
		refused 'around [0-9a-f]*-8 .for.: .*jumps into it' "$tap_dir/macros.c" "$tap_dir/written/macros.c" "id.endswith('-8')" &&
		refused 'around calls that return twice|a macro makes it' "$tap_dir/macros.c" "$tap_dir/written/macros.c" "type == 'call'" &&
		refused 'around calls in C..' "$tap_dir/shapes.cc" "$tap_dir/written/other.cc" "type == 'call'" &&
		[ ! -e written/macros.c ] && [ ! -e written/other.cc ] || return
	echo '<instrreq><codeRegion from="0123abcd-12"/><metric name="CALLS"/></instrreq>' | evspace mir - | grep -q 'of no source that is written back'
}

# Two ranks compute, communicate, and ask each other how often; what is measured is what they have counted.
regions_are_probes() {
	cat >steps.c <<-'EOT'
		#include <mpi.h>
		#include <stdio.h>
		#include <unistd.h>

		static int work(int step)
		{
			int sum = 0;
			for (int i = 0; i < 3; i++)
				sum += step;
			return sum;
		}

		int main(int argc, char **argv)
		{
			int sum = 0, stop = 0;
			MPI_Init(&argc, &argv);
			for (int step = 0; !stop; step++) {
				sum += work(step) - work(step);
				stop = access("stop", F_OK) == 0;
				MPI_Allreduce(MPI_IN_PLACE, &stop, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
				usleep(20000);
			}
			printf("%d\n", sum);
			return MPI_Finalize();
		}
	EOT
	# the tool asks before the program is there, has it compiled and started, and goes on with the same probes
	timeout 300 /usr/bin/python3 - "$tap_dir" "$include" <<-'EOT'
		import atexit, signal, socket, subprocess, sys, time, xml.etree.ElementTree as ET
		folder, include = sys.argv[1:3]
		# what is begun ends with this, however that ends, and nobody waits for what it prints
		signal.signal(signal.SIGTERM, lambda *of: sys.exit('it takes too long'))
		def begin(*words):
		    p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=open(words[1] + '.out', 'w'), stderr=open(words[1] + '.err', 'w'))
		    atexit.register(p.terminate)
		    return p
		server = begin('evspace', 'mir', '--listen', 'unix:%s/sock' % folder, '--run', 'steps', '--wait', '--write', folder + '/written', '--flags', '-D_GNU_SOURCE')
		while 'ready on' not in open('mir.err').read():
		    assert server.poll() is None, open('mir.err').read()
		    time.sleep(0.05)
		s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(folder + '/sock'); answers = s.makefile('rb')
		def ask(text):
		    s.sendall(text.encode())
		    return ET.fromstring(answers.readline())
		sir = ask("<sirreq><resource in='file://%s/steps.c' out='file://%s/written/steps.c'/></sirreq>" % (folder, folder))
		ids = {(r.get('type'), r.get('name')): r.get('id') for r in sir.iter('codeRegion')}
		loops = [r.get('id') for r in sir.iter('codeRegion') if r.get('type') == 'loop']
		def probe(id, flush='false'):
		    p = ask("<instrreq flush='%s'><codeRegion from='%s'/><metric name='CALLS'/><metric name='WC_TIME'/><measuring><aggregate function='SUM'/></measuring></instrreq>" % (flush, id))
		    assert p.tag == 'probe', ET.tostring(p)
		    return p.get('id')
		work, inner, calls = probe(ids['subprogram', 'work']), probe(loops[0]), probe(ids['call', 'MPI_Allreduce'], 'true')
		subprocess.run(['mpicc', include, '-o', folder + '/steps', folder + '/written/steps.c', '-ldl'], check=True)
		run = begin('evspace', 'run', '--run', 'steps', '--', 'mpirun', '-np', '2', folder + '/steps')
		on = ask("<ctrlreq action='ACTIVATE'><probe id='%s'/><probe id='%s'/><probe id='%s'/></ctrlreq>" % (work, inner, calls))
		while on.tag == 'errors':
		    on = ask("<ctrlreq action='ACTIVATE'><probe id='%s'/><probe id='%s'/><probe id='%s'/></ctrlreq>" % (work, inner, calls))
		def value(p):
		    v = ask("<ctrlreq action='VALUE'><probe id='%s'/></ctrlreq>" % p)
		    return [float(m.get('value', 'nan')) for m in v.iter('measurement') if m.get('value') is not None]
		# none was executed as yet
		while sum(value(calls)[:1]) < 20: pass
		open('stop', 'w').close()
		assert run.wait() == 0 and open('run.out').read().split() == ['0', '0']
		last = None
		while last != (now := (value(work), value(inner), value(calls))): last = now
		work, inner, calls = now
		# each of the two ranks may have been within a step when it began
		assert 0 <= 2 * calls[0] - work[0] <= 4 and 0 <= work[0] - inner[0] <= 2 and calls[0] >= 20, now
		assert 0 < inner[1] <= work[1], now
		server.terminate()
		assert server.wait() == 0
	EOT
}

tap_case "functions, loops, calls and OpenMP's regions are written back, and the results are the same" same_results
tap_case "what is written back has the ids of its source" same_ids
tap_case "C++: exceptions, methods, templates" in_cxx
tap_case "nothing but what it has written is written again, and nothing outside of the folder" nothing_else_is_written
tap_case "what cannot be a region is told" what_cannot_be_is_told
tap_case "regions that are written back are probes at once" regions_are_probes
tap_done
