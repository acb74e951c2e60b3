// The files of a data directory, on disk or in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tools/base/result.h"
#include "tools/base/unmovable.h"

namespace rdam::inputs::uftrace {

/// The bytes of a file, one after the other.
class ByteStream : private Unmovable {
  public:
    ByteStream() = default;
    virtual ~ByteStream() = default;

    /// Fills `into`; less only at the end.
    virtual Result<std::size_t> read(std::span<char> into) = 0;
};

/// Only what is listed can be opened: names come from files that cannot be trusted.
class Folder : private Unmovable {
  public:
    virtual ~Folder() = default;

    bool has(std::string_view name) const { return files_.contains(name); }
    /// The names of the regular files, with their sizes in bytes.
    const std::map<std::string, std::uint64_t, std::less<>>& files() const { return files_; }
    /// For messages.
    std::string path_of(std::string_view name) const;

    virtual Result<std::unique_ptr<ByteStream>> open(std::string_view name) const = 0;
    /// The whole of a file that is listed. Errors: more than `limit` bytes, not readable.
    Result<std::string> text(std::string_view name, std::uint64_t limit) const;

  protected:
    explicit Folder(std::string path) : path_(std::move(path)) {}
    void add(std::string name, std::uint64_t size) { files_.insert_or_assign(std::move(name), size); }

  private:
    std::string path_;
    std::map<std::string, std::uint64_t, std::less<>> files_;
};

/// Errors: not a directory that can be listed; pipes or devices in it.
Result<std::unique_ptr<Folder>> open_folder(const std::string& path);

/// For tests.
std::unique_ptr<Folder> folder_in_memory(std::map<std::string, std::string> files);

// The file `info`: a binary header, then lines of text about the recording.

/// How the names in argument specifications match functions.
enum class Pattern : std::uint8_t { simple, regex, glob };

struct Info {
    bool wide = true;  ///< a 64-bit program
    bool estimated_returns = false;
    bool kernel = false;
    bool switches = false;        ///< perf-cpu*.dat have the scheduler's events
    bool has_debug_info = false;  ///< *.dbg files say how arguments were recorded

    std::string executable;
    std::string command;  ///< of uftrace itself
    std::string host;
    std::string kernel_version;
    std::string processor;
    std::uint32_t processors = 0;
    std::string version;  ///< "0.13"

    Pattern pattern = Pattern::regex;
    std::string arguments;  ///< --argument: `name@arg1/s,…;…`
    std::string results;    ///< --retval
    bool auto_args = false;
    std::string auto_arguments;
    std::string auto_results;
};

/// Whether it begins as an `info` of any version does.
bool begins_as_info(std::string_view bytes);

/// Errors: not uftrace's, written on a machine of the other byte order, a version that is not known, cut.
Result<Info> read_info(const Folder& folder);

}  // namespace rdam::inputs::uftrace
