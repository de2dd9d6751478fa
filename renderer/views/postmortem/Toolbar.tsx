import { CloseIcon, FolderIcon } from '../../shell/icons.tsx'
import { useCalculator } from '../../state/calculator.ts'
import { useDump } from '../../state/dump.ts'
import type { GroupRef } from '../../state/dump-group.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useView } from '../../state/view.ts'
import { OF_DUMPS } from '../merge/Missing.tsx'
import { type DumpGroup, isElsewhere } from './model.ts'
import type { DumpView } from './use-dump-view.ts'

/** Which dump, step and layer is shown, and the ways to other views. */
export const Toolbar = ({ view }: { readonly view: DumpView }) => (
  <div className="toolbar pm-toolbar" role="toolbar" aria-label="Post-mortem">
    <SourcePick />
    <GroupPick view={view} />
    <Jumps view={view} />
  </div>
)

const SourcePick = () => {
  const { openRun, desktop, openDump, showDump, forgetDump } = useSession()
  const { dump, show } = useDump()
  const dumps = desktop?.dumps ?? []
  const known = dump === null || dumps.some(({ id }) => id === dump)
  return (
    <>
      <select
        className="input pm-source"
        aria-label="Dump"
        data-testid="pm-source"
        value={dump ?? ''}
        onChange={(event) => (event.target.value === '' ? show(null) : showDump(event.target.value))}
      >
        {openRun === null || openRun.captures.length === 0 ? null : (
          <option value="">Captures of {openRun.manifest.name}</option>
        )}
        {known ? null : <option value={dump}>Dump</option>}
        {dumps.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <button
        type="button"
        className="button button-icon"
        title="Open files of a dump (Ctrl+Shift+O)"
        aria-label="Open files of a dump"
        onClick={() => void openDump('files')}
      >
        <FolderIcon />
      </button>
      {dump === null ? null : (
        <button
          type="button"
          className="button button-quiet button-icon"
          title="Take this dump out of the list; its files stay"
          aria-label="Take this dump out of the list"
          onClick={() => void forgetDump(dump)}
        >
          <CloseIcon />
        </button>
      )}
    </>
  )
}

const GroupPick = ({ view: { contents, ref } }: { readonly view: DumpView }) => {
  const selection = useSelection()
  const { select } = selection
  if (contents === null || ref === null) return null
  const steps = [...new Set(contents.groups.map(({ step }) => step))]
  const layers = contents.groups.filter(({ step }) => step === ref.step).map(({ layer }) => layer)
  const group = contents.groups.find(({ step, layer }) => step === ref.step && layer === ref.layer)
  return (
    <>
      <NumberPick
        label="step"
        value={ref.step}
        all={steps}
        onPick={(step) => select({ step, layer: null })}
      />
      <NumberPick
        label="layer"
        value={ref.layer}
        all={layers}
        onPick={(layer) => select({ step: ref.step, layer })}
      />
      <span className="pm-note" data-testid="pm-group-note">
        {group === undefined ? '' : groupText(group)}
        {isElsewhere(ref, selection) ? <b> – {elsewhereText(selection)}</b> : null}
      </span>
    </>
  )
}

const groupText = (group: NonNullable<DumpView['contents']>['groups'][number]): string =>
  `${group.ranks.length === group.dcpSize ? '' : `${group.ranks.length} of `}${group.dcpSize} ${group.dcpSize === 1 ? 'rank' : 'ranks'}`

const elsewhereText = ({ step, layer }: { step: number | null; layer: number | null }): string =>
  `${[...(step === null ? [] : [`step ${step}`]), ...(layer === null ? [] : [`layer ${layer}`])].join(', ')} was not dumped; the nearest is shown`

interface NumberPickProps {
  readonly label: string
  readonly value: number
  readonly all: readonly number[]
  readonly onPick: (value: number) => void
}

const NumberPick = ({ label, value, all, onPick }: NumberPickProps) => (
  <label className="pm-pick">
    <span>{label}</span>
    <select
      className="input num"
      data-testid={`pm-${label}`}
      value={value}
      onChange={(event) => onPick(Number(event.target.value))}
    >
      {all.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  </label>
)

/** Shows the requests of a dump in Ownership. */
const showOwnership = (
  { dump, step, layer }: GroupRef & { readonly dump: string },
  name: string,
  { globalLens, interleave, pageSize, dcpSize, files }: DumpGroup,
): void => {
  const counts = files.filter(({ tensors }) => tensors.some((tensor) => tensor.name === 'seq_lens_local'))
  useCalculator.getState().showDumped({
    dump,
    name,
    step,
    layer,
    lens: Array.from(globalLens ?? []),
    counted: counts.length >= dcpSize,
    dcp: dcpSize,
    interleave,
    page: pageSize ?? interleave,
  })
  useView.getState().show('ownership')
}

const Jumps = ({ view: { source, ref, shown } }: { readonly view: DumpView }) => {
  const show = useView((s) => s.show)
  const select = useSelection((s) => s.select)
  const dumps = useSession((s) => s.desktop?.dumps)
  const isRun = source?.isRun === true
  const group = shown?.group ?? null
  const take = (to: GroupRef, view: 'merge' | 'ownership'): void => {
    select({ step: to.step, layer: to.layer })
    if (view === 'ownership') useCalculator.getState().setSource('run')
    show(view)
  }
  const lengths = group !== null && group.globalLens !== null
  return (
    <span className="pm-jumps">
      {isRun && ref !== null ? (
        <button
          type="button"
          className="button"
          data-testid="pm-to-merge"
          title="This row and head in Merge"
          onClick={() => take(ref, 'merge')}
        >
          Merge
        </button>
      ) : ref === null ? null : (
        <button type="button" className="button" data-testid="pm-no-merge" disabled title={OF_DUMPS}>
          Merge
        </button>
      )}
      {ref === null ? null : (
        <button
          type="button"
          className="button"
          data-testid="pm-to-ownership"
          disabled={!isRun && !lengths}
          title={
            isRun || lengths
              ? 'The tokens of this request in Ownership'
              : 'The dump has no seq_lens_global, so the length of the request is not known'
          }
          onClick={() =>
            isRun
              ? take(ref, 'ownership')
              : group !== null &&
                showOwnership(ref, dumps?.find(({ id }) => id === ref.dump)?.name ?? 'dump', group)
          }
        >
          Ownership
        </button>
      )}
    </span>
  )
}
