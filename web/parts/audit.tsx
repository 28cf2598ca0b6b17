/** Who did what, and when: every change and every sign-in. */
import { useState } from 'preact/hooks';
import type { AuditEntry } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { words } from '../data/words.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

export function Audit() {
  const why = whyNot('manage');
  return why === undefined ? <Entries /> : <p class="hint">{why}</p>;
}

function Entries() {
  const [older, setOlder] = useState<readonly AuditEntry[]>([]);
  const [cursor, setCursor] = useState<string | null>();
  const newest = useResource(
    'audit',
    (options) => api.listAudit({ limit: 50 }, options),
    () => true,
  );
  const next = cursor === undefined ? newest.value?.nextCursor : cursor;
  const more = useAction(async () => {
    if (!next) return;
    const page = await api.listAudit({ limit: 50, cursor: next });
    setOlder((before) => [...before, ...page.items]);
    setCursor(page.nextCursor);
  });
  return (
    <section class="stack" aria-label="Audit">
      <Await of={newest} lines={8}>
        {({ items }) => (
          <Table label="Audit entries" heads={['When', 'Who', 'What', 'From']}>
            {[...items, ...older].map(({ id, at, actor, action, subject, ip }) => (
              <tr key={id}>
                <td class="fine">
                  <Time at={at} />
                </td>
                <td>{actor.name ?? words(actor.kind)}</td>
                <td>
                  {words(action)} {subject && <span class="fine">{words(subject.type)}</span>}
                </td>
                <td class="fine">{ip}</td>
              </tr>
            ))}
          </Table>
        )}
      </Await>
      {more.failure && <FailureNotice failure={more.failure} />}
      {next && (
        <div class="row">
          <Button isBusy={more.isBusy} onPress={more.run}>
            Older
          </Button>
        </div>
      )}
    </section>
  );
}
