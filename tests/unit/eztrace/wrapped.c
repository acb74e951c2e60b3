/* What a plug-in for EZTrace can wrap, and what it cannot. */
#include <stdarg.h>
#include <stdint.h>

struct node {
    struct node* next;
};
struct three {
    long a, b, c;
};
struct two {
    long a, b;
};

int all_kinds(int8_t small, uint64_t large, double real, float single, const char* text, struct node* node,
              _Bool truth) {
    return (int)(small + large + real + single + text[0] + truth) + (node->next != 0);
}
struct node* returns_pointer(struct node* from) {
    return from->next;
}
struct three returns_in_memory(long a) {
    return (struct three){a, a, a};
}
struct two returns_in_registers(long a) {
    return (struct two){a, a};
}
long takes_structure(struct three by_value) {
    return by_value.a;
}
int is_variadic(int count, ...) {
    va_list list;
    va_start(list, count);
    const int first = va_arg(list, int);
    va_end(list);
    return first;
}
__attribute__((visibility("hidden"))) int is_hidden(int n) {
    return n * 3;
}
