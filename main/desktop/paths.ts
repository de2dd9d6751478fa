import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isLink } from './links.ts'

/** Whether a folder is the bundle of a run, also one that is damaged. */
export const isBundle = (path: string): boolean =>
  /\.dcp[/\\]?$/.test(path) || existsSync(join(path, 'run.json'))

/**
 * Bundles, dumps and folders that a command line names. `argv` without the program; what is no such name is for Electron
 * itself: its own switches, and the folder of the app. Links are no paths.
 */
export const pathArguments = (argv: readonly string[], cwd: string, app: string): string[] =>
  argv
    .filter((argument) => argument !== '' && !argument.startsWith('-') && !isLink(argument))
    .map((argument) => resolve(cwd, argument))
    .filter((path) => path !== resolve(app) && (/\.(dcp|safetensors)[/\\]?$/.test(path) || existsSync(path)))
