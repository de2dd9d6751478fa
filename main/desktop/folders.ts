import { resolve } from 'node:path'
import { type BrowserWindow, dialog, shell } from 'electron'
import { makeFolder } from '../process/make-folder.ts'

/** Asks for a bundle; undefined when the person cancels. */
export const chooseBundle = async (window: BrowserWindow, folder: string): Promise<string | undefined> => {
  const { filePaths } = await dialog.showOpenDialog(window, {
    title: 'Open a run bundle',
    defaultPath: folder,
    buttonLabel: 'Open bundle',
    properties: ['openDirectory'],
  })
  return filePaths[0]
}

/** Opens the folder in the file manager, and makes it first where no run was ever made. */
export const showFolder = async (folder: string): Promise<void> => {
  makeFolder(folder)
  const trouble = await shell.openPath(folder)
  if (trouble !== '') throw new Error(`cannot show ${folder}: ${trouble}`)
}

/** Bundle that a command line names. */
export const bundleArgument = (argv: readonly string[], cwd: string): string | undefined => {
  const given = argv.find((argument) => !argument.startsWith('-') && /\.dcp[/\\]?$/.test(argument))
  return given === undefined ? undefined : resolve(cwd, given)
}
