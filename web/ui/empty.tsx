/** A place where nothing is yet: what it is for, and what to do next. */
import type { ComponentChildren } from 'preact';
import type { Used } from '../data/resource.ts';
import { useAction } from './action.ts';
import { Button } from './button.tsx';
import { FailureNotice } from './failure.tsx';

export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

interface AwaitProps<T> {
  readonly of: Pick<Used<T>, 'value' | 'failure' | 'reload'>;
  /** As many lines as will be there, so that nothing jumps. */
  readonly lines?: number;
  readonly children: (value: T) => ComponentChildren;
}

/** What is loaded, or the reason why it is not; while it comes, its place is kept. */
export function Await<T>({ of: { value, failure, reload }, lines = 3, children }: AwaitProps<T>) {
  const again = useAction(reload);
  return (
    <>
      {failure && (
        <FailureNotice failure={failure}>
          {failure.isPassing && (
            <Button isBusy={again.isBusy} onPress={again.run}>
              Try again
            </Button>
          )}
        </FailureNotice>
      )}
      {value === undefined
        ? !failure && (
            <div class="skeleton" role="status" aria-label="Loading">
              {Array.from({ length: lines }, (_, at) => (
                <span key={String(at)} />
              ))}
            </div>
          )
        : children(value)}
    </>
  );
}
