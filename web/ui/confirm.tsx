/** Says what will be done before it is; what cannot be taken back asks for the name. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Action, useAction } from './action.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { FailureNotice } from './failure.tsx';
import { TextField } from './field.tsx';

interface ConfirmProps {
  readonly title: string;
  /** What will happen. */
  readonly children: ComponentChildren;
  readonly verb: string;
  /** Typed by hand before anything that cannot be taken back. */
  readonly name?: string;
  readonly isDangerous?: boolean;
  readonly isWide?: boolean;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

export function Confirm({
  title,
  children,
  verb,
  name,
  isDangerous = false,
  isWide = false,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const action: Action<[]> = useAction(onConfirm);
  const why = name !== undefined && typed !== name ? `Type ${name} first.` : undefined;
  return (
    <Dialog title={title} onClose={onClose} isWide={isWide}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (why === undefined && (await action.run())) onClose();
        }}
      >
        <div class={isWide ? 'stack' : 'prose'}>{children}</div>
        {name !== undefined && (
          <TextField
            label={`To confirm, type ${name}`}
            name="name"
            value={typed}
            onText={setTyped}
            isFocused
          />
        )}
        {action.failure && <FailureNotice failure={action.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Keep as it is</Button>
          <Button type="submit" kind={isDangerous ? 'danger' : 'primary'} why={why} isBusy={action.isBusy}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
