/** The names and the services of an environment. */
import { all, ProblemError } from '../../sdk/index.ts';
import { CliError, type Run } from '../command.ts';
import { collect, type Session } from '../session.ts';
import { plain } from '../terminal.ts';

export const list: Run = async (call) => {
  const { terminal, client } = call;
  const { items } = await client.listEnvironmentDomains({ id: (await call.environment()).id });
  terminal.show(items, () =>
    terminal.table(
      items.map(({ hostname, url, certificate }) => [hostname, certificate.status, url]),
      ['NAME', 'CERTIFICATE', 'ADDRESS'],
      'It has no name yet. Connect one with `slipway domains add`.',
    ),
  );
  return undefined;
};

export const add: Run = async (call) => {
  const { terminal, client } = call;
  const hostname = call.arg(0, 'The hostname');
  const { id, name } = await call.environment();
  await prove(call, hostname);
  const connected = await client.connectDomain({ id, body: { hostname } });
  terminal.show(connected, () => [
    ...connected.findings.map(({ message, hint }) =>
      [plain(message), hint && plain(hint)].filter(Boolean).join(' '),
    ),
    `${hostname} leads to ${name}: ${connected.url}`,
  ]);
  return undefined;
};

/** A name is proven once, also for all below it. */
async function prove({ client, terminal }: Session, hostname: string): Promise<void> {
  const domains = await collect(all(client.listDomains));
  const known = domains.find((each) => hostname === each.hostname || hostname.endsWith(`.${each.hostname}`));
  if (known?.status === 'verified') return;
  const domain = known ?? (await client.registerDomain({ body: { hostname } }));
  const { status, verification, lastCheck } = await client
    .verifyDomain({ id: domain.id })
    .catch((error: unknown) => {
      if (error instanceof ProblemError && error.code === 'dns_wrong') return domain;
      throw error;
    });
  if (status === 'verified') return;
  for (const { message } of lastCheck?.findings ?? []) terminal.note(plain(message));
  throw new CliError(
    `${domain.hostname} has not been proven to be yours yet.`,
    `Put this record into its zone, then run this again:\n  ${verification.name}  TXT  ${verification.value}`,
  );
}

export const services: Run = async (call) => {
  const { terminal, client } = call;
  const { items } = await client.listServices({ id: (await call.environment()).id });
  terminal.show(items, () =>
    terminal.table(
      items.map((each) => [
        each.name,
        `${each.kind} ${each.version}`,
        terminal.status(each.status),
        plain(each.problem?.message ?? ''),
      ]),
      ['NAME', 'KIND', 'STATUS', ''],
      'It has no services. `slipway api setServices` says which it is to have.',
    ),
  );
  return undefined;
};
