// A library with NCCL's interface that moves nothing: it writes down what is called, refuses what NCCL would
// refuse, and fails where it is told to. For tests of the call sequence on machines without several GPUs.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

struct Comm {
  int ranks;
  int rank;
  bool alive;
};

std::string calls;
std::string failing;
int failure = 0;
int version = 22703;
int asyncError = 0;
int depth = 0;

constexpr int kInvalidArgument = 4;
constexpr int kInvalidUsage = 5;

int called(const char* name, const std::string& arguments = "") {
  calls += std::string(calls.empty() ? "" : "; ") + name + (arguments.empty() ? "" : " " + arguments);
  return failing == name ? failure : 0;
}

int used(void* comm, const char* name, const std::string& arguments) {
  const int result = called(name, arguments);
  return comm == nullptr || !static_cast<Comm*>(comm)->alive ? kInvalidArgument : result;
}

std::string number(size_t n) { return std::to_string(n); }

}  // namespace

extern "C" {

struct Id {
  char bytes[128];
};

/** What was called since the last time. */
const char* testCalls() {
  static std::string taken;
  taken.swap(calls);
  calls.clear();
  return taken.c_str();
}
void testFail(const char* name, int result) {
  failing = name;
  failure = result;
}
void testVersion(int to) { version = to; }
void testAsyncError(int result) { asyncError = result; }

int ncclGetVersion(int* to) {
  *to = version;
  return 0;
}
int ncclGetUniqueId(Id* id) {
  std::memset(id->bytes, 'u', sizeof(id->bytes));
  return called("id");
}
int ncclCommInitRank(void** comm, int ranks, Id id, int rank) {
  if (id.bytes[0] != 'u' || id.bytes[127] != 'u' || rank < 0 || rank >= ranks) return kInvalidArgument;
  *comm = new Comm{ranks, rank, true};
  return called("init", number(static_cast<size_t>(rank)) + "/" + number(static_cast<size_t>(ranks)));
}
int ncclCommDestroy(void* comm) {
  const int result = used(comm, "destroy", "");
  static_cast<Comm*>(comm)->alive = false;
  return result;
}
int ncclCommAbort(void* comm) {
  const int result = used(comm, "abort", "");
  static_cast<Comm*>(comm)->alive = false;
  return result;
}
int ncclCommGetAsyncError(void* comm, int* error) {
  *error = asyncError;
  return used(comm, "async", "");
}
const char* ncclGetErrorString(int result) { return result == 1 ? "unhandled cuda error" : "some error"; }
const char* ncclGetLastError(void*) { return "what NCCL said last"; }
int ncclGroupStart() {
  ++depth;
  return called("start");
}
int ncclGroupEnd() {
  if (depth == 0) return kInvalidUsage;
  --depth;
  return called("end");
}
int ncclAllGather(const void*, void*, size_t count, int type, void* comm, void*) {
  return used(comm, "gather", number(count) + " of " + std::to_string(type));
}
int ncclReduceScatter(const void*, void*, size_t count, int type, int op, void* comm, void*) {
  return used(comm, "scatter", number(count) + " of " + std::to_string(type) + " by " + std::to_string(op));
}
int ncclSend(const void* from, size_t count, int, int peer, void* comm, void*) {
  if (depth == 0) return kInvalidUsage;
  return used(comm, "send",
              std::to_string(peer) + "<" + number(reinterpret_cast<size_t>(from)) + "+" + number(count));
}
int ncclRecv(void* to, size_t count, int, int peer, void* comm, void*) {
  if (depth == 0) return kInvalidUsage;
  return used(comm, "recv",
              std::to_string(peer) + ">" + number(reinterpret_cast<size_t>(to)) + "+" + number(count));
}
}
