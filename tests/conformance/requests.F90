! SPDX-License-Identifier: BSD-3-Clause
! Nonblocking and persistent messages from Fortran, completed by each of the Wait and Test calls.
#include "door.inc"

subroutine all_requests()
  use say
  implicit none
  integer :: way, kind

  do way = 1, 9
    do kind = 1, 4
      call completed(way, kind, .false.)
      call completed(way, kind, .true.)
    end do
  end do
  call persistent()
  call given_up()
end subroutine all_requests

! Two receives and two sends; what comes first differs from run to run and is not told.
subroutine completed(way, kind, ignored)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: way, kind
  logical, intent(in) :: ignored
  integer, parameter :: N = 3, TAG = 100
  integer, volatile :: out(N, 2), in(N, 2)
  integer :: room(1024), i, rc, bytes
  T_REQUEST :: r(4)
  STATUSES(st, 4)
#if defined(DOOR_F08)
  type(c_ptr) :: was
#else
  integer(kind=MPI_ADDRESS_KIND) :: was
#endif

  in = 0
  out(:, 1) = [rank, kind, way]
  out(:, 2) = [kind, way, rank]
  call MPI_Buffer_attach(room, 4096, rc)
  call MPI_Irecv(in(1, 1), N, MPI_INTEGER, left, TAG + 1, MPI_COMM_WORLD, r(1), rc)
  call MPI_Irecv(in(1, 2), N, MPI_INTEGER, MPI_ANY_SOURCE, TAG + 2, MPI_COMM_WORLD, r(2), rc)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  do i = 1, 2
    select case (kind)
    case (1)
      call MPI_Isend(out(1, i), N, MPI_INTEGER, right, TAG + i, MPI_COMM_WORLD, r(2 + i), rc)
    case (2)
      call MPI_Ibsend(out(1, i), N, MPI_INTEGER, right, TAG + i, MPI_COMM_WORLD, r(2 + i), rc)
    case (3)
      call MPI_Issend(out(1, i), N, MPI_INTEGER, right, TAG + i, MPI_COMM_WORLD, r(2 + i), rc)
    case (4)
      call MPI_Irsend(out(1, i), N, MPI_INTEGER, right, TAG + i, MPI_COMM_WORLD, r(2 + i), rc)
    end select
    call said('a send', rc)
  end do
  if (ignored) then
    call complete_ignored(way, r)
  else
    call complete(way, r, st)
    call said_status('first', ONE_OF(st, 1))
    call said_status('second', ONE_OF(st, 2))
  end if
  call said_flag('all are null', all([(r(i) == MPI_REQUEST_NULL, i = 1, 4)]))
  call said_ints('first', in(:, 1))
  call said_ints('second', in(:, 2))
  call MPI_Buffer_detach(was, bytes, rc)
end subroutine completed

! Put the status of what came where it belongs. Not by the index: that of MPI_Waitany is one too
! small by mpi_f08 of MPICH 4.0.2. What is in the status of a send is not defined.
subroutine keep(one, st)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  STATUS(one)
  STATUSES(st, 4)

  if (SOURCE_OF(one) /= left) return
  if (TAG_OF(one) == 101) ONE_OF(st, 1) = one
  if (TAG_OF(one) == 102) ONE_OF(st, 2) = one
end subroutine keep

subroutine complete(way, r, st)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: way
  T_REQUEST :: r(4)
  STATUSES(st, 4)
  STATUSES(some, 4)
  integer :: i, k, n, index, indices(4), rc
  logical :: flag
  STATUS(one)

  rc = MPI_SUCCESS
  n = 0
  flag = .false.
  select case (way)
  case (1)
    do i = 1, 4
      call MPI_Wait(r(i), ONE_OF(st, i), rc)
    end do
  case (2)
    call MPI_Waitall(4, r, st, rc)
  case (3)
    do i = 1, 4
      call MPI_Waitany(4, r, index, one, rc)
      call keep(one, st)
    end do
    call MPI_Waitany(4, r, index, one, rc)
  case (4)
    do while (n < 4)
      call MPI_Waitsome(4, r, k, indices, some, rc)
      do i = 1, k
        call keep(ONE_OF(some, i), st)
      end do
      n = n + k
    end do
  case (5)
    do i = 1, 4
      flag = .false.
      do while (.not. flag)
        call MPI_Test(r(i), flag, ONE_OF(st, i), rc)
      end do
    end do
  case (6)
    do while (.not. flag)
      call MPI_Testall(4, r, flag, st, rc)
    end do
  case (7)
    do while (n < 4)
      call MPI_Testany(4, r, index, flag, one, rc)
      if (flag) then
        call keep(one, st)
        n = n + 1
      end if
    end do
  case (8)
    do while (n < 4)
      call MPI_Testsome(4, r, k, indices, some, rc)
      do i = 1, k
        call keep(ONE_OF(some, i), st)
      end do
      n = n + k
    end do
  case (9)
    do i = 1, 4
      flag = .false.
      do while (.not. flag)
        call MPI_Request_get_status(r(i), flag, ONE_OF(st, i), rc)
      end do
      call MPI_Wait(r(i), one, rc)
    end do
  end select
  call said('complete', rc)
end subroutine complete

subroutine complete_ignored(way, r)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: way
  T_REQUEST :: r(4)
  integer :: i, k, n, index, indices(4), rc
  logical :: flag

  rc = MPI_SUCCESS
  n = 0
  flag = .false.
  select case (way)
  case (1)
    do i = 1, 4
      call MPI_Wait(r(i), MPI_STATUS_IGNORE, rc)
    end do
  case (2)
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, rc)
  case (3)
    do i = 1, 4
      call MPI_Waitany(4, r, index, MPI_STATUS_IGNORE, rc)
    end do
  case (4)
    do while (n < 4)
      call MPI_Waitsome(4, r, k, indices, MPI_STATUSES_IGNORE, rc)
      n = n + k
    end do
  case (5)
    do i = 1, 4
      flag = .false.
      do while (.not. flag)
        call MPI_Test(r(i), flag, MPI_STATUS_IGNORE, rc)
      end do
    end do
  case (6)
    do while (.not. flag)
      call MPI_Testall(4, r, flag, MPI_STATUSES_IGNORE, rc)
    end do
  case (7)
    do while (n < 4)
      call MPI_Testany(4, r, index, flag, MPI_STATUS_IGNORE, rc)
      if (flag) n = n + 1
    end do
  case (8)
    do while (n < 4)
      call MPI_Testsome(4, r, k, indices, MPI_STATUSES_IGNORE, rc)
      n = n + k
    end do
  case (9)
    do i = 1, 4
      ! Open MPI 4.1.4 says from Fortran that it is never complete
      call MPI_Request_get_status(r(i), flag, MPI_STATUS_IGNORE, rc)
      call MPI_Wait(r(i), MPI_STATUS_IGNORE, rc)
    end do
  end select
  call said('complete', rc)
end subroutine complete_ignored

subroutine persistent()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 3, TAG = 200
  integer, volatile :: out(N), in(N)
  integer :: room(1024), kind, round, rc, bytes
  T_REQUEST :: r(2)
  STATUSES(st, 2)
#if defined(DOOR_F08)
  type(c_ptr) :: was
#else
  integer(kind=MPI_ADDRESS_KIND) :: was
#endif

  call MPI_Buffer_attach(room, 4096, rc)
  do kind = 1, 4
    call MPI_Recv_init(in, N, MPI_INTEGER, left, TAG, MPI_COMM_WORLD, r(1), rc)
    select case (kind)
    case (1)
      call MPI_Send_init(out, N, MPI_INTEGER, right, TAG, MPI_COMM_WORLD, r(2), rc)
    case (2)
      call MPI_Bsend_init(out, N, MPI_INTEGER, right, TAG, MPI_COMM_WORLD, r(2), rc)
    case (3)
      call MPI_Ssend_init(out, N, MPI_INTEGER, right, TAG, MPI_COMM_WORLD, r(2), rc)
    case (4)
      call MPI_Rsend_init(out, N, MPI_INTEGER, right, TAG, MPI_COMM_WORLD, r(2), rc)
    end select
    call said('an init', rc)
    do round = 1, 2
      in = 0
      out = [rank, kind, round]
      call MPI_Start(r(1), rc)
      call MPI_Barrier(MPI_COMM_WORLD, rc)
      call MPI_Start(r(2), rc)
      call said('MPI_Start', rc)
      call MPI_Waitall(2, r, st, rc)
      call said_status('persistent', ONE_OF(st, 1))
      call said_ints('persistent', in)
    end do
    if (kind == 1) then
      call MPI_Startall(2, r, rc)
      call said('MPI_Startall', rc)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, rc)
    end if
    call MPI_Request_free(r(1), rc)
    call MPI_Request_free(r(2), rc)
    call said_flag('freed', r(1) == MPI_REQUEST_NULL)
  end do
  call MPI_Buffer_detach(was, bytes, rc)
end subroutine persistent

! Nothing to wait for, and a request that nobody waits for.
subroutine given_up()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, volatile :: out(1), in(1)
  integer :: index, n, indices(2), rc
  logical :: flag
  T_REQUEST :: r(2)
  STATUS(st)

  r(1) = MPI_REQUEST_NULL
  r(2) = MPI_REQUEST_NULL
  call MPI_Wait(r(1), st, rc)
  call said_status('MPI_Wait for nothing', st)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, rc)
  call MPI_Waitany(2, r, index, MPI_STATUS_IGNORE, rc)
  call said_flag('none', index == MPI_UNDEFINED)
  call MPI_Testsome(2, r, n, indices, MPI_STATUSES_IGNORE, rc)
  call said_flag('none', n == MPI_UNDEFINED)
  call MPI_Testall(0, r, flag, MPI_STATUSES_IGNORE, rc)
  call said_flag('all of none', flag)
  out = rank
  call MPI_Isend(out, 1, MPI_INTEGER, right, 300, MPI_COMM_WORLD, r(1), rc)
  call MPI_Request_free(r(1), rc)
  call said('MPI_Request_free', rc)
  call MPI_Recv(in, 1, MPI_INTEGER, left, 300, MPI_COMM_WORLD, MPI_STATUS_IGNORE, rc)
  call said_ints('given up', in)
end subroutine given_up
