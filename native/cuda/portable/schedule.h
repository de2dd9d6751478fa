#pragma once
#include <cstdint>

/**
 * How the work is dealt out over a fixed number of blocks. An item is one tile of query rows of one group; a
 * group is what shares its keys: a request, or a query token when sparse. All items in a row, each kItemCost
 * units and one for each tile of its keys, form a line; every block does an equal piece of it. A block that
 * begins or ends inside an item leaves a partial result in one of its two slots.
 */
namespace dcpscope::cuda::portable {

/** What an item costs beside its keys, in tiles: loading queries, writing results. */
constexpr int64_t kItemCost = 3;
/** Keys below which splitting an item does not pay. */
constexpr int64_t kLeastKeys = 128;

constexpr int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/** Units of the line that one block does. */
constexpr int64_t shareOf(int64_t total, int64_t blocks, int64_t tileKeys) {
  const int64_t equal = divideUp(total, blocks);
  const int64_t least = kItemCost + kLeastKeys / tileKeys;
  return equal > least ? equal : least;
}

/** An item on the line: it begins at unit `begin`, its tiles at `begin + kItemCost`. */
struct Item {
  int64_t begin;
  int64_t tiles;

  constexpr int64_t end() const { return begin + kItemCost + tiles; }
  /** Block that does the first tile, and the last; one without tiles belongs to the block of its first unit.
   */
  constexpr int64_t firstBlock(int64_t share) const {
    return (tiles > 0 ? begin + kItemCost : begin) / share;
  }
  constexpr int64_t lastBlock(int64_t share) const { return (tiles > 0 ? end() - 1 : begin) / share; }
  constexpr bool split(int64_t share) const { return firstBlock(share) != lastBlock(share); }

  /** First tile that `block` does, and the one behind its last; equal when it does none. */
  constexpr int64_t firstTile(int64_t block, int64_t share) const { return clamped(block * share); }
  constexpr int64_t endTile(int64_t block, int64_t share) const { return clamped((block + 1) * share); }

 private:
  constexpr int64_t clamped(int64_t unit) const {
    const int64_t tile = unit - begin - kItemCost;
    return tile < 0 ? 0 : tile > tiles ? tiles : tile;
  }
};

/** Slot for the partial result of a split item: a block ends inside at most one item and begins inside at
 * most one. */
constexpr int64_t slotOf(const Item& item, int64_t block, int64_t share) {
  return 2 * block + (block == item.firstBlock(share) ? 1 : 0);
}

/** Item `index` of the group whose items occupy the units from `groupBegin` to before `groupEnd`. */
constexpr Item itemOf(int64_t groupBegin, int64_t groupEnd, int items, int index) {
  const int64_t cost = (groupEnd - groupBegin) / items;
  return {groupBegin + index * cost, cost - kItemCost};
}

}  // namespace dcpscope::cuda::portable
