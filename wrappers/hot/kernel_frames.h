// Which names in a report belong to the kernel, to the program, or to no function.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "wrappers/catalogue/catalogue.h"
#include "wrappers/perf/report_text.h"

namespace rdam {

/// What perf prints in place of a name: "0x7f8ba94eda26", "0". Chains walked without frame pointers are full
/// of them.
bool is_address(std::string_view symbol);

/// "f (inlined)": no code of its own.
bool is_inlined(std::string_view symbol);

/// A name as programmers know it: without version (`@@GLIBC_2.3.2`), `__GI_` and leading underscores.
std::string_view plain_name(std::string_view symbol);

/// Whether kernel code is entered there from user space (`entry_SYSCALL_64_after_hwframe`,
/// `asm_exc_page_fault`).
bool is_kernel_entry(std::string_view symbol);

/// What the rows of a report tell about the names in its chains, which carry no mark of their own.
class FrameNames {
  public:
    /// `report` and `catalogue` must outlive this.
    FrameNames(const PerfReport& report, const Catalogue& catalogue);

    bool only_kernel(std::string_view symbol) const;
    bool is_user(std::string_view symbol) const;

    /// How many frames of a chain (innermost first, the innermost in the kernel) belong to the kernel. 0: not
    /// known (the chain was cut off inside the kernel, or nothing in it is known).
    std::size_t kernel_frames(const std::vector<std::string_view>& innermost_first) const;

    /// The name under which a frame can be wrapped: itself, or for an inlined one that is a real function
    /// after all (perf says so whenever the debug information calls it otherwise: `___pthread_cond_wait
    /// (inlined)`) that function's. Empty: none (an address, truly inlined).
    std::string_view wrappable(std::string_view frame) const;

    /// The module of a user function, empty when unknown or not unique.
    std::string_view module_of(std::string_view symbol) const;

  private:
    struct Known {
        bool kernel = false;
        bool user = false;
        bool several_modules = false;
        std::string_view module;
    };
    const Known* find(std::string_view symbol) const;

    const Catalogue& catalogue_;
    tsl::robin_map<std::string_view, Known> known_;
    tsl::robin_map<std::string_view, std::string_view> by_plain_name_;  // user functions that are not inlined
};

}  // namespace rdam
