#include "analyzer/inputs/otf2/archive.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/builder_state.h"
#include "tools/base/files.h"

#if RDAM_OTF2
#include "analyzer/inputs/otf2/assemble.h"
#include "tools/base/unmovable.h"
#endif

namespace rdam::inputs::otf2 {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".otf2";

/// At most two.
std::vector<std::string> anchors_in(const std::string& directory) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator entry{directory, error}, end; !error && entry != end && found.size() < 2;
         entry.increment(error))
        if (entry->path().extension() == kExtension) found.push_back(entry->path());
    return found;
}

Result<std::string> anchor_of(const std::string& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        if (path.ends_with(kExtension)) return path;
        return fail("{} is an OTF2 anchor file under another name: rename it to what it was, NAME{}", path,
                    kExtension);
    }
    std::vector<std::string> found = anchors_in(path);
    if (found.size() == 1) return found.front();
    return fail("{} does not have one OTF2 archive, but more: give the {} file of one", path, kExtension);
}

tl::unexpected<Error> irregular(const fs::path& file) {
    return fail("{} is not a regular file: copy the whole archive again, with the files themselves",
                file.string());
}

/// The library waits for ever for what a pipe has to say.
Result<void> check_files(const fs::path& anchor) {
    std::error_code error;
    for (const char* extension : {kExtension.data(), ".def", ".marker"}) {
        const fs::path file = fs::path{anchor}.replace_extension(extension);
        if (fs::exists(file, error) && !fs::is_regular_file(file, error)) return irregular(file);
    }
    const fs::path folder = fs::path{anchor}.replace_extension();
    for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
        std::error_code unknown;
        const auto status = entry->status(unknown);
        if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
            return irregular(entry->path());
    }
    return {};
}

}  // namespace

bool recognizes(std::string_view beginning) {
    // The first two bytes tell the byte order.
    constexpr std::string_view kMagic{"OTF2\0", 5};
    return beginning.size() > 2 + kMagic.size() && beginning.substr(2, kMagic.size()) == kMagic;
}

bool recognizes_directory(const std::string& path) {
    return !anchors_in(path).empty();
}

#if RDAM_OTF2
Result<trace::TraceReader> read(const std::string& path, const Progress& progress) {
    const auto anchor = anchor_of(path);
    if (!anchor) return tl::unexpected{anchor.error()};
    if (const auto checked = check_files(*anchor); !checked) return tl::unexpected{checked.error()};
    const auto build = [&](Survey survey) {
        const auto fill = [&](TraceBuilder& builder, const Progress& told) {
            return assemble(*anchor, survey, builder, told);
        };
        return build_apart(path, Order::of_time, fill, progress);
    };
    auto built = build(Survey::sample);
    if (built && !*built) built = build(Survey::whole);
    if (!built) return tl::unexpected{built.error()};
    return std::move(**built);
}
#else
Result<trace::TraceReader> read(const std::string& path, const Progress& /*progress*/) {
    const auto anchor = anchor_of(path);
    if (!anchor) return tl::unexpected{anchor.error()};
    return fail("{}: this rdam cannot read OTF2 archives: build it with OTF2 (libotf2-trace-dev)", path);
}
#endif

}  // namespace rdam::inputs::otf2

namespace rdam::inputs {
namespace {

/// What the child writes into the pipe: how far it is; at the end, what came of it.
struct Message {
    enum class What : std::uint32_t { progress, done, useless, failed };
    What what = What::progress;
    std::uint32_t length = 0;  ///< of the error's text, which follows
    std::uint64_t done = 0, total = 0;
};

constexpr std::size_t kLongestError = 4096;

/// Write errors are ignored: the parent has exited.
void tell(int pipe, const Message& message, std::string_view text = {}) {
    (void)write_all(pipe, {reinterpret_cast<const char*>(&message), sizeof message});
    (void)write_all(pipe, text);
}

/// What crashes shall leave neither words nor a core file, and nothing shall outlive the parent.
void be_a_quiet_child(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_CORE, &none);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
        std::signal(signal, SIG_DFL);
}

struct Outcome {
    Message::What what = Message::What::failed;
    std::string error;
};

/// The child, and the reading end of its pipe.
class Child : private Unmovable {
  public:
    Child(pid_t pid, int pipe) : pid_(pid), pipe_(pipe) {}
    ~Child() {
        close(pipe_);
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            wait();
        }
    }

    /// Until it is done. Nothing: it ended before it could say what came of it.
    std::optional<Outcome> listen(const Progress& progress) {
        Message message;
        while (read_all(pipe_, &message, sizeof message)) {
            if (message.what == Message::What::progress) {
                progress(message.done, message.total);
                continue;
            }
            std::string text(std::min<std::size_t>(message.length, kLongestError), '\0');
            if (!read_all(pipe_, text.data(), text.size())) return {};
            return Outcome{message.what, std::move(text)};
        }
        return {};
    }
    /// How it ended.
    int wait() {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return status;
    }

  private:
    pid_t pid_;
    int pipe_;
};

}  // namespace

/// The child's side.
class ApartBuilder {
  public:
    [[noreturn]] static void run(TemporaryTrace file, const std::string& name, Order order, const Fill& fill,
                                 int pipe) {
        const auto filled = build(file, name, order, fill, [&](std::uint64_t done, std::uint64_t total) {
            tell(pipe, {.done = done, .total = total});
        });
        const std::string text = filled ? "" : filled.error().message.substr(0, kLongestError);
        Message::What what = Message::What::failed;
        if (filled) what = *filled ? Message::What::done : Message::What::useless;
        tell(pipe, {.what = what, .length = static_cast<std::uint32_t>(text.size())}, text);
        _exit(0);
    }

  private:
    static Result<bool> build(TemporaryTrace file, const std::string& name, Order order, const Fill& fill,
                              const Progress& progress) try {
        auto builder = TraceBuilder::on(file, name, order);
        if (!builder) return tl::unexpected{builder.error()};
        auto filled = fill(*builder, progress);
        if (!filled || !*filled) return filled;
        if (auto written = builder->write(); !written) return tl::unexpected{written.error()};
        return true;
    } catch (const std::bad_alloc&) {
        return fail("{} needs more memory than there is: analyze it on a larger machine", name);
    }
};

Result<std::optional<trace::TraceReader>> build_apart(const std::string& name, Order order, const Fill& fill,
                                                      const Progress& progress) {
    const auto file = TemporaryTrace::create(name);
    if (!file) return tl::unexpected{file.error()};
    std::array<int, 2> ends{-1, -1};
    const pid_t self = getpid();
    const pid_t pid = pipe2(ends.data(), O_CLOEXEC) == 0 ? fork() : -1;
    if (pid < 0) {
        const int error = errno;
        for (const int fd : {file->to_write, file->to_read, ends[0], ends[1]})
            if (fd >= 0) close(fd);
        return fail("{} cannot be read in a process of its own: {}; end some programs", name,
                    std::strerror(error));
    }
    if (pid == 0) {
        be_a_quiet_child(self);
        ApartBuilder::run(*file, name, order, fill, ends[1]);
    }
    close(ends[1]);
    close(file->to_write);
    std::optional<Outcome> outcome;
    int status = 0;
    try {
        Child child{pid, ends[0]};
        outcome = child.listen(progress);
        status = child.wait();
    } catch (...) {
        close(file->to_read);
        throw;
    }
    if (outcome && outcome->what == Message::What::done)
        return trace::TraceReader::read_descriptor(file->to_read, name);
    close(file->to_read);
    if (outcome && outcome->what == Message::What::useless) return std::nullopt;
    if (outcome) return tl::unexpected{Error{outcome->error}};
    if (WIFSIGNALED(status))
        return fail("{} is damaged: what reads it crashed (signal {}); copy it again, or record it anew",
                    name, WTERMSIG(status));
    return fail("{} cannot be read: what reads it ended early; copy it again, or record it anew", name);
}

}  // namespace rdam::inputs
