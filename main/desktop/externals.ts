import { parseUrl } from './url.ts'

/** Hosts whose pages the product links to: sources of rules and known failures. */
const HOSTS: ReadonlySet<string> = new Set([
  'github.com',
  'docs.vllm.ai',
  'docs.sglang.ai',
  'arxiv.org',
  'huggingface.co',
])

/** Whether a link may be opened in the user's browser. */
export const externalAllowed = (url: string): boolean => {
  const parsed = parseUrl(url)
  if (parsed === undefined) return false
  const { protocol, hostname, port, username, password } = parsed
  return protocol === 'https:' && HOSTS.has(hostname) && port === '' && username === '' && password === ''
}
