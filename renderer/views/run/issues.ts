import { useMemo } from 'react'
import type { ConfigIssue } from '../../../app/run/parse.ts'
import { within } from '../../state/config-path.ts'
import { useRunForm } from '../../state/form.ts'

/** Issues at a path or below it. */
export const issuesAt = (issues: readonly ConfigIssue[], path: string): readonly ConfigIssue[] =>
  issues.filter((issue) => within(issue.path, path))

export const useIssuesAt = (path: string): readonly ConfigIssue[] => {
  const issues = useRunForm((s) => s.issues)
  return useMemo(() => issuesAt(issues, path), [issues, path])
}

/** How many places the list above the form names; the rest is counted. */
export const MOST_SHOWN = 5
