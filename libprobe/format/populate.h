// What the C library's headers may not have yet (kernel 5.14). For both sides of the shared memory.
#pragma once

#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
