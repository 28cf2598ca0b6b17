/** Opens a database of an environment: with its own program where that is installed, else as an address of this machine. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { ServiceCredentials } from '../../sdk/index.ts';
import { CliError, type ExitCode, type Run, usageError } from '../command.ts';
import { named, type Session } from '../session.ts';
import { listenTo, openerOf } from '../tunnel.ts';

/** What is started for a kind of service: secrets go into its environment, where others do not see them. */
interface Program {
  readonly names: readonly string[];
  readonly args: (url: URL) => string[];
  readonly env: (password: string) => Record<string, string>;
}

const mysql: Program = {
  names: ['mysql', 'mariadb'],
  args: ({ hostname, port, username, pathname }) => [
    ...['--protocol=tcp', `--host=${hostname}`, `--port=${port}`],
    ...[`--user=${username}`, `--database=${pathname.slice(1)}`],
  ],
  env: (password) => ({ MYSQL_PWD: password }),
};

const programs: Partial<Record<ServiceCredentials['kind'], Program>> = {
  postgres: {
    names: ['psql'],
    args: ({ hostname, port, username, pathname }) => [
      ...[`--host=${hostname}`, `--port=${port}`],
      ...[`--username=${username}`, `--dbname=${pathname.slice(1)}`],
    ],
    // The way is encrypted as far as the server; the database itself has no certificate.
    env: (password) => ({ PGPASSWORD: password, PGSSLMODE: 'disable' }),
  },
  mysql,
  mariadb: { ...mysql, names: ['mariadb', 'mysql'] },
  redis: {
    names: ['redis-cli'],
    args: ({ hostname, port }) => ['-h', hostname, '-p', port],
    env: (password) => ({ REDISCLI_AUTH: password }),
  },
};

export const connect: Run = async (call) => {
  const { terminal, client } = call;
  const port = call.number('port') ?? 0;
  const { id } = await call.environment();
  const { items } = await client.listServices({ id });
  const service = chosen(
    call,
    items.filter(({ removedAt }) => removedAt === null),
  );
  const credentials = await client.getServiceCredentials({ id, sid: service.id });
  const open = openerOf(call.clientOptions(), `environments/${id}/services/${service.id}/tunnel`);
  const program = terminal.isJson || call.has('tunnel') ? undefined : programs[credentials.kind];
  // What is wrong with the way is told before anything is begun on it; the first who comes gets it.
  const first = await open();
  const ready = [first];
  let failure: unknown;
  const tunnel = await listenTo(
    async () => ready.pop() ?? open(),
    port,
    (error) => {
      failure ??= error;
    },
  ).catch((error: unknown) => {
    if (Object(error).code !== 'EADDRINUSE' && Object(error).code !== 'EACCES') throw error;
    throw new CliError(
      `Port ${port} of this machine cannot be used (${Object(error).code}).`,
      'Say another --port.',
    );
  });
  const url = new URL(credentials.url);
  url.host = `127.0.0.1:${tunnel.port}`;
  try {
    const code = program ? await runProgram(call, program, url) : undefined;
    if (failure) throw failure;
    if (code !== undefined) return code === 0 ? 'done' : 'error';
    // A database does not wait long for one who says nothing.
    ready.pop()?.destroy();
    return await waitHere(call, url, credentials);
  } finally {
    first.destroy();
    tunnel.close();
  }
};

interface Service {
  readonly id: string;
  readonly name: string;
}

function chosen<T extends Service>(call: Session, services: readonly T[]): T {
  const asked = call.text('service');
  if (asked !== undefined)
    return named(services, asked, 'service', 'The environment has none; see `slipway services`.');
  const [only, another] = services;
  if (!only)
    throw new CliError(
      'The environment has no service to connect to.',
      'See `slipway services`.',
      'notFound',
    );
  if (!another) return only;
  throw usageError(
    'Which service?',
    `Name it with --service: ${services.map(({ name }) => name).join(', ')}.`,
  );
}

/** Its exit code; nothing where none of its names is installed. */
async function runProgram(
  call: Session,
  { names, args, env }: Program,
  url: URL,
): Promise<number | undefined> {
  const password = decodeURIComponent(url.password);
  // Ctrl-C is the program's: psql ends a query by it.
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  try {
    for (const name of names) {
      const child = spawn(name, [...args(url), ...call.args], {
        stdio: 'inherit',
        env: { ...process.env, ...env(password) },
      });
      const ended = await new Promise<number | 'missing'>((resolve, reject) => {
        child.once('error', (error) => {
          if (Object(error).code === 'ENOENT') resolve('missing');
          else reject(error);
        });
        child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
      });
      if (ended !== 'missing') return ended;
    }
  } finally {
    process.off('SIGINT', ignore);
  }
  call.terminal.note(`There is no ${names.join(' or ')} here to open it with.`);
  return undefined;
}

/** Until it is interrupted. */
async function waitHere(
  { terminal }: Session,
  url: URL,
  { kind, name }: ServiceCredentials,
): Promise<ExitCode> {
  terminal.show({ kind, name, url: url.href }, () => [url.href]);
  terminal.note('It leads there until this ends: Ctrl-C.');
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
  });
  return 'done';
}
