import { execFileSync } from 'node:child_process'

const tried = (program: string, ...args: readonly string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * Makes a folder one that nobody can write to, root included, by mounting it read-only onto itself or else by its attribute;
 * gives what undoes that, undefined where neither is possible here.
 */
export const readOnly = (folder: string): (() => void) | undefined => {
  if (tried('mount', '--bind', folder, folder)) {
    const undo = (): void => void tried('umount', folder)
    if (tried('mount', '-o', 'remount,ro,bind', folder)) return undo
    undo()
  }
  return tried('chattr', '+i', folder) ? () => void tried('chattr', '-i', folder) : undefined
}
