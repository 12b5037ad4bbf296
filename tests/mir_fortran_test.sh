# SPDX-License-Identifier: BSD-3-Clause
# evspace mir: sources in Fortran are written back with the regions of probes in them, compile, give the same results, and are measured.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/mir-sir.sh"

command -v gfortran >/dev/null || { echo "1..0 # SKIP gfortran is missing (Debian package gfortran)"; exit 0; }

mir_begin
mkdir written
options=()

# Instead of evspace.f90: regions begin and end as they are nested, on each thread, or the program ends with 9.
cat >nested.f90 <<'EOT'
module evspace
  implicit none
  integer, parameter :: deepest = 1000
  character(len=64) :: open(deepest)
  integer :: depth = 0, begun = 0
  !$omp threadprivate(open, depth, begun)
contains
  subroutine evspace_region(name, begin)
    character(len=*), intent(in) :: name
    integer, intent(in) :: begin
    if (begin == 1) then
      depth = depth + 1
      begun = begun + 1
      open(depth) = name
    else if (depth == 0) then
      write (0, *) 'ended without a begin: ', name
      stop 9
    else if (open(depth) /= name) then
      write (0, *) 'ended within ', trim(open(depth)), ': ', name
      stop 9
    else
      depth = depth - 1
    end if
  end subroutine evspace_region
end module evspace
EOT

fixed_program() {
	cat >odd.f <<-'EOT'
		C     Labels, lines that go on, IF of one line, what is behind column 72.
		      PROGRAM ODD
		      IMPLICIT NONE
		      INTEGER I, K, N, FIB, SCAN, TOTAL
		      PARAMETER (N = 7)
		      INTEGER ALL(N)
		      EXTERNAL FIB, SCAN
		      DATA ALL /3, 1, 8, 2, 9, 4, 4/
		      TOTAL = 0
		      DO 10 I = 1, N
		   10 TOTAL = TOTAL + SCAN(ALL(I), N + 1 - I)
		      DO 30 I = 1, 3
		      DO 30 K = 1, 2
		   30 TOTAL = TOTAL + I * K
		      CALL ADD(TOTAL, 5,
		     &   7)
		      IF (TOTAL .GT. 5) CALL ADD(TOTAL, 1, 1)
		      PRINT *, FIB(12), TOTAL, 'it''s ! a "string"'
		      END

		      RECURSIVE INTEGER FUNCTION FIB(N) RESULT(R)
		      INTEGER N
		      R = N
		      IF (N .LT. 2) RETURN                                              ODD00010
		      R = FIB(N - 1) + FIB(N - 2)
		      END

		      INTEGER FUNCTION SCAN(ALL, N)
		      INTEGER ALL(*), N, I, TWICE, F
		      TWICE(I) = 2 * I
		      F = -1
		      SCAN = 0
		      DO 20 I = 1, N
		        IF (ALL(I) .GT. 7) F = I
		        IF (ALL(I) .GT. 7)
		     &    GO TO
		     &    25
		   20 CONTINUE
		   25 CONTINUE
		      DO 40 I = 1, N
		        IF (I .EQ. 5) THEN
		          SCAN = F
		          RETURN                                                        ODD00020
		        END IF
		        IF (F .GT. 90) GOTO 99
		   40 F = F + TWICE(I)
		      DO WHILE (F .GT. 3)
		        F = F - 3
		        IF (F .EQ. 7) GO TO 99
		      ENDDO
		      SCAN = F
		      IF (F .EQ. 2) GO TO 98
		   99 SCAN = SCAN + 1
		   98 RETURN
		      END

		      SUBROUTINE ADD(TOTAL, A, B)
		      INTEGER TOTAL, A, B
		      COMMON /KEPT/ CALLS
		      INTEGER CALLS
		      CALLS = CALLS + 1
		      TOTAL = TOTAL + A * B + CALLS
		      END

		      BLOCK DATA
		      COMMON /KEPT/ CALLS
		      INTEGER CALLS
		      DATA CALLS /0/
		      END
	EOT
}

free_program() {
	cat >shapes.f90 <<-'EOT'
		module shapes
		  use, intrinsic :: iso_c_binding, only: c_int
		  implicit none
		  type :: square
		    integer :: side = 0
		  contains
		    procedure :: area => square_area
		  end type square
		  interface total
		    module procedure total_of_integers
		  end interface total
		contains
		  pure integer function square_area(this)
		    class(square), intent(in) :: this
		    integer :: i
		    square_area = 0
		    do i = 1, this%side
		      square_area = square_area + this%side
		    end do
		  end function square_area

		  integer function total_of_integers(all) result(total) ! of all
		    integer, dimension(:), intent(in) :: all
		    integer :: i
		    real, dimension(3) :: kept
		    interface
		      subroutine nothing(x)
		        integer, intent(in) :: x
		      end subroutine nothing
		    end interface
		    i = 1
		    kept(i) = 2
		    total = int(kept(i)) - 2
		    do i = 1, size(all); total = total + all(i); end do
		    outer: do
		      inner: do i = 1, &
		          & 100
		        total = total + i
		        if (mod(total, 7) == 0) exit outer   ! "leaves" both
		        if (mod(total, 5) == 0) cycle outer
		        if (mod(total, 11) == 0) exit
		        if (total > 10000) return
		        if (total > 20000) cycle inner
		      end do inner
		      if (total > 3000) return ! all of it
		      total = total + 1
		    end do outer
		    total = again(total)
		  contains
		    integer function again(n)
		      integer, intent(in) :: n
		      again = n
		      do while (again > 7)
		        again = again - 7
		        if (again == 20) re&
		          &turn
		      end do
		      if (n > 7) then
		        again = n - 7 ; return
		      end if
		      again = again + 1
		    end function again
		  end function total_of_integers

		  subroutine place(a, i)
		    integer, intent(inout) :: a(:)
		    integer, intent(in) :: i
		    a(i) = i
		  end subroutine place
		end module shapes

		program main
		  use shapes
		  implicit none
		  integer :: i, k, sum, list(10)
		  character(len=*), parameter :: text = 'return & ! go to 10'
		  type(square) :: s
		  sum = 0
		  do i = 1, 10
		    call place(list, i)
		  end do
		  !$omp parallel do reduction(+ : sum) collapse(2)
		  do i = 1, 10
		    do k = 1, 10
		      sum = sum + i * k
		    end do
		  end do
		  !$omp end parallel do
		  !$omp parallel
		  !$omp do
		  do i = 1, 10
		    list(i) = list(i) + 1
		  end do
		  !$omp end do
		  !$omp end parallel
		  do concurrent (i = 1:10)
		    list(i) = list(i) * 2
		  end do
		  block
		    integer :: sum
		    sum = 5
		    do while (sum > 0)
		      sum = sum - 1
		    end do
		  end block
		  s%side = 4
		  print *, sum, total(list), text, s%area()
		end program main
	EOT
}

# ids FILE PYTHON: those of the regions for which the condition holds of r (type, name, id, line), one a line.
ids() {
	/usr/bin/python3 - "$@" "${options[@]}" <<-'EOT'
		import subprocess, sys, xml.etree.ElementTree as ET
		ask = "<sirreq><resource in='file://%s'/></sirreq>\n" % sys.argv[1]
		sir = ET.fromstring(subprocess.run(['evspace', 'mir', '-', *sys.argv[3:]], input=ask.encode(), stdout=subprocess.PIPE, timeout=100).stdout)
		for r in sir.iter('codeRegion'):
		    if eval(sys.argv[2], {'type': r.get('type'), 'name': r.get('name'), 'id': r.get('id'), 'line': int(r.find('position').get('startLine'))}):
		        print(r.get('id'))
	EOT
}

# writes FILE OUT ID...: a tool has FILE written to OUT with these regions; all answers are in `answers`, one a line, and are valid.
writes() {
	local source=$1 out=$2 code=0 id

	shift 2
	{
		echo "<sirreq><resource in='file://$source' out='file://$out'/></sirreq>"
		for id; do echo "<instrreq><codeRegion from='$id'/><metric name='CALLS'/></instrreq>"; done
		echo '<instrreq flush="true"><measuring interval="1000"/></instrreq>'
	} >requests
	timeout 100 evspace mir requests "${options[@]}" --write "$tap_dir/written" >answers 2>err || code=$?
	[ ! -s err ] || { cat err; return 1; }
	answers_are_valid answers || return
	return "$code"
}

# can FILE ID: whether it can be written around that; else why not is in `answers`.
can() {
	writes "$1" "$tap_dir/written/one${1##*/}" "$2"
}

# all_that_can FILE: their ids, in the array `some`.
all_that_can() {
	local id

	some=()
	for id in $(ids "$1" True); do
		! can "$1" "$id" || some+=("$id")
	done
}

# same_as_plain FILE FLAGS ID...: written with these, it prints the same, and regions are nested.
same_as_plain() {
	local file=$1 flags=$2

	shift 2
	writes "$tap_dir/$file" "$tap_dir/written/$file" "$@" || { tail -n 1 answers; return 1; }
	# shellcheck disable=SC2086
	gfortran $flags -Wall -o instrumented nested.f90 "written/$file" 2>gfortran.err || { cat gfortran.err "written/$file"; return 1; }
	./instrumented >got && cmp plain got && grep -q evspace_region "written/$file" || { cat plain got "written/$file"; return 1; }
}

# each of them alone, and all at once: FILE FLAGS LEAST
same_results() {
	local file=$1 flags=$2 id

	# shellcheck disable=SC2086
	gfortran $flags -o odd "$file" 2>gfortran.err && ./odd >plain || { cat gfortran.err; return 1; }
	all_that_can "$tap_dir/$file"
	[ "${#some[@]}" -ge "$3" ] || { echo "only ${some[*]}"; return 1; }
	for id in "${some[@]}"; do
		same_as_plain "$file" "$flags" "$id" || return
	done
	same_as_plain "$file" "$flags" "${some[@]}"
}

# Types that macros stand for are no statements that do something.
types_of_macros() {
	local options=(--flags '-DSHORT_T=integer*2 -DOTHER=SHORT_T')

	cat >macros.F <<-'EOT'
		#define REAL_T double precision
		      SHORT_T n
		      OTHER k(2)
		      REAL_T x, realist
		      n = 1
		      realist = 1
		      do i = 1, 2
		        x = i + realist
		        k(i) = int(x, 2)
		        n = n + k(i)
		      end do
		      print *, n
		      end
	EOT
	same_results macros.F "-cpp ${options[1]}" 2
}

# What is compiled of it has the same lines, and so the same ids.
same_ids() {
	sir "$tap_dir/shapes.f90" && regions subprogram '{id} {name}' >of_source && gfortran -g -O0 -fopenmp -o with-g nested.f90 written/shapes.f90 &&
		sir "$tap_dir/with-g" && regions subprogram '{id} {name}' | grep -vE ' (main|MAIN__|__copy_.*|evspace_region)$|omp_fn' >of_program
	grep -vE ' main$' of_source | diff - of_program
}

# refused PATTERN FILE ID
refused() {
	! can "$2" "$3" && tail -n 1 answers | grep -qE "$1" || { echo "no $1"; cat answers; return 1; }
}

# line FILE TEXT: the first line with that.
line() {
	grep -nF -m 1 -e "$2" "$1" | cut -d: -f1
}

# of FILE TEXT [TYPE]: the id of what begins in the first line with the text
of() {
	ids "$1" "line == $(line "$1" "$2") and type == '${3:-loop}'" | head -n 1
}

what_cannot_be_is_told() {
	local odd=$tap_dir/odd.f shapes=$tap_dir/shapes.f90 hard=$tap_dir/hard.f

	cat >hard.f <<-'EOT'
		      SUBROUTINE A(N, *)
		      INTEGER N, I
		      DO 10 I = 1, N
		        IF (N - I) 20, 10, 10
		   10 CONTINUE
		      DO I = 1, N
		        READ (5, *, END=20) N
		      END DO
		      DO I = 1, N
		        CALL B(I, *20)
		      END DO
		C$ACC LOOP
		      DO I = 1, N
		        GO TO (30, 20), I
		   30   CONTINUE
		      END DO
		   40 DO I = 1, N
		        N = N - 1
		      END DO
		      DO I = 1, N
		#ifdef ODD
		        N = N + 1
		#endif
		      END DO
		   20 RETURN 1
		      ENTRY C(N)
		      END
	EOT
	refused 'another loop ends with the same' "$odd" "$(of "$odd" 'DO 30 K')" &&
		refused 'behind IF' "$odd" "$(of "$odd" 'IF (TOTAL' call)" &&
		refused "line $(($(line "$odd" 'GO TO') - 1)) goes out of it" "$odd" "$(of "$odd" 'DO 20')" &&
		refused 'it is pure' "$shapes" "$(of "$shapes" 'do i = 1, this')" &&
		refused 'it is pure' "$shapes" "$(of "$shapes" 'pure integer' subprogram)" &&
		refused 'its lines with others' "$shapes" "$(of "$shapes" 'size(all)')" &&
		refused "line $(line "$shapes" 're&') goes out of it" "$shapes" "$(of "$shapes" 'do while (again')" &&
		refused "line $(line "$shapes" 're&') goes out of it" "$shapes" "$(of "$shapes" 'function again' subprogram)" &&
		refused 'the loop of a directive' "$shapes" "$(of "$shapes" 'do k = 1')" &&
		refused 'line 4 goes out of it' "$hard" "$(of "$hard" 'DO 10')" &&
		refused 'line 7 goes out of it' "$hard" "$(ids "$hard" 'line == 6')" &&
		refused 'line 10 goes out of it' "$hard" "$(ids "$hard" 'line == 9')" &&
		refused 'a directive is before it' "$hard" "$(ids "$hard" 'line == 13')" &&
		refused 'it has a label' "$hard" "$(of "$hard" '40 DO')" &&
		refused 'the preprocessor' "$hard" "$(ids "$hard" 'line == 20')" &&
		refused 'ENTRY' "$hard" "$(of "$hard" 'SUBROUTINE A' subprogram)" && [ ! -e written/onehard.f ]
}

nothing_else_is_written() {
	echo '! mine' >written/mine.f90
	! writes "$tap_dir/shapes.f90" "$tap_dir/written/mine.f90" && grep -q 'only what evspace mir has written' answers && [ "$(cat written/mine.f90)" = '! mine' ]
}

# Two ranks compute, communicate, and ask each other how often; what is measured is what they have counted.
regions_are_probes() {
	cat >steps.f90 <<-'EOT'
		program steps
		  use mpi
		  implicit none
		  integer :: step, stop_it, ierr
		  logical :: there
		  call MPI_Init(ierr)
		  stop_it = 0
		  step = 0
		  do while (stop_it == 0)
		    call work(step)
		    call work(-step)
		    inquire (file='stop', exist=there)
		    if (there) stop_it = 1
		    call MPI_Allreduce(MPI_IN_PLACE, stop_it, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
		    call sleep_some()
		    step = step + 1
		  end do
		  call MPI_Finalize(ierr)
		contains
		  subroutine work(n)
		    integer, intent(in) :: n
		    integer :: i
		    do i = 1, 3
		      if (n < 0) return
		      stop_it = stop_it + 0 * i
		    end do
		  end subroutine work
		  subroutine sleep_some()
		    use, intrinsic :: iso_c_binding
		    interface
		      integer(c_int) function usleep(us) bind(C)
		        import :: c_int
		        integer(c_int), value :: us
		      end function usleep
		    end interface
		    if (usleep(20000_c_int) /= 0) return
		  end subroutine sleep_some
		end program steps
	EOT
	timeout 300 /usr/bin/python3 - "$tap_dir" "$top_srcdir" <<-'EOT'
		import atexit, signal, socket, subprocess, sys, time, xml.etree.ElementTree as ET
		folder, sources = sys.argv[1:3]
		# what is begun ends with this, however that ends, and nobody waits for what it prints
		signal.signal(signal.SIGTERM, lambda *of: sys.exit('it takes too long'))
		def begin(*words):
		    p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=open(words[1] + '.out', 'w'), stderr=open(words[1] + '.err', 'w'))
		    atexit.register(p.terminate)
		    return p
		server = begin('evspace', 'mir', '--listen', 'unix:%s/sock' % folder, '--run', 'steps', '--wait', '--write', folder + '/written')
		while 'ready on' not in open('mir.err').read():
		    assert server.poll() is None, open('mir.err').read()
		    time.sleep(0.05)
		s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(folder + '/sock'); answers = s.makefile('rb')
		def ask(text):
		    s.sendall(text.encode())
		    return ET.fromstring(answers.readline())
		sir = ask("<sirreq><resource in='file://%s/steps.f90' out='file://%s/written/steps.f90'/></sirreq>" % (folder, folder))
		ids = {(r.get('type'), r.get('name')): r.get('id') for r in sir.iter('codeRegion')}
		def probe(id, flush='false'):
		    p = ask("<instrreq flush='%s'><codeRegion from='%s'/><metric name='CALLS'/><metric name='WC_TIME'/><measuring><aggregate function='SUM'/></measuring></instrreq>" % (flush, id))
		    assert p.tag == 'probe', ET.tostring(p)
		    return p.get('id')
		work, inner, calls = probe(ids['subprogram', 'work']), probe(ids['loop', 'do']), probe(ids['call', 'mpi_allreduce'], 'true')
		subprocess.run(['mpifort.openmpi', '-o', 'steps', sources + '/node-agent/collect/core/evspace.f90', 'written/steps.f90'], check=True)
		run = begin('evspace', 'run', '--run', 'steps', '--', 'mpirun', '-np', '2', folder + '/steps')
		on = None
		while on is None or on.tag == 'errors':
		    on = ask("<ctrlreq action='ACTIVATE'><probe id='%s'/><probe id='%s'/><probe id='%s'/></ctrlreq>" % (work, inner, calls))
		def value(p):
		    v = ask("<ctrlreq action='VALUE'><probe id='%s'/></ctrlreq>" % p)
		    return [float(m.get('value', 'nan')) for m in v.iter('measurement') if m.get('value') is not None]
		# none was executed as yet
		while sum(value(calls)[:1]) < 20: pass
		open('stop', 'w').close()
		assert run.wait() == 0
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

fixed_program
free_program
tap_case "fixed form: each region that can be written, and all, give the same results" same_results odd.f "-O1 -std=legacy" 9
tap_case "free form, with OpenMP: likewise" same_results shapes.f90 "-O1 -fopenmp" 12
tap_case "a type that a macro stands for declares" types_of_macros
tap_case "what is written back has the ids of its source" same_ids
tap_case "what cannot be a region is told, with the line that forbids it" what_cannot_be_is_told
tap_case "nothing but what it has written is written again" nothing_else_is_written
if command -v mpifort.openmpi >/dev/null; then
	tap_case "regions that are written back are probes at once" regions_are_probes
else
	tap_skip "regions that are written back are probes at once" "mpifort.openmpi is missing (Debian packages gfortran libopenmpi-dev)"
fi
tap_done
