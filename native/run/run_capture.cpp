#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <string>

#include "run/run.h"

namespace dcpscope {

void Run::prepareCaptures() {
  const Config& c = state_.config;
  const Shape& s = state_.shape;
  const DumpType value = state_.shape.valueBytes == 2 ? DumpType::bf16 : DumpType::f32;
  const int64_t T = s.tokens;
  const int64_t H = c.heads;
  const std::vector<int> layers = capturedLayers(c);
  for (int r = state_.firstRank(); r < state_.endRank(); ++r)
    for (const int layer : layers) {
      Capture capture{state_.frame.step, layer, r, {}, ""};
      capture.tensors.push_back(makeTensor("q", value, {T, H, s.keyDim}));
      for (const char* name : {"out", "out_kernel"})
        capture.tensors.push_back(makeTensor(name, value, {T, H, s.valueDim}));
      for (const char* name : {"lse", "lse_kernel"})
        capture.tensors.push_back(makeTensor(name, DumpType::f32, {T, H}));
      capture.tensors.push_back(makeTensor("merged", value, {T, s.headsPerRank, s.valueDim}));
      if (c.topk > 0)
        for (const char* name : {"topk", "topk_slots"})
          capture.tensors.push_back(makeTensor(name, DumpType::i32, {T, c.topk}));
      // Kernels of a GPU go from ids to slots at once.
      if (c.topk > 0 && !c.cuda)
        capture.tensors.push_back(makeTensor("topk_local", DumpType::i32, {T, c.topk}));
      state_.trace(r).captures.push_back(std::move(capture));
    }
}

/** Memory was promised when the run began, but others may have taken it since. */
void Run::captureFailed() {
  for (auto& trace : state_.traces) trace->captures.clear();
  state_.frame.captured = false;
  event({state_.frame.step, -1, -1, -1, state_.clock.now(), EventKind::captureIncomplete, -1,
         static_cast<double>(captureBytes(state_.config, state_.shape)),
         static_cast<double>(memoryAvailable().available)});
}

void Run::captureIncomplete(int layer, int rank, double wanted, double limit) {
  event({state_.frame.step, layer, rank, -1, state_.clock.now(), EventKind::captureIncomplete, -1, wanted,
         limit});
}

std::vector<Capture> Run::captureStep() {
  if (!state_.frame.captured) return {};
  try {
    return finishCaptures();
  } catch (const std::bad_alloc&) {
    captureFailed();
    return {};
  }
}

std::vector<Capture> Run::finishCaptures() {
  std::vector<Capture> finished;
  for (auto& trace : state_.traces) {
    for (Capture& capture : trace->captures) capturePages(capture);
    std::move(trace->captures.begin(), trace->captures.end(), std::back_inserter(finished));
    trace->captures.clear();
  }
  if (checker_ != nullptr)
    for (const int layer : capturedLayers(state_.config)) finished.push_back(captureReference(layer));
  return finished;
}

Capture Run::captureReference(int layer) {
  const int64_t T = state_.shape.tokens;
  Capture capture{state_.frame.step, layer, -1, {}, ""};
  capture.tensors.push_back(
      makeTensor("out", DumpType::f64, {T, state_.config.heads, state_.shape.valueDim}));
  capture.tensors.push_back(makeTensor("lse", DumpType::f64, {T, state_.config.heads}));
  const int done = checker_->reference(layer, capture.tensors[0], capture.tensors[1]);
  if (done < state_.shape.batchTokens)
    capture.leftOut = "reference: rows from " + std::to_string(done) + " on are NaN, " +
                      std::to_string(done) + " of " + std::to_string(T) +
                      " rows were computed within the limit of 2e11 multiply-adds";
  if (done < state_.shape.batchTokens) captureIncomplete(layer, -1, static_cast<double>(T), done);
  return capture;
}

/** `kv` as the pool has it, or the keys and the values of all KV heads apart. */
void Run::captureCache(Capture& capture, std::span<const int32_t> ids) {
  const Config& c = state_.config;
  const Shape& s = state_.shape;
  const DumpType type = dumpTypeOf(c.kvType);
  const auto pages = static_cast<int64_t>(ids.size());
  if (c.kvHeads == 0) {
    capture.tensors.push_back(makeTensor("kv", type, {pages, c.pageSize, s.cacheRowBytes / bytesOf(type)}));
    group_->copyPages(capture.rank, capture.layer, ids, capture.tensors.back().data.data());
    return;
  }
  Tensor keys = makeTensor("kv_k", type, {pages, c.pageSize, c.kvHeads, c.headDim});
  Tensor values = makeTensor("kv_v", type, {pages, c.pageSize, c.kvHeads, c.headDim});
  const int64_t half = s.cacheRowBytes / 2;
  std::vector<unsigned char> page(static_cast<size_t>(c.pageSize) * static_cast<size_t>(s.cacheRowBytes));
  for (int64_t i = 0; i < pages * c.pageSize; ++i) {
    const int64_t row = i % c.pageSize;
    if (row == 0)
      group_->copyPages(capture.rank, capture.layer, ids.subspan(static_cast<size_t>(i / c.pageSize), 1),
                        page.data());
    const unsigned char* from = page.data() + row * s.cacheRowBytes;
    std::memcpy(keys.data.data() + i * half, from, static_cast<size_t>(half));
    std::memcpy(values.data.data() + i * half, from + half, static_cast<size_t>(half));
  }
  capture.tensors.push_back(std::move(keys));
  capture.tensors.push_back(std::move(values));
}

void Run::capturePages(Capture& capture) {
  const Config& c = state_.config;
  const Shape& s = state_.shape;
  const bool ofDraft = isDraft(c, capture.layer);
  const RankMetadata metadata =
      ofDraft ? group_->draftMetadata(capture.rank) : group_->metadata(capture.rank);
  const PageTable& pages = state_.pagesOf(capture.layer);
  const auto add = [&](const char* name, DumpType type, std::vector<int64_t> shape) -> unsigned char* {
    capture.tensors.push_back(makeTensor(name, type, std::move(shape)));
    return capture.tensors.back().data.data();
  };
  // A tensor of no columns would be none.
  int64_t columns = 1;
  for (const int64_t own : metadata.columns) columns = std::max(columns, own);
  auto* global = reinterpret_cast<int32_t*>(add("seq_lens_global", DumpType::i32, {s.requests}));
  auto* local = reinterpret_cast<int32_t*>(add("seq_lens_local", DumpType::i32, {s.requests}));
  auto* table = reinterpret_cast<int32_t*>(add("block_table", DumpType::i32, {s.requests, columns}));
  std::fill_n(table, s.requests * columns, -1);
  for (int r = 0; r < s.requests; ++r) {
    const auto i = static_cast<size_t>(r);
    global[r] = metadata.globals[i];
    local[r] = metadata.lengths[i];
    std::copy_n(metadata.pageIds.data() + metadata.pageBegin[i], metadata.columns[i], table + r * columns);
  }
  if (c.restarts) {
    auto* prompts = reinterpret_cast<int32_t*>(add("prompt_lens", DumpType::i32, {s.requests}));
    for (int r = 0; r < s.requests; ++r)
      prompts[r] = static_cast<int32_t>(c.contextLens[static_cast<size_t>(r)]);
  }
  std::memcpy(add("slot_mapping", DumpType::i64, {s.tokens}), metadata.slots.data(),
              static_cast<size_t>(s.tokens) * 8);
  const int64_t pageBytes = static_cast<int64_t>(c.pageSize) * s.cacheRowBytes;
  const int64_t taken = pages.pagesTaken();
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
  int64_t i = 0;
  for (int r = 0; r < s.requests; ++r)
    for (int64_t column = 0; column < pages.columns(r); ++column) ids[i++] = pages.row(r)[column];
  captureCache(capture, {ids, static_cast<size_t>(taken)});
  if (c.kvType != KvType::fp8) return;
  const float scale = kvScale(c);
  std::memcpy(add("kv_scale", DumpType::f32, {1}), &scale, sizeof(scale));
}

}  // namespace dcpscope
