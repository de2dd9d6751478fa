#include "core/trace.h"

#include <algorithm>

namespace dcpscope {
namespace {

using enum ColumnType;

constexpr ColumnSpec kSpan[] = {{"step", i32},     {"layer", i32},        {"stage", u8},
                                {"stream", i32},   {"start_ns", i64},     {"dur_ns", i64},
                                {"bytes", i64},    {"flops", i64},        {"collective_seq", i32},
                                {"enter_ns", i64}, {"last_enter_ns", i64}};
constexpr ColumnSpec kQueryRow[] = {
    {"step", i32},       {"layer", i32},        {"request", i32}, {"q_index", i32}, {"global_len", i32},
    {"local_len", i32},  {"visible_keys", i32}, {"empty", u8},    {"out_nan", i32}, {"out_inf", i32},
    {"out_absmax", f32}, {"lse_nan", i32},      {"lse_min", f32}, {"lse_max", f32}};
constexpr ColumnSpec kPage[] = {
    {"step", i32}, {"request", i32}, {"column", i32}, {"page", i32}, {"valid", i32}};
constexpr ColumnSpec kStep[] = {{"step", i32},           {"start_ns", i64},    {"wall_ns", i64},
                                {"device_ns", i64},      {"untraced_ns", i64}, {"tokens", i32},
                                {"max_abs_err", f64},    {"max_rel_err", f64}, {"checked_rows", i32},
                                {"graph_replayed", u8},  {"kernel_trace", u8}, {"draft_proposed", i32},
                                {"draft_accepted", i32}, {"once_ns", i64}};
constexpr ColumnSpec kKernel[] = {
    {"step", i32},    {"layer", i32},   {"stage", u8},    {"name", i32},      {"start_ns", i64},
    {"dur_ns", i64},  {"bytes", i64},   {"grid_x", i32},  {"grid_y", i32},    {"grid_z", i32},
    {"block_x", i32}, {"block_y", i32}, {"block_z", i32}, {"registers", i32}, {"shared_bytes", i32},
    {"stream", i32},  {"graph", u8}};
constexpr ColumnSpec kEvent[] = {{"step", i32},    {"layer", i32},   {"rank", i32},
                                 {"request", i32}, {"time_ns", i64}, {"kind", u8},
                                 {"row", i32},     {"value", f64},   {"limit", f64}};

constexpr const char* kStageNames[kStageCount] = {"metadata",       "q_all_gather",  "kv_append",
                                                  "decode_attn",    "split_combine", "neutralize",
                                                  "lse_all_gather", "lse_correct",   "out_reduce_scatter",
                                                  "out_all_to_all", "merge",         "rest_of_layer",
                                                  "graph_replay",   "stall"};

}  // namespace

const char* name(Stage stage) { return kStageNames[static_cast<int>(stage)]; }

std::span<const ColumnSpec> spanColumns() { return kSpan; }
std::span<const ColumnSpec> queryRowColumns() { return kQueryRow; }
std::span<const ColumnSpec> pageColumns() { return kPage; }
std::span<const ColumnSpec> stepColumns() { return kStep; }
std::span<const ColumnSpec> kernelColumns() { return kKernel; }
std::span<const ColumnSpec> eventColumns() { return kEvent; }

int64_t rowBytes(std::span<const ColumnSpec> columns) {
  int64_t bytes = 0;
  for (const ColumnSpec& column : columns) bytes += width(column.type);
  return bytes;
}

Ring::Ring(std::span<const ColumnSpec> columns, int64_t capacity)
    : columns_(columns), capacity_(capacity), data_(capacity * rowBytes(columns)) {
  unsigned char* at = data_.data();
  for (const ColumnSpec& column : columns) {
    base_.push_back(at);
    at += capacity * width(column.type);
  }
}

template <class... T>
void Ring::append(const T&... values) {
  if (room() == 0) {
    ++dropped_;
    return;
  }
  const int64_t at = head_ % capacity_;
  size_t column = 0;
  (std::memcpy(base_[column++] + at * static_cast<int64_t>(sizeof(T)), &values, sizeof(T)), ...);
  ++head_;
}

void Ring::push(const SpanRow& r) {
  constexpr int32_t stream = 0;
  append(r.step, r.layer, r.stage, stream, r.start, r.duration, r.bytes, r.flops, r.collective, r.enter,
         r.lastEnter);
}

void Ring::push(const QueryRowRow& r) {
  const uint8_t empty = r.visible == 0 ? 1 : 0;
  append(r.step, r.layer, r.request, r.qIndex, r.globalLen, r.localLen, r.visible, empty, r.outNan, r.outInf,
         r.outAbsmax, r.lseNan, r.lseMin, r.lseMax);
}

void Ring::push(const PageRow& r) { append(r.step, r.request, r.column, r.page, r.valid); }

void Ring::push(const StepRow& r) {
  const uint8_t replayed = r.replayed ? 1 : 0;
  const uint8_t kernelTrace = r.kernelTrace ? 1 : 0;
  append(r.step, r.start, r.wall, r.device, r.untraced, r.tokens, r.maxAbs, r.maxRel, r.checked, replayed,
         kernelTrace, r.proposed, r.accepted, r.once);
}

void Ring::push(const KernelRow& r) {
  const uint8_t graph = r.graph ? 1 : 0;
  append(r.step, r.layer, r.stage, r.name, r.start, r.duration, r.bytes, r.grid[0], r.grid[1], r.grid[2],
         r.block[0], r.block[1], r.block[2], r.registers, r.sharedBytes, r.stream, graph);
}

void Ring::push(const EventRow& r) {
  append(r.step, r.layer, r.rank, r.request, r.time, r.kind, r.row, r.value, r.limit);
}

void Ring::copy(size_t column, int64_t rows, void* to) const {
  const int64_t bytes = width(columns_[column].type);
  const int64_t begin = tail_ % capacity_;
  const int64_t first = std::min(rows, capacity_ - begin);
  std::memcpy(to, base_[column] + begin * bytes, static_cast<size_t>(first * bytes));
  std::memcpy(static_cast<unsigned char*>(to) + first * bytes, base_[column],
              static_cast<size_t>((rows - first) * bytes));
}

}  // namespace dcpscope
