#pragma once
#include <string>
#include <vector>

/** Where CUPTI, the library of the CUDA toolkit that records what runs on a GPU, lies on this machine. No
 * CUDA. */
namespace dcpscope::cuda {

/** A file, or a name that the loader looks for. DCPSCOPE_CUPTI in the environment names the only one. */
std::vector<std::string> cuptiCandidates();

/** The first candidate that can be opened, and its functions. It stays open, as its threads outlive any use.
 */
class CuptiLibrary {
 public:
  explicit CuptiLibrary(const std::vector<std::string>& candidates);

  /** Why none was opened and what to install, in one line; empty when one was. */
  const std::string& problem() const { return problem_; }
  /** Null for a function that this version lacks. */
  void* find(const char* name) const;

 private:
  void* handle_ = nullptr;
  std::string problem_;
};

}  // namespace dcpscope::cuda
