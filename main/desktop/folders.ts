import { basename, extname, join } from 'node:path'
import { app, type BrowserWindow, dialog, shell } from 'electron'
import { makeFolder } from '../process/make-folder.ts'
import { writeWhole } from './write-whole.ts'

/** Asks for bundles; none when the person cancels. */
export const chooseBundles = async (window: BrowserWindow, folder: string): Promise<readonly string[]> => {
  const { filePaths } = await dialog.showOpenDialog(window, {
    title: 'Open run bundles',
    defaultPath: folder,
    buttonLabel: 'Open bundle',
    properties: ['openDirectory', 'multiSelections'],
  })
  return filePaths
}

/** Asks for files or a folder of a tensor dump; none when the person cancels. */
export const chooseDump = async (
  window: BrowserWindow,
  pick: 'files' | 'folder',
): Promise<readonly string[]> => {
  const { filePaths } = await dialog.showOpenDialog(
    window,
    pick === 'files'
      ? {
          title: 'Open files of a tensor dump',
          buttonLabel: 'Open dump',
          properties: ['openFile', 'multiSelections'],
          filters: [
            { name: 'Tensor dumps', extensions: ['safetensors'] },
            { name: 'All files', extensions: ['*'] },
          ],
        }
      : {
          title: 'Open a folder of tensor dumps',
          buttonLabel: 'Open dump',
          properties: ['openDirectory', 'multiSelections'],
        },
  )
  return filePaths
}

/** Opens the folder in the file manager, and makes it first where no run was ever made. */
export const showFolder = async (folder: string): Promise<void> => {
  makeFolder(folder)
  const trouble = await shell.openPath(folder)
  if (trouble !== '') throw new Error(`cannot show ${folder}: ${trouble}`)
}

/** Asks where to save a file, and writes it there, whole or not at all; its name, undefined when the person cancels. */
export const saveFile = async (
  window: BrowserWindow,
  name: string,
  content: string | Uint8Array,
): Promise<string | undefined> => {
  const extension = extname(name).slice(1)
  const { canceled, filePath } = await dialog.showSaveDialog(window, {
    title: `Save ${name}`,
    defaultPath: join(app.getPath('documents'), name),
    ...(extension === '' ? {} : { filters: [{ name: extension.toUpperCase(), extensions: [extension] }] }),
  })
  if (canceled || filePath === undefined || filePath === '') return undefined
  await writeWhole(filePath, content)
  return basename(filePath)
}
