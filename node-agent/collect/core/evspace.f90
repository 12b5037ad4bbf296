! SPDX-License-Identifier: BSD-3-Clause
! What a Fortran program can say of itself: as evspace.h, for any compiler with iso_c_binding. Compile
! it with the program (the file is in pkg-config's includedir); nothing is linked.
!
!	use evspace
!	call evspace_phase('solve')
!	call evspace_region('exchange', EVSPACE_BEGIN)
!	call evspace_region('exchange', EVSPACE_END)
!	call evspace_iteration(i)
!	call evspace_phase('')
!
! Blanks at the end of a name do not count.
module evspace
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: evspace_region, evspace_phase, evspace_iteration

  integer, parameter, public :: EVSPACE_END = 0, EVSPACE_BEGIN = 1

  ! struct evspace_calls
  type, bind(C) :: call_table
    type(c_funptr) :: region, phase, iteration
  end type call_table

  abstract interface
    subroutine region_call(name, length, begin) bind(C)
      import :: c_char, c_size_t, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
      integer(c_int), value :: begin
    end subroutine region_call
    subroutine phase_call(name, length) bind(C)
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
    end subroutine phase_call
    subroutine iteration_call(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine iteration_call
  end interface

  interface
    function dlopen(file, flags) bind(C, name='dlopen')
      import :: c_ptr, c_int
      type(c_ptr), value :: file
      integer(c_int), value :: flags
      type(c_ptr) :: dlopen
    end function dlopen
    function dlsym(handle, name) bind(C, name='dlsym')
      import :: c_ptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr) :: dlsym
    end function dlsym
  end interface

  ! An iteration is numbered by integers of either size.
  interface evspace_iteration
    module procedure iteration_short, iteration_long
  end interface evspace_iteration

  type(call_table), target :: absent = call_table(c_null_funptr, c_null_funptr, c_null_funptr)
  type(call_table), pointer, volatile :: found => null()

contains

  subroutine find()
    integer(c_int), parameter :: RTLD_LAZY = 1
    type(call_table), pointer :: calls
    type(c_ptr) :: symbol

    symbol = dlsym(dlopen(c_null_ptr, RTLD_LAZY), 'evspace_calls_1' // c_null_char)
    calls => absent
    if (c_associated(symbol)) call c_f_pointer(symbol, calls)
    found => calls
  end subroutine find

  subroutine evspace_region(name, begin)
    character(len=*), intent(in) :: name
    integer, intent(in) :: begin
    procedure(region_call), pointer :: to

    if (.not. associated(found)) call find()
    if (.not. c_associated(found%region)) return
    call c_f_procpointer(found%region, to)
    call to(name, int(len_trim(name), c_size_t), int(begin, c_int))
  end subroutine evspace_region

  subroutine evspace_phase(name)
    character(len=*), intent(in) :: name
    procedure(phase_call), pointer :: to

    if (.not. associated(found)) call find()
    if (.not. c_associated(found%phase)) return
    call c_f_procpointer(found%phase, to)
    call to(name, int(len_trim(name), c_size_t))
  end subroutine evspace_phase

  subroutine iteration_long(number)
    integer(c_int64_t), intent(in) :: number
    procedure(iteration_call), pointer :: to

    if (.not. associated(found)) call find()
    if (.not. c_associated(found%iteration)) return
    call c_f_procpointer(found%iteration, to)
    call to(number)
  end subroutine iteration_long

  subroutine iteration_short(number)
    integer(c_int), intent(in) :: number

    call iteration_long(int(number, c_int64_t))
  end subroutine iteration_short

end module evspace
