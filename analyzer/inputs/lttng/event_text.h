// What babeltrace2 prints of the events of a CTF trace (LTTng's), as lines of the reader of probes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/inputs/probes/event_line.h"

namespace rdam::inputs::lttng {

/// `[10:21:32.5] (+0.1) host provider:event: { cpu_id = 0 }, { vtid = 7 }, { n = 1 }`.
struct TextLine {
    std::uint64_t time = 0;  ///< nanoseconds, of a day if the text has no date
    bool has_date = false;
    std::string_view provider;  ///< "": the kernel
    std::string_view event;
    std::string_view fields;  ///< from the first bracket on
};
std::optional<TextLine> text_line(std::string_view line);

/// Calls `take` for each field that is no structure, of the contexts as well: its name, and its value as printed.
void each_field(std::string_view fields, const std::function<void(std::string_view, std::string_view)>& take);

/// Makes an event of each line, which is valid until the next one. Beginnings and ends of calls look like
/// probes: `func_entry` and `func_exit`, `x_begin` and `x_end`, `syscall_entry_x` and `syscall_exit_x`,
/// `pthread_mutex_lock_req` and `_acq`. Memory: some bytes a name, a processor, and a call that is open.
class Translator {
  public:
    std::optional<probes::EventLine> translate(std::string_view line);

  private:
    struct Fields;

    void complete_time(const TextLine& line);
    void find_thread(const Fields& fields);
    void take_switch(const Fields& fields);
    bool take_function(const TextLine& line, const Fields& fields);
    bool take_pair(const TextLine& line, const Fields& fields);
    void begin_call(std::string_view name);
    void end_call(std::string_view name);

    struct OpenFunction {
        std::uint32_t number = 0;   ///< of its name
        std::uint64_t address = 0;  ///< 0: not known
    };
    struct OpenFunctions {
        void push(std::uint32_t number, std::uint64_t address);
        void pop();

        std::vector<OpenFunction> calls;                      ///< the outermost first
        std::unordered_map<std::uint64_t, std::uint32_t> at;  ///< how many there are at each address
    };
    struct Running {
        std::uint32_t tid = 0;
        std::string name;
    };

    probes::EventLine event_;
    std::string name_, rest_, values_, result_, thread_;
    std::uint64_t day_ = 0, last_ = 0;                        // of the time
    std::map<std::uint16_t, Running> running_;                // by processor
    std::unordered_map<std::string, std::uint32_t> numbers_;  // of names of calls
    std::vector<const std::string*> names_;
    std::unordered_map<std::uint32_t, OpenFunctions> functions_;  // by tid
};

}  // namespace rdam::inputs::lttng
