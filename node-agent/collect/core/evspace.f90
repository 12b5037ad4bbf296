! SPDX-License-Identifier: BSD-3-Clause
! What a Fortran program can say of itself: as evspace.h, for any compiler with iso_c_binding. Compile
! it with the program (the file is in pkg-config's includedir); nothing is linked.
!
!	use evspace
!	call evspace_phase('solve')
!	call evspace_region('exchange', EVSPACE_BEGIN)
!	call evspace_region('exchange', EVSPACE_END)
!	call evspace_iteration(i)
!	call evspace_block(7)
!	call evspace_phase('')
!	if (evspace_budget(told)) ...		! type(evspace_told_budget) :: told
!
! Blanks at the end of a name do not count.
module evspace
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: evspace_region, evspace_phase, evspace_iteration, evspace_block, evspace_budget, evspace_view_latest

  integer, parameter, public :: EVSPACE_END = 0, EVSPACE_BEGIN = 1

  ! struct evspace_calls
  type, bind(C) :: call_table
    type(c_funptr) :: region, phase, iteration, block
  end type call_table

  ! What evspace_budget() and evspace_view_latest() give, with names as in C: evspace-figures.h says what each is.
  type, bind(C), public :: evspace_class_mode
    character(kind=c_char) :: name(32), mode(32)
  end type evspace_class_mode

  type, bind(C), public :: evspace_told_budget
    real(c_double) :: age_s, budget, slowdown, low, high, rate_hz
    integer(c_int) :: n_modes
    type(evspace_class_mode) :: modes(16)
  end type evspace_told_budget

  type, bind(C), public :: evspace_operation
    character(kind=c_char) :: name(32)
    integer(c_int64_t) :: count, bytes
    real(c_double) :: mean_s, most_s
  end type evspace_operation

  type, bind(C), public :: evspace_told_view
    real(c_double) :: age_s, over_s
    integer(c_int64_t) :: wave
    integer(c_int) :: n
    type(evspace_operation) :: operations(16)
  end type evspace_told_view

  ! struct evspace_told
  type, bind(C) :: told_table
    type(c_funptr) :: budget, latest
  end type told_table

  abstract interface
    function budget_call(budget) bind(C)
      import :: c_int, evspace_told_budget
      type(evspace_told_budget), intent(inout) :: budget
      integer(c_int) :: budget_call
    end function budget_call
    function latest_call(view, length, figures) bind(C)
      import :: c_char, c_size_t, c_int, evspace_told_view
      character(kind=c_char), intent(in) :: view(*)
      integer(c_size_t), value :: length
      type(evspace_told_view), intent(inout) :: figures
      integer(c_int) :: latest_call
    end function latest_call
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
    subroutine block_call(number) bind(C)
      import :: c_int32_t
      integer(c_int32_t), value :: number
    end subroutine block_call
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

  type(call_table), target :: absent = call_table(c_null_funptr, c_null_funptr, c_null_funptr, c_null_funptr)
  type(call_table), pointer, volatile :: found => null()
  type(told_table), target :: untold = told_table(c_null_funptr, c_null_funptr)
  type(told_table), pointer, volatile :: told => null()

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

  subroutine find_told()
    integer(c_int), parameter :: RTLD_LAZY = 1
    type(told_table), pointer :: calls
    type(c_ptr) :: symbol

    symbol = dlsym(dlopen(c_null_ptr, RTLD_LAZY), 'evspace_told_1' // c_null_char)
    calls => untold
    if (c_associated(symbol)) call c_f_pointer(symbol, calls)
    told => calls
  end subroutine find_told

  function evspace_budget(budget) result(there)
    type(evspace_told_budget), intent(inout) :: budget
    procedure(budget_call), pointer :: ask
    logical :: there

    there = .false.
    if (.not. associated(told)) call find_told()
    if (.not. c_associated(told%budget)) return
    call c_f_procpointer(told%budget, ask)
    there = ask(budget) /= 0
  end function evspace_budget

  function evspace_view_latest(view, figures) result(there)
    character(len=*), intent(in) :: view
    type(evspace_told_view), intent(inout) :: figures
    procedure(latest_call), pointer :: ask
    logical :: there

    there = .false.
    if (.not. associated(told)) call find_told()
    if (.not. c_associated(told%latest)) return
    call c_f_procpointer(told%latest, ask)
    there = ask(view, int(len_trim(view), c_size_t), figures) /= 0
  end function evspace_view_latest

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

  subroutine evspace_block(number)
    integer(c_int), intent(in) :: number
    procedure(block_call), pointer :: to

    if (.not. associated(found)) call find()
    if (.not. c_associated(found%block)) return
    call c_f_procpointer(found%block, to)
    call to(int(number, c_int32_t))
  end subroutine evspace_block

  subroutine iteration_short(number)
    integer(c_int), intent(in) :: number

    call iteration_long(int(number, c_int64_t))
  end subroutine iteration_short

end module evspace
