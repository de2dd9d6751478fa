/** Address of what `owner/repository#number` names; other sources as they are. */
export const sourceAddress = (source: string): string => {
  const [, repository, number] = /^([\w.-]+\/[\w.-]+)#(\d+)$/.exec(source) ?? []
  return repository === undefined ? source : `https://github.com/${repository}/issues/${number}`
}
