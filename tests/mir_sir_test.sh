# SPDX-License-Identifier: BSD-3-Clause
# evspace mir: the SIR of executables of C and Fortran has the functions that DWARF, as readelf shows it, and ctags say.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/mir-sir.sh"

cd "$tap_dir" || exit 99
options=()

# named TYPE: "NAME LINE" of each.
named() {
	regions "$1" '{name} {first}' | sort -u
}

# What readelf has of subprograms with code; attributes of abstract ones are looked up.
by_readelf() {
	readelf -wi "$1" 2>/dev/null | awk '
		/^ *<[0-9a-f]+><[0-9a-f]+>: Abbrev/ { split($1, at, /[<>]+/); now = at[3]; tag[now] = $NF; next }
		/DW_AT_name/ { sub(/.*: /, ""); sub(/[ \t]+$/, ""); name[now] = $0; next }
		/DW_AT_decl_line/ { line[now] = $NF; next }
		/DW_AT_(low_pc|ranges)/ { code[now] = 1; next }
		/DW_AT_(abstract_origin|specification)/ { match($0, /<0x[0-9a-f]+>/); of[now] = substr($0, RSTART + 3, RLENGTH - 4); next }
		END {
			for (i in tag) {
				if (tag[i] != "(DW_TAG_subprogram)" || !code[i]) continue
				for (o = i; (!(o in name) || !(o in line)) && o in of && n++ < 1e6; o = of[o]) {
					if (o in name) name[of[o]] = name[o]
					if (o in line) line[of[o]] = line[o]
				}
				print name[o], line[o]
			}
		}' | sort -u
}

same_as_readelf() {
	sir "$1" && named subprogram >ours && by_readelf "$1" >theirs && { [ "$(wc -l <ours)" -ge "$2" ] || ! wc -l ours; } && diff ours theirs
}

compile() {
	cat >solver.c <<-'EOF'
		#include <mpi.h>

		static inline int twice(int x)
		{
			return 2 * x;
		}

		__attribute__((noinline)) static int exchange(int rank)
		{
			int got = twice(rank);

			MPI_Bcast(&got, 1, MPI_INT, 0, MPI_COMM_WORLD);
			MPI_Barrier(MPI_COMM_WORLD);
			return got;
		}

		int main(int argc, char **argv)
		{
			MPI_Init(&argc, &argv);
			exchange(argc);
			return MPI_Finalize();
		}
	EOF
	mpicc -g -O2 -o solver solver.c
}

a_program_by_hand() {
	compile && sir "$tap_dir/solver" || return
	[ "$(named subprogram | tr '\n' ' ')" = 'exchange 8 main 17 ' ] &&
		[ "$(named call | tr '\n' ' ')" = 'MPI_Barrier 13 MPI_Bcast 12 MPI_Finalize 21 MPI_Init 19 ' ] &&
		[ "$(named inlined)" = 'twice 10' ] &&
		grep -qE '<unit id="([0-9a-f]{8})" name="[^"]*/solver.c">.*<codeRegion id="\1-8" type="subprogram" name="exchange"><position startLine="8" endLine="15"/>' answer &&
		mpicc -g -O1 -o again solver.c && cp answer before && sir "$tap_dir/again" &&
		[ "$(grep -o 'id="[0-9a-f]*-8"' answer)" = "$(grep -o 'id="[0-9a-f]*-8"' before)" ]
}

ids_are_unique() {
	/usr/bin/python3 -c '
import xml.etree.ElementTree as ET
ids = [r.get("id") for r in ET.parse("answer").iter("codeRegion")]
assert ids and len(ids) == len(set(ids)), [i for i in ids if ids.count(i) > 1][:5]'
}

# Two functions in a line, one of a header in two units, calls in a line; compiled here, and from elsewhere: ids are those of the source.
ids_tell_apart() {
	mkdir -p src vpath && printf '#include <mpi.h>\nstatic __attribute__((noinline)) int twice(int n) { MPI_Barrier(MPI_COMM_WORLD); MPI_Barrier(MPI_COMM_WORLD); return 2 * n; }\n' >src/both.h &&
		printf '#include "both.h"\nint f(int n) { return twice(n) + 1; } int g(int n) { return twice(n) + 2; }\n' >src/two.c &&
		printf '#include "both.h"\nint f(int), g(int);\nint main(int argc, char **argv) { return argv[0] ? f(g(twice(argc))) : 0; }\n' >src/main.c &&
		(cd vpath && mpicc -g -O2 -fno-ipa-icf -o two ../src/two.c ../src/main.c) && mpicc -g -O2 -fno-ipa-icf -o two src/two.c src/main.c || return
	sir "$tap_dir/vpath/two" && ids_are_unique && regions subprogram '{name} {id}' >there && grep -q "name=\"$tap_dir/src/two.c\"" answer &&
		[ "$(regions call '{name}' | grep -c '^MPI_Barrier$')" -ge 2 ] &&
		sir "$tap_dir/two" && ids_are_unique && regions subprogram '{name} {id}' >here && diff here there &&
		[ "$(cut -d' ' -f1 here | tr '\n' ' ')" = 'f g main twice ' ] && [ "$(sed -n 's/^g .*-2-//p' here)" = 2 ] || { cat answer; return 1; }
	sir "$tap_dir/src/../src/main.c" && [ "$(regions subprogram '{name} {id}')" = "$(grep '^main ' here)" ] || grep -q 'built without' answer
}

# As long as each function is read along all lines, this takes minutes.
many_are_read_in_line() {
	awk 'BEGIN { for (i = 0; i < 12000; i++) printf "int f%d(int n)\n{\n\tn += %d;\n\tn *= 3;\n\treturn n;\n}\n", i, i; print "int main(void) { return 0; }" }' >many.c &&
		gcc -g -O0 -o many many.c && SECONDS=0 && sir "$tap_dir/many" && [ "$(named subprogram | wc -l)" -eq 12001 ] && [ "$SECONDS" -lt 30 ]
}

# Split into a hot and a cold part, a function has no first address; send() and wait() are the C library's.
split_and_like_mpi() {
	cat >parts.c <<-'EOF'
		#include <stdlib.h>
		#include <sys/socket.h>
		#include <sys/wait.h>

		__attribute__((cold, noinline)) static void complain(void)
		{
			send(2, "no", 2, 0);
			wait(NULL);
		}

		__attribute__((noinline)) int work(int n)
		{
			if (n > 7) {
				complain();
				abort();
			}
			return n + 1;
		}

		int main(int argc, char **argv)
		{
			return argv[0] ? work(argc) : 0;
		}
	EOF
	gcc -g -O2 -o parts parts.c && readelf -wi parts | grep -q DW_AT_ranges && same_as_readelf "$tap_dir/parts" 3 &&
		grep -q '^work 11$' ours && [ -z "$(named call)" ]
}

# The compiler may have left nothing of a small one.
same_as_ctags() {
	sir "$top_builddir/tests/apps/windtunnel" && { named subprogram && named inlined; } | cut -d' ' -f1 | sort -u >ours &&
		ctags -x --c-kinds=f "$top_srcdir/tests/apps/"{windtunnel,lattice}.c | awk '{ print $1 }' | sort -u >theirs &&
		[ "$(comm -23 theirs ours | wc -l)" -le 2 ] || diff ours theirs
}

wrong_ones_are_told() {
	echo 'int main(void) { return 0; }' >bare.c && gcc -s -o bare bare.c && head -c 3000 solver >cut && mkfifo pipe || return
	{
		for file in "file://$tap_dir/bare" "file://$tap_dir/cut" "file://$tap_dir/pipe" "file://$tap_dir" \
			"file://$tap_dir/nowhere" 'http://127.0.0.1/a' 'ftp://127.0.0.1/a' 'file://host/a'; do
			echo "<sirreq><resource in='$file'/></sirreq>"
		done
		echo "<sirreq><resource in='file://$tap_dir/solver' out='file://$tap_dir/out'/></sirreq>"
	} >requests
	timeout 60 evspace mir requests >answer
	[ $? -eq 1 ] && [ "$(grep -c '^<errors>' answer)" -eq 9 ] && [ "$(grep -c 'compiled with -g' answer)" -eq 4 ] &&
		[ "$(grep -c 'is not read; write file:///PATH' answer)" -eq 1 ] && [ "$(grep -c 'says --fetch HOST' answer)" -eq 2 ] && grep -q 'nothing is written back; who started evspace mir says --write' answer || { cat answer; return 1; }
}

# Bytes of it changed at random: it ends, and what it says is a document.
damaged_ones_end() {
	/usr/bin/python3 - "$tap_dir/solver" <<-'EOF'
		import random, subprocess, sys
		whole = open(sys.argv[1], 'rb').read()
		random.seed(1)
		for i in range(60):
		    damaged = bytearray(whole)
		    for k in range(1 + i): damaged[random.randrange(len(damaged))] = random.randrange(256)
		    open('damaged', 'wb').write(damaged)
		    p = subprocess.run(['evspace', 'mir', '-'], input=b"<sirreq><resource in='file://%s'/></sirreq>" % (sys.argv[1].rsplit('/', 1)[0] + '/damaged').encode(),
		        stdout=subprocess.PIPE, timeout=60)
		    assert p.returncode in (0, 1) and p.stdout.count(b'\n') == 1, (i, p)
	EOF
}

# asks URI...: for the SIR of all of them, in one request.
asks() {
	local uri

	{
		echo '<sirreq>'
		for uri; do echo "<resource in='$uri'/>"; done
		echo '</sirreq>'
	} | no_proxy='*' TMPDIR=$tap_dir/tmp timeout 100 evspace mir - "${options[@]}" >answer 2>err
}

# says PATTERN URI...: it is refused with that.
says() {
	local pattern=$1

	shift
	! asks "$@" && grep -qE "$pattern" answer || { cat answer err; return 1; }
}

# From the host that is stated, as it is there, and nothing that is too large, or elsewhere; no file is left.
fetched_ones() {
	local options=() at server

	mkdir -p remote tmp
	printf 'subroutine s\n  call t\nend subroutine\n' >remote/s.f90
	printf '#include "prototypes.h"\nint twice(int x) { return FACTOR * x; }\n' >remote/mmul.c
	printf 'int twice(int);\n#define FACTOR 2\n' >remote/prototypes.h
	cat >serve.py <<-'EOF'
		import http.server, os
		class Handler(http.server.SimpleHTTPRequestHandler):
		    def do_GET(self):
		        if self.path == '/moved.f90':
		            self.send_response(302)
		            self.send_header('Location', 'file:///etc/passwd')
		            self.end_headers()
		            self.wfile.write(b'subroutine moved\nend subroutine\n')
		        elif self.path == '/endless.f90':
		            self.send_response(200)
		            self.end_headers()
		            try:
		                while True: self.wfile.write(b'! ' + b'x' * 70 + b'\n')
		            except OSError:
		                pass
		        else:
		            super().do_GET()
		os.chdir('remote')
		server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
		print(server.server_port, file=open('../port.tmp', 'w'), flush=True)
		os.rename('../port.tmp', '../port')
		server.serve_forever()
	EOF
	/usr/bin/python3 serve.py 2>serve.err &
	server=$!
	while [ ! -e port ] && kill -0 "$server"; do sleep 0.05; done
	at=127.0.0.1:$(cat port)
	says 'says --fetch HOST' "http://$at/s.f90"
	set -- $?
	options=(--fetch "nowhere.invalid,$at")
	[ "$1" -eq 0 ] && asks "http://$at/s.f90" && xmllint --nonet --noout --schema "$schema" answer && [ "$(regions subprogram '{name} {first} {last}')" = 's 1 3' ] &&
		grep -q "<unit id=\"[0-9a-f]*\" name=\"http://$at/s.f90\">" answer &&
		says 'says --fetch HOST' "http://$at@localhost/s.f90" && says 'says --fetch HOST' "http://localhost:${at#*:}/s.f90" &&
		says 'the answer is 302' "http://$at/moved.f90" && says 'larger than 16 MiB' "http://$at/endless.f90" && says '404' "http://$at/nothing.f90" &&
		says 'does not end with the name' "http://$at/" && says 'the same name' "http://$at/s.f90" "http://$at/s.f90?again" &&
		says 'is not read; write file' 'gopher://localhost/s.f90' &&
		if [ -x "$top_builddir/evspace-clang" ]; then asks "http://$at/mmul.c" "http://$at/prototypes.h" && [ "$(regions subprogram '{name}')" = twice ] && fetched_is_written "http://$at" && fetched_reads_nothing_here "http://$at"; fi &&
		[ -z "$(ls tmp)" ]
	set -- $?
	kill "$server"
	wait "$server" 2>/dev/null
	[ "$1" -eq 0 ] || { cat answer err serve.err; ls tmp; return 1; }
}

# Whoever has written it learns nothing of files that are here.
fetched_reads_nothing_here() {
	local how

	mkdir -p hidden && printf 'secret_word x;\n' >hidden/key.h || return
	for how in "$tap_dir/hidden/key.h" ../hidden/key.h; do
		printf '#include "%s"\nint f(void) { return 0; }\n' "$how" >remote/curious.c
		says 'includes what is neither with it' "$1/curious.c" && ! grep secret_word answer || return
	done
	# nor whether they are there
	printf '#if __has_include("%s") || __has_include("../hidden/key.h") || __has_include("/usr/..%s") || __has_include("/dev/null")\nvoid is_there(void) {}\n#endif\n#if __has_include(<stdio.h>) && __has_include("prototypes.h")\nvoid f(void) {}\n#endif\n' \
		"$tap_dir/hidden/key.h" "$tap_dir/hidden/key.h" >remote/curious.c
	asks "$1/curious.c" "$1/prototypes.h" && [ "$(regions subprogram '{name}')" = f ] || return
	printf '#include <stdio.h>\n#include "prototypes.h"\nint f(void) { return puts(""); }\n' >remote/curious.c
	asks "$1/curious.c" "$1/prototypes.h" && [ "$(regions subprogram '{name}')" = f ] || return
	# what the flags say is meant for it
	mkdir -p flags && printf '#include "more.h"\n' >flags/config.h && printf '#define NAME g\n' >flags/more.h &&
		printf 'int NAME(void) { return 0; }\n' >remote/configured.c && options+=(--flags "-include $tap_dir/flags/config.h") &&
		asks "$1/configured.c" && [ "$(regions subprogram '{name}')" = g ] || return
	# and nothing that is below its folder, or elsewhere by a link
	mkdir -p flags/below && cp hidden/key.h flags/below && ln -sf ../hidden/key.h flags/link.h || return
	for how in below/key.h link.h; do
		printf '#if __has_include("%s")\nvoid is_there(void) {}\n#endif\nint NAME(void) { return 0; }\n' "$tap_dir/flags/$how" >remote/configured.c
		asks "$1/configured.c" && [ "$(regions subprogram '{name}')" = g ] || { cat answer err; return 1; }
		printf '#include "%s"\nint NAME(void) { return 0; }\n' "$tap_dir/flags/$how" >remote/configured.c
		says 'includes what is neither with it' "$1/configured.c" && ! grep secret_word answer || return
	done
	# a file that is named may be a link; it is named from here
	ln -sf flags/config.h configured.h && cp flags/more.h . && printf 'int NAME(void) { return 0; }\n' >remote/configured.c &&
		options+=(--flags "-include configured.h") && asks "$1/configured.c" && [ "$(regions subprogram '{name}')" = g ]
}

# The report's example, at this host: it is written on the local disk, instrumented.
fetched_is_written() {
	local id

	id=$(regions subprogram '{id}')
	mkdir -p written remote/other && cp remote/mmul.c remote/other
	{
		echo "<sirreq><resource in='$1/mmul.c' out='file://$tap_dir/written/mmul.c'/><resource in='$1/prototypes.h'/></sirreq>"
		echo "<instrreq flush='true'><codeRegion from='$id'/><metric name='CALLS'/></instrreq>"
	} | no_proxy='*' TMPDIR=$tap_dir/tmp timeout 100 evspace mir - "${options[@]}" --write "$tap_dir/written" >answer 2>err &&
		gcc -c -I"$top_srcdir/node-agent/collect/core" -iquote remote -o written.o written/mmul.c && grep -q "$id" written/mmul.c || return
	# one with the same name would be in its place
	{
		echo "<sirreq><resource in='$1/mmul.c' out='file://$tap_dir/written/mmul.c'/><resource in='$1/prototypes.h'/></sirreq>"
		echo "<sirreq><resource in='$1/other/mmul.c' out='file://$tap_dir/written/other.c'/></sirreq>"
		echo "<instrreq flush='true'><codeRegion from='$id'/><metric name='CALLS'/></instrreq>"
	} | no_proxy='*' TMPDIR=$tap_dir/tmp timeout 100 evspace mir - "${options[@]}" --write "$tap_dir/written" >answer 2>err
	grep -q 'has the same name as' answer && tail -n 1 answer | grep -q '^<probe'
}

tap_case "functions, inlined ones and calls of MPI of a program, and ids that stay" a_program_by_hand
tap_case "ids are unique, and the same wherever it is compiled" ids_tell_apart
tap_case "many functions are read in one go" many_are_read_in_line
tap_case "functions in parts; those of the C library are no calls of MPI" split_and_like_mpi
tap_case "the functions of a program in C are those that readelf has" same_as_readelf "$top_builddir/tests/apps/windtunnel" 20
if [ -x "$top_builddir/tests/apps/fcalls" ]; then
	tap_case "those of one in Fortran, too" same_as_readelf "$top_builddir/tests/apps/fcalls" 2
fi
tap_case "those of evspace's own library, too" same_as_readelf "$top_builddir/.libs/libevspace-mir.so" 10
if command -v ctags >/dev/null; then
	tap_case "what ctags finds is there" same_as_ctags
else
	tap_skip "what ctags finds is there" "there is no ctags"
fi
tap_case "what has no DWARF, or is no file, is told" wrong_ones_are_told
if command -v curl >/dev/null; then
	tap_case "sources at a host that is stated are fetched" fetched_ones
else
	tap_skip "sources at a host that is stated are fetched" "there is no curl"
fi
tap_case "damaged executables end it in no way" damaged_ones_end
tap_done
