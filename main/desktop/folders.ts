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
