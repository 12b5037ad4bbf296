! SPDX-License-Identifier: BSD-3-Clause
! Messages from Fortran: blocking ones, looked for, to nobody, with sentinels.
#include "door.inc"

subroutine all_messages()
  use say
  implicit none

  call blocking()
  call exchanges()
  call probed()
  call matched()
  call nobody()
  call wrong()
  call packed()
end subroutine all_messages

subroutine blocking()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 4, TAG = 3
  integer :: out(N), in(N), room(4096), k, rc, bytes
  T_REQUEST :: request
  STATUS(st)
#if defined(DOOR_F08)
  type(c_ptr) :: was
#else
  integer(kind=MPI_ADDRESS_KIND) :: was
#endif

  call MPI_Buffer_attach(room, 4 * 4096, rc)
  call said('MPI_Buffer_attach', rc)
  do k = 1, 4
    in = 0
    call fill(out, rank, k)
    call MPI_Irecv(in, N, MPI_INTEGER, left, TAG + k, MPI_COMM_WORLD, request, rc)
    call said('MPI_Irecv', rc)
    call MPI_Barrier(MPI_COMM_WORLD, rc)
    select case (k)
    case (1)
      call MPI_Send(out, N, MPI_INTEGER, right, TAG + k, MPI_COMM_WORLD, rc)
    case (2)
      call MPI_Bsend(out, 3, MPI_INTEGER, right, TAG + k, MPI_COMM_WORLD, rc)
    case (3)
      call MPI_Ssend(out, 2, MPI_INTEGER, right, TAG + k, MPI_COMM_WORLD, rc)
    case (4)
      call MPI_Rsend(out, 0, MPI_INTEGER, right, TAG + k, MPI_COMM_WORLD, rc)
    end select
    call said('a send', rc)
    call MPI_Wait(request, st, rc)
    call said('MPI_Wait', rc)
    call said_status('MPI_Irecv', st)
    call said_flag('request is null', request == MPI_REQUEST_NULL)
    call said_ints('MPI_Irecv', in)
  end do
  call MPI_Buffer_detach(was, bytes, rc)
  call said('MPI_Buffer_detach', rc)
  if (rank == 0) then
    do k = 1, size - 1
      call MPI_Recv(in, N, MPI_INTEGER, k, MPI_ANY_TAG, MPI_COMM_WORLD, st, rc)
      call said_status('MPI_Recv', st)
      call MPI_Recv(in, N, MPI_INTEGER, MPI_ANY_SOURCE, 50 + k, MPI_COMM_WORLD, &
        MPI_STATUS_IGNORE, rc)
      call said_ints('MPI_Recv', in)
    end do
  else
    call MPI_Send(out, rank, MPI_INTEGER, 0, TAG, MPI_COMM_WORLD, rc)
    call MPI_Send(out, N, MPI_INTEGER, 0, 50 + rank, MPI_COMM_WORLD, rc)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, rc)
end subroutine blocking

subroutine exchanges()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 4, TAG = 13
  integer :: out(N), in(N), rc
  STATUS(st)

  in = 0
  call fill(out, rank, 7)
  call MPI_Sendrecv(out, 2, MPI_INTEGER, right, TAG, in, N, MPI_INTEGER, left, TAG, &
    MPI_COMM_WORLD, st, rc)
  call said('MPI_Sendrecv', rc)
  call said_status('MPI_Sendrecv', st)
  call said_ints('MPI_Sendrecv', in)
  call MPI_Sendrecv(out, N, MPI_INTEGER, right, TAG, in, N, MPI_INTEGER, left, MPI_ANY_TAG, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, rc)
  call said_ints('MPI_Sendrecv', in)
  call MPI_Sendrecv_replace(out, N, MPI_INTEGER, right, TAG, left, TAG, MPI_COMM_WORLD, st, rc)
  call said('MPI_Sendrecv_replace', rc)
  call said_status('MPI_Sendrecv_replace', st)
  call said_ints('MPI_Sendrecv_replace', out)
  call MPI_Sendrecv_replace(out, 0, MPI_INTEGER, right, TAG, left, TAG, MPI_COMM_WORLD, &
    MPI_STATUS_IGNORE, rc)
  call said('MPI_Sendrecv_replace', rc)
end subroutine exchanges

subroutine probed()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 4, TAG = 20
  integer :: out(N), in(N), rc
  logical :: flag
  STATUS(st)

  call fill(out, rank, 8)
  call MPI_Send(out, 3, MPI_INTEGER, right, TAG, MPI_COMM_WORLD, rc)
  call MPI_Probe(left, TAG, MPI_COMM_WORLD, st, rc)
  call said('MPI_Probe', rc)
  call said_status('MPI_Probe', st)
  call MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, rc)
  flag = .false.
  do while (.not. flag)
    call MPI_Iprobe(left, TAG, MPI_COMM_WORLD, flag, st, rc)
  end do
  call said_status('MPI_Iprobe', st)
  call MPI_Iprobe(left, TAG + 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, rc)
  call said_flag('MPI_Iprobe of what nobody sends', flag)
  call MPI_Recv(in, N, MPI_INTEGER, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, rc)
  call said_ints('after MPI_Probe', in(1:3))
end subroutine probed

subroutine matched()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 4, TAG = 30
  integer :: out(N), rc
  integer, volatile :: in(N)
  logical :: flag
  T_MESSAGE :: message
  T_REQUEST :: request
  STATUS(st)

  call fill(out, rank, 9)
  in = 0
  call MPI_Send(out, 3, MPI_INTEGER, right, TAG, MPI_COMM_WORLD, rc)
  call MPI_Send(out, 2, MPI_INTEGER, right, TAG + 1, MPI_COMM_WORLD, rc)
  call MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, message, st, rc)
  call said('MPI_Mprobe', rc)
  call said_status('MPI_Mprobe', st)
  call MPI_Mrecv(in, N, MPI_INTEGER, message, st, rc)
  call said('MPI_Mrecv', rc)
  call said_status('MPI_Mrecv', st)
  call said_flag('message is null', message == MPI_MESSAGE_NULL)
  flag = .false.
  do while (.not. flag)
    call MPI_Improbe(left, TAG + 1, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE, rc)
  end do
  call MPI_Imrecv(in, N, MPI_INTEGER, message, request, rc)
  call said('MPI_Imrecv', rc)
  call MPI_Wait(request, st, rc)
  call said_status('MPI_Imrecv', st)
  call said_ints('MPI_Imrecv', in(1:3))
  call MPI_Irecv(in, N, MPI_INTEGER, left, TAG + 2, MPI_COMM_WORLD, request, rc)
  call MPI_Cancel(request, rc)
  call said('MPI_Cancel', rc)
  call MPI_Wait(request, st, rc)
  call MPI_Test_cancelled(st, flag, rc)
  call said_flag('cancelled', flag)
end subroutine matched

subroutine nobody()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer :: buf(2), rc
  STATUS(st)

  buf = 0
  call MPI_Send(buf, 2, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, rc)
  call said('MPI_Send to nobody', rc)
  call MPI_Recv(buf, 2, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, st, rc)
  call said_status('MPI_Recv from nobody', st)
end subroutine nobody

subroutine wrong()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer :: buf(4), rc
  STATUS(st)

  call fill(buf, rank, 1)
  call MPI_Send(buf, 2, MPI_INTEGER, size, 1, MPI_COMM_WORLD, rc)
  call said('MPI_Send to a wrong rank', rc)
  call MPI_Send(buf, 2, MPI_INTEGER, 0, 1, MPI_COMM_NULL, rc)
  call said('MPI_Send on no communicator', rc)
  call MPI_Bcast(buf, 2, MPI_INTEGER, size, MPI_COMM_WORLD, rc)
  call said('MPI_Bcast from a wrong root', rc)
  call MPI_Send(buf, 4, MPI_INTEGER, right, 40, MPI_COMM_WORLD, rc)
  call MPI_Recv(buf, 1, MPI_INTEGER, left, 40, MPI_COMM_WORLD, st, rc)
  call said('MPI_Recv of too much', rc)
end subroutine wrong

subroutine packed()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer :: numbers(3), in(3), at, rc
  character :: out(64), got(64)
  STATUS(st)
  T_DATATYPE :: vector, here
  integer(kind=MPI_ADDRESS_KIND) :: places(1)

  call fill(numbers, rank, 5)
  at = 0
  call MPI_Pack(numbers, 3, MPI_INTEGER, out, 64, at, MPI_COMM_WORLD, rc)
  call said('MPI_Pack', rc)
  call MPI_Sendrecv(out, at, MPI_PACKED, right, 60, got, 64, MPI_PACKED, left, 60, &
    MPI_COMM_WORLD, st, rc)
  at = 0
  call MPI_Unpack(got, 64, at, in, 3, MPI_INTEGER, MPI_COMM_WORLD, rc)
  call said('MPI_Unpack', rc)
  call said_ints('unpacked', in)
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, vector, rc)
  call MPI_Type_commit(vector, rc)
  call MPI_Sendrecv(numbers, 1, vector, right, 61, in, 3, MPI_INTEGER, left, 61, &
    MPI_COMM_WORLD, st, rc)
  call said_status('vector', st)
  call said_ints('vector', in)
  call MPI_Type_free(vector, rc)
  call said('MPI_Type_free', rc)
  call MPI_Get_address(numbers, places(1), rc)
  call MPI_Type_create_hindexed(1, [3], places, MPI_INTEGER, here, rc)
  call MPI_Type_commit(here, rc)
  call MPI_Bcast(MPI_BOTTOM, 1, here, 0, MPI_COMM_WORLD, rc)
  call said('MPI_Bcast of MPI_BOTTOM', rc)
  call MPI_Get_address(numbers, places(1), rc)
  call said_ints('MPI_BOTTOM', numbers)
  call MPI_Type_free(here, rc)
end subroutine packed
