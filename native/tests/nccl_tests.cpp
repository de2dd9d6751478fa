#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "comm/nccl.h"
#include "core/error.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

/** What the test library has beside NCCL's interface. */
struct Scene {
  Scene() {
    void* handle = dlopen(DCPSCOPE_TEST_NCCL, RTLD_NOW | RTLD_LOCAL);
    EXPECT(handle != nullptr);
    calls = reinterpret_cast<const char* (*)()>(dlsym(handle, "testCalls"));
    fail = reinterpret_cast<void (*)(const char*, int)>(dlsym(handle, "testFail"));
    version = reinterpret_cast<void (*)(int)>(dlsym(handle, "testVersion"));
    asyncError = reinterpret_cast<void (*)(int)>(dlsym(handle, "testAsyncError"));
  }
  std::string taken() const { return calls(); }

  const char* (*calls)();
  void (*fail)(const char*, int);
  void (*version)(int);
  void (*asyncError)(int);
};

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

void* address(size_t at) { return reinterpret_cast<void*>(at); }

void missingOrOldIsSaid(const Scene& scene) {
  EXPECT(contains(nccl::Library({"/nowhere/libnccl.so.2"}).problem(), "NCCL is missing (no libnccl.so.2"));
  EXPECT(contains(nccl::Library({"/nowhere/libnccl.so.2"}).problem(), "install NCCL 2.9.6 or newer"));
  setenv("DCPSCOPE_NCCL", "/nowhere/else.so", 1);
  EXPECT(contains(nccl::Library().problem(), "DCPSCOPE_NCCL names /nowhere/else.so, which cannot be opened"));
  unsetenv("DCPSCOPE_NCCL");
  for (const int old : {2804, 20905}) {
    scene.version(old);
    EXPECT(contains(nccl::Library({DCPSCOPE_TEST_NCCL}).problem(), "is too old; install 2.9.6 or newer"));
  }
  scene.version(22703);
  EXPECT(nccl::versionText(2804) == "2.8.4");
  EXPECT(nccl::versionText(22703) == "2.27.3");
  // A library, but not of NCCL.
  EXPECT(contains(nccl::Library({"libm.so.6"}).problem(), "this NCCL lacks ncclGetVersion"));
}

void collectivesCallWhatTheyShould(const Scene& scene, const nccl::Library& library) {
  {
    nccl::Communicator comm(library, library.uniqueId(), 3, 1);
    EXPECT(scene.taken() == "id; init 1/3");
    comm.allGather(nullptr, nullptr, 1152, nullptr);
    comm.reduceScatter(nullptr, nullptr, 512, nccl::Type::bf16, nullptr);
    comm.reduceScatter(nullptr, nullptr, 512, nccl::Type::fp32, nullptr);
    EXPECT(scene.taken() == "gather 1152 of 1; scatter 512 of 9 by 0; scatter 512 of 7 by 0");
    comm.allToAll(address(1000), address(5000), 100, nullptr);
    EXPECT(scene.taken() ==
           "start; send 0<1000+100; recv 0>5000+100; send 1<1100+100; recv 1>5100+100; send 2<1200+100; "
           "recv 2>5200+100; end");
    comm.requireHealthy();
    scene.asyncError(7);
    comm.requireHealthy();
    scene.asyncError(0);
    EXPECT(scene.taken() == "async; async");
  }
  EXPECT(scene.taken() == "destroy");
}

template <class F>
void expectThrown(ErrorCode code, const char* what, F&& call) {
  bool thrown = false;
  try {
    call();
  } catch (const EngineError& error) {
    thrown = true;
    EXPECT(error.code() == code);
    EXPECT(std::string(error.what()) == what);
  }
  EXPECT(thrown);
}

void errorsAreNamedAndAbort(const Scene& scene, const nccl::Library& library) {
  {
    nccl::Communicator comm(library, library.uniqueId(), 2, 0);
    scene.fail("recv", 1);
    expectThrown(ErrorCode::device, "NCCL all-to-all failed: unhandled cuda error (what NCCL said last)",
                 [&] { comm.allToAll(address(8), address(8), 4, nullptr); });
    // The group is ended all the same.
    EXPECT(contains(scene.taken(), "start; send 0<8+4; recv 0>8+4; end"));
    scene.fail("", 0);
  }
  EXPECT(scene.taken() == "abort");
  {
    nccl::Communicator comm(library, library.uniqueId(), 2, 0);
    scene.asyncError(6);
    expectThrown(ErrorCode::engine, "NCCL collective failed: some error (what NCCL said last)",
                 [&] { comm.requireHealthy(); });
    scene.asyncError(0);
  }
  EXPECT(contains(scene.taken(), "async; abort"));
  {
    nccl::Communicator comm(library, library.uniqueId(), 2, 0);
    scene.taken();
    comm.abort();
    comm.abort();
    // Whoever was about to call does not reach what is gone.
    expectThrown(ErrorCode::engine, "NCCL all-gather failed: some error (what NCCL said last)",
                 [&] { comm.allGather(nullptr, nullptr, 8, nullptr); });
  }
  EXPECT(scene.taken() == "abort; gather 8 of 1");
  scene.fail("init", 2);
  expectThrown(ErrorCode::engine, "NCCL init rank failed: some error (what NCCL said last)",
               [&] { nccl::Communicator(library, library.uniqueId(), 2, 0); });
  scene.fail("", 0);
  scene.taken();
}

}  // namespace

void ncclCalls() {
  const Scene scene;
  missingOrOldIsSaid(scene);
  const nccl::Library library({DCPSCOPE_TEST_NCCL});
  EXPECT(library.problem().empty());
  EXPECT(library.version() == 22703);
  collectivesCallWhatTheyShould(scene, library);
  errorsAreNamedAndAbort(scene, library);
}

}  // namespace dcpscope::tests
