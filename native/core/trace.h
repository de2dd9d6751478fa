#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/block.h"

namespace dcpscope {

/** Codes as in app/trace/stages.ts. */
enum class Stage : uint8_t {
  metadata,
  qAllGather,
  kvAppend,
  decodeAttn,
  splitCombine,
  neutralize,
  lseAllGather,
  lseCorrect,
  outReduceScatter,
  outAllToAll,
  merge,
  restOfLayer,
  graphReplay,
  stall,
};
constexpr int kStageCount = static_cast<int>(Stage::stall) + 1;
/** As in app/trace/stages.ts. */
const char* name(Stage stage);

enum class EventKind : uint8_t {
  nanInPartial,
  infInPartial,
  nanInLse,
  emptyRank,
  nanInMerged,
  checkFailed,
  poolFull,
  captureIncomplete,
  kernelsRecorded,
  kernelsNotRecorded,
};

enum class ColumnType : uint8_t { i32, i64, f32, f64, u8 };
constexpr int width(ColumnType type) {
  switch (type) {
    case ColumnType::u8:
      return 1;
    case ColumnType::i32:
    case ColumnType::f32:
      return 4;
    case ColumnType::i64:
    case ColumnType::f64:
      return 8;
  }
  return 8;
}

struct ColumnSpec {
  const char* name;
  ColumnType type;
};

/** Rows of the tables of app/trace/tables.ts, in the order of their columns. */
struct SpanRow {
  int32_t step;
  int32_t layer;
  Stage stage;
  int64_t start;
  int64_t duration;
  int64_t bytes;
  int64_t flops;
  int32_t collective = -1;
  int64_t enter = -1;
  int64_t lastEnter = -1;
};
struct QueryRowRow {
  int32_t step;
  int32_t layer;
  int32_t request;
  int32_t qIndex;
  int32_t globalLen;
  int32_t localLen;
  int32_t visible;
  int32_t outNan;
  int32_t outInf;
  float outAbsmax;
  int32_t lseNan;
  float lseMin;
  float lseMax;
};
struct PageRow {
  int32_t step;
  int32_t request;
  int32_t column;
  int32_t page;
  int32_t valid;
};
struct StepRow {
  int32_t step;
  int64_t start;
  int64_t wall;
  /** Of `wall`, see StepTimes. */
  int64_t once;
  int64_t device;
  /** Without tracing, -1 where that was not run. */
  int64_t untraced;
  int32_t tokens;
  double maxAbs;
  double maxRel;
  int32_t checked;
  bool replayed;
  /** CUPTI was on, which makes a step slower. */
  bool kernelTrace;
  /** Tokens that the draft proposed, and those of them that count as accepted; -1 where nothing was judged.
   */
  int32_t proposed;
  int32_t accepted;
};
struct KernelRow {
  int32_t step;
  int32_t layer;
  Stage stage;
  /** Index in RunState::kernelNames. */
  int32_t name;
  int64_t start;
  int64_t duration;
  /** Of copies and fills, -1 for kernels. */
  int64_t bytes;
  /** 0 for copies and fills. */
  int32_t grid[3];
  int32_t block[3];
  /** A thread, and of a block; -1 for copies and fills. */
  int32_t registers;
  int32_t sharedBytes;
  int32_t stream;
  bool graph;
};
struct EventRow {
  int32_t step;
  int32_t layer;
  int32_t rank;
  int32_t request;
  int64_t time;
  EventKind kind;
  /** Query row of the batch, -1 for none. */
  int32_t row;
  double value;
  double limit;
};

std::span<const ColumnSpec> spanColumns();
std::span<const ColumnSpec> queryRowColumns();
std::span<const ColumnSpec> pageColumns();
std::span<const ColumnSpec> stepColumns();
std::span<const ColumnSpec> kernelColumns();
std::span<const ColumnSpec> eventColumns();

/** Bytes of one row. */
int64_t rowBytes(std::span<const ColumnSpec> columns);

/** Bounded ring of rows as struct of arrays. One writer at a time, never beside a reader. */
class Ring {
 public:
  Ring(std::span<const ColumnSpec> columns, int64_t capacity);

  void push(const SpanRow& row);
  void push(const QueryRowRow& row);
  void push(const PageRow& row);
  void push(const StepRow& row);
  void push(const KernelRow& row);
  void push(const EventRow& row);

  std::span<const ColumnSpec> columns() const { return columns_; }
  int64_t size() const { return head_ - tail_; }
  int64_t room() const { return capacity_ - size(); }
  /** Rows that did not fit. */
  int64_t dropped() const { return dropped_; }

  /** Position that `rewind` returns to: rows of a step that was given up. */
  int64_t mark() const { return head_; }
  void rewind(int64_t mark) { head_ = mark; }

  /** Copies the oldest `rows` values of a column. */
  void copy(size_t column, int64_t rows, void* to) const;
  /** Forgets the oldest `rows`. */
  void discard(int64_t rows) { tail_ += rows; }

 private:
  template <class... T>
  void append(const T&... values);

  std::span<const ColumnSpec> columns_;
  int64_t capacity_;
  Block<unsigned char> data_;
  std::vector<unsigned char*> base_;
  int64_t head_ = 0;
  int64_t tail_ = 0;
  int64_t dropped_ = 0;
};

}  // namespace dcpscope
