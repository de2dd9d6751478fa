import { useMemo } from 'react'
import type { ConfigIssue } from '../../../app/run/parse.ts'
import { within } from '../../state/config-path.ts'
import { useForm } from './form-context.ts'
import type { FormSection } from './form-schema.ts'

/** Issues at a path or below it. */
export const issuesAt = (issues: readonly ConfigIssue[], path: string): readonly ConfigIssue[] =>
  issues.filter((issue) => within(issue.path, path))

export const useIssuesAt = (path: string): readonly ConfigIssue[] => {
  const { issues } = useForm()
  return useMemo(() => issuesAt(issues, path), [issues, path])
}

/** Path of a field of a section; the one of a section that is one list is the section's own. */
export const pathIn = ({ path }: Pick<FormSection, 'path'>, { key }: { readonly key: string }): string =>
  path === '' ? key : key === '' ? path : `${path}.${key}`

/** Whether a path is of a section: of its part of the configuration, or of one of its fields where it is no part. */
export const belongs = (path: string, section: FormSection): boolean =>
  section.path === ''
    ? section.fields.some((field) => within(path, pathIn(section, field)))
    : within(path, section.path)

/** How many places the list above the form names; the rest is counted. */
export const MOST_SHOWN = 5
