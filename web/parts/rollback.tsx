/** Going back to an older release: what would be different from what is live now, before anything is done. */
import { useState } from 'preact/hooks';
import type { Deployment, DeploymentSummary, Environment } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useDeployment } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { words } from '../data/words.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Await } from '../ui/empty.tsx';
import { SelectField } from '../ui/field.tsx';
import { Table } from '../ui/table.tsx';

/** Why a release cannot be gone back to. */
export function whyNoRollback(deployment: DeploymentSummary, environment: Environment): string | undefined {
  if (deployment.id === environment.currentDeploymentId) return 'This is what is live.';
  if (deployment.status !== 'succeeded') return 'It never was live, so there is no release to go back to.';
  return whyNot('deploy');
}

interface Difference {
  readonly what: string;
  readonly now: string;
  readonly after: string;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The commit, the image, and how it runs; what is the same is left out. */
function differencesOf(now: Deployment | undefined, then: Deployment): Difference[] {
  const found: Difference[] = [];
  const compare = (what: string, one: unknown, other: unknown) => {
    if (textOf(one) !== textOf(other)) found.push({ what, now: textOf(one), after: textOf(other) });
  };
  const told = ({ commit }: DeploymentSummary) =>
    `${commit.sha?.slice(0, 8) ?? '?'} ${commit.message?.split('\n')[0] ?? ''}`;
  compare('commit', now && told(now), told(then));
  compare('image', now?.imageDigest?.slice(0, 19), then.imageDigest?.slice(0, 19));
  const [runNow, runThen] = [Object(now?.plan?.run), Object(then.plan?.run)];
  for (const name of new Set([...Object.keys(runNow), ...Object.keys(runThen)]))
    compare(words(name), runNow[name], runThen[name]);
  return found;
}

interface RollbackProps {
  readonly environment: Environment;
  readonly deployment: DeploymentSummary;
  readonly onClose: () => void;
}

export function Rollback({ environment, deployment: { id: did, number }, onClose }: RollbackProps) {
  const [variables, setVariables] = useState<'then' | 'now'>('then');
  const then = useDeployment(environment.id, did);
  return (
    <Confirm
      title={`Go back to #${number}?`}
      verb={`Go back to #${number}`}
      onConfirm={() => api.rollBackDeployment({ id: environment.id, did, body: { variables } })}
      onClose={onClose}
      isWide
    >
      <p>
        Its release is started again, and nothing is built. What is live now keeps serving until the old
        release is healthy. The data of its services stays as it is now.
      </p>
      <Await of={then}>
        {(value) =>
          environment.currentDeploymentId ? (
            <AgainstLive environment={environment} currentId={environment.currentDeploymentId} then={value} />
          ) : (
            <Differences list={differencesOf(undefined, value)} />
          )
        }
      </Await>
      <SelectField
        label="Variables"
        name="variables"
        value={variables}
        onChoice={(value) => setVariables(value === 'now' ? 'now' : 'then')}
        options={[
          { value: 'then', text: 'those that the release was made with' },
          { value: 'now', text: 'those of today' },
        ]}
      />
    </Confirm>
  );
}

function AgainstLive({
  environment,
  currentId,
  then,
}: {
  readonly environment: Environment;
  readonly currentId: string;
  readonly then: Deployment;
}) {
  const now = useDeployment(environment.id, currentId);
  return <Await of={now}>{(value) => <Differences list={differencesOf(value, then)} />}</Await>;
}

function Differences({ list }: { readonly list: readonly Difference[] }) {
  if (list.length === 0) return <p class="hint">It is the same commit, and it runs in the same way.</p>;
  return (
    <Table label="What would change" heads={['What', 'Now', 'Then']}>
      {list.map(({ what, now, after }) => (
        <tr key={what}>
          <td>{what}</td>
          <td>
            <code class="value">{now}</code>
          </td>
          <td>
            <code class="value">{after}</code>
          </td>
        </tr>
      ))}
    </Table>
  );
}
