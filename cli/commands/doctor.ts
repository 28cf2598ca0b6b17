/** Looks at each link of the chain from here to the apps, and says what is wrong with it. */
import { all, ConnectionError, createClient, ProblemError } from '../../sdk/index.ts';
import { CliError, type ExitCode, type Run } from '../command.ts';
import { collect, headers, type Session } from '../session.ts';
import { plain, shellWord } from '../terminal.ts';

interface Finding {
  readonly about: string;
  readonly status: 'ok' | 'warning' | 'wrong';
  readonly message: string;
  readonly hint?: string | undefined;
}

type Check = (call: Session) => Promise<readonly Finding[]>;

/** In their order: what fails makes those after it pointless. */
const checks: readonly (readonly [about: string, check: Check])[] = [
  ['context', context],
  ['service', service],
  ['account', account],
  ['folder', folder],
  ['servers', servers],
  ['environments', environments],
];

export const doctor: Run = async (call) => {
  const { terminal } = call;
  const found: Finding[] = [];
  for (const [about, check] of checks) {
    const findings = await check(call).catch((error: unknown) => [failure(about, error)]);
    found.push(...findings);
    if (!terminal.isJson) for (const finding of findings) tell(call, finding);
    if (
      ['context', 'service', 'account'].includes(about) &&
      findings.some(({ status }) => status === 'wrong')
    )
      break;
  }
  const wrong = found.filter(({ status }) => status === 'wrong').length;
  if (terminal.isJson) terminal.show(found, () => []);
  else
    terminal.say(
      wrong === 0 ? 'Nothing is wrong.' : `${wrong} of these ${wrong === 1 ? 'is' : 'are'} wrong.`,
    );
  const exitCode: ExitCode = wrong === 0 ? 'done' : 'failed';
  return exitCode;
};

function tell({ terminal }: Session, { about, status, message, hint }: Finding): void {
  const mark = { ok: terminal.green('✓'), warning: terminal.yellow('!'), wrong: terminal.red('✗') }[status];
  terminal.say(`${mark} ${about.padEnd(13)} ${plain(message)}`);
  if (hint && status !== 'ok') terminal.say(`${' '.repeat(16)}${terminal.dim(plain(hint))}`);
}

function failure(about: string, error: unknown): Finding {
  if (!(error instanceof ProblemError || error instanceof ConnectionError || error instanceof CliError))
    throw error;
  const hint = error instanceof ConnectionError ? reasonOf(error) : error.hint;
  return { about, status: 'wrong', message: error.message, hint };
}

/** Below what fetch says is what the network said. */
function reasonOf({ cause }: ConnectionError): string | undefined {
  const deepest = Object(Object(cause).cause);
  return typeof deepest.message === 'string' && deepest.message !== '' ? deepest.message : deepest.code;
}

async function context(call: Session): Promise<Finding[]> {
  const { name, context: chosen } = call.target();
  const how = name === undefined ? 'by SLIPWAY_URL' : `context ${name}`;
  const isOpen = chosen.url.startsWith('http://') && !/^http:\/\/(localhost|127\.|\[::1\])/.test(chosen.url);
  return [
    { about: 'context', status: 'ok', message: `${chosen.url}, ${how}` },
    ...(isOpen
      ? [
          {
            about: 'context',
            status: 'warning' as const,
            message: 'Tokens travel in the clear: the address is http.',
          },
        ]
      : []),
  ];
}

async function service(call: Session): Promise<Finding[]> {
  const { url } = call.target().context;
  let at = Number.NaN;
  const begun = Date.now();
  const onAnswer = (answer: Response) => {
    at = Date.parse(answer.headers.get('date') ?? '');
  };
  await createClient({ url, headers }).getHealth({}, { onAnswer });
  const offSeconds = Math.round((at - Date.now()) / 1_000);
  return [
    { about: 'service', status: 'ok', message: `answers in ${Date.now() - begun} ms` },
    ...(Math.abs(offSeconds) > 60
      ? [
          {
            about: 'clock',
            status: 'warning' as const,
            message: `The clock here and that of Slipway differ by ${Math.abs(offSeconds)} seconds.`,
            hint: 'Set this one by NTP: tokens are replaced by the time.',
          },
        ]
      : []),
  ];
}

async function account({ client }: Session): Promise<Finding[]> {
  const { email, workspaces } = await client.getMe();
  const names = workspaces.map(({ name, role }) => `${name} (${role})`).join(', ');
  return [{ about: 'account', status: 'ok', message: `${email} in ${names}` }];
}

async function folder(call: Session): Promise<Finding[]> {
  const link = call.link();
  if (!link) return [{ about: 'folder', status: 'ok', message: 'not linked to a project' }];
  const { url } = call.target().context;
  if (link.url !== url)
    return [
      {
        about: 'folder',
        status: 'warning',
        message: `It is linked to a project of ${link.url}, and you are signed in to ${url}.`,
        hint: 'Choose the other with `slipway contexts NAME`.',
      },
    ];
  const { name } = await call.client.getEnvironment({ id: link.environmentId });
  return [{ about: 'folder', status: 'ok', message: `linked to the environment ${name}` }];
}

async function servers({ client }: Session): Promise<Finding[]> {
  const found = await collect(all(client.listServers));
  if (found.length === 0)
    return [
      { about: 'servers', status: 'warning', message: 'There is none yet.', hint: 'slipway servers add' },
    ];
  return found.map(({ name, status, problem, provisionedAt }): Finding => {
    const about = `server`;
    if (status === 'ready' && provisionedAt) return { about, status: 'ok', message: `${name} is ready` };
    const hint =
      problem?.hint ?? (provisionedAt ? undefined : `slipway servers provision ${shellWord(name)}`);
    const message = `${name} is ${status}${problem ? `: ${problem.message}` : provisionedAt ? '' : ', and not provisioned'}`;
    return { about, status: status === 'pending' || !problem ? 'warning' : 'wrong', message, hint };
  });
}

async function environments({ client }: Session): Promise<Finding[]> {
  const projects = await collect(all(client.listProjects));
  const degraded = projects.flatMap((project) =>
    project.environments
      .filter(({ status }) => status === 'degraded')
      .map(
        ({ name, problem }): Finding => ({
          about: 'environment',
          status: 'wrong',
          message: `${project.name} ${name} is degraded: ${problem?.message ?? ''}`,
          hint: problem?.hint ?? undefined,
        }),
      ),
  );
  if (degraded.length > 0) return degraded;
  return [
    {
      about: 'environments',
      status: 'ok',
      message: `none is degraded, in ${projects.length} ${projects.length === 1 ? 'project' : 'projects'}`,
    },
  ];
}
