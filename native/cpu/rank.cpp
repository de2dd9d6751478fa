#include "cpu/rank.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/fault_rules.h"
#include "core/layout.h"
#include "core/lse.h"

namespace dcpscope {
namespace {

int64_t partialValues(const Config& c, const Shape& s) {
  return static_cast<int64_t>(s.tokens) * c.heads * s.valueDim;
}

/** Slices of the partials of all ranks, which a2a receives. */
int64_t sliceBytes(const Config& c, const Shape& s) {
  return c.ranks > 1 && c.comm == Comm::a2a ? partialValues(c, s) * s.wireBytes : 0;
}

/** Received lse: all of each rank, or those of the own heads. */
int64_t lseValues(const Config& c, const Shape& s) {
  const int64_t own = static_cast<int64_t>(s.tokens) * c.heads;
  return c.ranks == 1 ? 0 : c.comm == Comm::agRs ? own * c.ranks : own;
}

int64_t queryBytes(const Config& c, const Shape& s) {
  return c.ranks > 1 && !c.replicateQ ? static_cast<int64_t>(s.tokens) * c.heads * s.keyDim * s.valueBytes
                                      : 0;
}

/** Bytes behind the pools that are read where rows are taken for longer than they are. */
int64_t misreadBytes(const Config& c, const Shape& s) {
  for (const Fault& fault : c.faults)
    if (fault.kind == FaultKind::kvLayoutMismatch)
      return s.poolPages * c.pageSize * std::max(0, otherRowBytes(s.cacheRowBytes) - s.cacheRowBytes);
  return 0;
}

PeerBytes peerBytes(const Config& c, const Shape& s) {
  PeerBytes bytes;
  bytes.queries = c.processes ? allLayers(c) * queryBytes(c, s) / c.ranks : 0;
  bytes.out = c.ranks > 1 ? partialValues(c, s) * s.valueBytes : 0;
  bytes.lse = static_cast<int64_t>(s.tokens) * c.heads * 4;
  bytes.wire = c.ranks > 1 && c.comm == Comm::agRs ? partialValues(c, s) * s.wireBytes : 0;
  bytes.merged = static_cast<int64_t>(allLayers(c)) * s.tokens * s.headsPerRank * s.valueDim * s.valueBytes;
  return bytes;
}

}  // namespace

ThreadScratch::ThreadScratch(const Shape& shape)
    : attention(attentionScratch(shape.keyDim, kUnitRows, kTileKeys)),
      acc(static_cast<int64_t>(kUnitRows) * shape.valueDim),
      top(kUnitRows),
      total(kUnitRows) {}

Rank::Bytes Rank::bytes(const Config& c, const Shape& s, const AttentionPlan& plan) {
  Bytes bytes{};
  bytes.peers = peerBytes(c, s);
  bytes.pool = allLayers(c) * s.poolBytes(c) + misreadBytes(c, s);
  bytes.queries = queryBytes(c, s);
  bytes.partials = bytes.peers.out + bytes.peers.wire + sliceBytes(c, s) + bytes.peers.lse +
                   lseValues(c, s) * 4 + KernelOutput::bytes(c, s) + plan.splitRows(s) * (s.valueDim + 2) * 4;
  bytes.merged = bytes.peers.merged;
  bytes.tables = (c.draft ? 2 : 1) * Metadata::bytes(c, s) + s.tokens * 4 +
                 static_cast<int64_t>(s.tokens) * (c.heads * 4 + c.topk * 8);
  return bytes;
}

Rank::Rank(Shared& shared, int rank, int team)
    : shared_(shared),
      trace_(shared.state.trace(rank)),
      config_(shared.config),
      shape_(shared.shape),
      rank_(rank),
      poolBytes_(shape_.poolBytes(config_)),
      mergedBytes_(static_cast<int64_t>(shape_.tokens) * shape_.headsPerRank * shape_.valueDim *
                   shape_.valueBytes),
      team_(team, shared.spins),
      pool_(allLayers(config_) * poolBytes_ + misreadBytes(config_, shape_)),
      own_(shared.peers->memory(rank)),
      ownBytes_(peerBytes(config_, shape_)),
      gathered_(queryBytes(config_, shape_)),
      slices_(sliceBytes(config_, shape_)),
      lses_(lseValues(config_, shape_)),
      out_(own_.out),
      kernel_(config_, shape_),
      model_(shared.state, rank, modelBranch(config_)),
      visible_(shape_.tokens),
      bounds_(static_cast<int64_t>(shape_.tokens) * config_.heads),
      local_(static_cast<int64_t>(shape_.tokens) * config_.topk),
      chosen_(static_cast<int64_t>(shape_.tokens) * config_.topk),
      splitAcc_(shared.plan.splitRows(shape_) * shape_.valueDim),
      splitTop_(shared.plan.splitRows(shape_)),
      splitTotal_(shared.plan.splitRows(shape_)),
      restAt_(shared.rest.size() / kRestChunk * rank / config_.ranks * kRestChunk) {
  if (config_.draft) draft_.emplace(shared.state, rank, Branch::draftExtend);
}

int64_t Rank::begin(int layer, Stage stage) {
  shared_.state.at({Activity::stage, stage, static_cast<int16_t>(layer), shared_.frame.step});
  shared_.fault.strike(rank_, stage, shared_.frame.step);
  return shared_.clock.now();
}

Collective Rank::enter(int layer, Stage stage, std::initializer_list<PeerPart> parts) {
  const int64_t perLayer = (shared_.gathersQueries() ? 1 : 0) + (config_.comm == Comm::agRs ? 2 : 1);
  const int turn = collectives_++;
  Collective collective{static_cast<int32_t>(shared_.frame.step * perLayer * allLayers(config_) + turn), 0,
                        0};
  collective.enter = begin(layer, stage);
  collective.lastEnter = shared_.peers->enter(rank_, collective.enter, {parts.begin(), parts.size()});
  return collective;
}

void Rank::span(int layer, Stage stage, int64_t begin, Work work, const Collective* collective) {
  // A stage that was broken off is none.
  if (!shared_.frame.traced || shared_.cancelled()) return;
  SpanRow row{shared_.frame.step, layer, stage, begin, shared_.clock.now() - begin, work.bytes, work.flops};
  if (collective != nullptr) {
    row.collective = collective->seq;
    row.enter = collective->enter;
    row.lastEnter = collective->lastEnter;
  }
  trace_.spans.push(row);
}

void Rank::run(ThreadScratch& scratch) {
  collectives_ = 0;
  shared_.peers->meet(rank_);
  StepReport& report = shared_.peers->report(rank_);
  report.began = shared_.clock.now();
  eachLayer(config_, [&](int layer) {
    if (isDraft(config_, layer)) refresh(*draft_, layer);
    if (layer == 0) refresh(model_, kAllLayers);
    // What a step does once, the draft with it, ends where the model begins.
    if (layer == 0) report.layers = shared_.clock.now();
    compute(layer, scratch);
  });
  report.ended = shared_.clock.now();
}

void Rank::compute(int layer, ThreadScratch& scratch) {
  if (config_.ranks == 1) out_ = merged(layer);
  kernel_.aim(out_, own_.lse, kernelFaults(layer));
  queries_ = shared_.inputs.queries(layer);
  if (shared_.gathersQueries()) gatherQueries(layer);
  append(layer);
  if (config_.topk > 0) localise(layer);
  keep(layer, "q", queries_);
  attend(layer, scratch);
  if (fault(FaultKind::padRowGarbage, layer) != nullptr) spoilPadding();
  keepKernel(layer);
  neutralize(layer);
  keep(layer, "out", out_);
  keep(layer, "lse", own_.lse);
  if (config_.ranks > 1) exchange(layer);
  keep(layer, "merged", merged(layer));
  if (config_.restOfLayerBytes == 0 || isDraft(config_, layer)) return;
  const int64_t begun = begin(layer, Stage::restOfLayer);
  restOfLayer();
  span(layer, Stage::restOfLayer, begun, {config_.restOfLayerBytes, config_.restOfLayerFlops});
}

lse::MergeRule Rank::mergeRule(int layer) const { return dcpscope::mergeRule(shared_.state, rank_, layer); }

int Rank::firstHead(int layer) const { return headsOf(shared_.state, rank_, layer) * shape_.headsPerRank; }

void Rank::keepOwn(int layer) {
  const int n = shape_.headsPerRank * shape_.valueDim;
  const unsigned char* from = out_ + static_cast<int64_t>(rank_) * n * shape_.valueBytes;
  for (int64_t t = 0; t < shape_.tokens; ++t)
    std::memcpy(merged(layer) + t * n * shape_.valueBytes, from + t * config_.ranks * n * shape_.valueBytes,
                static_cast<size_t>(n) * static_cast<size_t>(shape_.valueBytes));
}

KernelFaults Rank::kernelFaults(int layer) const {
  return {roundsLse(shared_.state, rank_, layer), lseReading(shared_.state, rank_, layer)};
}

void Rank::exchange(int layer) {
  switch (config_.comm) {
    case Comm::agRs:
      return agRs(layer);
    case Comm::a2a:
      return a2a(layer);
    case Comm::p2p:
      return p2p(layer);
  }
}

void Rank::help(ThreadScratch& scratch) {
  eachLayer(config_, [&](int layer) {
    team_.wait();
    attendUnits(layer, scratch);
    team_.wait();
  });
}

void Rank::refresh(Metadata& metadata, int layer) {
  const int64_t begun = begin(layer, Stage::metadata);
  const int64_t bytes = metadata.refresh().bytes;
  const Block<int32_t>& bounded = metadata.bounded();
  std::copy_n(bounded.data(), shape_.tokens, visible_.data());
  for (int64_t t = 0; t < shape_.tokens; ++t)
    std::fill_n(&bounds_[t * config_.heads], config_.heads, bounded[t]);
  span(layer, Stage::metadata, begun, {bytes, 0});
}

void Rank::gatherQueries(int layer) {
  const int64_t row = static_cast<int64_t>(shape_.keyDim) * shape_.valueBytes;
  const int64_t slice = row * shape_.headsPerRank;
  const QuerySlices own = shared_.queriesOf(rank_, layer);
  const Collective collective = enter(layer, Stage::qAllGather, {{own.first, shape_.tokens * slice}});
  for (int r = 0; r < config_.ranks; ++r) {
    const QuerySlices from = shared_.queriesOf(r, layer);
    for (int t = 0; t < shape_.tokens && !shared_.cancelled(); ++t) {
      const int64_t at = (static_cast<int64_t>(t) * config_.ranks + r) * slice;
      std::memcpy(gathered_.data() + at, from.first + t * from.stride, static_cast<size_t>(slice));
    }
  }
  queries_ = gathered_.data();
  span(layer, Stage::qAllGather, collective.enter, {shape_.tokens * slice * (config_.ranks - 1), 0},
       &collective);
}

void Rank::neutralize(int layer) {
  const int64_t begun = begin(layer, Stage::neutralize);
  kernel_.bring();
  const NeutralRule rule = neutralRule(shared_.state, rank_, layer);
  for (int t = 0; t < shape_.tokens && !shared_.cancelled(); ++t) {
    if (config_.rowStats && t < shape_.batchTokens) noteRow(layer, t);
    if (rule.clears(t, visible_[t])) neutralizeRow(t);
  }
  int64_t rows = 0;
  for (int t = 0; t < shape_.tokens; ++t) rows += config_.rowStats || visible_[t] == 0 ? 1 : 0;
  const int64_t rowBytes = static_cast<int64_t>(config_.heads) * (shape_.valueDim * shape_.valueBytes + 4);
  span(layer, Stage::neutralize, begun, {rows * rowBytes + kernel_.moved(), 0});
}

void Rank::neutralizeRow(int token) {
  const int64_t n = static_cast<int64_t>(config_.heads) * shape_.valueDim;
  std::memset(out_ + token * n * shape_.valueBytes, 0, static_cast<size_t>(n * shape_.valueBytes));
  std::fill_n(own_.lse + static_cast<int64_t>(token) * config_.heads, config_.heads, lse::kNone);
}

void Rank::noteRow(int layer, int token) {
  const int n = config_.heads * shape_.valueDim;
  const float* lse = own_.lse + static_cast<int64_t>(token) * config_.heads;
  RowStats stats;
  shared_.code.rows.stats(out_ + static_cast<int64_t>(token) * n * shape_.valueBytes, shared_.bf16(), n,
                          stats);
  const int request = token / config_.qLen;
  QueryRowRow row{};
  row.lseMin = std::numeric_limits<float>::quiet_NaN();
  row.lseMax = std::numeric_limits<float>::quiet_NaN();
  for (int h = 0; h < config_.heads; ++h) {
    if (std::isnan(lse[h])) ++row.lseNan;
    row.lseMin = std::fmin(row.lseMin, lse[h]);
    row.lseMax = std::fmax(row.lseMax, lse[h]);
  }
  trace_.nan.note(stats.nan, layer, request, token);
  trace_.inf.note(stats.inf, layer, request, token);
  trace_.lseNan.note(row.lseNan, layer, request, token);
  if (!shared_.frame.traced) return;
  row.step = shared_.frame.step;
  row.layer = layer;
  row.request = request;
  row.qIndex = token % config_.qLen;
  row.globalLen = static_cast<int32_t>(shared_.frame.after[request]);
  row.localLen = static_cast<int32_t>(metadata(layer).localLength(request));
  row.visible = visible_[token];
  row.outNan = stats.nan;
  row.outInf = stats.inf;
  row.outAbsmax = stats.absmax;
  trace_.rows.push(row);
}

void Rank::restOfLayer() {
  volatile uint32_t sink = 0;
  // A round on a chunk is two operations on each of its fp32 values.
  const double perByte =
      static_cast<double>(config_.restOfLayerFlops) / static_cast<double>(config_.restOfLayerBytes);
  const auto rounds = static_cast<int64_t>(std::llround(perByte * sizeof(float) / 2));
  for (int64_t left = config_.restOfLayerBytes; left > 0 && !shared_.cancelled(); left -= kRestChunk) {
    const int64_t bytes = std::min((left + 1023) / 1024 * 1024, kRestChunk);
    const unsigned char* from = shared_.rest.data() + restAt_;
    sink = sink + (rounds == 0 ? shared_.code.read.sum(from, bytes)
                               : shared_.code.read.multiply(from, bytes, rounds));
    restAt_ += kRestChunk;
    if (restAt_ >= shared_.rest.size()) restAt_ = 0;
  }
}

Tensor* Rank::kept(int layer, const char* tensor) {
  if (!shared_.state.captures(layer)) return nullptr;
  for (Capture& capture : trace_.captures) {
    if (capture.layer != layer) continue;
    for (Tensor& t : capture.tensors)
      if (std::strcmp(t.name, tensor) == 0) return &t;
  }
  return nullptr;
}

void Rank::keep(int layer, const char* tensor, const void* from) {
  if (Tensor* to = kept(layer, tensor)) std::memcpy(to->data.data(), from, to->data.size());
}

/** As dumps have it, in whatever layout the kernel wrote. */
void Rank::keepKernel(int layer) {
  if (Tensor* out = kept(layer, "out_kernel")) kernel_.copyOut(out->data.data());
  if (Tensor* lse = kept(layer, "lse_kernel")) kernel_.copyLse(reinterpret_cast<float*>(lse->data.data()));
}

}  // namespace dcpscope
