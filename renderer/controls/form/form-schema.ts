import { z } from 'zod'

/** How one value of the configuration is edited. */
export type Control =
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'number'; readonly integer: boolean; readonly min?: number; readonly max?: number }
  | { readonly kind: 'switch' }
  | { readonly kind: 'text'; readonly maxLength: number }
  /** A list of numbers, written with commas. */
  | { readonly kind: 'numbers' }
  /** Some of these words. */
  | { readonly kind: 'words'; readonly options: readonly string[] }
  | {
      readonly kind: 'table'
      readonly columns: readonly FormField[]
      readonly newRow: Readonly<Record<string, unknown>>
    }
  /** One of some words, or a value of another kind. */
  | { readonly kind: 'either'; readonly options: readonly string[]; readonly other: Control }
  | { readonly kind: 'json' }

export interface FormField {
  readonly key: string
  readonly title: string
  readonly description: string
  readonly unit: string
  readonly control: Control
  /** May be left out without standing for a default of the schema. */
  readonly optional: boolean
  /** Value that holds while the field is left out; undefined where there is none. */
  readonly fallback: unknown
}

export interface FormSection {
  readonly key: string
  /** Part of the configuration that its fields lie in; empty for one that gathers fields of the outermost part. */
  readonly path: string
  readonly title: string
  readonly description: string
  /** Named from the section's path on; a section that is one list has one field with an empty key. */
  readonly fields: readonly FormField[]
}

interface Words {
  readonly title: string
  readonly description: string
  readonly unit: string
}

/** `headDim` as words, for what has no title of its own. */
const plainTitle = (key: string): string => {
  const words = key.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const wordsOf = (schema: z.ZodType, key: string): Words => {
  const meta = schema.meta()
  return {
    title: meta?.title ?? plainTitle(key),
    description: meta?.description ?? '',
    unit: typeof meta?.unit === 'string' ? meta.unit : '',
  }
}

interface Unwrapped {
  readonly inner: z.ZodType
  readonly optional: boolean
  readonly fallback: unknown
}

const asType = (schema: unknown): z.ZodType => {
  if (schema instanceof z.ZodType) return schema
  throw new Error('a schema of the configuration is of a kind that the form does not know')
}

/** Takes off what says only when a value may be missing. */
const unwrap = (schema: z.ZodType): Unwrapped => {
  if (schema instanceof z.ZodOptional) return { ...unwrap(asType(schema.unwrap())), optional: true }
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return { ...unwrap(asType(schema.unwrap())), fallback: schema.parse(undefined) }
  return { inner: schema, optional: false, fallback: undefined }
}

/** A limit that says nothing, such as the largest safe integer. */
const limit = (value: number | null | undefined): number | undefined =>
  value == null || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? undefined : value

const numberControl = (schema: z.ZodNumber): Control => {
  const min = limit(schema.minValue)
  const max = limit(schema.maxValue)
  return {
    kind: 'number',
    integer: schema.format === 'safeint',
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  }
}

const fallbacksOf = (columns: readonly FormField[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    columns.flatMap(({ key, fallback, optional, control }) =>
      fallback !== undefined ? [[key, fallback]] : optional ? [] : [[key, emptyOf(control)]],
    ),
  )

const emptyOf = (control: Control): unknown => {
  switch (control.kind) {
    case 'choice':
    case 'either':
      return control.options[0]
    case 'number':
      return control.min ?? 0
    case 'switch':
      return false
    case 'text':
      return ''
    case 'numbers':
    case 'words':
    case 'table':
      return []
    case 'json':
      return {}
  }
}

const listControl = (schema: z.ZodArray): Control => {
  const { inner } = unwrap(asType(schema.element))
  if (inner instanceof z.ZodObject) {
    const columns = fieldsOf(inner)
    return { kind: 'table', columns, newRow: fallbacksOf(columns) }
  }
  if (inner instanceof z.ZodEnum) return { kind: 'words', options: enumWords(inner) }
  return inner instanceof z.ZodNumber ? { kind: 'numbers' } : { kind: 'json' }
}

const wordsIn = (control: Control): readonly string[] => (control.kind === 'choice' ? control.options : [])

const unionControl = (schema: z.ZodUnion): Control => {
  const branches = schema.options.map((option) => controlOf(unwrap(asType(option)).inner))
  const options = branches.flatMap(wordsIn)
  const others = branches.filter(({ kind }) => kind !== 'choice')
  const [other] = others
  if (other === undefined) return { kind: 'choice', options }
  return others.length === 1 && options.length > 0 ? { kind: 'either', options, other } : { kind: 'json' }
}

/** Words as the schema lists them, but numbers last: an object, which holds the words of an enum, gives them first. */
const enumWords = (schema: z.ZodEnum): string[] => {
  const words = schema.options.map(String)
  const isNumber = (word: string): boolean => /^\d+$/.test(word)
  return [...words.filter((word) => !isNumber(word)), ...words.filter(isNumber)]
}

const controlOf = (schema: z.ZodType): Control => {
  if (schema instanceof z.ZodEnum) return { kind: 'choice', options: enumWords(schema) }
  if (schema instanceof z.ZodLiteral) return { kind: 'choice', options: [...schema.values].map(String) }
  if (schema instanceof z.ZodNumber) return numberControl(schema)
  if (schema instanceof z.ZodBoolean) return { kind: 'switch' }
  if (schema instanceof z.ZodString) return { kind: 'text', maxLength: limit(schema.maxLength) ?? 1000 }
  if (schema instanceof z.ZodArray) return listControl(schema)
  if (schema instanceof z.ZodUnion) return unionControl(schema)
  return { kind: 'json' }
}

const fieldOf = (key: string, schema: z.ZodType): FormField => {
  const { inner, optional, fallback } = unwrap(schema)
  return { key, ...wordsOf(schema, key), control: controlOf(inner), optional, fallback }
}

/** Fields of a part of a configuration, in the order of its schema. */
export const fieldsOf = (schema: z.ZodObject): FormField[] =>
  Object.entries(schema.shape).map(([key, field]) => fieldOf(key, asType(field)))

const sectionOf = (key: string, schema: z.ZodType): FormSection => {
  const { title, description } = wordsOf(schema, key)
  const { inner } = unwrap(schema)
  return {
    key,
    path: key,
    title,
    description,
    fields: inner instanceof z.ZodObject ? fieldsOf(inner) : [{ ...fieldOf('', schema), title, description }],
  }
}

/** Sections and fields of a configuration schema, in its order. */
export const formOf = (schema: z.ZodObject): FormSection[] =>
  Object.entries(schema.shape).map(([key, section]) => sectionOf(key, asType(section)))
