/**
 * From nothing to a running app in four steps. Where one is stands in the address, so that it can be left and found
 * again: the project that was begun carries everything else.
 */
import { useLocation, useRoute } from 'preact-iso/router';
import { useProjects, useServers } from '../data/lists.ts';
import { AddServer } from '../parts/add-server.tsx';
import { ChooseRepository } from '../parts/choose-repository.tsx';
import { FirstEnvironment } from '../parts/first-environment.tsx';
import { useTitle } from '../parts/title.ts';
import { Button } from '../ui/button.tsx';
import { Await } from '../ui/empty.tsx';
import { Status } from '../ui/status.tsx';

const steps = ['code', 'server', 'analysis'] as const;
type Step = (typeof steps)[number];
const texts: Readonly<Record<Step, string>> = {
  code: 'Where the code is',
  server: 'Which server',
  analysis: 'What it needs',
};

interface Chosen {
  readonly project?: string | undefined;
  readonly server?: string | undefined;
}

export function FirstRun() {
  useTitle('New project');
  const { params } = useRoute();
  const { query, route } = useLocation();
  const step = steps.find((each) => each === params.step) ?? 'code';
  const { project, server } = query;
  const pathOf = (next: Step, chosen: Chosen = {}) => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries({ project, server, ...chosen }))
      if (value) search.set(name, value);
    return `/start/${next}?${search}`;
  };
  const to = (next: Step, chosen: Chosen) => route(pathOf(next, chosen));
  return (
    <>
      <header class="page-head">
        <h1>New project</h1>
      </header>
      <ol class="path" aria-label="Steps">
        {steps.map((each) => (
          <li key={each} aria-current={each === step ? 'step' : undefined}>
            {steps.indexOf(each) < steps.indexOf(step) ? (
              <a href={pathOf(each)}>{texts[each]}</a>
            ) : (
              texts[each]
            )}
          </li>
        ))}
        <li>First deployment</li>
      </ol>
      {step === 'code' && (
        <>
          <Begun onChosen={(id) => to('server', { project: id })} />
          <ChooseRepository onProject={(id) => to('server', { project: id })} />
        </>
      )}
      {step === 'server' && <ChooseServer onChosen={(id) => to('analysis', { server: id })} />}
      {step === 'analysis' && project && (
        <FirstEnvironment projectId={project} serverId={server} onDeployed={(path) => route(path)} />
      )}
      {step === 'analysis' && !project && <Begun onChosen={(id) => to('analysis', { project: id })} />}
    </>
  );
}

/** Projects that were begun and have no environment yet. */
function Begun({ onChosen }: { readonly onChosen: (id: string) => void }) {
  const begun = (useProjects().value ?? []).filter(({ environments }) => environments.length === 0);
  if (begun.length === 0) return null;
  return (
    <section class="card stack" aria-label="Begun">
      <h2>Begun before</h2>
      <div class="choices">
        {begun.map(({ id, name, repository, status }) => (
          <button type="button" class="choice" key={id} onClick={() => onChosen(id)}>
            <span>
              {name} <span class="fine">{repository.fullName}</span>
            </span>
            <Status status={status} />
          </button>
        ))}
      </div>
    </section>
  );
}

function ChooseServer({ onChosen }: { readonly onChosen: (id: string | undefined) => void }) {
  const servers = useServers();
  return (
    <Await of={servers}>
      {(list) => (
        <div class="columns">
          {list.length > 0 && (
            <section class="card stack" aria-label="Your servers">
              <h2>One that is there</h2>
              <div class="choices">
                {list.map(({ id, name, host, status }) => (
                  <button type="button" class="choice" key={id} onClick={() => onChosen(id)}>
                    <span>
                      {name} <span class="fine">{host}</span>
                    </span>
                    <Status status={status} />
                  </button>
                ))}
              </div>
              <div class="row">
                <Button kind="quiet" onPress={() => onChosen(undefined)}>
                  Decide later
                </Button>
              </div>
            </section>
          )}
          <section class="card stack" aria-label="A new server">
            <h2>{list.length > 0 ? 'Or a new one' : 'A server that it runs on'}</h2>
            <AddServer onAdded={({ id }) => onChosen(id)} isFocused={list.length === 0} />
          </section>
        </div>
      )}
    </Await>
  );
}
