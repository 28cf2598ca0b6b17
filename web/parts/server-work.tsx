/** The newest work on a server, live; a hardening that was done can be undone as a whole. */
import { useState } from 'preact/hooks';
import type { Operation } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useOperations } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { OperationView } from './operation-view.tsx';

const dayMs = 86_400_000;

/** What runs, what failed, and what ended within a day. */
export function isShown({ finishedAt, status }: Operation): boolean {
  return finishedAt === null || status !== 'succeeded' || Date.now() - Date.parse(finishedAt) < dayMs;
}

export function ServerWork({ serverId, name }: { readonly serverId: string; readonly name: string }) {
  const [undoing, undo] = useState<Operation>();
  const work = (useOperations().value ?? []).filter(({ subject }) => subject?.id === serverId);
  const newest = work[0];
  const isUndone = work.findIndex(({ kind }) => kind === 'server_undo_hardening');
  const hardened = work.findIndex(({ kind, status }) => kind === 'server_harden' && status === 'succeeded');
  const last = hardened !== -1 && (isUndone === -1 || hardened < isUndone) ? work[hardened] : undefined;
  const shown = newest && (isShown(newest) || newest === last) ? newest : last;
  if (!shown) return null;
  return (
    <>
      <OperationView key={shown.id} id={shown.id}>
        {() =>
          last && (
            <Button
              why={
                whyNot('manage') ?? (newest?.finishedAt === null ? 'Something is done on it now.' : undefined)
              }
              onPress={() => undo(last)}
            >
              Undo the hardening
            </Button>
          )
        }
      </OperationView>
      {undoing && (
        <Confirm
          title="Undo the hardening?"
          verb="Undo it"
          name={name}
          isDangerous
          onConfirm={() => api.undoHardening({ id: serverId, body: { operationId: undoing.id } })}
          onClose={() => undo(undefined)}
        >
          <p>
            Every file gets back its bytes, mode and owner of before. It is refused where someone has changed
            one since.
          </p>
        </Confirm>
      )}
    </>
  );
}
