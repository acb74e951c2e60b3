#include "analyzer/inputs/paje/producer.h"

#include "analyzer/inputs/paje/scan.h"

namespace rdam::inputs::paje {
namespace {

std::string first_word(std::string_view text) {
    return std::string{FieldCursor{text}.next().value_or("")};
}

}  // namespace

void Producer::heard(std::string_view comment) {
    constexpr std::string_view kSimGrid = "This file was generated using SimGrid-";
    constexpr std::string_view kPoti = "POTI_GIT_VERSION ";
    constexpr std::size_t kMaxArguments = 1000;
    const bool is_command = command_follows_ && comment.starts_with('[');
    command_follows_ = false;
    if (comment.starts_with(kSimGrid)) {
        tool_ = "SimGrid " + first_word(comment.substr(kSimGrid.size()));
        command_follows_ = true;
    } else if (is_command) {
        comment.remove_prefix(1);
        comment = comment.substr(0, comment.rfind(']'));
        FieldCursor words{comment};
        while (command_.size() < kMaxArguments) {
            const auto word = words.next();
            if (!word) break;
            command_.emplace_back(*word);
        }
    } else if (comment.starts_with(kPoti) && tool_.empty()) {
        tool_ = "poti " + first_word(comment.substr(kPoti.size()));
    }
}

void Producer::type_defined(std::string_view identifier, std::string_view name) {
    // StarPU's first type of containers, since its first release with one.
    if (identifier == "Mn" && name == "Memory Node") {
        tool_ = "StarPU";
        milliseconds_ = names_are_tids_ = true;
    }
}

void Producer::is_export_of_rdam() {
    is_rdam_ = names_are_tids_ = true;
    tool_ = "rdam (exported as Pajé)";
}

void Producer::value_defined(std::string_view identifier, std::string_view name) {
    if (identifier == "STV_FLUSH" || name == "EZTrace Flush" || identifier == "STV_EZTRACE_SYNC") {
        tool_ = "EZTrace 1";
        milliseconds_ = true;
    }
}

}  // namespace rdam::inputs::paje
