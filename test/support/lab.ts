/**
 * The lab inside a test: servers by name, fresh ones on request, and everything given back when the test ends. A
 * server is one test's alone while it has it, whichever file or process the others run in.
 */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { after, type TestContext } from 'node:test';
import { LabClient } from '../../lab/client.ts';
import { attempt, type Outcome, run } from '../../lab/command.ts';
import type { LabDescription, ServerDescription } from '../../lab/description.ts';
import { hold } from '../../lab/held-name.ts';
import type { VariantName } from '../../lab/servers/variants.ts';

/** Its servers share the processors of this machine; of its memory, what a small server has. */
export const labCapacity = { memoryMb: 8_192, cpus: availableParallelism() };

export class TestLab {
  readonly client: LabClient;
  readonly about: LabDescription;

  constructor(client: LabClient, about: LabDescription) {
    this.client = client;
    this.about = about;
  }

  /** One of the lab's lasting servers, as on its first day; put back into that state afterwards. */
  async server(t: TestContext, name: string): Promise<TestServer> {
    const held = await hold(`server-${this.about.name}-${name}`);
    t.after(async () => {
      await this.client.reset(name);
      await held.release();
    });
    const found = (await this.client.describe()).servers.find((each) => each.name === name);
    if (!found) throw new Error(`the lab has no server ${name}`);
    return new TestServer(this.about, found);
  }

  /** One for all tests of a file that leave each other alone on it, gone after the last. */
  shared(variant: VariantName): Promise<TestServer> {
    const booting = shared.get(variant) ?? this.client.addServer(variant);
    shared.set(variant, booting);
    return booting.then((about) => new TestServer(this.about, about));
  }

  /** A new server that nobody else knows, gone afterwards. */
  async fresh(t: TestContext, variant: VariantName): Promise<TestServer> {
    const server = await this.client.addServer(variant);
    t.after(() => this.client.removeServer(server.name));
    return new TestServer(this.about, server);
  }
}

export class TestServer {
  readonly about: ServerDescription;
  readonly #lab: LabDescription;

  constructor(lab: LabDescription, about: ServerDescription) {
    this.#lab = lab;
    this.about = about;
  }

  get sshOptions(): string[] {
    const { keyFile, name } = this.about;
    if (!keyFile) throw new Error(`${name} takes no key`);
    const known = `UserKnownHostsFile=${this.#lab.knownHosts}`;
    const quick = ['-o', 'ConnectTimeout=20'];
    return ['-i', keyFile, '-o', known, '-o', 'BatchMode=yes', '-o', 'LogLevel=ERROR', ...quick];
  }

  get sshArguments(): string[] {
    return [...this.sshOptions, `${this.about.user}@${this.about.address}`];
  }

  /** A folder of this machine, to the home of the server's user. */
  async copy(folder: string, name: string): Promise<void> {
    const { user, address } = this.about;
    await run('scp', ['-q', '-r', ...this.sshOptions, folder, `${user}@${address}:${name}`]);
  }

  /** A command line for the server's shell; fails unless it succeeds there. */
  ssh(command: string, input?: string): Promise<string> {
    return run('ssh', [...this.sshArguments, command], input === undefined ? {} : { input });
  }

  trySsh(command: string): Promise<Outcome> {
    return attempt('ssh', [...this.sshArguments, command]);
  }
}

/** As many providers hand a server out: root, with a password. */
export async function rootPassword(server: TestServer): Promise<string> {
  const password = randomBytes(12).toString('hex');
  await server.ssh('chpasswd', `root:${password}\n`);
  await server.ssh(
    'cat > /etc/ssh/sshd_config.d/00-password.conf && systemctl reload ssh',
    'PermitRootLogin yes\nPasswordAuthentication yes\n',
  );
  return password;
}

const shared = new Map<VariantName, Promise<ServerDescription>>();
// Here, and not where one is booted: a hook that is made inside of a test belongs to that test.
after(async () => {
  const lab = shared.size > 0 ? await openLab() : undefined;
  for (const booting of shared.values()) await lab?.client.removeServer((await booting).name);
});

let opened: Promise<TestLab> | undefined;

/** The lab of this test run. */
export function openLab(): Promise<TestLab> {
  opened ??= open();
  return opened;
}

async function open(): Promise<TestLab> {
  const control = process.env.TEST_LAB;
  if (!control) throw new Error('There is no lab here: run this file with `npm test -- <file>`.');
  const client = new LabClient(control);
  return new TestLab(client, await client.describe());
}
