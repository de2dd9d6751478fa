import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { DTYPE_BYTES } from '../../../app/dump/safetensors.ts'
import { DUMP_FORMAT, dumpFileName, OPTIONAL_METADATA, TENSORS } from '../../../app/dump/schema.ts'
import { openTensorFile } from '../../../main/store/tensor-file.ts'
import { dcpscope } from '../cli/dcpscope.ts'
import { checkMerge, checkTypes, freshFolder, noPython, noTorch, onlyDump, play, python } from './play.ts'

const SOURCE = fileURLToPath(new URL('../../../main/recorder/dcpscope_recorder.py', import.meta.url))

/** Runs lines of Python beside the file that the command printed, where torch cannot be imported. */
const withoutTorch = async (lines: readonly string[]): Promise<unknown> => {
  const { code, stdout, stderr } = await dcpscope(['recorder'])
  expect([code, stderr]).toEqual([0, ''])
  const folder = freshFolder()
  writeFileSync(join(folder, 'dcpscope_recorder.py'), stdout)
  const begin = [
    'import json, logging, sys',
    "sys.modules['torch'] = None",
    `sys.path.insert(0, ${JSON.stringify(folder)})`,
  ]
  return python(['-B', '-c', [...begin, 'import dcpscope_recorder as recording', ...lines].join('\n')])
}

const withoutPython = noPython('the tests of the recorder without torch') !== undefined

describe('dcpscope recorder', () => {
  it('prints the file as it is', async () => {
    expect((await dcpscope(['recorder'])).stdout).toBe(readFileSync(SOURCE, 'utf8'))
  })

  it.skipIf(withoutPython)('knows the names and types of the format', async () => {
    const names = await withoutTorch([
      'names = lambda s: sorted(s)',
      'print(json.dumps(dict(format=recording.FORMAT, metadata=names(recording.METADATA), ' +
        'tensors=names(recording.TENSORS), types=names(recording.DTYPES.values()))))',
    ])
    expect(names).toEqual({
      format: DUMP_FORMAT,
      metadata: OPTIONAL_METADATA.map(({ key }) => key).sort(),
      tensors: TENSORS.map(({ name }) => name).sort(),
      types: Object.keys(DTYPE_BYTES)
        .filter((dtype) => dtype !== 'F64')
        .sort(),
    })
  })
})

describe.skipIf(withoutPython)('the writer of the recorder, without torch', () => {
  it('writes what the reader reads, under its name only when it is whole', async () => {
    const folder = freshFolder()
    const file = join(folder, dumpFileName(3, 0, 1))
    const files = await withoutTorch([
      'import os, struct',
      `path = ${JSON.stringify(file)}`,
      "metadata = dict(format=recording.FORMAT, rank='1', dcp_size='2', step='3', layer='0', engine='größer ☃')",
      "tensors = [('lse', 'F32', (1, 2), struct.pack('<2f', 1.5, float('-inf'))), ('slot_mapping', 'I64', (1,), struct.pack('<q', -1))]",
      'recording.write_safetensors(path, tensors, metadata)',
      'try:',
      "    recording.write_safetensors(path + '2', [('lse', 'F32', (1,), b'1234'), ('x', 'F32', (1,), 5)], {})",
      'except TypeError:',
      '    pass',
      `print(json.dumps(os.listdir(${JSON.stringify(folder)})))`,
    ])
    expect(files).toEqual([dumpFileName(3, 0, 1)])
    const reader = await openTensorFile(file)
    expect(reader.header.metadata.get('engine')).toBe('größer ☃')
    expect([...(await reader.values('lse'))]).toEqual([1.5, Number.NEGATIVE_INFINITY])
    expect([...(await reader.values('slot_mapping'))]).toEqual([-1])
    await reader.close()
  })

  it('is all that works: a recorder says once that torch is missing, and raises nothing', async () => {
    const folder = freshFolder()
    const messages = await withoutTorch([
      'lines = []',
      'handler = logging.Handler()',
      'handler.emit = lambda record: lines.append(record.getMessage())',
      "logging.getLogger('dcpscope_recorder').addHandler(handler)",
      `recorder = recording.Recorder(${JSON.stringify(join(folder, 'dump'))}, rank=0, dcp_size=1, steps='all')`,
      'for layer in range(3):',
      '    recorder.step(); recorder.record(layer, out=1); recorder.flush(); recorder.wants(layer); recorder.arm()',
      'print(json.dumps(lines))',
    ])
    expect(messages).toEqual([
      'dcpscope recorder: nothing is recorded: ImportError: torch cannot be imported',
    ])
    expect(readdirSync(folder)).toEqual([])
  })
})

const SUITE = 'the tests of the recorder with torch'

describe.skipIf(noTorch(SUITE, 'cpu') !== undefined)(SUITE, () => {
  it.each(['F32', 'BF16'] as const)(
    'records decode and merge of four ranks in %s, bit for bit',
    async (dtype) => {
      await checkMerge('cpu', dtype)
    },
  )

  it('records every type of the format', async () => {
    await checkTypes('cpu')
  })

  it('does nothing in steps that are not recorded', async () => {
    const { answer, folder } = await play('idle', 'cpu')
    expect(answer).toEqual({ allocations: 0, thread: false, wants: false, messages: [] })
    expect(readdirSync(folder)).toEqual([])
  })

  it('records the next step when it is armed, and writes at the end of the process', async () => {
    const { folder } = await play('armed', 'cpu')
    const { reader, info } = await onlyDump(folder)
    expect(info.step).toBe(12)
    expect([...(await reader.values('lse'))]).toEqual([2, 2])
    await reader.close()
  })

  it('writes the last layer although no step follows', async () => {
    const { answer } = await play('last', 'cpu')
    expect(answer.files).toEqual([dumpFileName(0, 0, 0)])
  })

  it('goes on whatever an engine hands over, and says each mistake once', async () => {
    const { answer, folder } = await play('mistakes', 'cpu')
    expect(answer.written).toBe(3)
    const messages: string[] = answer.messages ?? []
    const says = [
      /colour is neither a tensor nor metadata of the format/,
      /seq_lens_local is neither a tensor nor metadata/,
      /weights is no tensor of the format/,
      /topk has the type torch\.bool, which the format does not have/,
      /a pool is left out: it needs block_table in the same call, and page_size/,
      /lse of layer 0 came twice in step 0: the first is kept/,
      /layer 0 came again in step 0: what came first is kept/,
      /record: ValueError: there is no number in the layer's name 'attention'/,
      /arm: ValueError/,
      /nothing is recorded: NotADirectoryError/,
      /nothing is recorded: ValueError: rank must be 0 to dcp_size - 1, got 4 of 4/,
      /nothing is recorded: ValueError: .*'one'/,
    ]
    expect(messages.length).toBe(says.length)
    for (const [i, sentence] of says.entries()) expect(messages[i]).toMatch(sentence)
    expect(readdirSync(folder).sort()).toEqual([0, 1, 2].map((step) => dumpFileName(step, 0, 0)))
  })

  it('drops and counts what its queue or the disk does not take', async () => {
    const { answer, folder } = await play('full', 'cpu')
    expect(answer).toMatchObject({ small: [1, 1], gone: [0, 1] })
    expect(answer.messages).toEqual([
      'dcpscope recorder: the queue is full: layer 0 of step 0 is dropped',
      expect.stringMatching(/a file could not be written: FileNotFoundError/),
    ])
    expect(readdirSync(folder)).toEqual([dumpFileName(0, 1, 0)])
  })

  it('leaves code that torch compiles as a whole alone', async () => {
    const { answer, folder } = await play('compiled', 'cpu')
    expect(answer).toEqual({ doubled: true, written: 0, messages: [] })
    expect(readdirSync(folder)).toEqual([])
  })
})
