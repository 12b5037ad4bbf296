! SPDX-License-Identifier: BSD-3-Clause
! The calls of tests/apps/fcalls.tab by one of MPI's Fortran doors: -DDOOR_MPIF, _USE or _F08.
#if defined(DOOR_F08)
#define USES use mpi_f08
#define HANDLE(kind) type(kind)
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status), dimension(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define CALLS "tests/apps/fcalls-f08.inc"
#else
#define HANDLE(kind) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer, dimension(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define CALLS "tests/apps/fcalls-old.inc"
#if defined(DOOR_USE)
#define USES use mpi
#endif
#endif

module shared
#ifdef USES
	USES
#endif
	use, intrinsic :: iso_fortran_env, only: OUTPUT_UNIT
	implicit none
#ifdef DOOR_MPIF
	include 'mpif.h'
#endif
	integer, parameter :: NUMBERS = 512, MEMBERS = 16
	integer :: rank, ranks, left, right, half, none, away, ierror, lines = 0
	integer, dimension(1) :: size, from, to
	integer, target, dimension(NUMBERS) :: out, in, more
	integer, dimension(MEMBERS) :: counts, displs, equals, bytes
	integer(kind=MPI_ADDRESS_KIND), dimension(MEMBERS) :: places
	HANDLE(MPI_Datatype), dimension(MEMBERS) :: types
	character, target, dimension(65536) :: room
contains
	subroutine say_say(what, values, n)
		character(len=*), intent(in) :: what
		integer, intent(in) :: values(*), n

		lines = lines + 1
		write(*, '(i0, " ", i0, " ", a, ":", *(:, " ", i0))') rank, lines, what, values(1:n)
		flush(OUTPUT_UNIT)
	end subroutine

	subroutine say_status(what, s)
		character(len=*), intent(in) :: what
		STATUS :: s
		integer :: n

		call MPI_Get_count(s, MPI_INTEGER, n, ierror)
		call say_say(what, [SOURCE_OF(s), TAG_OF(s), n], 3)
	end subroutine

	subroutine say_statuses(what, s, n)
		character(len=*), intent(in) :: what
		integer, intent(in) :: n
		STATUSES(n) :: s
		integer :: i

		do i = 1, n
#ifdef DOOR_F08
			call say_status(what, s(i))
#else
			call say_status(what, s(:, i))
#endif
		end do
	end subroutine

	subroutine say_number(what, number)
		character(len=*), intent(in) :: what
		integer, intent(in) :: number

		call say_say(what, [number], 1)
	end subroutine

	! Of those that count from 1: as C has it. (MPICH 4.0 adds 1 to MPI_UNDEFINED, too.)
	subroutine say_index(what, i)
		character(len=*), intent(in) :: what
		integer, intent(in) :: i

		call say_number(what, merge(-1, i - 1, i < 0))
	end subroutine

	subroutine say_truth(what, truth)
		character(len=*), intent(in) :: what
		logical, intent(in) :: truth

		call say_number(what, merge(1, 0, truth))
	end subroutine

	subroutine say_error(what)
		character(len=*), intent(in) :: what
		integer :: class, ignored

		call MPI_Error_class(ierror, class, ignored)
		call say_number(what, class)
	end subroutine

	subroutine say_fill(values, n, salt)
		integer :: values(*), n, salt, i

		do i = 1, n
			values(i) = rank * 1000 + salt * 100 + i - 1
		end do
	end subroutine

	subroutine say_copy(copy, values, n)
		integer :: copy(*), values(*), n

		copy(1:n) = values(1:n)
	end subroutine

	! A ring, two halves with leaders 0 and ranks / 2, one rank (0) that belongs to neither.
	subroutine say_neighbours()
		left = modulo(rank - 1, ranks)
		right = modulo(rank + 1, ranks)
		half = merge(1, 0, rank >= ranks / 2)
		away = merge(0, ranks / 2, half == 1)
		none = merge(MPI_UNDEFINED, 1, rank == 0)
		size = ranks
		from = left
		to = right
	end subroutine

	subroutine say_vectors()
		integer :: i

		do i = 1, MEMBERS
			counts(i) = i
			displs(i) = 10 * (i - 1)
			equals(i) = 2
			bytes(i) = 40 * (i - 1)
			places(i) = bytes(i)
			types(i) = MPI_INTEGER
		end do
	end subroutine

	! (Open MPI leaves the number of a request that has failed.)
	subroutine say_none(request)
		HANDLE(MPI_Request) :: request

		request = MPI_REQUEST_NULL
	end subroutine

	subroutine say_mixed_send(values, peer, comm, request)
		integer :: values(*), peer
		HANDLE(MPI_Comm) :: comm
		HANDLE(MPI_Request) :: request

		call fcalls_send(values, peer, comm, request)
	end subroutine

	subroutine say_mixed_wait(request)
		HANDLE(MPI_Request) :: request

		call fcalls_wait(request)
	end subroutine

#ifdef DOOR_F08
	subroutine add(more_of, sum, n, type)
		use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
		type(c_ptr), value :: more_of, sum
		integer :: n
		type(MPI_Datatype) :: type
		integer, pointer, dimension(:) :: a, b

		call c_f_pointer(more_of, a, [n])
		call c_f_pointer(sum, b, [n])
		b = b + a
	end subroutine
#else
	subroutine add(more_of, sum, n, type)
		integer :: n, type, more_of(n), sum(n)

		sum = sum + more_of
	end subroutine
#endif
end module

program fcalls
	use shared
#ifdef DOOR_F08
	use, intrinsic :: iso_c_binding, only: c_ptr
#endif
	implicit none
	HANDLE(MPI_Request) :: r(8) = MPI_REQUEST_NULL, many(800)
	STATUS :: status
	STATUSES(8) :: statuses
	HANDLE(MPI_Comm) :: comm, other, inter
	HANDLE(MPI_Message) :: message
	HANDLE(MPI_Datatype) :: type
	HANDLE(MPI_Group) :: group
	HANDLE(MPI_Op) :: op
	integer(kind=MPI_ADDRESS_KIND) :: address(1)
	integer :: k, index, indices(8), outcount, room_size = 65536
	logical :: flag, wraps(1) = .true.
#ifdef DOOR_F08
	type(c_ptr) :: room_address
#else
	integer(kind=MPI_ADDRESS_KIND) :: room_address
#endif

#include CALLS
end program
