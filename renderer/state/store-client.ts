import type { StoreMethod, StoreParams, StoreResult } from '../../app/protocol/store.ts'
import type { RequestOptions } from './client.ts'
import { client } from './store-connection.ts'

/** Asks the store; rejects with a sentence when it refuses or ends. */
export const request = <M extends StoreMethod>(
  method: M,
  params: StoreParams<M>,
  options?: RequestOptions,
): Promise<StoreResult<M>> => client.request(method, params, options)
