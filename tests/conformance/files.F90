! SPDX-License-Identifier: BSD-3-Clause
! Files from Fortran: read and written at places, by pointers, by turns, nonblocking, split.
#include "door.inc"

subroutine all_files()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer :: rc
  integer(kind=MPI_OFFSET_KIND) :: zero, bytes
  T_FILE :: file
  T_INFO :: info

  zero = 0
  call MPI_File_open(MPI_COMM_WORLD, trim(folder) // '/numbers', &
    MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, rc)
  call said('MPI_File_open', rc)
  call MPI_File_set_view(file, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, rc)
  call said('MPI_File_set_view', rc)
  call at_places(file)
  call by_pointer(file)
  call by_turns(file)
  call started(file)
  call split(file)
  bytes = 1000
  call MPI_File_preallocate(file, bytes, rc)
  call said('MPI_File_preallocate', rc)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  bytes = 64
  call MPI_File_set_size(file, bytes, rc)
  call said('MPI_File_set_size', rc)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call MPI_File_get_size(file, bytes, rc)
  call said_ints('MPI_File_get_size', [int(bytes)])
  call MPI_File_set_atomicity(file, .false., rc)
  call said('MPI_File_set_atomicity', rc)
  call MPI_File_get_position_shared(file, bytes, rc)
  call said('MPI_File_get_position_shared', rc)
  call MPI_Info_create(info, rc)
  call MPI_Info_set(info, 'access_style', 'sequential', rc)
  call MPI_File_set_info(file, info, rc)
  call said('MPI_File_set_info', rc)
  call MPI_Info_free(info, rc)
  call MPI_File_sync(file, rc)
  call said('MPI_File_sync', rc)
  call MPI_File_close(file, rc)
  call said('MPI_File_close', rc)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  if (rank == 0) then
    call MPI_File_delete(trim(folder) // '/numbers', MPI_INFO_NULL, rc)
    call said('MPI_File_delete', rc)
  end if
end subroutine all_files

subroutine at_places(file)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_FILE :: file
  integer, parameter :: N = 4
  integer :: out(N), in(N), rc
  integer(kind=MPI_OFFSET_KIND) :: here
  STATUS(st)

  here = rank * N
  in = 0
  call fill(out, rank, 1)
  call MPI_File_write_at(file, here, out, N, MPI_INTEGER, st, rc)
  call said_moved('MPI_File_write_at', rc, st)
  call MPI_File_read_at(file, here, in, N, MPI_INTEGER, st, rc)
  call said_moved('MPI_File_read_at', rc, st)
  call said_ints('MPI_File_read_at', in)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call MPI_File_write_at_all(file, here, out, N, MPI_INTEGER, MPI_STATUS_IGNORE, rc)
  call said('MPI_File_write_at_all', rc)
  call MPI_File_read_at_all(file, here, in, N, MPI_INTEGER, st, rc)
  call said_moved('MPI_File_read_at_all', rc, st)
  call said_ints('MPI_File_read_at_all', in)
end subroutine at_places

subroutine by_pointer(file)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_FILE :: file
  integer, parameter :: N = 4
  integer :: out(N), in(N), rc
  integer(kind=MPI_OFFSET_KIND) :: here, back
  STATUS(st)

  here = rank * N
  back = -N
  in = 0
  call fill(out, rank, 2)
  call MPI_File_seek(file, here, MPI_SEEK_SET, rc)
  call said('MPI_File_seek', rc)
  call MPI_File_write(file, out, 2, MPI_INTEGER, st, rc)
  call said_moved('MPI_File_write', rc, st)
  call MPI_File_write_all(file, out, 2, MPI_INTEGER, st, rc)
  call said_moved('MPI_File_write_all', rc, st)
  call MPI_File_seek(file, back, MPI_SEEK_CUR, rc)
  call MPI_File_read(file, in, 2, MPI_INTEGER, MPI_STATUS_IGNORE, rc)
  call said('MPI_File_read', rc)
  call MPI_File_read_all(file, in(3), 2, MPI_INTEGER, st, rc)
  call said_moved('MPI_File_read_all', rc, st)
  call said_ints('MPI_File_read_all', in)
end subroutine by_pointer

! Who comes first differs from run to run, so all write the same.
subroutine by_turns(file)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_FILE :: file
  integer, parameter :: N = 4
  integer :: out(N), in(N), rc
  integer(kind=MPI_OFFSET_KIND) :: zero
  STATUS(st)

  zero = 0
  in = 0
  out = [1, 2, 3, 4]
  call MPI_File_seek_shared(file, zero, MPI_SEEK_SET, rc)
  call said('MPI_File_seek_shared', rc)
  call MPI_File_write_shared(file, out, N, MPI_INTEGER, st, rc)
  call said_moved('MPI_File_write_shared', rc, st)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call MPI_File_seek_shared(file, zero, MPI_SEEK_SET, rc)
  call MPI_File_read_shared(file, in, N, MPI_INTEGER, st, rc)
  call said_moved('MPI_File_read_shared', rc, st)
  call said_ints('MPI_File_read_shared', in)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call fill(out, rank, 3)
  call MPI_File_seek_shared(file, zero, MPI_SEEK_SET, rc)
  call MPI_File_write_ordered(file, out, N, MPI_INTEGER, st, rc)
  call said_moved('MPI_File_write_ordered', rc, st)
  call MPI_File_seek_shared(file, zero, MPI_SEEK_SET, rc)
  call MPI_File_read_ordered(file, in, N, MPI_INTEGER, st, rc)
  call said_moved('MPI_File_read_ordered', rc, st)
  call said_ints('MPI_File_read_ordered', in)
end subroutine by_turns

subroutine landed(name, request, rc)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  character(len=*), intent(in) :: name
  T_REQUEST :: request
  integer :: rc
  STATUS(st)

  call said(name, rc)
  call MPI_Wait(request, st, rc)
  call said_moved(name, rc, st)
end subroutine landed

subroutine started(file)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_FILE :: file
  integer, parameter :: N = 4
  integer, volatile :: out(N), in(N), same(N)
  integer :: rc
  integer(kind=MPI_OFFSET_KIND) :: here, zero
  T_REQUEST :: r

  here = rank * N
  zero = 0
  in = 0
  out = [rank, 2, 3, 4]
  same = [5, 6, 7, 8]
  call MPI_File_iwrite_at(file, here, out, N, MPI_INTEGER, r, rc)
  call landed('MPI_File_iwrite_at', r, rc)
  call MPI_File_iread_at(file, here, in, N, MPI_INTEGER, r, rc)
  call landed('MPI_File_iread_at', r, rc)
  call said_ints('MPI_File_iread_at', in)
  call MPI_File_seek(file, here, MPI_SEEK_SET, rc)
  call MPI_File_iwrite(file, out, 2, MPI_INTEGER, r, rc)
  call landed('MPI_File_iwrite', r, rc)
  call MPI_File_iread(file, in, 2, MPI_INTEGER, r, rc)
  call landed('MPI_File_iread', r, rc)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call MPI_File_seek_shared(file, zero, MPI_SEEK_SET, rc)
  call MPI_File_iwrite_shared(file, same, N, MPI_INTEGER, r, rc)
  call landed('MPI_File_iwrite_shared', r, rc)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call MPI_File_seek_shared(file, zero, MPI_SEEK_SET, rc)
  call MPI_File_iread_shared(file, in, N, MPI_INTEGER, r, rc)
  call landed('MPI_File_iread_shared', r, rc)
  call said_ints('MPI_File_iread_shared', in)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call MPI_File_iwrite_at_all(file, here, out, N, MPI_INTEGER, r, rc)
  call landed('MPI_File_iwrite_at_all', r, rc)
  call MPI_File_iread_at_all(file, here, in, N, MPI_INTEGER, r, rc)
  call landed('MPI_File_iread_at_all', r, rc)
  call MPI_File_seek(file, here, MPI_SEEK_SET, rc)
  call MPI_File_iwrite_all(file, out, 2, MPI_INTEGER, r, rc)
  call landed('MPI_File_iwrite_all', r, rc)
  call MPI_File_iread_all(file, in, 2, MPI_INTEGER, r, rc)
  call landed('MPI_File_iread_all', r, rc)
  call said_ints('MPI_File_iread_all', in)
end subroutine started

subroutine split(file)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_FILE :: file
  integer, parameter :: N = 4
  integer, volatile :: out(N), in(N)
  integer :: rc
  integer(kind=MPI_OFFSET_KIND) :: here, zero
  STATUS(st)

  here = rank * N
  zero = 0
  in = 0
  out = [rank, 7, 8, 9]
  call MPI_File_write_at_all_begin(file, here, out, N, MPI_INTEGER, rc)
  call said('MPI_File_write_at_all_begin', rc)
  call MPI_File_write_at_all_end(file, out, st, rc)
  call said_moved('MPI_File_write_at_all_end', rc, st)
  call MPI_File_read_at_all_begin(file, here, in, N, MPI_INTEGER, rc)
  call said('MPI_File_read_at_all_begin', rc)
  call MPI_File_read_at_all_end(file, in, st, rc)
  call said_moved('MPI_File_read_at_all_end', rc, st)
  call said_ints('split', in)
  call MPI_File_seek(file, here, MPI_SEEK_SET, rc)
  call MPI_File_write_all_begin(file, out, 2, MPI_INTEGER, rc)
  call said('MPI_File_write_all_begin', rc)
  call MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE, rc)
  call said('MPI_File_write_all_end', rc)
  call MPI_File_read_all_begin(file, in, 2, MPI_INTEGER, rc)
  call said('MPI_File_read_all_begin', rc)
  call MPI_File_read_all_end(file, in, st, rc)
  call said_moved('MPI_File_read_all_end', rc, st)
  call MPI_File_seek_shared(file, zero, MPI_SEEK_SET, rc)
  call MPI_File_write_ordered_begin(file, out, N, MPI_INTEGER, rc)
  call said('MPI_File_write_ordered_begin', rc)
  call MPI_File_write_ordered_end(file, out, st, rc)
  call said_moved('MPI_File_write_ordered_end', rc, st)
  call MPI_File_seek_shared(file, zero, MPI_SEEK_SET, rc)
  call MPI_File_read_ordered_begin(file, in, N, MPI_INTEGER, rc)
  call said('MPI_File_read_ordered_begin', rc)
  call MPI_File_read_ordered_end(file, in, st, rc)
  call said_moved('MPI_File_read_ordered_end', rc, st)
  call said_ints('split', in)
end subroutine split
