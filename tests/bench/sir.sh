#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The SIR of real programs against ctags and DWARF, and their sources written back: compiled, and with the same results.
#
#	tests/bench/sir.sh [--json] [--keep DIR] [--only PROGRAM]
#
# Sources are Debian's (apt-get source, so the network): hpcc and netpipe in C, LAPACK, its tests and netcdf-fortran in Fortran, mumps in
# both; some seven minutes of two cores. DIR keeps them. Of each, the functions that evspace mir has are compared with those of ctags,
# for all sources that are read, and with those of DWARF, for all that compile here: recall is the share of theirs that it has, precision that
# of its own that they have. Neither is to be below 0.99. DWARF of a source that compiles says what ctags cannot know: functions that #if
# leaves out do not count, nor do those whose names macros make and that are nowhere in its text. Pieces that others include are left out.
# Then functions and loops get regions, each that can have one, and what is compiled of that prints what is printed without. DIR/differences
# has who lacks what. Exit code: 0 if all of it is so.

set -u
top=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
build=${top_builddir:-$top/build}
export PATH=$build:$PATH EVSPACE_LIBDIR=$build/.libs OMPI_MCA_rmaps_base_oversubscribe=1 OMP_NUM_THREADS=1
json=false keep= only=
while [ $# -gt 0 ]; do
	case $1 in
	--json) json=true ;;
	--keep) keep=$2 && shift ;;
	--only) only=$2 && shift ;;
	*) echo "usage: sir.sh [--json] [--keep DIR] [--only PROGRAM]" >&2 && exit 2 ;;
	esac
	shift
done
work=${keep:-$(mktemp -d)}
[ -n "$keep" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" && cd "$work" && : >differences || exit 1

# An apt of its own, with sources.
sources() {
	apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
		-o Dir::Cache="$work/cache" -o APT::Sandbox::User=root "$@" >>"$work/apt.log" 2>&1
}

# Where a mirror lacks Debian's part of it, that of its authors is enough.
unpack() {
	[ -d "$1" ] && return
	ls "$1"_*.orig.tar.* >/dev/null 2>&1 || sources source --download-only "$1"
	mkdir "$1" && tar -xf "$1"_*.orig.tar.* -C "$1" --strip-components=1 2>/dev/null || { rm -rf "$1"; return 1; }
}

if [ ! -e sources.list ]; then
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" >sources.list
	sources update || { cat apt.log >&2; exit 1; }
fi

cat >compare.py <<'EOT'
# compare.py NAME FLAGS JSON FILE...; or --write NAME FLAGS OUT FILE...: functions and loops get regions, each file by itself.
import concurrent.futures, json, os, re, subprocess, sys, xml.etree.ElementTree as ET

# As many as a tool may have.
PROBES = 400

def answers(requests, *options):
    done = subprocess.run(['evspace', 'mir', '-', *options], input='\n'.join(requests).encode(), stdout=subprocess.PIPE)
    return [ET.fromstring(line) for line in done.stdout.splitlines()]

def functions(files, flags):
    have, unread = {}, 0
    for file, answer in zip(files, answers(["<sirreq><resource in='file://%s'/></sirreq>" % f for f in files], '--flags', flags)):
        if answer.tag == 'errors':
            unread += 1
            print(file, answer[0].text, file=sys.stderr)
            continue
        units = [u for u in answer.iter('unit') if u.get('name') == os.path.realpath(file)]
        have[file] = {(r.get('name'), int(r.find('position').get('startLine'))) for u in units for r in u.iter('codeRegion') if r.get('type') == 'subprogram'}
    return have, unread

is_c = lambda file: file.endswith('.c')

def ctags(file):
    kinds = ['--language-force=C', '--kinds-C=f'] if is_c(file) else ['--language-force=Fortran', '--kinds-Fortran=fsp']
    out = subprocess.run(['ctags', '-x', '--_xformat=%N %n', *kinds, file], stdout=subprocess.PIPE).stdout.decode(errors='replace')
    return {(n if is_c(file) else n.lower(), int(l)) for n, l in (line.rsplit(' ', 1) for line in out.splitlines())}

# Subprograms with code, as readelf shows them; None: it does not compile. What is compiled stays, for the program without regions.
def dwarf(file, name, flags):
    compiler = ['mpicc', '-w'] if is_c(file) else ['gfortran', '-w', '-std=legacy', '-J.']
    part = '%s-dwarf.o/%s.o' % (name, written(file))
    if subprocess.run([*compiler, *flags.split(), '-g', '-O0', '-fkeep-static-functions', '-c', '-o', part, file], stderr=subprocess.DEVNULL).returncode != 0:
        return None
    out = subprocess.run(['readelf', '-wi', part], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode(errors='replace')
    found, at, said = set(), None, {}
    def note():
        if at == 'DW_TAG_subprogram' and 'low_pc' in said and 'decl_line' in said and (is_c(file) or not re.match('main$|__', said['name'])):
            found.add((said['name'], int(said['decl_line'])))
    for line in out.splitlines():
        if m := re.search(r'Abbrev Number: \d+ \((\w+)\)', line):
            note()
            at, said = m.group(1), {}
        elif m := re.search(r'DW_AT_(name|decl_line|low_pc) *: *(?:\(.*?\): )?(.*?)\s*$', line):
            said.setdefault(m.group(1), m.group(2))
    note()
    return found

# Of ctags and of ours, what can be compared: #if has left out what the compiler has not, and ctags does not see a name that a macro makes.
def fair(file, there, mine, compiled):
    text = open(file, errors='replace').read().lower()
    if compiled is not None:
        there = there & (compiled | mine)
        mine = {f for f in mine if f in there or f not in compiled or re.search(r'\b%s\b' % re.escape(f[0].lower()), text)}
    return there, mine

# Its name, wherever it is: there may be several of one name in folders.
written = lambda file: os.path.relpath(file).replace('/', '_')

def share(n, of): return n / of if of else 1.0

def side_by_side(file, mine, name, flags):
    compiled = dwarf(file, name, flags)
    sides = {'ctags': fair(file, ctags(file), mine, compiled)}
    if compiled is not None:
        sides['dwarf'] = compiled, mine
    return file, mine, sides

def compare(name, flags, as_json, files):
    ours, unread = functions(files, flags)
    os.makedirs(name + '-dwarf.o', exist_ok=True)
    row = {'case': 'sir', 'program': name, 'files': len(files), 'unread': unread}
    row |= {who: {'files': 0, 'functions': 0, 'ours': 0, 'both': 0, 'left out': 0} for who in ('ctags', 'dwarf')}
    with concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
        for file, mine, sides in pool.map(lambda f: side_by_side(f, ours[f], name, flags), ours):
            for who, (theirs, fairly) in sides.items():
                row[who]['files'] += 1
                row[who]['functions'] += len(theirs)
                row[who]['ours'] += len(fairly)
                row[who]['both'] += len(fairly & theirs)
                row[who]['left out'] += len(mine) - len(fairly)
                for f in sorted(fairly ^ theirs):
                    print(who, 'lacks' if f in fairly else 'has', f, file, file=sys.stderr)
    for who in 'ctags', 'dwarf':
        w = row[who]
        w['recall'], w['precision'] = round(share(w['both'], w['functions']), 4), round(share(w['both'], w['ours']), 4)
        if as_json != 'true':
            print('%-16s %-6s %4d files, %5d functions, %5d of ours%s: recall %.4f, precision %.4f' % (name, who, w['files'], w['functions'], w['ours'], ' (and %d named by macros)' % w['left out'] if w['left out'] else '', w['recall'], w['precision']), flush=True)
    if as_json == 'true':
        print(json.dumps(row), flush=True)
    sys.exit(any(row[who][figure] < 0.99 for who in ('ctags', 'dwarf') for figure in ('recall', 'precision')))

# What cannot be written around is refused, one after the other.
def file_write(file, read, flags, out):
    if read.tag == 'errors':
        return file, 0, 0, read[0].text
    sir = "<sirreq><resource in='file://%s' out='file://%s/%s'/></sirreq>" % (file, out, written(file))
    ids = [r.get('id') for kind in ('subprogram', 'loop') for r in read.iter('codeRegion') if r.get('type') == kind][:PROBES]
    n, got = len(ids), None
    while got is None or got[-1].tag == 'errors':
        got = answers([sir] + ["<instrreq><codeRegion from='%s'/><metric name='CALLS'/></instrreq>" % i for i in ids] + ["<instrreq flush='true'><measuring interval='1'/></instrreq>"], '--write', out, '--flags', flags)
        refused = set(re.findall(r'around ([0-9a-f]{8}-[0-9-]+)', ' '.join(e.text for a in got for e in a.iter('error'))))
        if got[-1].tag == 'errors' and not refused & set(ids):
            return file, 0, 0, ' '.join(e.text for e in got[-1].iter('error'))
        ids = [i for i in ids if i not in refused]
    return file, len(ids), n - len(ids), ''

def write(name, flags, out, files):
    os.makedirs(out, exist_ok=True)
    all = answers(["<sirreq><resource in='file://%s'/></sirreq>" % f for f in files], '--flags', flags)
    with concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
        done = list(pool.map(lambda f, sir: file_write(f, sir, flags, out), files, all))
    print('%-16s written back: %d sources, %d regions, %d refused' % (name, len(files), sum(d[1] for d in done), sum(d[2] for d in done)), flush=True)
    for file, _, _, why in done:
        if why:
            print('%-16s %s: %s' % (name, file, why[:300]), flush=True)
    sys.exit(any(d[3] for d in done))

if sys.argv[1] == '--write':
    write(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
else:
    compare(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
EOT

# program NAME FLAGS FILE...: compares it; FLAGS are those of the compiler.
program() {
	local name=$1 flags=$2

	shift 2
	/usr/bin/python3 compare.py "$name" "$flags" "$json" "$@" 2>>differences
}

# same NAME PLAIN WRITTEN: what both have said.
same() {
	if [ -s "$2" ] && cmp -s "$2" "$3"; then
		printf '%-16s the same results: %d lines\n' "$1" "$(wc -l <"$2")"
	else
		printf '%-16s OTHER results\n' "$1" && diff "$2" "$3" | head -5
		return 1
	fi
}

region=$top/node-agent/collect/core
mpi=$(mpicc --showme:compile 2>/dev/null)

# compiled COMPILER FLAGS FOLDER FILE NAME FROM: the source FILE as it is in FROM; its object is in FOLDER, by NAME. Without regions it may be there.
compiled() {
	[ "${3%-plain.o}" = "$3" ] || ! cp "${3%-plain.o}-dwarf.o/$5.o" "$3" 2>/dev/null || return 0
	$1 -w -O0 $2 -I"$region" -I"${4%/*}" -c -o "$3/$5.o" "$6" || { echo "$6 does not compile" >&2; return 255; }
}
export -f compiled
export region

# built NAME COMPILER FLAGS LINK FILE...: NAME-written.exe of the files with a region around each function and loop that can have one, and NAME-plain.exe of those without.
built() {
	local name=$1 compiler=$2 flags=$3 link=$4 folder file its from

	shift 4
	/usr/bin/python3 compare.py --write "$name" "$flags" "$work/$name-written" "$@" 2>>differences || return
	for folder in plain written; do
		rm -rf "$name-$folder.o" && mkdir "$name-$folder.o"
		for file; do
			its=${file#"$work"/} from=$file
			[ $folder = plain ] || from=$work/$name-written/${its//\//_}
			printf '%s\0' "$file" "${its//\//_}" "$from"
		done | xargs -0 -n 3 -P $((2 * $(nproc --all))) bash -c 'compiled "$@"' _ "$compiler" "$flags" "$name-$folder.o" || return
		$compiler -o "$name-$folder.exe" $name-$folder.o/*.o $link || return
	done
}

# ran NAME COMMAND...: what both programs print, PROGRAM in the command, each in a folder of its own, without times.
ran() {
	local name=$1 folder

	shift
	for folder in plain written; do
		rm -rf "$name-$folder.run" && mkdir "$name-$folder.run"
		(cd "$name-$folder.run" && timeout 600 bash -c "${*//PROGRAM/$work/$name-$folder.exe}" 2>&1) >"$name-$folder.out"
	done
	same "$name" "$name-plain.out" "$name-written.out"
}

mpirun="mpirun --allow-run-as-root -np"

# LAPACK's own tests of its double precision.
lapack_written() {
	local other lin=$work/lapack/TESTING/LIN

	other=($(ls "$lin"/{al*,chkxer,icopy,ilaenv,xlaenv,xerbla}.f "$lin"/d*.f "$work"/lapack/TESTING/MATGEN/d*.f |
		grep -vE '/(dchkab|dchkrfp|ddrvrf.|derrrfp|derrab|dget0.*|dchkge|ddrvge|ddrv(gb|ge|po|sy)x|derr(ge|po|sy)x|derrvxx|debchvxx)\.f$'))
	mkdir -p objects && (cd objects && gfortran -w -std=legacy -O1 -c "${other[@]}" && gfortran -c "$region/evspace.f90") || return
	built lapack gfortran "-std=legacy -Iobjects" "objects/*.o -llapack -lblas -ldl" "$work"/lapack/SRC/dge[qt]*.f "$lin"/d{chkaa.F,chkge.f,drvge.f,get0*.f} &&
		ran lapack "PROGRAM <$work/lapack/TESTING/dtest.in | grep -v 'Total time'"
}

# Its own checks of results.
hpcc_written() {
	built hpcc mpicc "$mpi $hpcc_flags" "-lblas -lm -ldl" $(find "$work/hpcc" -name '*.c' | sort) &&
		ran hpcc "sed 's/^1000 /200 /' $work/hpcc/_hpccinf.txt >hpccinf.txt; $mpirun 4 PROGRAM >/dev/null; grep -hiE 'passed|failed|success|errors' hpccoutf.txt | grep -viE 'time|gflop|gb/s|seconds' | sed -E 's/^(WALL|CPU)(.*) +[0-9.]+ PASSED .*/\1\2 PASSED/'"
}

# Its check that what comes is what was sent.
netpipe_written() {
	built netpipe mpicc "$mpi -DMPI" "-ldl" "$work"/netpipe/src/{netpipe,mpi}.c &&
		ran netpipe "$mpirun 2 PROGRAM -i -n 50 -u 10000 2>&1 | grep -a bytes"
}

# Its test in Fortran 77, which writes a file and reads it back; with netCDF's library in C (libnetcdf-dev).
netcdf_written() {
	local of=$work/netcdf-fortran objects=netcdf-objects

	(cd $objects && gfortran -c "$region/evspace.f90" && gcc -w -c $netcdf_flags "$of"/fortran/nf_{lib,v2compat}.c) || return
	built netcdf gfortran "$netcdf_flags -I$objects" "$objects/*.o ${NETCDF_LIBS--lnetcdf} -ldl" "$of"/nf_test/ftest.F \
		$(ls "$of"/fortran/nf_{attio,control,dim,fortv2,genatt,geninq,genvar,misc,var1io,varaio,vario,varmio,varsio}.[fF]90) &&
		ran netcdf "cp $of/nf_test/ref_fills.nc fills.nc; PROGRAM && cksum <ftest.nc"
}

# The sparse solver, with its own ordering: all of its double precision.
mumps_written() {
	local objects=mumps-objects

	mkdir -p $objects mumps-scratch && (cd $objects && gfortran -c "$region/evspace.f90") || return
	built mumps "mpif90 -std=legacy" "$mumps_flags -I$objects -Jmumps-scratch" "$objects/*.o $(ls /usr/lib/*/libscalapack-openmpi.so* | head -n 1) -llapack -lblas -ldl" \
		"$work"/mumps/examples/dsimpletest.F "${mumps_sources[@]}" &&
		ran mumps "$mpirun 2 PROGRAM <$work/mumps/examples/input_simpletest_real | grep -vi time"
}

is_meant() {
	[ -z "$only" ] || [ "$only" = "$1" ]
}

# What its other sources use, and its build makes.
netcdf_modules() {
	local of=$work/netcdf-fortran/fortran file

	mkdir -p netcdf-modules netcdf-objects && cat "$of"/netcdf{3,4,2}.inc >"$of/netcdf.inc"
	for file in typeSizes.f90 module_netcdf_{nc_data.F90,nc_interfaces.f90,nf_data.F90,nf_interfaces.F90} module_netcdf4_{nc_interfaces.f90,nf_interfaces.F90} module_netcdf_{fortv2_c_interfaces,f03}.f90 ../nf_test/module_tests.F90; do
		gfortran -w $netcdf_flags -Jnetcdf-modules -c -o "netcdf-objects/${file##*/}.o" "$of/$file" || return
	done
}

# Likewise; in which order is found by trying.
mumps_modules() {
	local todo=() left file

	# its build makes that one
	echo '#define MUMPS_INTSIZE32' >mumps/include/mumps_int_def.h
	mkdir -p mumps-modules
	mumps_sources=("$work"/mumps/src/{d,mumps,ana,fac,sol,tools,lr,omp,front,bcast,estim}*.[cF] "$work"/mumps/PORD/lib/*.c)
	for file in "${mumps_sources[@]}"; do
		[ "$file" = "${file%.F}" ] || todo+=("$file")
	done
	while [ ${#todo[@]} -gt 0 ]; do
		left=()
		for file in "${todo[@]}"; do
			gfortran -w -std=legacy $mumps_flags -Jmumps-modules -fsyntax-only "$file" 2>/dev/null || left+=("$file")
		done
		[ ${#left[@]} -lt ${#todo[@]} ] || return
		todo=("${left[@]}")
	done
}

netcdf_flags="-cpp -DHAVE_TS29113_SUPPORT -DHAVE_F2008 -DNF_INT1_IS_C_SIGNED_CHAR=1 -DNF_INT2_IS_C_SHORT=1 -DNF_INT_IS_C_INT=1 -DNF_REAL_IS_C_FLOAT=1 -DNF_DOUBLEPRECISION_IS_C_DOUBLE=1 -DNCBYTE_T=byte -DNCSHORT_T=integer*2 -DNF_INT1_T=byte -DNF_INT2_T=integer*2 -DSIZEOF_PTRDIFF_T=8 -fallow-argument-mismatch -I$work/netcdf-fortran/fortran -I$work/netcdf-modules"
hpcc_flags="-DHPL_NO_MPI_DATATYPE -DAdd_ -DF77_INTEGER=int -DStringSunStyle -I$work/hpcc/include -I$work/hpcc/hpl/include"
mumps_flags="$mpi -Dpord -DAdd_ -DMUMPS_ARITH=MUMPS_ARITH_d -I$work/mumps/include -I$work/mumps/src -I$work/mumps/PORD/include -I$work/mumps-modules"

failed=0
! is_meant hpcc || { unpack hpcc && program hpcc "$mpi $hpcc_flags" $(find "$work/hpcc" -name '*.c' | sort); } || failed=1
! is_meant netpipe || { unpack netpipe && program netpipe "$mpi -I$work/netpipe/src -DMPI" "$work"/netpipe/src/*.c; } || failed=1
! is_meant lapack || { unpack lapack && program lapack "-std=legacy" "$work"/lapack/SRC/dg*.f "$work"/lapack/TESTING/LIN/d*.f; } || failed=1
! is_meant netcdf || {
	unpack netcdf-fortran && netcdf_modules &&
		program netcdf "$netcdf_flags" "$work"/netcdf-fortran/fortran/nf_{attio,control,dim,fortv2,genatt,geninq,genvar,misc,nc,nc4,var1io,varaio,vario,varmio,varsio}.*90 \
			$(ls "$work"/netcdf-fortran/fortran/netcdf*_*.f90 | grep -vE '(externals|visibility|constants)\.f90') "$work"/netcdf-fortran/nf_test/[^l]*.[fF]
} || failed=1
! is_meant mumps || { unpack mumps && mumps_modules && program mumps "$mumps_flags" "${mumps_sources[@]}"; } || failed=1
for written in hpcc netpipe lapack netcdf mumps; do
	! is_meant $written || ${written}_written || { echo "$written: not written back, compiled, and with the same results" >&2; failed=1; }
done
exit $failed
