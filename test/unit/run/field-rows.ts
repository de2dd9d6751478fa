import type { z } from 'zod'

export type Schema = z.core.JSONSchema._JSONSchema

export const partsOf = (schema: Schema | undefined): z.core.JSONSchema.JSONSchema =>
  schema === undefined || typeof schema === 'boolean' ? {} : schema

const bound = (value: number): string =>
  value >= 65_536 && Number.isInteger(Math.log2(value)) ? `2^${Math.log2(value)}` : String(value)

const bounds = ({ minimum, exclusiveMinimum, maximum, multipleOf }: z.core.JSONSchema.JSONSchema): string =>
  [
    typeof exclusiveMinimum === 'number'
      ? `above ${bound(exclusiveMinimum)}, up to`
      : `${bound(minimum ?? 0)} to`,
    maximum === undefined ? '' : bound(maximum),
    multipleOf === undefined ? '' : `in steps of ${multipleOf}`,
  ]
    .filter((text) => text !== '')
    .join(' ')

/** What a field takes, in a few words. */
export const takes = (schema: z.core.JSONSchema.JSONSchema): string => {
  if (schema.anyOf !== undefined) return schema.anyOf.map((branch) => takes(partsOf(branch))).join(', or ')
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(' ')
  switch (schema.type) {
    case 'integer':
    case 'number':
      return bounds(schema)
    case 'boolean':
      return '`true` `false`'
    case 'array': {
      const items = Array.isArray(schema.items) ? undefined : schema.items
      const item = partsOf(items)
      const most = schema.maxItems === undefined ? '' : ` (at most ${schema.maxItems})`
      return item.type === 'object' ? `a list of objects${most}` : `a list of ${takes(item)}${most}`
    }
    case 'object':
      return 'an object of text by name'
    default:
      return 'text'
  }
}

/** Rows of the table that documents a field and those within it: path, what it takes, default, description. */
export const row = (path: string, given: Schema): string[] => {
  const schema = partsOf(given)
  const fallback = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``
  const unit = typeof schema.unit === 'string' ? `, in ${schema.unit}` : ''
  const own = `| \`${path}\` | ${takes(schema)}${unit} | ${fallback} | ${schema.description ?? ''} |`
  const item = Array.isArray(schema.items) ? {} : partsOf(schema.items)
  return [own, ...rows(`${path}[].`, item)]
}

export const rows = (prefix: string, schema: z.core.JSONSchema.JSONSchema): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([key, field]) => row(prefix + key, field))
