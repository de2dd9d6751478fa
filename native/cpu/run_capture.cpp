#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <string>

#include "cpu/run.h"

namespace dcpscope {

void Run::prepareCaptures() {
  const Config& c = shared_.config;
  const Shape& s = shared_.shape;
  const DumpType value = shared_.bf16() ? DumpType::bf16 : DumpType::f32;
  const int64_t T = s.tokens;
  const int64_t H = c.heads;
  const std::vector<int> layers = capturedLayers(c);
  for (int r = 0; r < c.ranks; ++r)
    for (const int layer : layers) {
      Capture capture{shared_.frame.step, layer, r, {}, ""};
      capture.tensors.push_back(makeTensor("q", value, {T, H, s.keyDim}));
      for (const char* name : {"out", "out_kernel"})
        capture.tensors.push_back(makeTensor(name, value, {T, H, s.valueDim}));
      for (const char* name : {"lse", "lse_kernel"})
        capture.tensors.push_back(makeTensor(name, DumpType::f32, {T, H}));
      capture.tensors.push_back(makeTensor("merged", value, {T, s.headsPerRank, s.valueDim}));
      shared_.ranks[static_cast<size_t>(r)]->captures.push_back(std::move(capture));
    }
}

/** Memory was promised when the run began, but others may have taken it since. */
void Run::captureFailed() {
  for (auto& rank : shared_.ranks) rank->captures.clear();
  shared_.frame.captured = false;
  event({shared_.frame.step, -1, -1, -1, shared_.clock.now(), EventKind::captureIncomplete, -1,
         static_cast<double>(captureBytes(shared_.config, shared_.shape)),
         static_cast<double>(memoryAvailable().available)});
}

void Run::captureIncomplete(int layer, int rank, double wanted, double limit) {
  event({shared_.frame.step, layer, rank, -1, shared_.clock.now(), EventKind::captureIncomplete, -1, wanted,
         limit});
}

std::vector<Capture> Run::captureStep() {
  if (!shared_.frame.captured) return {};
  try {
    return finishCaptures();
  } catch (const std::bad_alloc&) {
    captureFailed();
    return {};
  }
}

std::vector<Capture> Run::finishCaptures() {
  std::vector<Capture> finished;
  for (auto& rank : shared_.ranks) {
    for (Capture& capture : rank->captures) capturePages(capture);
    std::move(rank->captures.begin(), rank->captures.end(), std::back_inserter(finished));
    rank->captures.clear();
  }
  for (const int layer : capturedLayers(shared_.config)) finished.push_back(captureReference(layer));
  return finished;
}

Capture Run::captureReference(int layer) {
  const int64_t T = shared_.shape.tokens;
  Capture capture{shared_.frame.step, layer, -1, {}, ""};
  capture.tensors.push_back(
      makeTensor("out", DumpType::f64, {T, shared_.config.heads, shared_.shape.valueDim}));
  capture.tensors.push_back(makeTensor("lse", DumpType::f64, {T, shared_.config.heads}));
  const int done = checker_->reference(layer, capture.tensors[0], capture.tensors[1]);
  if (done < T)
    capture.leftOut = "reference: rows from " + std::to_string(done) + " on are NaN, " +
                      std::to_string(done) + " of " + std::to_string(T) +
                      " rows were computed within the limit of 2e11 multiply-adds";
  if (done < T) captureIncomplete(layer, -1, static_cast<double>(T), done);
  return capture;
}

void Run::capturePages(Capture& capture) {
  const Config& c = shared_.config;
  const Shape& s = shared_.shape;
  Rank& rank = *shared_.ranks[static_cast<size_t>(capture.rank)];
  const auto add = [&](const char* name, DumpType type, std::vector<int64_t> shape) -> unsigned char* {
    capture.tensors.push_back(makeTensor(name, type, std::move(shape)));
    return capture.tensors.back().data.data();
  };
  int64_t columns = 0;
  for (int r = 0; r < s.requests; ++r) columns = std::max(columns, shared_.pages.columns(r));
  auto* global = reinterpret_cast<int32_t*>(add("seq_lens_global", DumpType::i32, {s.requests}));
  auto* local = reinterpret_cast<int32_t*>(add("seq_lens_local", DumpType::i32, {s.requests}));
  auto* table = reinterpret_cast<int32_t*>(add("block_table", DumpType::i32, {s.requests, columns}));
  std::fill_n(table, s.requests * columns, -1);
  for (int r = 0; r < s.requests; ++r) {
    global[r] = static_cast<int32_t>(shared_.frame.after[r]);
    local[r] = static_cast<int32_t>(rank.localLength(r));
    std::copy_n(rank.blockTable(r), shared_.pages.columns(r), table + r * columns);
  }
  std::memcpy(add("slot_mapping", DumpType::i64, {s.tokens}), rank.slots().data(),
              static_cast<size_t>(s.tokens) * 8);
  const int64_t pageBytes = static_cast<int64_t>(c.pageSize) * s.keyDim * s.valueBytes;
  const int64_t taken = shared_.pages.pagesTaken();
  if (pageBytes * taken * c.ranks > kMaxCapturedPages) {
    constexpr double kMiB = 1 << 20;
    capture.leftOut =
        "kv: the pages of all ranks are " +
        std::to_string(static_cast<int64_t>(static_cast<double>(pageBytes * taken * c.ranks) / kMiB)) +
        " MiB, above the limit of " + std::to_string(kMaxCapturedPages >> 20) + " MiB";
    if (capture.rank == 0)
      captureIncomplete(capture.layer, -1, static_cast<double>(pageBytes * taken * c.ranks),
                        kMaxCapturedPages);
    return;
  }
  auto* ids = reinterpret_cast<int32_t*>(add("page_ids", DumpType::i32, {taken}));
  unsigned char* kv =
      add("kv", shared_.bf16() ? DumpType::bf16 : DumpType::f32, {taken, c.pageSize, s.keyDim});
  int64_t i = 0;
  for (int r = 0; r < s.requests; ++r)
    for (int64_t column = 0; column < shared_.pages.columns(r); ++column, ++i) {
      ids[i] = shared_.pages.row(r)[column];
      std::memcpy(kv + i * pageBytes, rank.pool(capture.layer) + ids[i] * pageBytes,
                  static_cast<size_t>(pageBytes));
    }
}

}  // namespace dcpscope
