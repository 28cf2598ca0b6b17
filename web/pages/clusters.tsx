/** The clusters of the workspace, and a new one of servers that are free. */
import { useLocation } from 'preact-iso/router';
import { useClusters } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { useAsked } from '../parts/asked.ts';
import { ClusterStatus } from '../parts/cluster-members.tsx';
import { NewCluster } from '../parts/new-cluster.tsx';
import { useTitle } from '../parts/title.ts';
import { Button } from '../ui/button.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

export function Clusters() {
  useTitle('Clusters');
  const clusters = useClusters();
  const { route } = useLocation();
  const [adding, add] = useAsked(['cluster']);
  return (
    <>
      <header class="page-head">
        <h1>Clusters</h1>
        <Button kind="primary" why={whyNot('manage')} onPress={() => add('cluster')}>
          <Icon name="plus" />
          Make a cluster
        </Button>
      </header>
      <Await of={clusters}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="No cluster yet">
              <p>
                A cluster is several of your servers as one Docker Swarm: when one of them is down, the others
                go on. Three servers are the smallest cluster that stands the loss of any one of them.
              </p>
            </Empty>
          ) : (
            <Table label="Clusters" heads={['Name', 'State', 'Servers', 'Managers', 'Looked at']}>
              {list.map((cluster) => (
                <tr key={cluster.id}>
                  <td>
                    <a href={`/clusters/${cluster.id}`}>{cluster.name}</a>
                    {cluster.network && <div class="fine">{cluster.network}</div>}
                  </td>
                  <td>
                    <ClusterStatus cluster={cluster} />
                  </td>
                  <td>{cluster.members.map(({ name }) => name).join(', ') || 'none'}</td>
                  <td>
                    {cluster.managers.present === 0
                      ? 'none'
                      : `${cluster.managers.reachable} of ${cluster.managers.present}`}
                  </td>
                  <td class="fine">{cluster.checkedAt ? <Time at={cluster.checkedAt} /> : 'not yet'}</td>
                </tr>
              ))}
            </Table>
          )
        }
      </Await>
      {adding && (
        <NewCluster onMade={({ id }) => route(`/clusters/${id}`, true)} onClose={() => add(undefined)} />
      )}
    </>
  );
}
