#include "cuda/tests/attention_cases.h"

#include <algorithm>
#include <random>
#include <set>

namespace dcpscope::cuda::tests {
namespace {

constexpr KvType kFormats[] = {KvType::bf16, KvType::fp8, KvType::fp8DsMla};
constexpr int kPageSizes[] = {64, 16, 128, 32};
constexpr EmptyRow kEmptyRows[] = {EmptyRow::neutral, EmptyRow::unwritten, EmptyRow::plusInf, EmptyRow::nan};

class Grid {
 public:
  Grid(bool reduced, uint32_t seed) : reduced_(reduced), seed_(seed) {}

  /** Every case has data of its own. */
  void add(const std::string& name, AttentionCase made) {
    made.seed = seed_ * 10007 + uint32_t(cases_.size());
    cases_.push_back({std::string(nameOf(made.kv)) + "/" + name, std::move(made)});
  }
  /** What a group of cases does not vary itself follows from a hash of the case's number. */
  AttentionCase base(KvType kv) const {
    const uint32_t hash = uint32_t(cases_.size() + 1) * 0x9e3779b9U;
    AttentionCase made;
    made.kv = kv;
    made.pageSize = kPageSizes[hash >> 28 & 3];
    made.outFp32 = (hash >> 20 & 15) < 5;
    made.base2 = (hash >> 17 & 1) != 0;
    made.emptyRow = kEmptyRows[hash >> 13 & 3];
    made.lengths = borderLengths(reduced_);
    return made;
  }
  std::vector<NamedCase> take() { return std::move(cases_); }

 private:
  bool reduced_;
  uint32_t seed_;
  std::vector<NamedCase> cases_;
};

void addShapes(Grid& grid, KvType kv, bool reduced) {
  const std::vector<int> heads =
      reduced ? std::vector<int>{1, 16, 20, 128} : std::vector<int>{1, 2, 3, 8, 16, 20, 32, 64, 96, 128};
  const std::vector<int> qLens = reduced ? std::vector<int>{1, 3} : std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8};
  for (const int h : heads) {
    for (const int q : qLens) {
      AttentionCase made = grid.base(kv);
      made.heads = h;
      made.qLen = q;
      grid.add(format("shape/h%d/q%d/p%d", h, q, made.pageSize), made);
    }
  }
}

void addShards(Grid& grid, KvType kv) {
  for (const int interleave : {1, 4, 16}) {
    for (const int ranks : {1, 2, 3, 4, 8, 16}) {
      for (const int rank : std::set<int>{0, ranks / 2, ranks - 1}) {
        for (const int q : {1, 4, 7}) {
          AttentionCase made = grid.base(kv);
          made.interleave = interleave;
          made.ranks = ranks;
          made.rank = rank;
          made.qLen = q;
          made.lengths.insert(made.lengths.end(), {20000, 20001, 16383, 8 * 64 * 3 + 5});
          grid.add(format("dcp%d/i%d/r%d/q%d", ranks, interleave, rank, q), made);
        }
      }
    }
  }
}

void addSparse(Grid& grid, KvType kv, bool reduced) {
  const std::vector<int> topks =
      reduced ? std::vector<int>{17, 128} : std::vector<int>{1, 2, 16, 17, 63, 64, 65, 128, 500, 2048};
  for (const int topk : topks) {
    for (const int heads : {1, 16, 64, 128}) {
      for (const int q : {1, 2}) {
        if (reduced && heads != 16 && q == 2) continue;
        AttentionCase made = grid.base(kv);
        made.topk = topk;
        made.heads = heads;
        made.qLen = q;
        made.missing = heads == 16 ? 0.5 : heads == 64 ? 0.97 : 0;
        grid.add(format("sparse/k%d/h%d/q%d/p%d", topk, heads, q, made.pageSize), made);
      }
    }
  }
  AttentionCase none = grid.base(kv);
  none.topk = 200;
  none.missing = 1;
  grid.add("sparse/none", none);
}

void addEmptyRows(Grid& grid, KvType kv) {
  constexpr const char* kNames[] = {"neutral", "unwritten", "plusInf", "nan"};
  for (const int topk : {0, 64}) {
    for (size_t kind = 0; kind < 4; ++kind) {
      for (const bool fp32 : {false, true}) {
        AttentionCase made = grid.base(kv);
        made.lengths = {0, 1, 0, 200, 2, 0};
        made.topk = topk;
        made.qLen = 4;
        made.outFp32 = fp32;
        made.emptyRow = kEmptyRows[kind];
        grid.add(
            format("empty/%s/%s/%s", kNames[kind], fp32 ? "fp32" : "bf16", topk > 0 ? "sparse" : "dense"),
            made);
      }
    }
  }
  AttentionCase all = grid.base(kv);
  all.lengths.assign(20, 0);
  grid.add("empty/all", all);
}

void addBatches(Grid& grid, KvType kv) {
  std::mt19937_64 random(11);
  for (const int requests : {1, 7, 128, 600}) {
    for (const int64_t longest : {int64_t(90), int64_t(5000)}) {
      AttentionCase made = grid.base(kv);
      made.lengths.clear();
      for (int r = 0; r < requests; ++r) made.lengths.push_back(int64_t(random() % uint64_t(longest)));
      grid.add(format("batch/b%d/n%lld", requests, static_cast<long long>(longest)), made);
    }
  }
  for (const int heads : {16, 128}) {
    for (const int q : {1, 2}) {
      AttentionCase made = grid.base(kv);
      made.heads = heads;
      made.qLen = q;
      made.lengths = {3, 1 << 20, 0, 4097, 129, 64};
      grid.add(format("million/h%d/q%d/p%d", heads, q, made.pageSize), made);
    }
  }
}

void addData(Grid& grid, KvType kv) {
  for (const int heads : {1, 16, 64, 128}) {
    for (const int topk : {0, 512}) {
      AttentionCase made = grid.base(kv);
      made.needles = true;
      made.heads = heads;
      made.topk = topk;
      made.lengths.push_back(40000);
      grid.add(format("needles/h%d/k%d", heads, topk), made);
    }
  }
  for (const int page : kPageSizes) {
    AttentionCase made = grid.base(kv);
    made.wildIds = true;
    made.pageSize = page;
    grid.add(format("wild-ids/p%d", page), made);
  }
}

/** Pages and widths beside the usual ones. */
void addOdd(Grid& grid) {
  for (const KvType kv : kFormats) {
    for (const int page : {1, 7, 8, 48, 96, 192, 256, 300}) {
      AttentionCase made = grid.base(kv);
      made.pageSize = page;
      made.qLen = 2;
      grid.add(format("odd/page%d", page), made);
    }
  }
  constexpr int kWidths[][2] = {{16, 16}, {64, 16}, {128, 64}, {256, 32}, {272, 48}, {496, 80}, {512, 256}};
  for (const KvType kv : {KvType::bf16, KvType::fp8}) {
    for (const auto& [latent, rope] : kWidths) {
      AttentionCase made = grid.base(kv);
      made.latent = latent;
      made.rope = rope;
      made.qLen = 2;
      grid.add(format("odd/v%d-r%d", latent, rope), made);
    }
  }
}

/** A column for the NaN of request `r`: in the latent part for some, in the rope part for others; in the keys
 * of one KV head or another. */
int nanColumn(const AttentionCase& made, size_t r, int heads = 1) {
  return int(r) * 173 % (heads * (made.latent + made.rope));
}

/** A NaN in one query row of every request. That of a row without keys must not show. */
AttentionCase withNanQueries(AttentionCase made) {
  for (size_t r = 0; r < made.lengths.size(); ++r) {
    const int64_t token = int64_t(r) * made.qLen + int64_t(r) % made.qLen;
    const int64_t head = (7 * int64_t(r) + 3) % made.heads;
    made.nanQueries.push_back({token * made.heads + head, nanColumn(made, r)});
  }
  return made;
}

/** A NaN in the first key of a request, in one in the middle, or in the last; every second has none. */
AttentionCase withNanKeys(AttentionCase made) {
  for (size_t r = 1; r < made.lengths.size(); r += 2) {
    const int64_t last = made.lengths[r] - 1;
    made.nanKeys.push_back(
        {int(r), last * (int64_t(r) / 2 % 3) / 2, nanColumn(made, r, std::max(made.kvHeads, 1))});
  }
  return made;
}

/** Requests that one block does and such that many share; the first one has no keys. */
std::vector<int64_t> nanLengths(bool reduced) {
  if (reduced) return {0, 1, 17, 64, 300, 300, 2000, 2000};
  return {0, 1, 17, 64, 300, 4097, 4097, 40000, 40000, 40000};
}

void addNanQueries(Grid& grid, KvType kv, bool reduced) {
  for (const int heads : reduced ? std::vector<int>{16} : std::vector<int>{16, 20, 128}) {
    for (const int q : reduced ? std::vector<int>{3} : std::vector<int>{1, 3}) {
      AttentionCase made = grid.base(kv);
      made.heads = heads;
      made.qLen = q;
      made.lengths = nanLengths(reduced);
      grid.add(format("nan/query/h%d/q%d", heads, q), withNanQueries(made));
    }
  }
  if (reduced) return;
  // So few keys that some blocks find none where others find nothing but NaN.
  AttentionCase sparse = grid.base(kv);
  sparse.qLen = 2;
  sparse.topk = 2048;
  sparse.missing = 0.99;
  sparse.lengths = nanLengths(reduced);
  grid.add("nan/query/sparse", withNanQueries(sparse));
}

void addNanKeys(Grid& grid, KvType kv, bool reduced) {
  for (const int heads : reduced ? std::vector<int>{16} : std::vector<int>{16, 20, 128}) {
    // One query token: of several, those that may not see the key yet share its tile, where the probability
    // of 0 that they give it does not keep the NaN out of their products.
    AttentionCase made = grid.base(kv);
    made.heads = heads;
    made.qLen = 1;
    made.lengths = nanLengths(reduced);
    grid.add(format("nan/key/h%d", heads), withNanKeys(made));
  }
  // Every token has a list of keys of its own. In a request of 64 both have all that they may see: the last
  // key only the second one.
  AttentionCase sparse = grid.base(kv);
  sparse.qLen = 2;
  sparse.topk = 64;
  sparse.lengths = {40, 40, 300, 300, 64, 64};
  grid.add("nan/key/sparse", withNanKeys(sparse));
}

/** Query heads, KV heads and their width as models have them, and the ends of what is allowed. */
struct Heads {
  int heads;
  int kvHeads;
  int width;
};
constexpr Heads kHeads[] = {{32, 8, 128}, {64, 8, 128}, {28, 4, 128}, {64, 4, 128}, {16, 8, 256},
                            {8, 1, 256},  {32, 32, 96}, {12, 12, 64}, {71, 1, 64},  {20, 5, 80},
                            {128, 2, 16}, {3, 3, 16},   {16, 2, 512}, {40, 1, 512}, {128, 128, 64}};
constexpr Heads kReducedHeads[] = {{8, 2, 128}, {3, 3, 16}, {40, 1, 512}};

AttentionCase withHeads(AttentionCase made, const Heads& heads) {
  made.heads = heads.heads;
  made.kvHeads = heads.kvHeads;
  made.latent = heads.width;
  made.rope = 0;
  return made;
}

std::string nameOf(const Heads& heads) {
  return format("h%d-kv%d-d%d", heads.heads, heads.kvHeads, heads.width);
}

void addGroupedShapes(Grid& grid, KvType kv, bool reduced) {
  const auto add = [&](const Heads& heads, int q) {
    AttentionCase made = withHeads(grid.base(kv), heads);
    made.qLen = q;
    grid.add(format("shape/%s/q%d/p%d", nameOf(heads).c_str(), q, made.pageSize), made);
  };
  if (reduced) {
    for (const Heads& heads : kReducedHeads)
      for (const int q : {1, 3}) add(heads, q);
    return;
  }
  for (const Heads& heads : kHeads)
    for (int q = 1; q <= 8; ++q) add(heads, q);
}

void addGroupedShards(Grid& grid, KvType kv) {
  for (const int interleave : {1, 4, 16})
    for (const int ranks : {2, 3, 8})
      for (const int rank : std::set<int>{0, ranks / 2, ranks - 1})
        for (const int q : {1, 5}) {
          AttentionCase made = withHeads(grid.base(kv), {16, 2, 128});
          made.interleave = interleave;
          made.ranks = ranks;
          made.rank = rank;
          made.qLen = q;
          made.lengths.insert(made.lengths.end(), {20000, 20001, 16383, 8 * 64 * 3 + 5});
          grid.add(format("dcp%d/i%d/r%d/q%d", ranks, interleave, rank, q), made);
        }
}

void addGroupedBatches(Grid& grid, KvType kv) {
  std::mt19937_64 random(13);
  for (const int requests : {1, 7, 300}) {
    AttentionCase made = withHeads(grid.base(kv), {8, 4, 64});
    made.lengths.clear();
    for (int r = 0; r < requests; ++r) made.lengths.push_back(int64_t(random() % 5000));
    grid.add(format("batch/b%d", requests), made);
  }
  AttentionCase million = withHeads(grid.base(kv), {8, 2, 64});
  million.lengths = {3, 1 << 20, 0, 4097, 129, 64};
  grid.add("million", million);
  AttentionCase needles = withHeads(grid.base(kv), {32, 8, 128});
  needles.needles = true;
  needles.lengths.push_back(40000);
  grid.add("needles", needles);
  for (const int page : {1, 7, 48, 300}) {
    AttentionCase made = withHeads(grid.base(kv), {8, 2, 128});
    made.pageSize = page;
    made.qLen = 2;
    made.wildIds = true;
    grid.add(format("page%d", page), made);
  }
}

void addGroupedEmptyRows(Grid& grid, KvType kv) {
  for (size_t kind = 0; kind < 4; ++kind)
    for (const bool fp32 : {false, true}) {
      AttentionCase made = withHeads(grid.base(kv), {8, 2, 64});
      made.lengths = {0, 1, 0, 200, 2, 0};
      made.qLen = 4;
      made.outFp32 = fp32;
      made.emptyRow = kEmptyRows[kind];
      grid.add(format("empty/%zu/%s", kind, fp32 ? "fp32" : "bf16"), made);
    }
}

void addGroupedNan(Grid& grid, KvType kv, bool reduced) {
  for (const Heads& heads : {Heads{8, 2, 128}, Heads{6, 6, 64}}) {
    AttentionCase queries = withHeads(grid.base(kv), heads);
    queries.qLen = 3;
    queries.lengths = nanLengths(reduced);
    grid.add("nan/query/" + nameOf(heads), withNanQueries(queries));
    AttentionCase keys = withHeads(grid.base(kv), heads);
    keys.lengths = nanLengths(reduced);
    grid.add("nan/key/" + nameOf(heads), withNanKeys(keys));
  }
}

}  // namespace

const char* nameOf(KvType kv) {
  return kv == KvType::bf16       ? "bf16"
         : kv == KvType::fp8      ? "fp8"
         : kv == KvType::fp8DsMla ? "fp8_ds_mla"
                                  : "fp32";
}

std::vector<int64_t> borderLengths(bool reduced) {
  if (reduced) return {0, 1, 16, 63, 65, 130, 300};
  return {0, 1, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 1000, 4095, 4096, 4097};
}

std::vector<NamedCase> attentionGrid(bool reduced, uint32_t seed) {
  Grid grid(reduced, seed);
  for (const KvType kv : kFormats) {
    addShapes(grid, kv, reduced);
    addSparse(grid, kv, reduced);
    if (reduced) continue;
    addShards(grid, kv);
    addEmptyRows(grid, kv);
    addBatches(grid, kv);
    addData(grid, kv);
  }
  if (!reduced) addOdd(grid);
  for (const KvType kv : kFormats) {
    addNanQueries(grid, kv, reduced);
    addNanKeys(grid, kv, reduced);
  }
  return grid.take();
}

std::vector<NamedCase> groupedGrid(bool reduced, uint32_t seed) {
  Grid grid(reduced, seed);
  for (const KvType kv : {KvType::bf16, KvType::fp8}) {
    addGroupedShapes(grid, kv, reduced);
    addGroupedNan(grid, kv, reduced);
    if (reduced) continue;
    addGroupedShards(grid, kv);
    addGroupedBatches(grid, kv);
    addGroupedEmptyRows(grid, kv);
  }
  return grid.take();
}

}  // namespace dcpscope::cuda::tests
