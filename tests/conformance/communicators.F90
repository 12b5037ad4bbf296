! SPDX-License-Identifier: BSD-3-Clause
! Communicators made from Fortran in every way, and processes that are spawned.
#include "door.inc"

subroutine all_communicators()
  implicit none

  call copies()
  call parts()
  call topologies()
  call between()
end subroutine all_communicators

! Who is in it, and that it works; then it is freed.
subroutine comm_end(name, comm)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  character(len=*), intent(in) :: name
  T_COMM :: comm
  integer :: own, sum, members, rc

  if (comm == MPI_COMM_NULL) then
    call said_flag(name // ' is null', .true.)
    return
  end if
  own = rank + 1
  call MPI_Comm_size(comm, members, rc)
  call MPI_Allreduce(own, sum, 1, MPI_INTEGER, MPI_SUM, comm, rc)
  call said(name, rc)
  call said_ints(name, [members, sum])
  call MPI_Comm_free(comm, rc)
  call said('MPI_Comm_free', rc)
  call said_flag('is null', comm == MPI_COMM_NULL)
end subroutine comm_end

subroutine copies()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_COMM :: comm
  T_REQUEST :: r
  T_INFO :: info
  integer :: rc

  call MPI_Comm_dup(MPI_COMM_WORLD, comm, rc)
  call MPI_Info_create(info, rc)
  call MPI_Comm_set_info(comm, info, rc)
  call said('MPI_Comm_set_info', rc)
  call MPI_Info_free(info, rc)
  call comm_end('MPI_Comm_dup', comm)
  call MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, comm, rc)
  call comm_end('MPI_Comm_dup_with_info', comm)
  call MPI_Comm_idup(MPI_COMM_WORLD, comm, r, rc)
  call said('MPI_Comm_idup', rc)
  call MPI_Wait(r, MPI_STATUS_IGNORE, rc)
  call comm_end('MPI_Comm_idup', comm)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, rc)
  call MPI_Comm_disconnect(comm, rc)
  call said('MPI_Comm_disconnect', rc)
  call MPI_Comm_dup(MPI_COMM_NULL, comm, rc)
  call said('MPI_Comm_dup of nothing', rc)
end subroutine copies

subroutine parts()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_COMM :: comm
  T_GROUP :: world, some
  integer :: rc, last(1)

  last = size - 1
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, comm, rc)
  call comm_end('MPI_Comm_split', comm)
  call MPI_Comm_split(MPI_COMM_WORLD, merge(1, MPI_UNDEFINED, rank == 0), 0, comm, rc)
  call comm_end('MPI_Comm_split of one', comm)
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm, rc)
  call comm_end('MPI_Comm_split_type', comm)
  call MPI_Comm_group(MPI_COMM_WORLD, world, rc)
  call MPI_Group_excl(world, 1, last, some, rc)
  call MPI_Comm_create(MPI_COMM_WORLD, some, comm, rc)
  call comm_end('MPI_Comm_create', comm)
  if (rank /= size - 1) then
    call MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, comm, rc)
    call comm_end('MPI_Comm_create_group', comm)
  end if
  call MPI_Group_free(some, rc)
  call MPI_Group_free(world, rc)
end subroutine parts

subroutine topologies()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_COMM :: comm, row
  integer :: rc, i, dims(2), index(8), edges(8), from(1), to(1), degrees(1), weights(1)

  dims = 0
  call MPI_Dims_create(size, 2, dims, rc)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., comm, rc)
  call said('MPI_Cart_create', rc)
  call MPI_Cart_sub(comm, [.true., .false.], row, rc)
  call comm_end('MPI_Cart_sub', row)
  call comm_end('MPI_Cart_create', comm)
  index = [(i, i = 1, 8)]
  edges = [(mod(i, size), i = 1, 8)]
  call MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, .false., comm, rc)
  call comm_end('MPI_Graph_create', comm)
  from = rank
  to = right
  degrees = 1
  weights = 3
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, from, degrees, to, MPI_UNWEIGHTED, &
    MPI_INFO_NULL, .false., comm, rc)
  call comm_end('MPI_Dist_graph_create', comm)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, from, degrees, to, weights, MPI_INFO_NULL, &
    .false., comm, rc)
  call comm_end('MPI_Dist_graph_create, weighted', comm)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 0, from, degrees, to, MPI_WEIGHTS_EMPTY, &
    MPI_INFO_NULL, .false., comm, rc)
  call comm_end('MPI_Dist_graph_create of nothing', comm)
end subroutine topologies

! Even ranks and odd ones.
subroutine between()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_COMM :: side, inter, merged
  integer :: rc, own(1), got(1), root, place
  logical :: even

  even = mod(rank, 2) == 0
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, side, rc)
  call MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, merge(1, 0, even), 9, inter, rc)
  call said('MPI_Intercomm_create', rc)
  call MPI_Comm_rank(inter, place, rc)
  own = rank + 1
  call MPI_Allreduce(own, got, 1, MPI_INTEGER, MPI_SUM, inter, rc)
  call said_ints('the others', got)
  root = 0
  if (even) root = merge(MPI_ROOT, MPI_PROC_NULL, place == 0)
  call MPI_Bcast(own, 1, MPI_INTEGER, root, inter, rc)
  call said_ints('from the first even one', own)
  call MPI_Intercomm_merge(inter, even, merged, rc)
  call said('MPI_Intercomm_merge', rc)
  call comm_end('merged', merged)
  call MPI_Comm_free(inter, rc)
  call MPI_Comm_free(side, rc)
end subroutine between

! What parents and children do with each other.
subroutine across(inter, root)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_COMM :: inter, merged
  integer, intent(in) :: root
  integer :: own(1), got(1), rc

  own = rank + 1
  call MPI_Allreduce(own, got, 1, MPI_INTEGER, MPI_SUM, inter, rc)
  call said_ints('the others', got)
  call MPI_Bcast(own, 1, MPI_INTEGER, root, inter, rc)
  call said_ints('from the first parent', own)
  call MPI_Intercomm_merge(inter, root == 0, merged, rc)
  call comm_end('merged', merged)
  call MPI_Comm_disconnect(inter, rc)
  call said('MPI_Comm_disconnect', rc)
end subroutine across

! MPICH over UCX cannot spawn: then there is nobody to talk to.
subroutine all_children()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_COMM :: inter
  T_INFO :: infos(1)
  integer :: rc, codes(1), counts(1), root
  character(len=400) :: argv(2), commands(1), argvs(1, 2), empty(1)

  root = merge(MPI_ROOT, MPI_PROC_NULL, rank == 0)
  infos = MPI_INFO_NULL
  counts = 1
  commands(1) = program
  empty = ' '
  argv = [character(len=400) :: trim(folder) // '/spawned', ' ']
  argvs(1, :) = [character(len=400) :: trim(folder) // '/multiple', ' ']
  inter = MPI_COMM_NULL
  codes = -1
  call MPI_Comm_spawn(trim(program), argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes, rc)
  call said('MPI_Comm_spawn', rc)
  if (rank == 0) call said_ints('codes', codes)
  if (rc == MPI_SUCCESS) call across(inter, root)
  call MPI_Comm_spawn_multiple(1, commands, argvs, counts, infos, 0, MPI_COMM_WORLD, inter, &
    MPI_ERRCODES_IGNORE, rc)
  call said('MPI_Comm_spawn_multiple', rc)
  if (rc == MPI_SUCCESS) call across(inter, root)
end subroutine all_children

! Rank 0 opens a port, to which all others connect.
subroutine all_ports()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_COMM :: inter, side
  integer :: rc
  character(len=MPI_MAX_PORT_NAME) :: port

  port = ' '
  if (rank == 0) then
    call MPI_Open_port(MPI_INFO_NULL, port, rc)
    call said('MPI_Open_port', rc)
    if (rc /= MPI_SUCCESS) port = ' '
  end if
  call MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, MPI_COMM_WORLD, rc)
  if (port == ' ') return
  call MPI_Comm_split(MPI_COMM_WORLD, merge(1, 0, rank == 0), rank, side, rc)
  if (rank == 0) then
    call MPI_Comm_accept(port, MPI_INFO_NULL, 0, side, inter, rc)
    call said('MPI_Comm_accept', rc)
  else
    call MPI_Comm_connect(port, MPI_INFO_NULL, 0, side, inter, rc)
    call said('MPI_Comm_connect', rc)
  end if
  call MPI_Barrier(inter, rc)
  call MPI_Comm_disconnect(inter, rc)
  call MPI_Comm_free(side, rc)
  if (rank == 0) call MPI_Close_port(port, rc)
end subroutine all_ports
