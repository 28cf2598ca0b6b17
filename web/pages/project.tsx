/** One project: its repository, its environments, what the analysis found, and why. */
import { useLocation, useRoute } from 'preact-iso/router';
import type { Project } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useProject } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { AnalysisShown } from '../parts/analysis.tsx';
import { useAsked } from '../parts/asked.ts';
import { BranchField } from '../parts/branch-field.tsx';
import { EditProject } from '../parts/edit-project.tsx';
import { EnvironmentRows } from '../parts/environment-rows.tsx';
import { ProjectNotifications } from '../parts/project-notifications.tsx';
import { Pushes } from '../parts/pushes.tsx';
import { useTitle } from '../parts/title.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { LinkButton } from '../ui/link-button.tsx';
import { Status } from '../ui/status.tsx';

export function ProjectPage() {
  const { params } = useRoute();
  const project = useProject(params.id ?? '');
  useTitle(project.value?.name);
  return (
    <Await of={project} lines={10}>
      {(value) => <Shown key={value.id} project={value} />}
    </Await>
  );
}

function Shown({ project }: { readonly project: Project }) {
  const { id, name, repository, environments, analysis, status } = project;
  const [asked, ask] = useAsked(['environment', 'change', 'remove']);
  const again = useAction(() => api.retryAnalysis({ id }));
  const hasAnalysis = analysis.status === 'succeeded';
  return (
    <>
      <header class="page-head">
        <div class="clip">
          <p class="crumbs">
            <a href="/">Overview</a>
          </p>
          <h1>
            {name} <Status status={status} />
          </h1>
        </div>
        <div class="row">
          <Button kind="danger" why={whyNot('manage')} onPress={() => ask('remove')}>
            Remove
          </Button>
          <Button why={whyNot('change')} onPress={() => ask('change')}>
            Change
          </Button>
          {environments.length === 0 ? (
            <LinkButton kind="primary" href={`/start/analysis?project=${id}`} why={whyNot('change')}>
              First environment
            </LinkButton>
          ) : (
            <Button
              kind="primary"
              why={whyNot('change') ?? (hasAnalysis ? undefined : 'The analysis has not succeeded yet.')}
              onPress={() => ask('environment')}
            >
              New environment
            </Button>
          )}
        </div>
      </header>
      <dl class="facts">
        <div>
          <dt>Repository</dt>
          <dd class="clip">
            {repository.webUrl ? <a href={repository.webUrl}>{repository.fullName}</a> : repository.fullName}
          </dd>
        </div>
        <div>
          <dt>Branch</dt>
          <dd class="clip">{project.branch ?? 'the default one'}</dd>
        </div>
        <div>
          <dt>Folder</dt>
          <dd class="clip">
            {['', '.'].includes(project.rootDirectory) ? 'the root' : project.rootDirectory}
          </dd>
        </div>
      </dl>
      <section class="card project" aria-label="Environments">
        <header>
          <h2>Environments</h2>
        </header>
        {environments.length === 0 ? (
          <p class="hint">None yet.</p>
        ) : (
          <EnvironmentRows environments={environments} />
        )}
      </section>
      {analysis.fault && (
        <FailureNotice title="The analysis failed" failure={failureOfFault(analysis.fault)} />
      )}
      {again.failure && <FailureNotice failure={again.failure} />}
      <section class="stack" aria-label="Analysis">
        <div class="section-head">
          <h2>
            Analysis <Status status={analysis.status} />
          </h2>
          <Button isBusy={again.isBusy} why={whyNot('change')} onPress={again.run}>
            Look again
          </Button>
        </div>
        {analysis.result && <AnalysisShown projectId={id} result={analysis.result} />}
      </section>
      <div class="columns">
        <Pushes projectId={id} />
        <ProjectNotifications projectId={id} />
      </div>
      {asked === 'change' && <EditProject project={project} onClose={() => ask(undefined)} />}
      {asked === 'environment' && <NewEnvironment project={project} onClose={() => ask(undefined)} />}
      {asked === 'remove' && <Remove project={project} onClose={() => ask(undefined)} />}
    </>
  );
}

interface AskProps {
  readonly project: Project;
  readonly onClose: () => void;
}

function NewEnvironment({ project, onClose }: AskProps) {
  const { route } = useLocation();
  const action = useAction(async (name: string, branch: string) => {
    const body = { projectId: project.id, name, ...(branch && { branch }) };
    const { id } = await api.createEnvironment({ body });
    route(`/environments/${id}/settings`);
  });
  return (
    <Dialog title="New environment" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const { name = '', branch = '' } = fieldsOf(event.currentTarget);
          void action.run(name, branch);
        }}
      >
        <TextField
          label="Name"
          name="name"
          placeholder="staging"
          error={action.failure?.fields.name}
          isRequired
          isFocused
        />
        <BranchField
          repository={project.repository}
          hint="Empty: the branch of the project."
          error={action.failure?.fields.branch}
        />
        {action.failure && <FailureNotice failure={action.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={action.isBusy}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Remove({ project: { id, name, environments }, onClose }: AskProps) {
  const { route } = useLocation();
  return (
    <Confirm
      title={`Remove ${name}?`}
      verb="Remove it"
      name={name}
      isDangerous
      onConfirm={async () => {
        await api.deleteProject({ id });
        route('/');
      }}
      onClose={onClose}
    >
      <p>
        {environments.length === 0
          ? 'It has no environment, so nothing runs that would stop.'
          : `${environments.map((each) => each.name).join(', ')}: all of it is taken down on the servers. Data of services stays there.`}
      </p>
    </Confirm>
  );
}
