/** The servers of the workspace, and a new one with a live test of its connection before it is stored. */
import { useLocation } from 'preact-iso/router';
import { useServers } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { memory } from '../data/words.ts';
import { AddServer } from '../parts/add-server.tsx';
import { useAsked } from '../parts/asked.ts';
import { useTitle } from '../parts/title.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

export function Servers() {
  useTitle('Servers');
  const servers = useServers();
  const { route } = useLocation();
  const [adding, add] = useAsked(['server']);
  return (
    <>
      <header class="page-head">
        <h1>Servers</h1>
        <Button kind="primary" why={whyNot('manage')} onPress={() => add('server')}>
          <Icon name="plus" />
          Add a server
        </Button>
      </header>
      <Await of={servers}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="No server yet">
              <p>
                Any Debian or Ubuntu machine that you can reach by SSH will do. Slipway needs no agent on it:
                only SSH, Docker and a proxy, which it installs itself.
              </p>
            </Empty>
          ) : (
            <Table label="Servers" heads={['Name', 'State', 'System', 'Memory', 'Security', 'Seen']}>
              {list.map(({ id, name, host, status, facts, security, lastSeenAt }) => (
                <tr key={id}>
                  <td>
                    <a href={`/servers/${id}`}>{name}</a>
                    <div class="fine">{host}</div>
                  </td>
                  <td>
                    <Status status={status} />
                  </td>
                  <td>
                    {facts?.os.replace('GNU/Linux ', '') ?? <span class="fine">not looked at yet</span>}
                  </td>
                  <td>{facts && `${memory(facts.memoryMb)}, ${facts.cpus} processors`}</td>
                  <td>
                    <Status
                      status={security.state}
                      text={security.score === null ? 'not checked' : `${security.score} of 100`}
                    />
                  </td>
                  <td class="fine">{lastSeenAt ? <Time at={lastSeenAt} /> : 'never'}</td>
                </tr>
              ))}
            </Table>
          )
        }
      </Await>
      {adding && (
        <Dialog title="Add a server" onClose={() => add(undefined)}>
          <AddServer onAdded={(server) => route(`/servers/${server.id}`)} />
        </Dialog>
      )}
    </>
  );
}
