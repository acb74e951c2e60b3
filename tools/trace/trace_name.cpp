#include "tools/trace/trace_name.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "tools/trace/format.h"
#include "tools/trace/open_for_writing.h"

namespace rdam::trace {

bool has_secret(std::string_view run) {
    return run.find(kSecretMark) != std::string_view::npos;
}

std::string_view without_secret(std::string_view run) {
    return run.substr(0, run.find(kSecretMark));
}

namespace {

namespace fs = std::filesystem;

/// A run that comes or goes holds the lock alone for a moment, and one that looks shares it for a moment.
constexpr int kMaxTries = 50;
constexpr int kSeenTwice = 2;
constexpr std::chrono::milliseconds kBetween{1};

/// The content of the lock file, with its final size from the start: later messages need no room.
struct Content {
    std::array<char, 256> run{};
    std::array<char, 512> failure{};
    std::array<char, 8> events{};
    std::array<char, 8> planned{};
    std::array<char, 8> programs{};
    std::array<char, 128> launchers{};
    std::array<char, 3072> inner{};
};
static_assert(sizeof(Content) <= 4096);  // a page of a disk that may have few

template <std::size_t Size>
std::array<char, Size> as_array(std::string_view text) {
    std::array<char, Size> array{};
    std::copy_n(text.begin(), std::min(text.size(), Size - 1), array.begin());
    return array;
}

template <std::size_t Size>
std::string as_text(const std::array<char, Size>& array) {
    return {array.begin(), std::ranges::find(array, '\0')};
}

Content read_content(int fd) {
    Content content;
    if (pread(fd, &content, sizeof content, 0) != sizeof content) return {};
    return content;
}

bool write_at(int fd, const void* data, std::size_t size, std::size_t at) {
    return pwrite(fd, data, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
}

tl::unexpected<Error> refuse(const std::string& path, std::string_view why) {
    return fail("cannot write the trace to {}: {}; name another file with RDAM_OUTPUT or -o", path, why);
}

constexpr std::string_view kSuffix = ".lock";

bool is_of_other_user(const std::string& file) {
    struct stat status {};
    return lstat(file.c_str(), &status) == 0 && status.st_uid != geteuid();
}

/// In front of the extension.
std::string with_suffix(const fs::path& path, const std::string& suffix) {
    return (path.parent_path() / (path.stem().string() + suffix + path.extension().string())).string();
}

}  // namespace

Occupant look_at_occupant(int fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0) return Occupant::other;
    if (status.st_size == 0) return Occupant::none;
    format::Magic magic{};
    const ssize_t size = pread(fd, magic.data(), magic.size(), 0);
    return size == static_cast<ssize_t>(magic.size()) && magic == format::kFileMagic ? Occupant::trace
                                                                                     : Occupant::other;
}

Result<Occupant> check_place(const std::string& path, const NameLock& name) {
    if (const auto place = follow_links(path); !place) return refuse(path, place.error().message);
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        const int missing = errno;
        const std::string folder = fs::path(path).parent_path().string();
        if (missing != ENOENT) return refuse(path, std::strerror(missing));
        if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
            return refuse(path, std::strerror(errno));
        // The superuser may write where nothing can be made.
        for (const int error : {ENOENT, EACCES, EPERM, EROFS, ENOSPC, EDQUOT})
            if (name.error() == error) return refuse(path, std::strerror(error));
        return Occupant::none;
    }
    if (!S_ISREG(status.st_mode)) return refuse(path, "it is not a regular file");
    const auto fd = open_for_writing(path);
    if (!fd) return refuse(path, fd.error().message);
    const Occupant place = look_at_occupant(*fd);
    ::close(*fd);
    if (place == Occupant::other) return refuse(path, "it is not a trace, and rdam replaces only traces");
    return place;
}

std::string numbered_name(const std::string& path, unsigned pid, int number) {
    return with_suffix(path, "." + std::to_string(pid) + (number > 1 ? "." + std::to_string(number) : ""));
}

std::string name_beside(const std::string& path, unsigned pid) {
    return with_suffix(path, "-" + std::to_string(pid));
}

NameLock::NameLock(const std::string& path, std::string_view run) : run_(run), users_{geteuid()} {
    const fs::path whole(path);
    const auto lock_file = [&](const std::string& of) {
        return (whole.parent_path() / ("." + whole.filename().string() + of + ".lock")).string();
    };
    primary_ = file_ = lock_file("");
    hold(run);
    if (state_ != State::none || error_ != EEXIST) return;
    file_ = lock_file("." + std::to_string(geteuid()));
    hold(run);
    if (state_ == State::none && error_ == EEXIST) error_ = 0;
}

void NameLock::hold(std::string_view run) {
    int others = 0;
    for (int i = 0; i < kMaxTries && others < kSeenTwice; ++i) {
        const Step step = try_once(run);
        if (step == Step::done) return;
        if (step == Step::foreign) return give_up(EEXIST);
        close();
        if (step == Step::others) ++others;
        if (step != Step::again) std::this_thread::sleep_for(kBetween);
    }
    state_ = State::taken;
}

NameLock::~NameLock() {
    // The process that gets an exclusive lock is the last one. Another user's words are for the first holder,
    // which removes them.
    const bool stays = file_ != primary_ && has_secret(run_);
    if (fd_ >= 0 && !stays && flock(fd_, LOCK_EX | LOCK_NB) == 0 && is_current()) unlink(file_.c_str());
    close();
}

NameLock::NameLock(NameLock&& other) noexcept {
    *this = std::move(other);
}

NameLock& NameLock::operator=(NameLock&& other) noexcept {
    std::swap(primary_, other.primary_);
    std::swap(file_, other.file_);
    std::swap(run_, other.run_);
    std::swap(users_, other.users_);
    std::swap(fd_, other.fd_);
    std::swap(state_, other.state_);
    std::swap(error_, other.error_);
    return *this;
}

/// False: there is none, and errno says why. Not O_CREAT at first: where the kernel protects shared folders
/// it would say no more than EACCES.
bool NameLock::open_file() {
    constexpr mode_t kMode = S_IRUSR | S_IWUSR;
    constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    fd_ = open(file_.c_str(), kFlags);
    if (fd_ < 0 && errno == ENOENT) fd_ = open(file_.c_str(), kFlags | O_CREAT | O_EXCL, kMode);
    if (fd_ < 0 && errno == EEXIST) fd_ = open(file_.c_str(), kFlags);
    return fd_ >= 0;
}

NameLock::Step NameLock::try_once(std::string_view run) {
    if (!open_file()) {
        const int error = errno;
        if (is_of_other_user(file_)) return Step::foreign;
        give_up(error);
        return Step::done;
    }
    // With another name it is a user's file, not a lock: nothing is written into it.
    struct stat status {};
    if (fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1) {
        if (is_planted(status, file_)) return Step::foreign;
        give_up(EMLINK);
        return Step::done;
    }
    if (is_planted(status, file_) && !(has_secret(run) && is_of(run))) return Step::foreign;
    if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return enter(run);
    if (errno == EWOULDBLOCK) return join(run);
    give_up(errno);
    return Step::done;
}

/// Nobody has the name.
NameLock::Step NameLock::enter(std::string_view run) {
    if (!is_current()) return Step::again;
    Content content;
    content.run = as_array<sizeof content.run>(run);
    if (!write_at(fd_, &content, sizeof content, 0)) {
        const int error = errno;
        unlink(file_.c_str());
        give_up(error);
        return Step::done;
    }
    // The lock is given up before it is taken again: another run may come in between.
    if (flock(fd_, LOCK_SH | LOCK_NB) != 0 || !is_current() || !is_of(run)) return Step::busy;
    state_ = State::held;
    return Step::done;
}

/// Somebody has the name.
NameLock::Step NameLock::join(std::string_view run) {
    if (flock(fd_, LOCK_SH | LOCK_NB) != 0) return Step::busy;
    if (!is_current()) return Step::again;
    if (!is_of(run)) return Step::others;
    state_ = State::held;
    return Step::done;
}

/// The file that we have opened may have been removed by its last holder.
bool NameLock::is_current() const {
    struct stat ours {};
    struct stat there {};
    return fstat(fd_, &ours) == 0 && lstat(file_.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

bool NameLock::is_of(std::string_view run) const {
    constexpr std::size_t kSize = sizeof Content::run;
    return read_content(fd_).run == as_array<kSize>(run);
}

void NameLock::close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void NameLock::give_up(int error) {
    close();
    state_ = State::none;
    error_ = error;
}

void NameLock::tell(std::size_t place) {
    constexpr std::array<char, sizeof Content::events> kYes{'1'};
    if (state_ == State::held) write_at(fd_, kYes.data(), kYes.size(), place);
}

void NameLock::tell_loaded(std::string_view launcher) {
    if (state_ != State::held) return;
    if (launcher.empty()) return tell(offsetof(Content, programs));
    const std::string before = loaded().launchers;
    if ((", " + before + ",").find(fmt::format(", {},", launcher)) != std::string::npos) return;
    const std::string all = before.empty() ? std::string{launcher} : fmt::format("{}, {}", before, launcher);
    if (all.size() >= sizeof Content::launchers) return;
    write_at(fd_, all.data(), all.size(), offsetof(Content, launchers));
}

void NameLock::tell_planned() {
    tell(offsetof(Content, planned));
}

void NameLock::tell_events() {
    tell(offsetof(Content, events));
}

bool NameLock::tell_failure(std::string_view reason) {
    if (state_ != State::held) return false;
    if (!failure().empty()) return true;
    const auto text = as_array<sizeof Content::failure>(reason);
    return write_at(fd_, text.data(), text.size(), offsetof(Content, failure));
}

void NameLock::tell_inner(std::string_view path) {
    if (state_ != State::held) return;
    std::string paths = inner();
    if (!paths.empty()) paths += '\n';
    paths += path;
    if (paths.size() >= sizeof Content::inner) return;
    write_at(fd_, paths.data(), paths.size(), offsetof(Content, inner));
}

NameLock::Loaded NameLock::loaded() const {
    if (state_ != State::held) return {};
    const Content content = read_content(fd_);
    return {.programs = content.programs[0] != '\0', .launchers = as_text(content.launchers)};
}

/// Adds what other users of the run have written: files that nobody without its secret could write.
void NameLock::gather() {
    if (state_ != State::held || !has_secret(run_)) return;
    Content all = read_content(fd_);
    const fs::path own(primary_);
    const std::string name = own.filename().string();
    const std::string begin = name.substr(0, name.size() - kSuffix.size()) + ".";
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(own.parent_path(), error)) {
        const std::string other = entry.path().filename().string();
        if (other == name || !other.starts_with(begin) || !other.ends_with(kSuffix)) continue;
        const int fd = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0) continue;
        struct stat status {};
        const Content told = read_content(fd);
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && told.run == all.run) {
            users_.push_back(status.st_uid);
            if (told.events[0] != '\0') all.events = told.events;
            if (told.planned[0] != '\0') all.planned = told.planned;
            if (told.programs[0] != '\0') all.programs = told.programs;
            if (all.launchers[0] == '\0') all.launchers = told.launchers;
            if (all.failure[0] == '\0') all.failure = told.failure;
            if (all.inner[0] == '\0') all.inner = told.inner;
            unlink(entry.path().c_str());
        }
        ::close(fd);
    }
    write_at(fd_, &all, sizeof all, 0);
}

bool NameLock::has_plan() const {
    return state_ == State::held && read_content(fd_).planned[0] != '\0';
}

bool NameLock::has_events() const {
    return state_ == State::held && read_content(fd_).events[0] != '\0';
}

std::string NameLock::failure() const {
    return state_ == State::held ? as_text(read_content(fd_).failure) : std::string{};
}

std::string NameLock::inner() const {
    return state_ == State::held ? as_text(read_content(fd_).inner) : std::string{};
}

}  // namespace rdam::trace
