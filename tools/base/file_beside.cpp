#include "tools/base/file_beside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace rdam {
namespace {

tl::unexpected<Error> what_the_system_says() {
    return fail("{}", std::strerror(errno));
}

}  // namespace

Result<FileBeside> FileBeside::create(const std::string& path) {
    std::error_code error;
    const auto canonical = std::filesystem::weakly_canonical(path, error);
    std::string place = error ? path : canonical.string();
    std::string beside = place + ".XXXXXX";
    Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
    if (file.get() < 0) return what_the_system_says();
    return FileBeside{std::move(place), std::move(beside), std::move(file)};
}

FileBeside::FileBeside(std::string place, std::string path, Descriptor file)
    : place_(std::move(place)), path_(std::move(path)), file_(std::move(file)) {}

FileBeside::FileBeside(FileBeside&& other) noexcept
    : place_(std::move(other.place_)), path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}

FileBeside::~FileBeside() {
    if (!path_.empty()) ::unlink(path_.c_str());
}

Result<void> FileBeside::write(std::string_view bytes) {
    return write_all(file_.get(), bytes);
}

Result<void> FileBeside::put_in_place(mode_t mode) {
    if (::fchmod(file_.get(), mode) != 0) return what_the_system_says();
    if (!file_.close()) return what_the_system_says();
    if (std::rename(path_.c_str(), place_.c_str()) != 0) return what_the_system_says();
    path_.clear();
    return {};
}

mode_t mode_of_new_files() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666U & ~mask;
}

}  // namespace rdam
