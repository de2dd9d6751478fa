/** What of the open run did not happen as it is shown: one word here, the sentences for the pointer and for readers. */
export const EmulatedNote = ({ emulated }: { readonly emulated: string | undefined }) =>
  emulated === undefined ? null : (
    <span className="badge source-badge" title={emulated} data-testid="emulated-note">
      emulated<span className="visually-hidden">: {emulated}</span>
    </span>
  )
