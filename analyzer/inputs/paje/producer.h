// Which tool has written a Pajé file, as far as the file tells. It decides the unit of time: the format means
// seconds, but some tools write milliseconds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdam::inputs::paje {

class Producer {
  public:
    /// A comment, without its `#`.
    void heard(std::string_view comment);
    /// A type of containers, or a value of states, has been defined.
    void type_defined(std::string_view identifier, std::string_view name);
    void value_defined(std::string_view identifier, std::string_view name);
    /// A type has been defined that only `rdam export --format paje` has.
    void is_export_of_rdam();

    /// Its name and version; "" if the file does not say.
    const std::string& tool() const { return tool_; }
    const std::vector<std::string>& command() const { return command_; }
    bool is_rdam() const { return is_rdam_; }
    bool milliseconds() const { return milliseconds_; }
    /// The containers of its threads have the kernel's number of the thread as their name.
    bool names_are_tids() const { return names_are_tids_; }

  private:
    std::string tool_;
    std::vector<std::string> command_;
    bool command_follows_ = false;
    bool milliseconds_ = false;
    bool names_are_tids_ = false;
    bool is_rdam_ = false;
};

}  // namespace rdam::inputs::paje
