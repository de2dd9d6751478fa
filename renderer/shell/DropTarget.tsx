import { useEffect, useState } from 'react'
import { FolderIcon } from './icons.tsx'

const holdsFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true

/**
 * Shows that files and folders can be dropped on the window while some are dragged over it. The preload takes what is dropped
 * and sends it to main, which says what it opened.
 */
export const DropTarget = () => {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const drag = (event: DragEvent): void => {
      if (holdsFiles(event)) setOver(true)
    }
    // Entering a child leaves its parent; only leaving the window has no other element.
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (): void => setOver(false)
    window.addEventListener('dragenter', drag)
    window.addEventListener('dragover', drag)
    window.addEventListener('dragleave', leave)
    window.addEventListener('drop', drop)
    return () => {
      window.removeEventListener('dragenter', drag)
      window.removeEventListener('dragover', drag)
      window.removeEventListener('dragleave', leave)
      window.removeEventListener('drop', drop)
    }
  }, [])
  return over ? (
    <div className="drop-target" data-testid="drop-target">
      <p>
        <FolderIcon /> Drop run bundles, or files and folders of a tensor dump
      </p>
    </div>
  ) : null
}
