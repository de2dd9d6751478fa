#include "core/metadata.h"

#include <algorithm>

#include "core/deal.h"

namespace dcpscope {
namespace {

/** A graph is captured with requests of one token. */
constexpr int64_t kCapturedLength = 1;

/** Cells of a row that global lengths, or a width that is larger by the factor of the dcp size, cannot leave.
 */
int64_t roomyCells(const Config& c, const Shape& s) { return c.faults.empty() ? 0 : s.columns * c.ranks + 1; }

}  // namespace

Metadata::Metadata(const RunState& state, int rank, Branch branch)
    : state_(state),
      config_(state.config),
      shape_(state.shape),
      rank_(rank),
      branch_(branch),
      pageTable_(branch == Branch::draftExtend ? *state.draftPages : state.pages),
      roomy_(roomyCells(config_, shape_)),
      globals_(shape_.requests),
      lengths_(shape_.requests),
      columns_(shape_.requests),
      table_(cells(config_, shape_)),
      written_(shape_.requests * roomy_),
      slots_(shape_.tokens),
      bounded_(shape_.tokens) {
  for (int r = 0; r < shape_.requests; ++r) {
    globals_[r] = kCapturedLength;
    lengths_[r] = localised(r, kCapturedLength);
    writeBounds(r, kCapturedLength);
  }
}

int64_t Metadata::cells(const Config& c, const Shape& s) {
  return std::max<int64_t>(c.faults.empty() ? s.cells() : s.requests * roomyCells(c, s), 1);
}

int64_t Metadata::bytes(const Config& c, const Shape& s) {
  return s.requests * 24 + cells(c, s) * (c.faults.empty() ? 4 : 8) + s.tokens * 12;
}

const Fault* Metadata::fault(FaultKind kind) const {
  const int layer = branch_ == Branch::draftExtend ? kDraftLayer : kAllLayers;
  return state_.faults.at(kind, rank_, layer, state_.frame.step);
}

Refreshed Metadata::refresh() {
  const Fault* stale = fault(FaultKind::staleGraphMetadata);
  const bool lengths = stale == nullptr || stale->variant == kStalePages;
  const bool pages = stale == nullptr || stale->variant == kStaleLengths;
  int64_t written = 0;
  for (int r = 0; r < shape_.requests; ++r) {
    globals_[r] = globalOf(r);
    if (lengths) lengths_[r] = lengthOf(r);
    if (lengths) writeBounds(r, handedLength(r));
    if (pages) writeTable(r);
    if (pages) written += columns_[r] * 4;
    writeSlots(r);
  }
  const Fault* width = fault(FaultKind::tableWidthMismatch);
  if (pages && width != nullptr) misreadTable(width->variant == kTableNarrow);
  return {lengths, pages, written};
}

void Metadata::writeTable(int request) {
  int32_t* row = &table_[begin(request)];
  columns_[request] = pageTable_.columns(request);
  std::copy_n(pageTable_.row(request), columns_[request], row);
  if (fault(FaultKind::pageTableNotLocal) == nullptr) return;
  // What stands behind the request's own pages belongs to others.
  const int64_t valid = columns_[request];
  columns_[request] = layout::columns(handedLength(request), 1, config_.pageSize);
  for (int64_t column = valid; column < columns_[request]; ++column)
    row[column] = static_cast<int32_t>((row[0] + column) % shape_.poolPages);
}

/**
 * The buffer has rows of one width and is read with rows of another. `narrow`: it was sized by the dcp size
 * once more, so that rows run into the next ones; else its reader takes the rows for wider by that factor.
 * Reads end where the buffer does.
 */
void Metadata::misreadTable(bool narrow) {
  const int64_t c = config_.ranks;
  int64_t widest = 1;
  for (int r = 0; r < shape_.requests; ++r) widest = std::max(widest, columns_[r]);
  const int64_t width = narrow ? (widest + c - 1) / c : widest;
  const int64_t stride = narrow ? width : widest * c;
  const int64_t cells = shape_.requests * width;
  std::fill_n(written_.data(), cells, 0);
  for (int r = 0; r < shape_.requests; ++r)
    for (int64_t column = 0; column < columns_[r] && r * width + column < cells; ++column)
      written_[r * width + column] = pages(r)[column];
  for (int r = 0; r < shape_.requests; ++r) {
    for (int64_t column = 0; column < roomy_; ++column)
      table_[begin(r) + column] = written_[std::min(r * stride + column, cells - 1)];
    columns_[r] = narrow ? std::min(columns_[r], width) : std::min(stride, roomy_);
  }
}

void Metadata::writeSlots(int request) {
  for (int q = 0; q < config_.qLen; ++q)
    slots_[request * config_.qLen + q] = slotOf(request, state_.frame.before[request] + q);
}

int64_t Metadata::slotOf(int request, int64_t token) const {
  if (request >= batchRequests(config_)) return -1;
  if (fault(FaultKind::slotMapIgnoresDcp) != nullptr) return slotAt(request, token);
  const Deal deal = dealOf(config_, request, writtenInterleave());
  if (deal.owner(token) == rank_) return slotAt(request, deal.localIndex(token));
  return doubles(request) ? slotAt(request, lengthOf(request) - 1) : -1;
}

/** Slot of a local index; beyond the request's pages it finds the first page of the pool, as in a table of
 * zeros. */
int64_t Metadata::slotAt(int request, int64_t local) const {
  const int64_t column = local / config_.pageSize;
  const int64_t page = column < pageTable_.columns(request) ? pageTable_.row(request)[column] : 0;
  return layout::slot(page, local, config_.pageSize);
}

/** `length`: global length of the request with its new tokens. */
void Metadata::writeBounds(int request, int64_t length) {
  for (int q = 0; q < config_.qLen; ++q) {
    const int64_t token = static_cast<int64_t>(request) * config_.qLen + q;
    bounded_[token] = static_cast<int32_t>(boundOf(request, length, q));
  }
}

int64_t Metadata::writtenInterleave() const {
  const Fault* other = fault(FaultKind::interleaveMismatch);
  return other != nullptr && other->variant == kInterleaveOfCache ? other->amount : config_.interleave;
}

/** Local keys among the first `global` of a request, as metadata has it. */
int64_t Metadata::localised(int request, int64_t global) const {
  const Fault* other = fault(FaultKind::interleaveMismatch);
  const int64_t I =
      other != nullptr && other->variant == kInterleaveOfLengths ? other->amount : config_.interleave;
  const Deal deal = dealOf(config_, request, I);
  const int64_t local = deal.localLength(global, rank_);
  const Fault* swapped = fault(FaultKind::lengthViewsSwapped);
  if (swapped == nullptr) return local;
  return swapped->variant == kGlobalForLocal ? std::max<int64_t>(global, 0) : deal.localLength(local, rank_);
}

/** Global length of a request with its new tokens, from what the scheduler hands the branch. */
int64_t Metadata::handedLength(int request) const {
  switch (branch_) {
    case Branch::decode:
    case Branch::draftExtend:
      return state_.frame.after[request];
    case Branch::targetVerify:
      // The tokens that the draft proposes are not counted yet.
      return request < batchRequests(config_) ? state_.frame.before[request] + config_.qLen
                                              : config_.padLength;
  }
  return 0;
}

int64_t Metadata::globalOf(int request) const {
  const int64_t global = handedLength(request);
  const Fault* swapped = fault(FaultKind::lengthViewsSwapped);
  return swapped != nullptr && swapped->variant == kLocalForGlobal
             ? dealOf(config_, request).localLength(global, rank_)
             : global;
}

int64_t Metadata::lengthOf(int request) const {
  const int64_t local = localised(request, handedLength(request));
  const Fault* gap = fault(FaultKind::coverageGap);
  const int64_t missing = gap != nullptr && gap->variant == kGapOfTokens ? gap->amount : 0;
  return std::max<int64_t>(local - missing, 0) + (doubles(request) ? 1 : 0);
}

/** Whether the rank also stores and counts the newest token, which another one owns. */
bool Metadata::doubles(int request) const {
  if (fault(FaultKind::coverageOverlap) == nullptr || request >= batchRequests(config_)) return false;
  const Deal deal = dealOf(config_, request);
  const int64_t after = handedLength(request);
  const bool foreign = deal.owner(after - 1) != rank_;
  const int64_t held = deal.localLength(after, rank_);
  return foreign && held / config_.pageSize < pageTable_.columns(request);
}

int64_t Metadata::boundOf(int request, int64_t length, int q) const {
  const int n = config_.qLen;
  const int64_t held = lengths_[request];
  const int64_t global = layout::visibleGlobal(length, n, q);
  // The kernel takes the count of keys from that of pages.
  if (fault(FaultKind::pageTableNotLocal) != nullptr) return std::max<int64_t>(global, 0);
  if (const Fault* causal = fault(FaultKind::causalEndAligned))
    return causal->variant == kCausalHides ? std::max<int64_t>(held - (n - 1) + q, 0) : held;
  return q == n - 1 ? held : std::min(localised(request, global), held);
}

}  // namespace dcpscope
