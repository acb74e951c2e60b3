// A library of a hundred functions of the same shape, as compilers of queries generate them.
#define FUNCTION(name)                                    \
    __attribute__((noinline)) unsigned name(unsigned x) { \
        return x * 2654435761u + __LINE__;                \
    }
#define TEN(tens)          \
    FUNCTION(fn_##tens##0) \
    FUNCTION(fn_##tens##1) \
    FUNCTION(fn_##tens##2) \
    FUNCTION(fn_##tens##3) \
    FUNCTION(fn_##tens##4) \
    FUNCTION(fn_##tens##5) \
    FUNCTION(fn_##tens##6) \
    FUNCTION(fn_##tens##7) \
    FUNCTION(fn_##tens##8) \
    FUNCTION(fn_##tens##9)

TEN(0)
TEN(1)
TEN(2)
TEN(3)
TEN(4)
TEN(5)
TEN(6)
TEN(7)
TEN(8)
TEN(9)
