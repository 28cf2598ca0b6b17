/** What the analysis found, as it finds it; then the few things that only a person knows, and the first deployment. */
import { useEffect, useState } from 'preact/hooks';
import type { AnalysisFindingEvent, AnalysisResult, Project, Server } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useProject, useServers } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { CopyRow } from '../ui/copy.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Status } from '../ui/status.tsx';
import { AnalysisShown } from './analysis.tsx';

interface FirstProps {
  readonly projectId: string;
  readonly serverId: string | undefined;
  readonly onDeployed: (path: string) => void;
}

export function FirstEnvironment({ projectId, serverId, onDeployed }: FirstProps) {
  const project = useProject(projectId);
  const findings = useFindings(projectId, project.reload);
  return (
    <Await of={project} lines={8}>
      {(value) => (
        <div class="stack">
          <div class="section-head">
            <h2>
              {value.name} <Status status={value.analysis.status} />
            </h2>
          </div>
          {value.analysis.fault && <Failed project={value} onAgain={project.reload} />}
          {value.analysis.result ? (
            <>
              <Finalize
                project={value}
                result={value.analysis.result}
                serverId={serverId}
                onDeployed={onDeployed}
              />
              <AnalysisShown projectId={projectId} result={value.analysis.result} />
            </>
          ) : (
            <ul class="plain stack" aria-label="Findings" aria-live="polite">
              {findings.map(({ about, text }) => (
                <li key={`${about} ${text}`}>
                  <span class="tag">{about}</span> {text}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Await>
  );
}

function Failed({ project, onAgain }: { readonly project: Project; readonly onAgain: () => Promise<void> }) {
  const { fault } = project.analysis;
  const again = useAction(async () => {
    await api.retryAnalysis({ id: project.id });
    await onAgain();
  });
  return (
    <>
      {fault && <FailureNotice title="The analysis failed" failure={failureOfFault(fault)} />}
      {project.repository.deployKey && <CopyRow label="Deploy key" value={project.repository.deployKey} />}
      {again.failure && <FailureNotice failure={again.failure} />}
      <div class="row">
        <Button isBusy={again.isBusy} why={whyNot('change')} onPress={again.run}>
          Look again
        </Button>
      </div>
    </>
  );
}

function useFindings(projectId: string, reload: () => Promise<void>): readonly AnalysisFindingEvent[] {
  const [findings, setFindings] = useState<readonly AnalysisFindingEvent[]>([]);
  // One stream for each project.
  useEffect(() => {
    const ending = new AbortController();
    const read = async () => {
      for await (const event of api.followAnalysis({ id: projectId }, { signal: ending.signal }))
        if (event.kind === 'finding') setFindings((before) => [...before, event]);
        else if (event.kind === 'end') await reload();
    };
    // Where it breaks off, the events of the workspace tell the end of the analysis too.
    read().catch(() => undefined);
    return () => ending.abort();
  }, [projectId]);
  return findings;
}

interface FinalizeProps {
  readonly project: Project;
  readonly result: AnalysisResult;
  readonly serverId: string | undefined;
  readonly onDeployed: (path: string) => void;
}

function Finalize({ project, result, serverId, onDeployed }: FinalizeProps) {
  const [app, setApp] = useState(result.apps[0]?.path ?? '.');
  const open = result.variables.filter(
    ({ required, given, default: value, apps }) =>
      required && given === null && value === null && (apps.length === 0 || apps.includes(app)),
  );
  const finish = useAction(async (fields: Readonly<Record<string, string>>) => {
    const variables = open.map(({ key, secret, build }) => ({
      key,
      value: fields[`variable-${key}`] ?? '',
      secret,
      target: build ? ('both' as const) : ('runtime' as const),
    }));
    const environment = { name: fields.name ?? 'production', variables, ...(serverId && { serverId }) };
    const body = { ...(result.apps.length > 1 && { app }), environment, deploy: serverId !== undefined };
    const made = await api.finalizeProject({ id: project.id, body });
    onDeployed(
      `/environments/${made.environment.id}${made.deployment ? `/deployments/${made.deployment.id}` : '/settings'}`,
    );
  });
  const server = useServers().value?.find(({ id }) => id === serverId);
  return (
    <form
      class="card form"
      aria-label="First environment"
      onSubmit={(event) => {
        event.preventDefault();
        void finish.run(fieldsOf(event.currentTarget));
      }}
    >
      {result.apps.length > 1 && (
        <SelectField
          label="Which app"
          name="app"
          value={app}
          onChoice={setApp}
          options={result.apps.map(({ path, name }) => ({ value: path, text: `${name} (${path})` }))}
        />
      )}
      <TextField
        label="Name of the environment"
        name="name"
        value="production"
        error={finish.failure?.fields['environment.name']}
        isRequired
      />
      {open.map(({ key, secret, reason }) => (
        <TextField
          key={key}
          label={key}
          name={`variable-${key}`}
          type={secret ? 'password' : 'text'}
          hint={reason}
          isRequired
        />
      ))}
      {result.services.length > 0 && (
        <p class="hint">
          {result.services.map(({ kind }) => kind).join(' and ')} {result.services.length > 1 ? 'are' : 'is'}{' '}
          set up beside it where the analysis calls it needed.
        </p>
      )}
      {finish.failure && <FailureNotice failure={finish.failure} />}
      <div class="row">
        <Button
          type="submit"
          kind="primary"
          isBusy={finish.isBusy}
          why={whyNot('change') ?? whyNotYet(result, server)}
        >
          {serverId ? 'Deploy it' : 'Create the environment'}
        </Button>
        {!serverId && <span class="fine">It is deployed once it has a server.</span>}
      </div>
    </form>
  );
}

/** A server that was just added is still being set up: the button waits for it, instead of failing. */
function whyNotYet({ apps }: AnalysisResult, server: Server | undefined): string | undefined {
  if (apps.length === 0) return 'No app was found in it.';
  if (!server || server.provisionedAt !== null) return undefined;
  return server.problem?.message ?? `${server.name} is being set up. This takes about a minute.`;
}
