/** A sentence for a person: a bundle that cannot be read or written, or a question that cannot be answered. */
export class StoreProblem extends Error {
  override readonly name = 'StoreProblem'
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

export const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')

/** What kept a file from being written, in words; DuckDB reports the system's text without a code. */
export const writeReason = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT' || /No space left on device|Disk quota exceeded/i.test(text))
    return 'the disk is full'
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    /Permission denied|Read-only file/i.test(text)
  )
    return 'writing is not permitted'
  if (isMissing(error) || /No such file or directory|Not a directory/i.test(text))
    return 'the folder of the run was removed'
  return oneLine(text)
}

/** One sentence for a failed write of a bundle; the path stands last. */
export const writeProblem = (error: unknown, path: string): StoreProblem =>
  error instanceof StoreProblem
    ? error
    : new StoreProblem(`the run could not be written: ${writeReason(error)}: ${path}`)

/** A message of several lines (DuckDB shows the SQL with a caret below) as one line. */
export const oneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^\^+$/.test(line))
    .join(' ')

export const problemText = (error: unknown): string =>
  oneLine(error instanceof Error ? error.message : String(error))
