# SPDX-License-Identifier: BSD-3-Clause
# evspace mir: the SIR of sources has the functions that ctags and DWARF have, with the same ids, and loops, calls and regions where
# they are.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/mir-sir.sh"

flags="-I$top_srcdir -I$top_builddir -I$top_srcdir/node-agent/collect/core -D_GNU_SOURCE"
cd "$tap_dir" || exit 99

program() {
	cat >program.c <<-'EOT'
		#include <mpi.h>
		#include <stdio.h>
		#include "evspace.h"

		#define TWICE(call) do { call; call; } while (0)

		static int
		work(int n)
		{
			int sum = 0;

			for (int i = 0; i < n; i++)
				sum += i;
			while (sum > 1000)
				sum /= 2;
			do
				sum++;
			while (sum < 3);
			evspace_region("exchange", EVSPACE_BEGIN);
			MPI_Barrier(MPI_COMM_WORLD);
			evspace_region("exchange", EVSPACE_END);
		#pragma omp parallel for reduction(+ : sum)
			for (int i = 0; i < n; i++)
				sum += i;
		#if 0
		#pragma omp single
			sum++;
		#endif
			return sum;
		}

		int main(int argc, char **argv)
		{
			MPI_Init(&argc, &argv);
			TWICE(work(argc));
			printf("%d\n", work(100));
			return MPI_Finalize();
		}
	EOT
}

by_hand() {
	local options=(--flags "-fopenmp $flags")

	program && sir "$tap_dir/program.c" || return
	diff - <(for type in subprogram loop call userRegion openmp; do regions "$type"; done) <<-'EOT'
		main 32 38
		work 8 30
		do 16 18
		do 35 35
		for 12 13
		for 23 24
		while 14 15
		MPI_Barrier 20 20
		MPI_Finalize 37 37
		MPI_Init 34 34
		printf 36 36
		work 35 35
		work 35 35
		work 36 36
		exchange 19 21
		parallel for 22 24
	EOT
	[ "$(regions call '{id}' | sort -u | wc -l)" -eq 7 ] || { cat answer; return 1; }
}

without_openmp() {
	local options=(--flags "$flags")

	sir "$tap_dir/program.c" && [ -z "$(regions openmp)" ]
}

# The same function has the same id, whether it is found in the source or in what was compiled of it.
ids_of_dwarf() {
	local options=(--flags "$flags")

	sir "$tap_dir/program.c" && regions subprogram '{id} {name}' >of_source && [ "$(wc -l <of_source)" -eq 2 ] || return
	mpicc $flags -g -O0 -o program "$tap_dir/program.c" -ldl && sir "$tap_dir/program" && regions subprogram '{id} {name}' | grep -vE ' evspace_' | diff of_source -
}

in_cxx() {
	local options=(--flags '-std=c++17')

	cat >shapes.cc <<-'EOT'
		#include <vector>
		namespace shapes {
		template <typename T> T sum(const std::vector<T> &all)
		{
			T sum = 0;
			for (const T &one : all)
				sum += one;
			return sum;
		}
		struct Square {
			int side;
			explicit Square(int n) : side(n) {}
			~Square() = default;
			int area() const { return side * side; }
			int later() const;
		};
		int Square::later() const
		{
			auto inner = [this]() { while (side > 3) return 1; return 0; };
			return inner() + area();
		}
		}
		int main() { return shapes::sum(std::vector<int>{1, 2}) + shapes::Square(2).later(); }
	EOT
	sir "$tap_dir/shapes.cc" && diff - <(for type in subprogram loop call; do regions "$type"; done) <<-'EOT'
		Square 12 12
		area 14 14
		later 17 21
		main 23 23
		sum 3 9
		for 6 7
		while 19 19
		area 20 20
		later 23 23
		sum 23 23
	EOT
}

flags_of_commands() {
	local options=()

	mkdir -p tree/src tree/include tree/build && echo '#define LIMIT 3' >tree/include/limit.h || return
	printf '#include "limit.h"\n#if WANTED\nint wanted(void) { return LIMIT; }\n#else\nint other(void) { return 1; }\n#endif\n' >tree/src/part.c
	cat >tree/build/compile_commands.json <<-EOT
		[{"directory": "$tap_dir/tree/build", "file": "../src/part.c",
		  "command": "mpicc -I../include -DWANTED=1 -fplugin=nowhere.so -Xclang -load -Xclang nowhere.so -o part.o -c ../src/part.c"}]
	EOT
	sir "$tap_dir/tree/src/part.c" && [ "$(regions subprogram)" = 'wanted 3 3' ] &&
		options=(--flags "-Itree/include") && sir "$tap_dir/tree/src/part.c" && [ "$(regions subprogram)" = 'other 5 5' ]
}

# All functions of evspace's own sources: ctags knows no macros, so what a macro declares is left out.
same_as_ctags() {
	local options=(--flags "$flags") file

	for file in "$top_srcdir"/consumers/mir/[!r]*.c "$top_srcdir"/tests/apps/{windtunnel,lattice,calls_coll,stuck}.c; do
		sir "$(realpath "$file")" || return
		regions subprogram '{name} {first}' | sed "s,^,${file##*/} ,"
	done | sort >ours
	for file in "$top_srcdir"/consumers/mir/[!r]*.c "$top_srcdir"/tests/apps/{windtunnel,lattice,calls_coll,stuck}.c; do
		ctags -x --language-force=C --c-kinds=f "$file" | awk -v file="${file##*/}" '{ print file, $1, $3 }'
	done | sort >theirs
	[ "$(wc -l <ours)" -ge 100 ] && diff ours theirs
}

wrong_ones_are_told() {
	printf '#include "nowhere.h"\nint f(void) { return 1; }\n' >lacks.c
	printf 'int f(void) { return 1; }\nint g(void) { return unknown; }\n' >faulty.c
	head -c 17000000 /dev/zero | tr '\0' ' ' >large.c
	mkfifo pipe.c
	for file in lacks.c large.c pipe.c nowhere.c; do echo "<sirreq><resource in='file://$tap_dir/$file'/></sirreq>"; done >requests
	timeout 100 evspace mir requests >answer
	[ $? -eq 1 ] && [ "$(grep -c '^<errors>' answer)" -eq 4 ] && grep -q "lacks.c:1.*'nowhere.h' file not found; say flags" answer &&
		grep -q 'large.c is larger than 16 MiB' answer && grep -q 'pipe.c is no file' answer && grep -q 'nowhere.c: No such file' answer || { cat answer; return 1; }
	local options=()
	sir "$tap_dir/faulty.c" && [ "$(regions subprogram | wc -l)" -eq 2 ] && grep -q '<!-- not understood: .*faulty.c:2.*unknown' answer
}

# Bytes changed at random, and what is deep: it ends, and what it says is a document.
odd_ones_end() {
	program
	/usr/bin/python3 - "$tap_dir" "$flags" <<-'EOT'
		import random, subprocess, sys
		whole = open('program.c', 'rb').read()
		random.seed(1)
		odd = [b'int f(void) { return ' + b'1+' * 20000 + b'1; }', b'int f(void) ' + b'{' * 300 + b'}' * 300, b'int f(int a) { ' + b'if (a) ' * 200 + b'; }', b'', b'{', b'\0' * 10]
		for i in range(20):
		    damaged = bytearray(whole)
		    for k in range(1 + i): damaged[random.randrange(len(damaged))] = random.randrange(256)
		    odd.append(bytes(damaged))
		for text in odd:
		    open('odd.c', 'wb').write(text)
		    p = subprocess.run(['evspace', 'mir', '-', '--flags', '-fopenmp ' + sys.argv[2]], input=b"<sirreq><resource in='file://%s/odd.c'/></sirreq>" % sys.argv[1].encode(),
		        stdout=subprocess.PIPE, timeout=100)
		    assert p.returncode in (0, 1) and p.stdout.count(b'\n') == 1, (text, p)
		    ET = __import__('xml.etree.ElementTree').etree.ElementTree
		    ET.fromstring(p.stdout)
	EOT
}

fortran_by_hand() {
	local options=()

	cat >free.F90 <<-'EOT'
		module m
		  interface
		    subroutine outside(a)
		      real :: a
		    end subroutine
		  end interface
		contains
		  pure real(kind=8) function twice(x) result(y)
		    real(kind=8), intent(in) :: x
		    y = 2 * x
		  end function
		#ifdef OTHER
		  subroutine &
		    work(n, a)
		#else
		  subroutine other(n, a)
		#endif
		    integer :: n, i, j
		    real :: a(n)
		    do i = 1, n; a(i) = i; end do
		    outer: do i = 1, n
		      do while (a(i) > 3)
		        a(i) = a(i) / 2 ! do
		      end do
		      if (i > 3) call outside(a(1))
		      call this%that(a, &
		        "it's; do" // 'x')
		    end do outer
		    call evspace_region('sum', EVSPACE_BEGIN)
		    do 10 i = 1, n
		      do 10 j = 1, 3
		        a(i) = a(i) + j
		10  continue
		    call evspace_region("sum  ", EVSPACE_END)
		!$omp parallel do
		    do i = 1, n
		      a(i) = 0
		    end do
		!$omp end parallel do
		!$omp atomic
		    x = x + 1
		    do100 = 3
		    doi = 1.10
		    endif = 3
		  end subroutine
		end module
	EOT
	sir "$tap_dir/free.F90" || return
	diff - <(for type in subprogram loop call userRegion openmp; do regions "$type"; done) <<-'EOT'
		twice 8 11
		work 14 45
		do 20 20
		do 21 28
		do 30 33
		do 31 33
		do 36 38
		do while 22 24
		outside 25 25
		that 26 27
		sum 29 34
		atomic 40 41
		parallel do 35 39
	EOT
	{
		printf '      subroutine first(a,\nC     end\n     &                 b)\n      do 20, i = 1, 10\n  20  call second( "it''s", i )\n      doubleprecision x\n'
		printf '      e n d\n*     end\n\tinteger function third(a)\n\tthird = 1\n\tend\n      x = 1\n!     call nobody\n      call third\n%66sX     call never\n      end\n' ' '
	} >fixed.f
	sir "$tap_dir/fixed.f" && diff - <(for type in subprogram loop call; do regions "$type"; done) <<-'EOT'
		MAIN__ 12 16
		first 1 7
		third 9 11
		do 4 5
		second 5 5
		third 14 14
	EOT
}

# inner TYPE: "NAME in NAME" of each, as they are nested.
inner() {
	/usr/bin/python3 - "$1" <<-'EOT'
		import sys, xml.etree.ElementTree as ET
		answer = ET.parse('answer')
		around = {inner: outer for outer in answer.iter('codeRegion') for inner in outer.findall('codeRegion')}
		for r in answer.iter('codeRegion'):
		    if r.get('type') == sys.argv[1]: print(r.get('name'), 'in', around[r].get('name'))
	EOT
}

# What a call has returned has no name; and what is called within an argument is within.
calls_of_calls() {
	local options=()

	printf 'int (*of(int))(int);\nint one(int);\nint main(void)\n{\n\tof(0)(4);\n\t(of(one(1)))(2);\n\treturn one(of(of(1)(2))(3));\n}\n' >calls.c
	sir "$tap_dir/calls.c" && diff - <(inner call) <<-'EOT'
		of in main
		of in main
		one in of
		one in main
		of in one
		of in of
	EOT
}

# Those of one line are beside each other.
fortran_calls_of_a_line() {
	local options=()

	cat >line.f90 <<-'EOT'
		program line
		  call first(i); call second(i)
		  if (i == 3) call third(i); call fourth(i)
		  do i = 1, 3; call inside(i); end do; call behind(i)
		  i = 1; do j = 1, 3
		    call evspace_region('r', EVSPACE_BEGIN); call within(i); call evspace_region('r', EVSPACE_END); call without(i)
		  end do; call last(&
		    i); !$omp parallel
		end program line
	EOT
	sir "$tap_dir/line.f90" && diff - <(inner call; regions call '{id}' | sort -u | wc -l) <<-'EOT'
		first in line
		second in line
		third in line
		fourth in line
		inside in do
		behind in line
		within in r
		without in do
		last in line
		9
	EOT
}

# As many statements as there can be: 640 bytes each were more than a gigabyte.
fortran_memory() {
	/usr/bin/python3 - "$tap_dir" <<-'EOT'
		import resource, subprocess, sys
		open('many.f90', 'w').write(('a;' * 60 + '\n') * 35000)
		request = "<sirreq><resource in='file://%s/many.f90'/></sirreq>" % sys.argv[1]
		p = subprocess.run(['evspace', 'mir', '-'], input=request.encode(), stdout=subprocess.PIPE, timeout=300)
		most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		assert b'MAIN__' in p.stdout and most < 600000, (p.stdout[:200], most)
	EOT
}

# Of what Fortran compiles here.
fortran_ids_of_dwarf() {
	local options=()

	cp "$top_srcdir/tests/apps/pvm_fortran.f" . && gfortran -g -O0 -shared -fPIC -std=legacy -I/usr/include -o pvm.so "$tap_dir/pvm_fortran.f" && sir "$tap_dir/pvm_fortran.f" && regions subprogram '{id} {name}' >of_source &&
		[ -s of_source ] && sir "$tap_dir/pvm.so" && regions subprogram '{id} {name}' | grep -v ' main$' | diff of_source -
}

# Bytes changed at random.
fortran_odd_ones_end() {
	/usr/bin/python3 - "$tap_dir" <<-'EOT'
		import random, subprocess, sys, xml.etree.ElementTree as ET
		random.seed(1)
		for name in ('free.F90', 'fixed.f'):
		    whole = open(name, 'rb').read()
		    odd = [b'', b'      ', b'&', b"'", b'(' * 100000, b'!$omp', b'#if\n' * 1000 + b'do\n' * 1000, b'do 1 i=1,(\n' * 1000, b'program a\n' * 1000, b'call a%\n']
		    for i in range(100):
		        damaged = bytearray(whole)
		        for k in range(1 + i): damaged[random.randrange(len(damaged))] = random.choice(b'()=,:\'"!&%;\n 0do$omp' if i % 2 else range(256))
		        odd.append(bytes(damaged))
		    requests = b''
		    for i, text in enumerate(odd):
		        open('odd%d%s' % (i, name), 'wb').write(text)
		        requests += b"<sirreq><resource in='file://%s/odd%d%s'/></sirreq>\n" % (sys.argv[1].encode(), i, name.encode())
		    p = subprocess.run(['evspace', 'mir', '-'], input=requests, stdout=subprocess.PIPE, timeout=100)
		    answers = p.stdout.split(b'\n')[:-1]
		    assert p.returncode in (0, 1) and len(answers) == len(odd), (p.returncode, len(answers))
		    for answer in answers: ET.fromstring(answer)
	EOT
}

# Of #if what a preprocessor takes with the same flags; without them the first part.
parts_of_if() {
	local options=(--flags '-DONE -DTHREE=3 -D SPACE=2 -DGONE -UGONE -DTEXT="a b') n=0 condition

	printf '#define LOCAL 4\n#define TWICE (2 * \\\n  LOCAL)\n#define LOOP LOOP\n' >parts.F90
	while read -r condition; do
		printf '#%s\n      subroutine a%d\n      end subroutine\n#else /* other */\n      subroutine b%d\n      end subroutine\n#endif\n' "$condition" $((n += 1)) $n
	done >>parts.F90 <<-'EOT'
		ifdef ONE
		ifndef ONE
		ifdef GONE
		if defined(ONE) && !defined (NOTHING)
		if defined ONE && THREE > SPACE
		if THREE == 3
		if NOTHING
		if (THREE - SPACE) * 2 == 1
		if TWICE == 8 && LOCAL<<1 == 0x8
		if -1 < 0 && ~0 == -1 && !0 && 7 % 4 == THREE && (6 & 3 | 8 ^ 1) == 11
		if 0 /* never */
		if THREE>=3&&SPACE<=1
		if defined(NOTHING) && 8 / NOTHING > 2
	EOT
	printf '#if THREE == 3 && \\\r\n  1 && \\\r\n  0\r\n      subroutine f1\n      end subroutine\n#else\n      subroutine f2\n      end subroutine\n#endif\n' >>parts.F90
	cat >>parts.F90 <<-'EOT'
		#ifdef NOTHING
		#define LATE
		      subroutine c1
		      end subroutine
		#elif THREE == 4
		      subroutine c2
		      end subroutine
		#elif THREE == 3
		# if defined(LATE) || \
		     LOCAL != 4
		      subroutine c3
		      end subroutine
		# else
		      subroutine c4
		      end subroutine
		# endif
		#elif 1
		      subroutine c5
		      end subroutine
		#else
		      subroutine c6
		      end subroutine
		#endif
		#undef ONE
		#ifdef ONE
		      subroutine d
		      end subroutine
		#endif
		#if LOOP
		      subroutine e
		      end subroutine
		#endif
	EOT
	sir "$tap_dir/parts.F90" && cpp -traditional-cpp -w -DONE -DTHREE=3 -DSPACE=2 <parts.F90 | sed -n 's/^ *subroutine \([a-z0-9]*\)/\1/p' >true && grep -q c4 true || return
	# a macro of itself is not understood, and so taken
	echo e >>true
	diff <(regions subprogram '{name}') <(sort true) || return
	options=()
	sir "$tap_dir/parts.F90" && [ "$(regions subprogram '{name}' | tr '\n' ' ')" = 'a1 a10 a12 a13 a2 a3 a4 a5 a6 a7 a8 a9 b11 c1 d e f1 ' ]
}

# code_case NAME COMMAND: one that needs what reads C.
code_case() {
	if [ -x "$top_builddir/evspace-clang" ]; then
		tap_case "$@"
	else
		tap_skip "$1" "evspace was built without libclang (libclang-14-dev)"
	fi
}

not_built() {
	program && mkdir alone && cp "$(command -v evspace)" alone && ln -s "$(realpath "$top_builddir/.libs")" alone/.libs &&
		echo "<sirreq><resource in='file://$tap_dir/program.c'/></sirreq>" | alone/evspace mir - >answer
	[ $? -eq 1 ] && grep -q 'built without libclang (libclang-14-dev), or there is no' answer || { cat answer; return 1; }
}

code_case "functions, loops, calls, own regions and OpenMP's of a source in C" by_hand
code_case "directives are those of programs that are compiled with OpenMP" without_openmp
code_case "the ids are those of what is compiled of it" ids_of_dwarf
code_case "C++: templates, methods, lambdas" in_cxx
code_case "flags of compile_commands.json, and none that loads anything" flags_of_commands
if command -v ctags >/dev/null; then
	code_case "all functions that ctags finds in evspace's own sources, and no others" same_as_ctags
else
	tap_skip "all functions that ctags finds in evspace's own sources, and no others" "there is no ctags"
fi
code_case "what a call has returned is called by no name" calls_of_calls
code_case "what cannot be read is told, and what to do" wrong_ones_are_told
code_case "odd sources end it in no way" odd_ones_end
if [ -e /usr/libexec/evspace/evspace-clang ] || [ -e /usr/local/libexec/evspace/evspace-clang ]; then
	tap_skip "without libclang it says what to install" "evspace-clang is installed"
else
	tap_case "without libclang it says what to install" not_built
fi
tap_case "procedures, loops, calls, own regions and OpenMP's of sources in Fortran, free and fixed" fortran_by_hand
tap_case "calls of one line in Fortran are beside each other" fortran_calls_of_a_line
tap_memory "millions of statements in Fortran take no gigabytes" fortran_memory
tap_case "of #if in Fortran the part is read that the flags choose" parts_of_if
if command -v gfortran >/dev/null; then
	tap_case "their ids are those of what is compiled of them" fortran_ids_of_dwarf
else
	tap_skip "their ids are those of what is compiled of them" "there is no gfortran"
fi
tap_case "odd sources in Fortran end it in no way" fortran_odd_ones_end
tap_done
