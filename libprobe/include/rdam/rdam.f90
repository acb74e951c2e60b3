! Manual probes for Fortran: compile this file with the program. See rdam.h for what a region is.
!
!     use rdam
!     call rdam_begin('solve', level, rows)       ! up to six values, or none
!     …
!     call rdam_end('solve')
!
! Values are scalars (integer, real or logical, of 8 to 64 bits; the integer part of a real, within 64 bits;
! anything else counts as 0) or one array of integers (of 32 or 64 bits). A name is looked up among all names each
! time; in code that is called often, use a variable instead:
!
!     type(rdam_region), save :: solve = rdam_region('solve')
!     call rdam_begin(solve, level)
!     …
!     call rdam_end(solve)
!
! No library has to be linked. Unless librdam.so is preloaded, a probe is one branch after the first call.
! Thread-safe.
module rdam
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: rdam_region, rdam_begin, rdam_end

    integer, parameter :: name_size = 120
    integer, parameter :: most_values = 6
    integer, parameter :: most_names = 256     ! the most regions of a process

    type :: rdam_region
        character(len=name_size) :: name
        type(c_ptr) :: place = c_null_ptr
    end type

    ! struct rdam_region in rdam.h
    type, bind(c) :: c_region
        type(c_ptr) :: name, file, value_names
        integer(c_int) :: line = 0, values = 0, number = 0
    end type

    ! The memory of a region, for as long as the program runs.
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

    interface rdam_begin
        module procedure begin_plain, begin_words, begin_integers, begin_scalars
        module procedure begin_name, begin_name_words, begin_name_integers, begin_name_scalars
    end interface

    interface rdam_end
        module procedure end_plain, end_name
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

    ! The regions that are known by name only. Entries are never changed once they are counted.
    type(rdam_region), target, save :: named(most_names)
    integer, volatile, save :: names = 0

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
            memory%region%values = int(values, c_int)
            region%place = c_loc(memory%region)
        end if
        !$omp end critical (rdam_set_up)
    end subroutine

    ! Null: there is no recorder, or there are too many names.
    function region_of(name) result(region)
        character(len=*), intent(in) :: name
        type(rdam_region), pointer :: region
        if (.not. looked) call look()
        region => null()
        if (.not. associated(begin_region)) return
        region => find(name)
        if (associated(region)) return
        !$omp critical (rdam_name)
        region => find(name)
        if (.not. associated(region) .and. names < most_names) then
            named(names + 1)%name = name
            region => named(names + 1)
            names = names + 1
        end if
        !$omp end critical (rdam_name)
    end function

    function find(name) result(region)
        character(len=*), intent(in) :: name
        type(rdam_region), pointer :: region
        integer :: i
        region => null()
        do i = 1, names
            if (named(i)%name == name(:min(len(name), name_size))) then
                region => named(i)
                return
            end if
        end do
    end function

    subroutine add(words, count, value)
        integer(c_int64_t), intent(inout) :: words(most_values)
        integer, intent(inout) :: count
        class(*), intent(in), optional :: value
        if (.not. present(value)) return
        count = count + 1
        select type (value)
        type is (integer(c_int8_t))
            words(count) = value
        type is (integer(c_int16_t))
            words(count) = value
        type is (integer(c_int32_t))
            words(count) = value
        type is (integer(c_int64_t))
            words(count) = value
        type is (real(c_float))
            words(count) = whole_part(real(value, c_double))
        type is (real(c_double))
            words(count) = whole_part(value)
        type is (logical(1))
            words(count) = merge(1, 0, value)
        type is (logical(2))
            words(count) = merge(1, 0, value)
        type is (logical(4))
            words(count) = merge(1, 0, value)
        type is (logical(8))
            words(count) = merge(1, 0, value)
        end select
    end subroutine

    ! What does not fit is the largest or least that does; of what is no number, 0.
    pure function whole_part(value) result(whole)
        real(c_double), intent(in) :: value
        integer(c_int64_t) :: whole
        real(c_double), parameter :: behind = 2.0_c_double**63
        if (value >= behind) then
            whole = huge(whole)
        else if (value <= -behind) then
            whole = ibset(0_c_int64_t, 63)
        else if (value > -behind) then
            whole = int(value, c_int64_t)
        else
            whole = 0
        end if
    end function

    subroutine begin_with(region, words, count)
        type(rdam_region), intent(inout) :: region
        integer(c_int64_t), intent(in) :: words(most_values)
        integer, intent(in) :: count
        if (.not. looked) call look()
        if (.not. associated(begin_region)) return
        if (.not. c_associated(region%place)) call set_up(region, count)
        call begin_region(region%place, words)
    end subroutine

    subroutine begin_plain(region)
        type(rdam_region), intent(inout) :: region
        integer(c_int64_t), parameter :: none(most_values) = 0
        call begin_with(region, none, 0)
    end subroutine

    subroutine begin_words(region, values)
        type(rdam_region), intent(inout) :: region
        integer(c_int64_t), intent(in) :: values(:)
        integer(c_int64_t) :: words(most_values)
        integer :: count
        count = min(size(values), most_values)
        words = 0
        words(:count) = values(:count)
        call begin_with(region, words, count)
    end subroutine

    subroutine begin_integers(region, values)
        type(rdam_region), intent(inout) :: region
        integer(c_int32_t), intent(in) :: values(:)
        call begin_words(region, int(values, c_int64_t))
    end subroutine

    subroutine begin_scalars(region, a, b, c, d, e, f)
        type(rdam_region), intent(inout) :: region
        class(*), intent(in) :: a
        class(*), intent(in), optional :: b, c, d, e, f
        integer(c_int64_t) :: words(most_values)
        integer :: count
        if (looked .and. .not. associated(begin_region)) return
        words = 0
        count = 0
        call add(words, count, a)
        call add(words, count, b)
        call add(words, count, c)
        call add(words, count, d)
        call add(words, count, e)
        call add(words, count, f)
        call begin_with(region, words, count)
    end subroutine

    subroutine begin_name(name)
        character(len=*), intent(in) :: name
        type(rdam_region), pointer :: region
        region => region_of(name)
        if (associated(region)) call begin_plain(region)
    end subroutine

    subroutine begin_name_words(name, values)
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: values(:)
        type(rdam_region), pointer :: region
        region => region_of(name)
        if (associated(region)) call begin_words(region, values)
    end subroutine

    subroutine begin_name_integers(name, values)
        character(len=*), intent(in) :: name
        integer(c_int32_t), intent(in) :: values(:)
        type(rdam_region), pointer :: region
        region => region_of(name)
        if (associated(region)) call begin_integers(region, values)
    end subroutine

    subroutine begin_name_scalars(name, a, b, c, d, e, f)
        character(len=*), intent(in) :: name
        class(*), intent(in) :: a
        class(*), intent(in), optional :: b, c, d, e, f
        type(rdam_region), pointer :: region
        region => region_of(name)
        if (associated(region)) call begin_scalars(region, a, b, c, d, e, f)
    end subroutine

    subroutine end_plain(region)
        type(rdam_region), intent(inout) :: region
        if (.not. associated(end_region)) return
        if (c_associated(region%place)) call end_region(region%place)
    end subroutine

    subroutine end_name(name)
        character(len=*), intent(in) :: name
        type(rdam_region), pointer :: region
        if (.not. associated(end_region)) return
        region => find(name)
        if (associated(region)) call end_plain(region)
    end subroutine

end module rdam
