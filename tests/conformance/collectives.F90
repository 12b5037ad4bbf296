! SPDX-License-Identifier: BSD-3-Clause
! Collectives from Fortran: blocking and nonblocking, in place, with counts for each.
#include "door.inc"

subroutine all_collectives()
  use say
  implicit none
  integer :: root

  do root = 0, size - 1
    call rooted(root)
  end do
  call for_all()
  call computing()
  call nonblocking()
  call nonblocking_computing()
  call neighbouring()
end subroutine all_collectives

subroutine rooted(root)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: root
  integer, parameter :: N = 2, RANKS = 8
  integer :: own(N), all(N * RANKS), counts(RANKS), places(RANKS), i, rc

  counts = [(mod(i, N + 1), i = 0, RANKS - 1)]
  places = [(i * N, i = 0, RANKS - 1)]
  all = 0
  call fill(own, rank, 1)
  call MPI_Bcast(own, N, MPI_INTEGER, root, MPI_COMM_WORLD, rc)
  call said('MPI_Bcast', rc)
  call said_ints('MPI_Bcast', own)
  call fill(own, rank, 2)
  call MPI_Gather(own, N, MPI_INTEGER, all, N, MPI_INTEGER, root, MPI_COMM_WORLD, rc)
  call said('MPI_Gather', rc)
  call said_ints('MPI_Gather', all)
  if (rank == root) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, all, N, MPI_INTEGER, root, MPI_COMM_WORLD, rc)
  else
    call MPI_Gather(own, N, MPI_INTEGER, all, N, MPI_INTEGER, root, MPI_COMM_WORLD, rc)
  end if
  call said_ints('MPI_Gather in place', all)
  call MPI_Gatherv(own, counts(rank + 1), MPI_INTEGER, all, counts, places, MPI_INTEGER, root, &
    MPI_COMM_WORLD, rc)
  call said('MPI_Gatherv', rc)
  call said_ints('MPI_Gatherv', all)
  call fill(all, rank, 3)
  call MPI_Scatter(all, N, MPI_INTEGER, own, N, MPI_INTEGER, root, MPI_COMM_WORLD, rc)
  call said('MPI_Scatter', rc)
  call said_ints('MPI_Scatter', own)
  if (rank == root) then
    call MPI_Scatter(all, N, MPI_INTEGER, MPI_IN_PLACE, N, MPI_INTEGER, root, MPI_COMM_WORLD, rc)
  else
    call MPI_Scatter(all, N, MPI_INTEGER, own, N, MPI_INTEGER, root, MPI_COMM_WORLD, rc)
  end if
  call said_ints('MPI_Scatter in place', own)
  call MPI_Scatterv(all, counts, places, MPI_INTEGER, own, counts(rank + 1), MPI_INTEGER, root, &
    MPI_COMM_WORLD, rc)
  call said('MPI_Scatterv', rc)
  call said_ints('MPI_Scatterv', own)
  call fill(own, rank, 4)
  call MPI_Reduce(own, all, N, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, rc)
  call said('MPI_Reduce', rc)
  call said_ints('MPI_Reduce', all(1:N))
  if (rank == root) then
    call MPI_Reduce(MPI_IN_PLACE, own, N, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD, rc)
  else
    call MPI_Reduce(own, all, N, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD, rc)
  end if
  call said_ints('MPI_Reduce in place', own)
end subroutine rooted

subroutine for_all()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 2, RANKS = 8
  integer :: own(N * RANKS), all(N * RANKS), counts(RANKS), places(RANKS), bytes(RANKS), i, rc
  T_DATATYPE :: types(RANKS)

  types = MPI_INTEGER
  counts = [(mod(i, N + 1), i = 0, RANKS - 1)]
  places = [(i * N, i = 0, RANKS - 1)]
  bytes = places * 4
  all = 0
  call fill(own, rank, 5)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call said('MPI_Barrier', rc)
  call MPI_Allgather(own, N, MPI_INTEGER, all, N, MPI_INTEGER, MPI_COMM_WORLD, rc)
  call said('MPI_Allgather', rc)
  call said_ints('MPI_Allgather', all)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, all, N, MPI_INTEGER, MPI_COMM_WORLD, rc)
  call said_ints('MPI_Allgather in place', all)
  call MPI_Allgatherv(own, counts(rank + 1), MPI_INTEGER, all, counts, places, MPI_INTEGER, &
    MPI_COMM_WORLD, rc)
  call said('MPI_Allgatherv', rc)
  call said_ints('MPI_Allgatherv', all)
  call MPI_Alltoall(own, N, MPI_INTEGER, all, N, MPI_INTEGER, MPI_COMM_WORLD, rc)
  call said('MPI_Alltoall', rc)
  call said_ints('MPI_Alltoall', all)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, all, N, MPI_INTEGER, MPI_COMM_WORLD, rc)
  call said_ints('MPI_Alltoall in place', all)
  counts = [(mod(i + rank, N + 1), i = 0, RANKS - 1)]
  call MPI_Alltoallv(own, counts, places, MPI_INTEGER, all, counts, places, MPI_INTEGER, &
    MPI_COMM_WORLD, rc)
  call said('MPI_Alltoallv', rc)
  call said_ints('MPI_Alltoallv', all)
  call MPI_Alltoallw(own, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD, rc)
  call said('MPI_Alltoallw', rc)
  call said_ints('MPI_Alltoallw', all)
end subroutine for_all

subroutine computing()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 2, RANKS = 8
  integer :: own(N * RANKS), sum(N * RANKS), counts(RANKS), i, rc

  counts = [(mod(i, N + 1), i = 0, RANKS - 1)]
  sum = 0
  call fill(own, rank, 6)
  call MPI_Allreduce(own, sum, N, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, rc)
  call said('MPI_Allreduce', rc)
  call said_ints('MPI_Allreduce', sum(1:N))
  call MPI_Allreduce(MPI_IN_PLACE, sum, N, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, rc)
  call said_ints('MPI_Allreduce in place', sum(1:N))
  call MPI_Reduce_scatter(own, sum, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, rc)
  call said('MPI_Reduce_scatter', rc)
  call said_ints('MPI_Reduce_scatter', sum(1:N))
  call MPI_Reduce_scatter_block(own, sum, N, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, rc)
  call said('MPI_Reduce_scatter_block', rc)
  call said_ints('MPI_Reduce_scatter_block', sum(1:N))
  call MPI_Scan(own, sum, N, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, rc)
  call said('MPI_Scan', rc)
  call said_ints('MPI_Scan', sum(1:N))
  call MPI_Exscan(own, sum, N, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, rc)
  call said('MPI_Exscan', rc)
  call said_ints('MPI_Exscan', sum(1:N))
end subroutine computing

subroutine finish(name, request, rc)
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  character(len=*), intent(in) :: name
  T_REQUEST :: request
  integer :: rc

  call said(name, rc)
  call MPI_Wait(request, MPI_STATUS_IGNORE, rc)
  call said(name, rc)
end subroutine finish

subroutine nonblocking()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 2, RANKS = 8
  integer, volatile :: own(N * RANKS), all(N * RANKS)
  integer :: counts(RANKS), places(RANKS), bytes(RANKS), i, rc
  T_DATATYPE :: types(RANKS)
  T_REQUEST :: r

  types = MPI_INTEGER
  counts = [(mod(i, N + 1), i = 0, RANKS - 1)]
  places = [(i * N, i = 0, RANKS - 1)]
  bytes = places * 4
  all = 0
  own = [(rank * 100 + i, i = 1, N * RANKS)]
  call MPI_Ibarrier(MPI_COMM_WORLD, r, rc)
  call finish('MPI_Ibarrier', r, rc)
  call MPI_Ibcast(own, N, MPI_INTEGER, 0, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Ibcast', r, rc)
  call MPI_Igather(own, N, MPI_INTEGER, all, N, MPI_INTEGER, 0, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Igather', r, rc)
  call MPI_Igatherv(own, counts(rank + 1), MPI_INTEGER, all, counts, places, MPI_INTEGER, 0, &
    MPI_COMM_WORLD, r, rc)
  call finish('MPI_Igatherv', r, rc)
  call said_ints('gathered', all)
  call MPI_Iscatter(all, N, MPI_INTEGER, own, N, MPI_INTEGER, 0, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Iscatter', r, rc)
  call MPI_Iscatterv(all, counts, places, MPI_INTEGER, own, counts(rank + 1), MPI_INTEGER, 0, &
    MPI_COMM_WORLD, r, rc)
  call finish('MPI_Iscatterv', r, rc)
  call said_ints('scattered', own)
  call MPI_Iallgather(own, N, MPI_INTEGER, all, N, MPI_INTEGER, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Iallgather', r, rc)
  call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INTEGER, all, N, MPI_INTEGER, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Iallgather in place', r, rc)
  call said_ints('gathered', all)
  call MPI_Iallgatherv(own, counts(rank + 1), MPI_INTEGER, all, counts, places, MPI_INTEGER, &
    MPI_COMM_WORLD, r, rc)
  call finish('MPI_Iallgatherv', r, rc)
  call MPI_Ialltoall(own, N, MPI_INTEGER, all, N, MPI_INTEGER, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Ialltoall', r, rc)
  counts = [(mod(i + rank, N + 1), i = 0, RANKS - 1)]
  call MPI_Ialltoallv(own, counts, places, MPI_INTEGER, all, counts, places, MPI_INTEGER, &
    MPI_COMM_WORLD, r, rc)
  call finish('MPI_Ialltoallv', r, rc)
  call MPI_Ialltoallw(own, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Ialltoallw', r, rc)
  call said_ints('exchanged', all)
end subroutine nonblocking

subroutine nonblocking_computing()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 2, RANKS = 8
  integer, volatile :: own(N * RANKS), sum(N * RANKS)
  integer :: counts(RANKS), i, rc
  T_REQUEST :: r

  counts = [(mod(i, N + 1), i = 0, RANKS - 1)]
  sum = 0
  own = [(rank * 100 + i, i = 1, N * RANKS)]
  call MPI_Ireduce(own, sum, N, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Ireduce', r, rc)
  call said_ints('MPI_Ireduce', sum(1:N))
  call MPI_Iallreduce(own, sum, N, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Iallreduce', r, rc)
  call MPI_Iallreduce(MPI_IN_PLACE, sum, N, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Iallreduce in place', r, rc)
  call said_ints('MPI_Iallreduce', sum(1:N))
  call MPI_Ireduce_scatter(own, sum, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Ireduce_scatter', r, rc)
  call said_ints('MPI_Ireduce_scatter', sum(1:N))
  call MPI_Ireduce_scatter_block(own, sum, N, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Ireduce_scatter_block', r, rc)
  call said_ints('MPI_Ireduce_scatter_block', sum(1:N))
  call MPI_Iscan(own, sum, N, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Iscan', r, rc)
  call MPI_Iexscan(own, sum, N, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, rc)
  call finish('MPI_Iexscan', r, rc)
  call said_ints('MPI_Iexscan', sum(1:N))
end subroutine nonblocking_computing

! On a ring on which each hears the left one and speaks to the right one.
subroutine neighbouring()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 2
  integer, volatile :: own(N), got(N)
  integer :: rc, counts(1), places(1), from(1), to(1)
  integer(kind=MPI_ADDRESS_KIND) :: bytes(1)
  T_DATATYPE :: types(1)
  T_REQUEST :: r
  T_COMM :: ring

  counts = 1
  places = 0
  bytes = 0
  from = left
  to = right
  types = MPI_INTEGER
  got = 0
  own = [rank, 7]
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, to, &
    MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, rc)
  call said('MPI_Dist_graph_create_adjacent', rc)
  call MPI_Neighbor_allgather(own, N, MPI_INTEGER, got, N, MPI_INTEGER, ring, rc)
  call said('MPI_Neighbor_allgather', rc)
  call MPI_Neighbor_allgatherv(own, 1, MPI_INTEGER, got, counts, places, MPI_INTEGER, ring, rc)
  call said('MPI_Neighbor_allgatherv', rc)
  call MPI_Neighbor_alltoall(own, N, MPI_INTEGER, got, N, MPI_INTEGER, ring, rc)
  call said('MPI_Neighbor_alltoall', rc)
  call MPI_Neighbor_alltoallv(own, counts, places, MPI_INTEGER, got, counts, places, &
    MPI_INTEGER, ring, rc)
  call said('MPI_Neighbor_alltoallv', rc)
  call MPI_Neighbor_alltoallw(own, counts, bytes, types, got, counts, bytes, types, ring, rc)
  call said('MPI_Neighbor_alltoallw', rc)
  call said_ints('from the left', got)
  call MPI_Ineighbor_allgather(own, N, MPI_INTEGER, got, N, MPI_INTEGER, ring, r, rc)
  call finish('MPI_Ineighbor_allgather', r, rc)
  call MPI_Ineighbor_allgatherv(own, 1, MPI_INTEGER, got, counts, places, MPI_INTEGER, ring, r, rc)
  call finish('MPI_Ineighbor_allgatherv', r, rc)
  call MPI_Ineighbor_alltoall(own, N, MPI_INTEGER, got, N, MPI_INTEGER, ring, r, rc)
  call finish('MPI_Ineighbor_alltoall', r, rc)
  call MPI_Ineighbor_alltoallv(own, counts, places, MPI_INTEGER, got, counts, places, &
    MPI_INTEGER, ring, r, rc)
  call finish('MPI_Ineighbor_alltoallv', r, rc)
  call MPI_Ineighbor_alltoallw(own, counts, bytes, types, got, counts, bytes, types, ring, r, rc)
  call finish('MPI_Ineighbor_alltoallw', r, rc)
  call said_ints('from the left', got)
  call MPI_Comm_free(ring, rc)
  call said('MPI_Comm_free', rc)
end subroutine neighbouring
