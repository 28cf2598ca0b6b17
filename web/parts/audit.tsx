/** Who did what, and when: every change and every sign-in. What is looked for stands in the address. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AuditEntry } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { words } from '../data/words.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

interface Wanted {
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
}

export function Audit() {
  const { path, query, route } = useLocation();
  const why = whyNot('manage');
  if (why !== undefined) return <p class="hint">{why}</p>;
  const wanted: Wanted = {
    ...(query.actor && { actor: query.actor }),
    ...(query.action && { action: query.action }),
    ...(query.subject && { subject: query.subject }),
  };
  return (
    <section class="stack" aria-label="Audit">
      <Filter
        wanted={wanted}
        onWanted={(next) => {
          const search = String(new URLSearchParams(Object.entries(next).filter(([, value]) => value)));
          route(search ? `${path}?${search}` : path);
        }}
      />
      <Entries key={JSON.stringify(wanted)} wanted={wanted} />
    </section>
  );
}

interface FilterProps {
  readonly wanted: Wanted;
  readonly onWanted: (wanted: Readonly<Record<string, string>>) => void;
}

function Filter({ wanted, onWanted }: FilterProps) {
  const file = useAction(async () => {
    const answer = await api.downloadAudit(wanted);
    saveFile(`audit-${new Date().toISOString().slice(0, 10)}.ndjson`, await answer.blob());
  });
  return (
    <>
      <form
        class="card row row-bottom"
        aria-label="Filter"
        onSubmit={(event) => {
          event.preventDefault();
          onWanted(fieldsOf(event.currentTarget));
        }}
      >
        <div class="grow">
          <TextField
            label="Who"
            name="actor"
            value={wanted.actor ?? ''}
            placeholder="ada@example.com, token"
          />
        </div>
        <div class="grow">
          <TextField label="What" name="action" value={wanted.action ?? ''} placeholder="deploy, signIn" />
        </div>
        <div class="grow">
          <TextField
            label="Kind of thing"
            name="subject"
            value={wanted.subject ?? ''}
            placeholder="environment"
          />
        </div>
        <Button type="submit">Filter</Button>
        <Button kind="quiet" isBusy={file.isBusy} onPress={file.run}>
          Download
        </Button>
      </form>
      {file.failure && <FailureNotice failure={file.failure} />}
    </>
  );
}

function Entries({ wanted }: { readonly wanted: Wanted }) {
  const [older, setOlder] = useState<readonly AuditEntry[]>([]);
  const [cursor, setCursor] = useState<string | null>();
  const newest = useResource(
    `audit ${JSON.stringify(wanted)}`,
    (options) => api.listAudit({ ...wanted, limit: 50 }, options),
    () => true,
  );
  const next = cursor === undefined ? newest.value?.nextCursor : cursor;
  const more = useAction(async () => {
    if (!next) return;
    const page = await api.listAudit({ ...wanted, limit: 50, cursor: next });
    setOlder((before) => [...before, ...page.items]);
    setCursor(page.nextCursor);
  });
  return (
    <>
      <Await of={newest} lines={8}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="hint">Nothing of that kind is kept.</p>
          ) : (
            <Table label="Audit entries" heads={['When', 'Who', 'What', 'From']}>
              {[...items, ...older].map((entry) => (
                <Entry key={entry.id} entry={entry} />
              ))}
            </Table>
          )
        }
      </Await>
      {more.failure && <FailureNotice failure={more.failure} />}
      {next && (
        <div class="row">
          <Button isBusy={more.isBusy} onPress={more.run}>
            Older
          </Button>
        </div>
      )}
    </>
  );
}

function Entry({
  entry: { at, actor, action, subject, changes, ip, requestId },
}: {
  readonly entry: AuditEntry;
}) {
  const what = words(action);
  // «create project» says already that it is one.
  const told = subject && !what.includes(words(subject.type)) ? `${what} (${words(subject.type)})` : what;
  return (
    <tr>
      <td class="fine">
        <Time at={at} />
      </td>
      <td>{actor.name ?? words(actor.kind)}</td>
      <td>
        {changes === null && !subject ? (
          told
        ) : (
          <details>
            <summary>{told}</summary>
            {subject && <p class="fine">{subject.id}</p>}
            {changes !== null && <pre class="evidence">{JSON.stringify(changes, null, 2)}</pre>}
            {requestId && <p class="fine">Request {requestId}</p>}
          </details>
        )}
      </td>
      <td class="fine">{ip}</td>
    </tr>
  );
}
