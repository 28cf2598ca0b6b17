/** The browser's own dialog: it keeps the focus inside, closes with Escape, and gives the focus back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly isWide?: boolean;
  readonly onClose: () => void;
}

export function Dialog({ title, children, isWide = false, onClose }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      isGone.current = true;
      dialog?.close();
    };
  }, []);
  // The browser tells of the close of one that another has replaced, too: that closes nothing.
  const closed = () => {
    if (!isGone.current) onClose();
  };
  return (
    <dialog ref={ref} class={isWide ? 'dialog dialog-wide' : 'dialog'} aria-labelledby={id} onClose={closed}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
