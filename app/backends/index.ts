import { native } from './native.ts'
import type { Profile } from './profile.ts'
import { sglangCutedslMla } from './sglang-cutedsl-mla.ts'
import { sglangTokenspeedMla } from './sglang-tokenspeed-mla.ts'
import { sglangTrtllmMla } from './sglang-trtllm-mla.ts'
import { trtllmHelix } from './trtllm-helix.ts'
import { vllmCutlassMla } from './vllm-cutlass-mla.ts'
import { vllmFlashAttnMla } from './vllm-flash-attn-mla.ts'
import { vllmFlashinferGqa } from './vllm-flashinfer-gqa.ts'
import { vllmFlashinferMla } from './vllm-flashinfer-mla.ts'
import { vllmFlashinferMlaLegacy } from './vllm-flashinfer-mla-legacy.ts'
import { vllmFlashmla } from './vllm-flashmla.ts'
import { vllmFlashmlaSparse } from './vllm-flashmla-sparse.ts'
import { vllmTokenspeedMla } from './vllm-tokenspeed-mla.ts'
import { vllmTritonMla } from './vllm-triton-mla.ts'

/** Every back-end; the first one is taken where none is named. */
export const PROFILES: readonly [Profile, ...Profile[]] = [
  native,
  sglangTrtllmMla,
  sglangCutedslMla,
  sglangTokenspeedMla,
  vllmFlashinferMla,
  vllmFlashinferMlaLegacy,
  vllmTokenspeedMla,
  vllmFlashmla,
  vllmFlashmlaSparse,
  vllmFlashAttnMla,
  vllmCutlassMla,
  vllmTritonMla,
  vllmFlashinferGqa,
  trtllmHelix,
]

export const BACKEND_NAMES: readonly string[] = PROFILES.map(({ name }) => name)

/** The profile of a name that the schema has accepted; without a name our own. */
export const profileNamed = (name: string | undefined): Profile => {
  const found = name === undefined ? PROFILES[0] : PROFILES.find((profile) => profile.name === name)
  if (found === undefined) throw new RangeError(`there is no back-end ${name}`)
  return found
}
