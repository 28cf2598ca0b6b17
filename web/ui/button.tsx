/** Buttons. One that may not be pressed stays reachable and says why. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  readonly type?: 'button' | 'submit';
  /** Why it may not be pressed. */
  readonly why?: string | undefined;
  readonly isBusy?: boolean;
  readonly label?: string;
  readonly popoverTarget?: string;
  readonly onPress?: () => unknown;
}

export function Button({
  children,
  kind = 'plain',
  type = 'button',
  why,
  isBusy = false,
  ...rest
}: ButtonProps) {
  const id = useId();
  const isOff = why !== undefined || isBusy;
  return (
    <span class="button-place">
      <button
        type={type}
        class={`button button-${kind}`}
        aria-disabled={isOff}
        aria-busy={isBusy}
        aria-label={rest.label}
        aria-describedby={why === undefined ? undefined : id}
        popovertarget={isOff ? undefined : rest.popoverTarget}
        onClick={(event) => {
          if (isOff) event.preventDefault();
          else rest.onPress?.();
        }}
      >
        {children}
      </button>
      {why !== undefined && (
        <span class="why" id={id} role="note">
          {why}
        </span>
      )}
    </span>
  );
}
