#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/bf16.h"
#include "cuda/tests/attention_cases.h"
#include "cuda/tests/reference.h"
#include "cuda/tests/suites.h"

namespace dcpscope::cuda::tests {
namespace {

double fromE4m3(uint8_t code) {
  const double sign = code & 0x80 ? -1 : 1;
  const int exponent = code >> 3 & 15;
  const int mantissa = code & 7;
  return sign * (exponent == 0 ? mantissa / 512.0 : std::ldexp(1 + mantissa / 8.0, exponent - 7));
}

float floatAt(const uint8_t* bytes) {
  float value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

float bf16At(const uint8_t* bytes) {
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return fromBf16(bits);
}

/** Dequantised values of one cached row, as the contract of the format says. */
std::vector<double> dequantise(const AttentionCase& made, const uint8_t* row, float kvScale) {
  std::vector<double> values;
  for (int d = 0; d < made.latent + made.rope; ++d) {
    if (made.kv == KvType::bf16) {
      values.push_back(double(bf16At(row + 2 * d)));
    } else if (made.kv == KvType::fp8) {
      values.push_back(fromE4m3(row[d]) * double(kvScale));
    } else if (d < 512) {
      const float scale = fromBf16(toBf16(floatAt(row + 512 + d / 128 * 4)));
      values.push_back(double(fromBf16(toBf16(float(fromE4m3(row[d])) * scale))));
    } else {
      values.push_back(double(bf16At(row + 528 + 2 * (d - 512))));
    }
  }
  return values;
}

std::vector<uint8_t> fromDevice(const void* device, int64_t bytes) {
  std::vector<uint8_t> host(static_cast<size_t>(bytes));
  cudaCheck(cudaMemcpy(host.data(), device, host.size(), cudaMemcpyDeviceToHost), "download");
  return host;
}

/** How far apart two numbers are: NaN from NaN not at all, from anything else by NaN. */
double distance(double a, double b) { return std::isnan(a) && std::isnan(b) ? 0 : std::fabs(a - b); }

/** The reference beside loops on the host that share no code with it. */
std::string compareWithHost(const AttentionCase& made) {
  const AttentionProblem problem(made);
  const AttentionInputs in = problem.inputs();
  const int V = made.latent;
  const int D = made.latent + made.rope;
  DeviceArray<double> out(problem.rows() * V);
  DeviceArray<double> lse(problem.rows());
  referenceAttention(problem.shape(), in, out.get(), lse.get(), nullptr);
  const std::vector<double> deviceOut = out.download();
  const std::vector<double> deviceLse = lse.download();
  const std::vector<uint8_t> q = fromDevice(in.q, problem.rows() * D * 2);
  const std::vector<uint8_t> pool = fromDevice(in.pool, in.poolPages * made.pageSize * problem.rowBytes());

  double worst = 0;
  const auto rowAt = [&](int64_t slot, int part) {
    const int64_t at = slot * problem.rowBytes() + part * problem.partBytes();
    return dequantise(made, &pool[size_t(at)], in.kvScale);
  };
  for (int t = 0; t < problem.tokens(); ++t) {
    std::vector<int64_t> slots;
    for (int j = 0; j < made.topk; ++j) {
      const int32_t slot = problem.slots()[size_t(t * made.topk + j)];
      if (slot >= 0) slots.push_back(slot);
    }
    for (int l = 0; made.topk == 0 && l < problem.keysOf(t); ++l)
      slots.push_back(problem.slotOf(t / made.qLen, l));
    std::vector<std::vector<double>> keys;
    std::vector<std::vector<double>> values;
    for (int h = 0; h < made.heads; ++h) {
      const int groupHeads = made.heads / std::max(made.kvHeads, 1);
      if (h % groupHeads == 0) {
        keys.clear();
        values.clear();
        for (const int64_t slot : slots) {
          keys.push_back(rowAt(slot, h / groupHeads));
          values.push_back(rowAt(slot, made.kvHeads + h / groupHeads));
        }
      }
      const size_t row = size_t(t * made.heads + h);
      std::vector<double> weights;
      double total = 0;
      for (const std::vector<double>& key : keys) {
        double dot = 0;
        for (int d = 0; d < D; ++d)
          dot += double(bf16At(&q[(row * size_t(D) + size_t(d)) * 2])) * key[size_t(d)];
        weights.push_back(std::exp(dot * double(in.softmaxScale)));
        total += weights.back();
      }
      const double expected = made.base2 ? std::log2(total) : std::log(total);
      const double off = keys.empty() && deviceLse[row] == -std::numeric_limits<double>::infinity()
                             ? 0
                             : distance(deviceLse[row], expected);
      expect(off < 1e-9, format("token %d, head %d: lse is %g off", t, h, off));
      for (int d = 0; d < V; ++d) {
        double value = 0;
        for (size_t k = 0; k < keys.size(); ++k) value += weights[k] / total * values[k][size_t(d)];
        const double error = distance(value, deviceOut[row * size_t(V) + size_t(d)]);
        expect(error < 1e-9, format("token %d, head %d, column %d is %g off", t, h, d, error));
        worst = std::fmax(worst, error);
      }
    }
  }
  return format("%.1e off", worst);
}

}  // namespace

void referenceTests(Runner& runner) {
  for (const KvType kv : {KvType::bf16, KvType::fp8, KvType::fp8DsMla}) {
    for (const int topk : {0, 24}) {
      AttentionCase made;
      made.kv = kv;
      made.heads = 3;
      made.qLen = 2;
      made.pageSize = 16;
      made.topk = topk;
      made.missing = 0.2;
      made.base2 = topk > 0;
      made.lengths = {0, 1, 33, 150};
      runner.test(std::string("reference/") + nameOf(kv) + (topk > 0 ? "/sparse" : "/dense"),
                  [&] { return compareWithHost(made); });
    }
  }
  for (const KvType kv : {KvType::bf16, KvType::fp8})
    for (const auto& [heads, kvHeads] : {std::pair(6, 2), {5, 5}, {9, 1}}) {
      AttentionCase made;
      made.kv = kv;
      made.heads = heads;
      made.kvHeads = kvHeads;
      made.latent = 48;
      made.rope = 0;
      made.qLen = 2;
      made.pageSize = 16;
      made.base2 = kvHeads > 1;
      made.lengths = {0, 1, 33, 1100};
      runner.test(std::string("reference/") + nameOf(kv) + format("/h%d-kv%d", heads, kvHeads),
                  [=] { return compareWithHost(made); });
    }
  AttentionCase split;
  split.heads = 1;
  split.lengths = {2500};
  runner.test("reference/splits", [&] { return compareWithHost(split); });
  AttentionCase nan;
  nan.heads = 2;
  nan.qLen = 2;
  nan.lengths = {0, 2500, 2500, 40};
  nan.nanQueries = {{0, 3}, {5, 550}};
  nan.nanKeys = {{2, 1500, 520}, {3, 39, 5}};
  runner.test("reference/nan", [&] { return compareWithHost(nan); });
}

}  // namespace dcpscope::cuda::tests
