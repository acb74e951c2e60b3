// The reading routine of the recorder with a counter that is a word of the page (r10), so that it runs where no processor
// has one. Reading it takes 8 "instructions".
#define RDAM_RDPMC addq $8, 2048(%r10); mov 2048(%r10), %eax; mov 2052(%r10), %edx
#include "libprobe/event/counter.S"
