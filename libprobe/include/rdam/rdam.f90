! Manual probes for Fortran: compile this file with the program. See rdam.h for what a region is.
!
!     use rdam
!     type(rdam_region), save :: solve = rdam_region('solve')
!     call rdam_begin(solve, [int(level, 8)])     ! up to six values, or none
!     …
!     call rdam_end(solve)
!
! Nothing has to be linked. Without librdam.so preloaded a probe is one branch after the first call.
module rdam
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: rdam_region, rdam_begin, rdam_end

    integer, parameter :: name_size = 120

    type :: rdam_region
        character(len=name_size) :: name
        type(c_ptr) :: place = c_null_ptr
    end type

    ! struct rdam_region in rdam.h
    type, bind(c) :: c_region
        type(c_ptr) :: name, file, value_names
        integer(c_int) :: line = 0, values = 0, number = 0
    end type

    ! What a region needs for as long as the program runs.
    type :: region_memory
        type(c_region) :: region
        character(kind=c_char, len=1) :: name(name_size + 1), empty
    end type

    abstract interface
        subroutine begin_interface(region, values) bind(c)
            import :: c_ptr, c_int64_t
            type(c_ptr), value :: region
            integer(c_int64_t), intent(in) :: values(*)
        end subroutine
        subroutine end_interface(region) bind(c)
            import :: c_ptr
            type(c_ptr), value :: region
        end subroutine
    end interface

    interface
        function dlsym(handle, name) bind(c)
            import :: c_ptr, c_funptr, c_char
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
            type(c_funptr) :: dlsym
        end function
    end interface

    procedure(begin_interface), pointer, save :: begin_region => null()
    procedure(end_interface), pointer, save :: end_region => null()
    logical, save :: looked = .false.

contains

    subroutine look()
        type(c_funptr) :: found
        found = dlsym(c_null_ptr, 'rdam_region_end' // c_null_char)
        if (c_associated(found)) then
            call c_f_procpointer(found, end_region)
            found = dlsym(c_null_ptr, 'rdam_region_begin' // c_null_char)
            call c_f_procpointer(found, begin_region)
        end if
        looked = .true.
    end subroutine

    subroutine set_up(region, values)
        type(rdam_region), intent(inout) :: region
        integer, intent(in) :: values
        type(region_memory), pointer :: memory
        integer :: i
        !$omp critical (rdam_set_up)
        if (.not. c_associated(region%place)) then
            allocate (memory)
            memory%name = c_null_char
            memory%empty = c_null_char
            do i = 1, len_trim(region%name)
                memory%name(i) = region%name(i:i)
            end do
            memory%region%name = c_loc(memory%name(1))
            memory%region%file = c_loc(memory%empty)
            memory%region%value_names = c_loc(memory%empty)
            memory%region%values = values
            region%place = c_loc(memory%region)
        end if
        !$omp end critical (rdam_set_up)
    end subroutine

    subroutine rdam_begin(region, values)
        type(rdam_region), intent(inout) :: region
        integer(c_int64_t), intent(in), optional :: values(:)
        integer(c_int64_t) :: words(6)
        integer :: count
        if (.not. looked) call look()
        if (.not. associated(begin_region)) return
        words = 0
        count = 0
        if (present(values)) then
            count = min(size(values), 6)
            words(:count) = values(:count)
        end if
        if (.not. c_associated(region%place)) call set_up(region, count)
        call begin_region(region%place, words)
    end subroutine

    subroutine rdam_end(region)
        type(rdam_region), intent(inout) :: region
        if (.not. associated(end_region)) return
        if (c_associated(region%place)) call end_region(region%place)
    end subroutine

end module rdam
