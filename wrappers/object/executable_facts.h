// Facts about a program that are needed before it is started under the recorder.
#pragma once

#include <cstdint>
#include <string>

#include "tools/base/result.h"

namespace rdam {

struct ExecutableFacts {
    std::string path;        ///< as asked
    bool is_script = false;  ///< starts with #!
    std::string
        interpreter;  ///< of a script: the program after #!; of an ELF file: PT_INTERP (the dynamic linker)
    bool is_elf = false;
    bool is_64_bit = false;
    bool is_x86_64 = false;
    bool is_dynamic = false;  ///< has PT_INTERP: LD_PRELOAD works
    bool is_go = false;
    std::string sanitizer;  ///< the runtime of AddressSanitizer it needs ("libasan.so.8"), which wants to be
                            ///< the first of all libraries; empty: none
    bool set_user_id = false;        ///< it would run with another user's rights: LD_PRELOAD is ignored
    bool set_group_id = false;       ///< the same with another group's rights
    bool has_capabilities = false;   ///< the same with file capabilities that the user does not have
    bool is_shared_object = false;   ///< ET_DYN without PT_INTERP: a library, or a static-pie program
    bool is_dynamic_linker = false;  ///< glibc's: it starts the program that is among its arguments
    bool is_library = false;         ///< it cannot be started
    /// Of the dynamic linker that the program wants, if it is a file that can be read and not glibc's: its
    /// name.
    std::string other_libc;
    bool lacks_linker = false;  ///< there is no such file
};

/// Reads the file's first bytes, headers and attributes. Errors: missing, a directory, unreadable, not
/// executable. A program that a dynamic linker is given need not be executable, and gets nobody's rights.
Result<ExecutableFacts> inspect_executable(const std::string& path, bool given_to_linker = false);

/// Why the program cannot be recorded, in one line with the remedy; empty when it can be.
/// A script is judged by its interpreter: the caller asks again with that.
std::string why_not_recordable(const ExecutableFacts& facts);

}  // namespace rdam
