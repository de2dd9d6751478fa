#pragma once
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

/** Runner of the tests that need a GPU: named cases, one line for each. */
namespace dcpscope::cuda::tests {

/** What a case throws that cannot run here; its message says why. */
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/** What a case throws whose expectation does not hold. */
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/** printf into a string. */
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

/** Throws a Failure with `message` unless `holds`. */
inline void expect(bool holds, const std::string& message) {
  if (!holds) throw Failure(message);
}

/**
 * Runs the cases whose name contains one of the filters (all of them without filters) and prints for each
 * `ok NAME | NOTE`, `FAIL NAME | MESSAGE` or `skip NAME | WHY`. A case that leaves the device unusable ends
 * the program after its line, since all later ones would fail too.
 */
class Runner {
 public:
  Runner(std::vector<std::string> filters, bool reduced, bool list, uint32_t seed);

  /** Whether only the small grid is wanted, for tools that run a kernel a hundred times slower. */
  bool reduced() const { return reduced_; }
  /** Seed of random data, for those who want other data than last time. */
  uint32_t seed() const { return seed_; }
  /** Runs `body`; what it returns is the note of its line. Throwing is failing, but for Skip. */
  void test(const std::string& name, const std::function<std::string()>& body);
  /** Prints `N passed, M failed` as the last line; the exit status of the program. */
  int finish() const;

 private:
  bool wanted(const std::string& name) const;
  void report(const char* verdict, const std::string& name, const std::string& note) const;

  std::vector<std::string> filters_;
  bool reduced_;
  bool list_;
  uint32_t seed_;
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
};

}  // namespace dcpscope::cuda::tests
