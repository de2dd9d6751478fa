#pragma once
#include <stdexcept>
#include <string>

namespace dcpscope {

/**
 * What went wrong, as callers tell it apart; `name` gives the code that reaches JavaScript. After `device`
 * nothing can be done in the process any more: a fault of a GPU poisons it. Where ranks have processes of
 * their own, `absent` says that another rank did not come, and names it, `abandoned` that another rank has
 * ended the run.
 */
enum class ErrorCode { config, memory, poolFull, cancelled, state, engine, device, absent, abandoned };

inline const char* name(ErrorCode code) {
  switch (code) {
    case ErrorCode::config:
      return "ERR_CONFIG";
    case ErrorCode::memory:
      return "ERR_MEMORY";
    case ErrorCode::poolFull:
      return "ERR_POOL_FULL";
    case ErrorCode::cancelled:
      return "ERR_CANCELLED";
    case ErrorCode::state:
      return "ERR_STATE";
    case ErrorCode::engine:
      return "ERR_ENGINE";
    case ErrorCode::device:
      return "ERR_DEVICE";
    case ErrorCode::absent:
      return "ERR_ABSENT";
    case ErrorCode::abandoned:
      return "ERR_ABANDONED";
  }
  return "ERR_ENGINE";
}

class EngineError : public std::runtime_error {
 public:
  EngineError(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace dcpscope
