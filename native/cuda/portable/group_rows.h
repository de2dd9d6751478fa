#pragma once
#include <cstdint>

#include "core/device_code.h"

namespace dcpscope::cuda::portable {

/**
 * What says which query rows share a KV head: H query heads of each query token, equally many a KV head, of
 * which `together` follow each other, before those of the next KV head and at last of the first again.
 */
struct KvGroups {
  int qLen;
  int heads;
  int kvHeads;
  int together;
};

/**
 * Row of [T][H] that is row `inGroup` of a group: group r * kvHeads + k is KV head k of request r, its rows
 * are of each query token the heads that share it.
 */
DCPSCOPE_HD constexpr int64_t groupedRow(const KvGroups& of, int group, int inGroup) {
  const int each = of.heads / of.kvHeads;
  const int64_t token = static_cast<int64_t>(group / of.kvHeads) * of.qLen + inGroup / each;
  const int i = inGroup % each;
  const int turn = i / of.together * of.kvHeads + group % of.kvHeads;
  return token * of.heads + turn * of.together + i % of.together;
}

}  // namespace dcpscope::cuda::portable
