/** One environment: its state and address, and behind each tab one side of it. The tab is in the address. */
import type { ComponentType } from 'preact';
import { useLocation, useRoute } from 'preact-iso/router';
import type { Environment, Project } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useClusters, useEnvironment, useProject, useServers } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { useAsked } from '../parts/asked.ts';
import { Deployments } from '../parts/deployments.tsx';
import { EnvironmentBackups } from '../parts/environment-backups.tsx';
import { EnvironmentDomains } from '../parts/environment-domains.tsx';
import { LiveLogs } from '../parts/live-logs.tsx';
import { Services } from '../parts/services.tsx';
import { Settings } from '../parts/settings.tsx';
import type { TabProps } from '../parts/tab.ts';
import { useTitle } from '../parts/title.ts';
import { UploadTree } from '../parts/upload-tree.tsx';
import { Variables } from '../parts/variables.tsx';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Icon } from '../ui/icon.tsx';
import { Status } from '../ui/status.tsx';
import { Tabs } from '../ui/tabs.tsx';

const tabs: Readonly<Record<string, readonly [text: string, component: ComponentType<TabProps>]>> = {
  deployments: ['Deployments', Deployments],
  logs: ['Logs', LiveLogs],
  variables: ['Variables', Variables],
  services: ['Services', Services],
  domains: ['Domains', EnvironmentDomains],
  backups: ['Backups', EnvironmentBackups],
  settings: ['Settings', Settings],
};

export function EnvironmentPage() {
  const { params } = useRoute();
  const { id = '', tab = 'deployments', item } = params;
  const environment = useEnvironment(id);
  return (
    <Await of={environment} lines={10}>
      {(value) => (
        <Shown key={value.id} environment={value} tab={tab in tabs ? tab : 'deployments'} item={item} />
      )}
    </Await>
  );
}

function Shown({ environment, tab, item }: TabProps & { readonly tab: string }) {
  const project = useProject(environment.projectId);
  const [, Tab] = tabs[tab] ?? ['', Deployments];
  useTitle(project.value ? `${project.value.name} / ${environment.name}` : environment.name);
  return (
    <>
      <Head environment={environment} project={project.value} />
      {environment.problem && (
        <FailureNotice
          title={`This environment is ${environment.status}`}
          failure={failureOfFault(environment.problem)}
        />
      )}
      <Tabs
        label="Environment"
        of={Object.entries(tabs).map(([name, [text]]) => [name, text])}
        path={`/environments/${environment.id}`}
        current={tab}
      />
      <Tab environment={environment} item={item} />
    </>
  );
}

function Head({
  environment,
  project,
}: {
  readonly environment: Environment;
  readonly project: Project | undefined;
}) {
  const { id, name, status, url, branch, serverId, placement, settings } = environment;
  const { route } = useLocation();
  const [asked, ask] = useAsked(['deploy', 'stop', 'upload']);
  const servers = useServers();
  const server = servers.value?.find((each) => each.id === serverId);
  const clusters = useClusters();
  const clusterId = placement !== null && 'clusterId' in placement ? placement.clusterId : undefined;
  const deploy = useAction(async () => {
    const deployment = await api.deploy({ id, body: {} });
    route(`/environments/${id}/deployments/${deployment.id}`);
  });
  const start = useAction(() => api.startEnvironment({ id }));
  const noServer = serverId === null ? 'It has no server yet: choose one under Settings.' : undefined;
  const failure = deploy.failure ?? start.failure;
  return (
    <>
      <header class="page-head">
        <div class="clip">
          <p class="crumbs">
            <a href="/">Overview</a> /{' '}
            {project ? <a href={`/projects/${project.id}`}>{project.name}</a> : '…'}
          </p>
          <h1>
            {name} <Status status={status} />
          </h1>
        </div>
        <div class="row">
          {status === 'stopped' ? (
            <Button isBusy={start.isBusy} why={whyNot('change') ?? noServer} onPress={start.run}>
              Start
            </Button>
          ) : (
            <Button
              why={whyNot('change') ?? (status === 'idle' ? 'Nothing runs here yet.' : noServer)}
              onPress={() => ask('stop')}
            >
              Stop
            </Button>
          )}
          <Button why={whyNot('deploy') ?? noServer} onPress={() => ask('upload')}>
            Upload
          </Button>
          <Button
            kind="primary"
            isBusy={deploy.isBusy}
            why={whyNot('deploy') ?? noServer}
            onPress={deploy.run}
          >
            Deploy
          </Button>
        </div>
      </header>
      {failure && <FailureNotice failure={failure} />}
      <dl class="facts">
        <div>
          <dt>Address</dt>
          <dd class="clip">
            {url ? (
              <a href={url} target="_blank" rel="noreferrer">
                {url.replace(/^https?:\/\//, '')} <Icon name="link" />
              </a>
            ) : (
              <span class="hint">not deployed yet</span>
            )}
          </dd>
        </div>
        <div>
          <dt>Branch</dt>
          <dd class="clip">
            {branch}
            {environment.autoDeploy && <span class="fine"> deploys each push</span>}
          </dd>
        </div>
        <div>
          <dt>{clusterId ? 'Cluster' : 'Server'}</dt>
          <dd class="clip">
            {clusterId ? (
              <a href={`/clusters/${clusterId}`}>
                {clusters.value?.find(({ id }) => id === clusterId)?.name ?? 'its cluster'}
              </a>
            ) : server ? (
              <a href={`/servers/${server.id}`}>{server.name}</a>
            ) : serverId === null ? (
              'none'
            ) : servers.failure ? (
              <span class="hint">not shown to you, or not loaded</span>
            ) : (
              '…'
            )}
          </dd>
        </div>
        <div>
          <dt>Replicas</dt>
          <dd>{settings.replicas ?? 1}</dd>
        </div>
      </dl>
      {asked === 'upload' && noServer === undefined && (
        <UploadTree environmentId={id} onClose={() => ask(undefined)} />
      )}
      {asked === 'deploy' && noServer === undefined && (
        <Confirm
          title={`Deploy ${name}?`}
          verb="Deploy"
          onConfirm={async () => {
            ask(undefined);
            await deploy.run();
          }}
          onClose={() => ask(undefined)}
        >
          <p>
            The newest commit of {branch} is built, proven and put live. What is live now keeps serving until
            then.
          </p>
        </Confirm>
      )}
      {asked === 'stop' && (
        <Confirm
          title={`Stop ${name}?`}
          verb="Stop it"
          isDangerous
          onConfirm={() => api.stopEnvironment({ id })}
          onClose={() => ask(undefined)}
        >
          <p>
            Visitors get 503 at once, requests in flight are finished, then its containers and services stop.
            Its data and its releases stay; Start brings it back.
          </p>
        </Confirm>
      )}
    </>
  );
}
