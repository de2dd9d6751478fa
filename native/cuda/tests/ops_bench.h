#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cuda/stamp.h"
#include "cuda/tests/device_buffer.h"
#include "cuda/tests/gpu_test.h"

/** What the tests of the kernels around attention share. */
namespace dcpscope::cuda::tests {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  /** lowest .. highest, both included. */
  int64_t integer(int64_t lowest, int64_t highest) {
    return std::uniform_int_distribution<int64_t>(lowest, highest)(engine_);
  }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(engine_); }
  float normal() { return std::normal_distribution<float>()(engine_); }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[integer(0, static_cast<int64_t>(from.size()) - 1)];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    std::shuffle(values.begin(), values.end(), engine_);
  }

 private:
  std::mt19937_64 engine_;
};

/** Runs `body` `times` times with numbers that follow from the runner's seed; a failure names the time. */
void randomTest(Runner& runner, const std::string& name, int times, const std::function<void(Random&)>& body);

/** Stamps of one launch. */
class StampProbe {
 public:
  StampProbe() : stamps_(kStamps) { stamps_.fill(0); }
  Stamp* get() const { return stamps_.get(); }
  Stamp first() const { return stamps_.download()[0]; }
  /** Throws a Failure unless some blocks stamped, each with an end not before its begin. */
  void check() const;

 private:
  DeviceArray<Stamp> stamps_;
};

/** Values as bf16 or fp32, the way a device buffer holds them. */
class Values {
 public:
  Values(int64_t count, bool fp32) : fp32_(fp32), device_(count * (fp32 ? 4 : 2)), count_(count) {
    device_.fill(0xff);
  }

  void* get() const { return device_.data(); }
  int64_t count() const { return count_; }
  void upload(const std::vector<float>& values);
  /** Widened. */
  std::vector<float> download() const;
  void checkGuards(const char* what) const { device_.checkGuards(what); }

 private:
  bool fp32_;
  GuardedBytes device_;
  int64_t count_;
};

/** `value` as bf16 holds it, or as it is. */
float rounded(float value, bool fp32);

/** Throws a Failure that names the first of `got` that differs in more than NaN's bits. */
void expectSame(const std::vector<float>& got, const std::vector<float>& want, const char* what);
/** The same with a relative tolerance beside `absolute`. */
void expectClose(const std::vector<float>& got, const std::vector<double>& want, double relative,
                 double absolute, const char* what);

/** Median microseconds of one call in a graph of `calls` of them. */
double medianMicroseconds(int calls, const std::function<void(cudaStream_t)>& call);

}  // namespace dcpscope::cuda::tests
