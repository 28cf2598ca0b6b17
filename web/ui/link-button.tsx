/** A link that looks like a button; where one may not go, it says why. */
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';

interface LinkButtonProps {
  readonly href: string;
  readonly kind?: 'primary' | 'plain' | 'quiet';
  readonly why?: string | undefined;
  readonly children: ComponentChildren;
}

export function LinkButton({ href, kind = 'plain', why, children }: LinkButtonProps) {
  if (why !== undefined)
    return (
      <Button kind={kind} why={why}>
        {children}
      </Button>
    );
  return (
    <a class={`button button-${kind}`} href={href}>
      {children}
    </a>
  );
}
