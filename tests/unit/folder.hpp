#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

/// A folder of its own, gone with all that is in it at the end.
class test_folder {
 public:
  test_folder() {
    char made[] = "/tmp/streamgauge-test-XXXXXX";
    if (char const* const name = mkdtemp(made)) path_ = name;
  }
  test_folder(test_folder const&) = delete;
  test_folder& operator=(test_folder const&) = delete;
  ~test_folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(std::string const& name) const { return path_ + '/' + name; }
  [[nodiscard]] std::string const& path() const { return path_; }
  /// How many files are in it.
  [[nodiscard]] int count() const {
    return static_cast<int>(
        std::distance(std::filesystem::directory_iterator{path_}, std::filesystem::directory_iterator{}));
  }

 private:
  std::string path_;
};

inline std::string text_in(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
inline void put_text(std::string const& path, std::string const& text) {
  std::ofstream{path, std::ios::binary} << text;
}
