import { TensorReader } from '../../app/dump/reader.ts'
import { fileSource } from '../dump/file-source.ts'

/** Opens a `.safetensors` file. Rejects with DumpError for one that is not valid, with the system's error for one that cannot be opened. */
export const openTensorFile = async (path: string): Promise<TensorReader> => {
  const source = await fileSource(path)
  try {
    return await TensorReader.open(source)
  } catch (error) {
    await source.close()
    throw error
  }
}
