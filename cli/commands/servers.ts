/** The servers of a workspace. */
import { all, type Server } from '../../sdk/index.ts';
import { faultLines } from '../attend.ts';
import type { ExitCode, Run } from '../command.ts';
import { attendOperation } from '../operation.ts';
import { collect, named, type Session } from '../session.ts';
import { plain, shellWord } from '../terminal.ts';

export const list: Run = async ({ terminal, client }) => {
  const servers = await collect(all(client.listServers));
  terminal.show(servers, () =>
    terminal.table(
      servers.map((each) => [
        each.name,
        `${each.username}@${each.host}:${each.port}`,
        terminal.status(each.status),
        each.provisionedAt ? 'provisioned' : '',
        plain(each.problem?.message ?? ''),
      ]),
      ['NAME', 'ADDRESS', 'STATUS', '', ''],
      'There is no server yet. Add one with `slipway servers add NAME HOST`.',
    ),
  );
  return undefined;
};

export const add: Run = async (call) => {
  const { terminal, client } = call;
  const body = {
    name: call.arg(0, 'The name'),
    host: call.arg(1, 'The host'),
    port: call.number('port'),
    username: call.text('user'),
    auth: { type: 'generated' },
  } as const;
  const server = await client.registerServer({ body });
  const file =
    server.username === 'root' ? '/root/.ssh/authorized_keys' : `~${server.username}/.ssh/authorized_keys`;
  terminal.show(server, () => [
    `Registered ${server.name}. Add this line to ${file} on it:`,
    '',
    server.publicKey,
    '',
    `Then: slipway servers test ${shellWord(server.name)} && slipway servers provision ${shellWord(server.name)}`,
  ]);
  return undefined;
};

async function serverOf(call: Session): Promise<Server> {
  const servers = await collect(all(call.client.listServers));
  return named(
    servers,
    call.arg(0, 'The name of the server'),
    'server',
    'Add one with `slipway servers add`.',
  );
}

export const test: Run = async (call) => {
  const { terminal, client } = call;
  const { id, name } = await serverOf(call);
  const marks = { passed: terminal.green('✓'), warning: terminal.yellow('!'), failed: terminal.red('✗') };
  let exitCode: ExitCode = 'failed';
  for await (const event of client.testConnection({ body: { serverId: id } })) {
    if (event.kind === 'step')
      terminal.showNext(
        event,
        () => `${marks[event.status]} ${event.step.padEnd(13)} ${plain(event.message)}`,
      );
    if (event.kind !== 'result') continue;
    exitCode = event.ok ? 'done' : 'failed';
    for (const line of faultLines(terminal, event.fault)) terminal.say(line);
    if (event.ok) terminal.say(`${name} can be worked on.`);
  }
  return exitCode;
};

export const provision: Run = async (call) => {
  const { id, name } = await serverOf(call);
  return attendOperation(
    call,
    await call.client.provisionServer({ id }),
    `${name} is ready for deployments.`,
  );
};

export const harden: Run = async (call) => {
  const { terminal, client } = call;
  const { id, name } = await serverOf(call);
  const plan = await client.hardenServer({ id, body: { dryRun: true } });
  if (!('fingerprint' in plan)) return attendOperation(call, plan, `${name} is hardened.`);
  for (const { title, why, files, packages } of plan.steps) {
    terminal.say(`${terminal.bold(title)}  ${terminal.dim(plain(why))}`);
    for (const each of packages) terminal.say(`  installs ${each}`);
    for (const { path } of files) terminal.say(`  writes ${path}`);
  }
  for (const { text } of plan.notes) terminal.say(`${terminal.yellow('!')} ${plain(text)}`);
  if (plan.steps.length === 0) {
    terminal.show(plan, () => [`There is nothing to harden on ${name}.`]);
    return undefined;
  }
  await call.confirmed(`Do this on ${name}?`);
  const begun = await client.hardenServer({ id, body: { planFingerprint: plan.fingerprint } });
  if ('fingerprint' in begun) return 'error';
  return attendOperation(call, begun, `${name} is hardened, and a new login was proven.`);
};
