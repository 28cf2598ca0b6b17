/** Environments in rows: each leads to its page, and its address to the app. */
import type { Environment } from '../../sdk/index.ts';
import { Icon } from '../ui/icon.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';

export function EnvironmentRows({ environments }: { readonly environments: readonly Environment[] }) {
  return (
    <ul class="rows">
      {environments.map(({ id, name, status, url, branch, lastDeployment }) => (
        <li class="environment-row" key={id}>
          <a class="row-link clip" href={`/environments/${id}`}>
            {name}
          </a>
          <Status status={status} />
          <span class="fine clip branch">
            <Icon name="branch" /> {branch}
          </span>
          <span class="fine clip address">{url && <a href={url}>{url.replace(/^https?:\/\//, '')}</a>}</span>
          <span class="fine when">
            {lastDeployment && (
              <>
                <Status status={lastDeployment.status} text={`#${lastDeployment.number}`} />{' '}
                <Time at={lastDeployment.finishedAt ?? lastDeployment.queuedAt} />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
