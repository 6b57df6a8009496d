#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <streamgauge/report/file_path.hpp>

namespace streamgauge::report {

/// What became of a file that was to be written.
struct written_file {
  std::string path;     ///< where it is, links followed
  std::string why_not;  ///< empty, or what went wrong and what helps; then what was there before still is

  explicit operator bool() const noexcept { return why_not.empty(); }
};

/// A file's text, or why it could not be read.
struct read_file_text {
  std::optional<std::string> text;
  std::string why_not;

  explicit operator bool() const noexcept { return text.has_value(); }
};

/// An error of the system in words, with what helps where that is known.
[[nodiscard]] inline std::string describe_error(int error) {
  switch (error) {
    case ENOSPC: return "the disk is full: free some room, or write elsewhere";
    case EDQUOT: return "the quota is used up: free some room, or write elsewhere";
    case EFBIG: return "the file would be larger than this process may write (ulimit -f)";
    case EACCES:
    case EPERM: return "not allowed: look at the permissions of the file and its folder";
    case EROFS: return "the file system is read-only: write elsewhere";
    case ENOENT: return "there is no such folder: make it first";
    case ENOTDIR: return "a part of the path is a file and no folder";
    case EISDIR: return "it is a folder: name a file in it";
    case ENAMETOOLONG: return "the name is too long";
    case ELOOP: return "its links lead in a circle";
    default: return std::string{std::strerror(error)} + " (errno " + std::to_string(error) + ")";
  }
}

/// An open file that is closed at the end.
class open_file {
 public:
  explicit open_file(int handle) noexcept : handle_{handle} {}
  open_file(open_file const&) = delete;
  open_file& operator=(open_file const&) = delete;
  ~open_file() { static_cast<void>(close()); }

  [[nodiscard]] int handle() const noexcept { return handle_; }
  [[nodiscard]] bool is_open() const noexcept { return handle_ >= 0; }
  /// The error of closing, which some file systems first tell then; 0: none.
  [[nodiscard]] int close() noexcept {
    if (handle_ < 0) return 0;
    int const error = ::close(handle_) == 0 || errno == EINTR ? 0 : errno;
    handle_ = -1;
    return error;
  }
  /// The error of writing all of it; 0: none.
  [[nodiscard]] int write(std::string_view text) const noexcept {
    while (!text.empty()) {
      ssize_t const count = ::write(handle_, text.data(), text.size());
      if (count > 0)
        text.remove_prefix(static_cast<std::size_t>(count));
      else if (count == 0)
        return EIO;
      else if (errno != EINTR)
        return errno;
    }
    return 0;
  }

 private:
  int handle_;
};

/// The path with its last part's links followed, also where the last one leads to nothing yet; or why not.
/// Why: a link is to stay a link, and renaming a file onto it would put the file in its place.
[[nodiscard]] inline file_path followed(std::string path) {
  for (int links = 0; links < 40; ++links) {
    char target[4096];
    ssize_t const size = ::readlink(path.c_str(), target, sizeof target);
    if (size < 0) return {path, ""};
    std::string const to{target, static_cast<std::size_t>(size)};
    path = to.empty() || to.front() == '/' ? to : path.substr(0, path.find_last_of('/') + 1) + to;
  }
  return {"", describe_error(ELOOP)};
}

/// Writes a file as a whole or not at all: to a temporary file beside it, which then takes its name.
/// Why: a program that is killed while it writes, or a full disk, must not cost the results that were there.
/// Shape: the temporary file is called as the target with `.part-PROCESS-NUMBER` behind; what is killed leaves it there.
/// The target keeps its permissions, and a link stays a link: what it leads to is replaced. Of several hard links to a file
/// only this name shows the new text. What is no file (a pipe, a terminal, /dev/stdout) is written to directly.
/// Throws: only `std::bad_alloc`. Threads: any; of two that write one path, one wins as a whole.
[[nodiscard]] inline written_file write_file(std::string const& path, std::string_view text) {
  auto const failed = [&](std::string const& why) { return written_file{path, "cannot write " + path + ": " + why}; };
  if (path.empty()) return {path, "cannot write a file without a name"};
  if (path.find('\0') != std::string::npos) return {path, "cannot write a file with a zero byte in its name"};
  struct stat seen = {};
  bool const exists = ::stat(path.c_str(), &seen) == 0;
  if (!exists && errno != ENOENT) return failed(describe_error(errno));
  if (exists && S_ISDIR(seen.st_mode)) return failed(describe_error(EISDIR));
  // Behind the names of what a process has open may be a file whose writer goes on behind this.
  bool const is_open = path.rfind("/dev/fd/", 0) == 0 || path.rfind("/proc/", 0) == 0;
  int const standard = path == "/dev/stdout" ? STDOUT_FILENO : path == "/dev/stderr" ? STDERR_FILENO : -1;
  if (is_open || standard >= 0 || (exists && !S_ISREG(seen.st_mode))) {
    open_file into{standard >= 0 ? ::dup(standard) : ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)};
    if (!into.is_open()) return failed(describe_error(errno));
    if (int const error = into.write(text)) return failed(describe_error(error));
    if (int const error = into.close()) return failed(describe_error(error));
    return {path, ""};
  }

  file_path const target = followed(path);
  if (!target.why_not.empty()) return failed(target.why_not);
  // Renaming asks for the folder's permission alone; a file that may not be written is not to be replaced either.
  if (exists && ::faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) != 0) return failed(describe_error(errno));
  std::string part;
  int handle = -1;
  for (unsigned number = 0; handle < 0; ++number) {
    part = target.path + ".part-" + std::to_string(::getpid()) + '-' + std::to_string(number);
    handle = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (handle < 0 && errno != EEXIST) return failed(describe_error(errno));
  }
  open_file into{handle};
  // Only who is allowed to gives a file away; for anybody else it becomes his own.
  if (exists) static_cast<void>(::fchown(handle, seen.st_uid, seen.st_gid) == 0);
  int error = exists && ::fchmod(handle, seen.st_mode & 07777U) != 0 ? errno : 0;
  if (error == 0) error = into.write(text);
  // On the disk before the name is: after a power cut an empty file would bear it.
  if (error == 0 && ::fsync(handle) != 0 && errno != EINVAL) error = errno;
  int const closing = into.close();
  if (error == 0) error = closing;
  if (error == 0 && std::rename(part.c_str(), target.path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(part.c_str());
    return failed(describe_error(error));
  }
  auto const slash = target.path.find_last_of('/');
  std::string const folder = slash == std::string::npos ? "." : target.path.substr(0, slash + 1);
  open_file const named{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (named.is_open()) static_cast<void>(::fsync(named.handle()));
  return {target.path, ""};
}

/// The same at a path that was made from a pattern; where none was made, nothing is written, with the pattern's reason.
/// Example: `auto const done = write_file(path_for("run-%p-%r.json"), json_of(taken)); if (!done) warn(done.why_not);`
[[nodiscard]] inline written_file write_file(file_path const& path, std::string_view text) {
  if (!path.why_not.empty()) return {"", path.why_not};
  return write_file(path.path, text);
}

/// A file's bytes, where there are no more than so many.
/// Throws: only `std::bad_alloc`.
[[nodiscard]] inline read_file_text read_file(std::string const& path, std::size_t most_bytes = std::size_t{1} << 30U) {
  auto const failed = [&](std::string const& why) {
    return read_file_text{std::nullopt, "cannot read " + path + ": " + why};
  };
  open_file const from{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
  if (!from.is_open()) return failed(errno == ENOENT ? "there is no such file" : describe_error(errno));
  std::string text;
  struct stat seen = {};
  if (::fstat(from.handle(), &seen) == 0 && S_ISREG(seen.st_mode) && seen.st_size > 0 &&
      static_cast<std::size_t>(seen.st_size) <= most_bytes)
    text.reserve(static_cast<std::size_t>(seen.st_size));
  char buffer[65536];
  for (;;) {
    ssize_t const count = ::read(from.handle(), buffer, sizeof buffer);
    if (count == 0) return {std::move(text), ""};
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(errno == EISDIR ? "it is a folder" : describe_error(errno));
    if (static_cast<std::size_t>(count) > most_bytes - text.size())
      return failed("it has more than " + std::to_string(most_bytes) + " bytes");
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace streamgauge::report
