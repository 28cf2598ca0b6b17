/** Everything at a glance: what runs, what is wrong, and what happened last. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Operation, Project, Server } from '../../sdk/index.ts';
import { useOperations, useProjects, useServers } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { words, work } from '../data/words.ts';
import { EnvironmentRows } from '../parts/environment-rows.tsx';
import { useTitle } from '../parts/title.ts';
import { Await, Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { LinkButton } from '../ui/link-button.tsx';
import { Status, toneOf } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';

export function Overview() {
  useTitle('Overview');
  const [projects, servers] = [useProjects(), useServers()];
  return (
    <>
      <header class="page-head">
        <h1>Overview</h1>
        <LinkButton href="/start" kind="primary" why={whyNot('change')}>
          <Icon name="plus" />
          New project
        </LinkButton>
      </header>
      <Await of={projects} lines={8}>
        {(list) =>
          list.length === 0 ? (
            <Welcome />
          ) : (
            <div class="overview">
              <div class="stack">
                <Troubles projects={list} servers={servers.value ?? []} />
                <Projects list={list} />
              </div>
              <Recent projects={list} />
            </div>
          )
        }
      </Await>
    </>
  );
}

function Welcome() {
  return (
    <Empty title="Nothing is deployed yet">
      <p>
        Four steps lead from a repository to a running app: where the code is, which server it runs on, what
        it needs, and its first deployment. You can leave at any of them and find it again.
      </p>
      <LinkButton href="/start" kind="primary" why={whyNot('change')}>
        Deploy the first app
      </LinkButton>
    </Empty>
  );
}

interface Trouble {
  readonly key: string;
  readonly path: string;
  readonly what: string;
  readonly why: string;
}

function troublesOf(projects: readonly Project[], servers: readonly Server[]): Trouble[] {
  const found: Trouble[] = [];
  for (const server of servers)
    if (toneOf(server.status) === 'bad')
      found.push({
        key: server.id,
        path: `/servers/${server.id}`,
        what: `Server ${server.name}: ${words(server.status)}`,
        why: server.problem?.message ?? '',
      });
  for (const project of projects) {
    if (project.status === 'failed')
      found.push({
        key: project.id,
        path: `/projects/${project.id}`,
        what: `${project.name}: the analysis failed`,
        why: project.analysis.fault?.message ?? '',
      });
    for (const environment of project.environments) {
      const { id, name, status, problem, services, domain, lastDeployment: last } = environment;
      const path = `/environments/${id}`;
      const what = `${project.name} / ${name}`;
      if (status === 'degraded' || problem)
        found.push({ key: id, path, what: `${what} is ${status}`, why: problem?.message ?? '' });
      if (last?.status === 'failed')
        found.push({
          key: last.id,
          path: `${path}/deployments/${last.id}`,
          what: `${what}: deployment #${last.number} failed`,
          why: environment.currentDeploymentId ? 'What was live before it still is.' : '',
        });
      for (const service of services)
        if (service.status === 'failed')
          found.push({
            key: service.id,
            path: `${path}/services`,
            what: `${what}: ${service.name} failed`,
            why: service.problem?.message ?? '',
          });
      if (domain?.certificate.status === 'failed')
        found.push({
          key: domain.id,
          path: `${path}/domains`,
          what: `${domain.hostname} has no certificate`,
          why: domain.certificate.fault?.message ?? '',
        });
    }
  }
  return found;
}

function Troubles(given: { readonly projects: readonly Project[]; readonly servers: readonly Server[] }) {
  const troubles = troublesOf(given.projects, given.servers);
  if (troubles.length === 0) return null;
  return (
    <section class="notice notice-bad" aria-label="What is wrong">
      <h2>What is wrong</h2>
      <ul class="plain">
        {troubles.map(({ key, path, what, why }) => (
          <li key={key}>
            <a href={path}>{what}</a>
            {why && <span class="hint"> {why}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** So many are put into the page in a frame: a thousand environments at once would hold it up. */
const projectsInFrame = 50;

function Projects({ list }: { readonly list: readonly Project[] }) {
  const [shown, setShown] = useState(projectsInFrame);
  useEffect(() => {
    if (shown >= list.length) return undefined;
    const frame = requestAnimationFrame(() => setShown(shown + projectsInFrame));
    return () => cancelAnimationFrame(frame);
  }, [shown, list.length]);
  // Preact passes over what it is given again: with each frame only the new ones are made.
  const cards = useMemo(
    () => list.map((project) => <ProjectCard key={project.id} project={project} />),
    [list],
  );
  return <div class="stack">{cards.slice(0, shown)}</div>;
}

function ProjectCard({ project }: { readonly project: Project }) {
  return (
    <section class="card project" aria-label={project.name}>
      <header>
        <h2>
          <a href={`/projects/${project.id}`}>{project.name}</a>
        </h2>
        <span class="fine clip">{project.repository.fullName}</span>
        {project.status !== 'active' && <Status status={project.status} />}
      </header>
      {project.environments.length === 0 ? (
        <p class="hint">
          No environment yet. <a href={`/start/analysis?project=${project.id}`}>Go on with its first one</a>.
        </p>
      ) : (
        <EnvironmentRows environments={project.environments} />
      )}
    </section>
  );
}

const quiet = new Set(['environment_route', 'certificate_retire']);

function Recent({ projects }: { readonly projects: readonly Project[] }) {
  const recent = useOperations(20);
  return (
    <section class="card recent" aria-label="What happened last">
      <h2>What happened last</h2>
      <Await of={recent} lines={6}>
        {(items) =>
          items.length === 0 ? (
            <p class="hint">Deployments, backups and changes to servers are told here.</p>
          ) : (
            <ol class="plain">
              {items
                .filter(({ kind }) => !quiet.has(kind))
                .map((operation) => ({ operation, ...toldOf(operation, projects) }))
                .map(({ operation, text, path }) => (
                  <li key={operation.id}>
                    <Status
                      status={operation.status === 'running' ? 'deploying' : operation.status}
                      text=""
                    />
                    <div>
                      {path ? <a href={path}>{text}</a> : <span>{text}</span>}
                      <div class="fine">
                        {words(operation.status)}, <Time at={operation.finishedAt ?? operation.createdAt} />
                      </div>
                    </div>
                  </li>
                ))}
            </ol>
          )
        }
      </Await>
    </section>
  );
}

interface Told {
  readonly text: string;
  readonly path: string | undefined;
}

/** What an operation is about, by name where the page knows it. */
function toldOf({ kind, subject }: Operation, projects: readonly Project[]): Told {
  const what = work(kind);
  for (const project of projects) {
    if (project.id === subject?.id)
      return { text: `${what} of ${project.name}`, path: `/projects/${project.id}` };
    for (const { id, name, currentDeploymentId, lastDeployment } of project.environments) {
      const text = `${what} of ${project.name} / ${name}`;
      if (id === subject?.id) return { text, path: `/environments/${id}` };
      if (subject && [currentDeploymentId, lastDeployment?.id].includes(subject.id))
        return { text, path: `/environments/${id}/deployments/${subject.id}` };
    }
  }
  return { text: what, path: undefined };
}
