#include "analyzer/inputs/build/cut_names.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rdam::inputs {
namespace {

class Cutter {
  public:
    void cut(std::string& name) {
        if (name.size() <= kMost || is_cut(name)) return;
        ++count_;
        std::size_t end = kMost;
        while (end > 0 && is_inside_character(name[end]))
            --end;
        // Thousands of them may have had megabytes.
        name = name.substr(0, end).append(kMark);
    }
    void cut(std::vector<trace::ParameterInfo>& parameters) {
        for (trace::ParameterInfo& each : parameters) {
            cut(each.name);
            cut(each.type);
        }
    }
    void cut_words(std::vector<std::string>& command) {
        constexpr std::size_t kMostInAll = std::size_t{1} << 20U;
        std::size_t bytes = 0, words = 0;
        for (; words < command.size() && bytes < kMostInAll; ++words) {
            cut(command[words]);
            bytes += command[words].size() + sizeof(std::string);
        }
        if (words < command.size()) ++count_;
        command.resize(words);
    }
    std::uint64_t count() const { return count_; }

  private:
    static bool is_cut(const std::string& name) {
        return name.size() <= kMost + kMark.size() && name.ends_with(kMark);
    }
    /// Of UTF-8: none begins with this byte.
    static bool is_inside_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

    static constexpr std::size_t kMost = 4096;
    static constexpr std::string_view kMark = "…";
    std::uint64_t count_ = 0;
};

}  // namespace

std::uint64_t cut_names(trace::TraceInfo& info) {
    Cutter cutter;
    for (trace::FunctionInfo& function : info.functions) {
        const bool one_name = function.linkage_name == function.name;
        cutter.cut(function.name);
        if (one_name) function.linkage_name = function.name;
        for (std::string* each : {&function.linkage_name, &function.module, &function.source})
            cutter.cut(*each);
        cutter.cut(function.parameters);
        cutter.cut(function.result);
    }
    for (trace::ThreadInfo& thread : info.threads)
        cutter.cut(thread.name);
    for (trace::ObjectInfo& object : info.objects)
        cutter.cut(object.path);
    trace::ProcessInfo& process = info.process;
    for (std::string* each : {&process.title, &process.executable, &process.host, &process.machine,
                              &process.rdam_version, &process.recorder, &info.clock.source})
        cutter.cut(*each);
    cutter.cut_words(process.command);
    return cutter.count();
}

}  // namespace rdam::inputs
