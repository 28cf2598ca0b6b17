/** The services of one lab, started together, on the lab's own address of this machine. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { LabDescription } from '../description.ts';
import type { LabNetwork } from '../network.ts';
import { type LabPlaces, ports, zone } from '../places.ts';
import { configureAcme, startAcme } from './acme.ts';
import { startCatcher } from './catcher/catcher.ts';
import { catcherRoutes } from './catcher/catcher-routes.ts';
import { startDns } from './dns/dns.ts';
import { dnsRoutes } from './dns/dns-routes.ts';
import { startEmulated } from './emulated.ts';
import { startGitHost } from './git/git-host.ts';
import { gitRoutes } from './git/git-routes.ts';
import { startMail } from './mail/mail.ts';
import { mailRoutes } from './mail/mail-routes.ts';
import { startReceivers } from './receivers.ts';
import { receiverRoutes } from './receivers-routes.ts';
import { configureRegistry, registryDir, startRegistry } from './registry.ts';
import { bucket, region, startS3 } from './s3.ts';
import { s3Routes } from './s3-routes.ts';
import { Tools } from './tools.ts';

type Parts = 'dns' | 'acme' | 'registry' | 'git' | 's3' | 'slack' | 'smtp' | 'catcher' | 'receivers';

export interface LabServices {
  readonly description: Pick<LabDescription, Parts>;
  routes(app: FastifyInstance): void;
  close(): Promise<void>;
}

const owner = 'ada';

export async function startServices(network: LabNetwork, places: LabPlaces): Promise<LabServices> {
  const address = network.subnet.host;
  const dns = await startDns({
    address,
    port: ports.dns,
    zones: [zone],
    nameServer: address,
    upstreams: resolversOfThisMachine(),
  });
  const keys = keyPair();
  const [mail, catcher, emulated, s3, receivers, git, tools] = await Promise.all([
    startMail({ address, port: ports.smtp }),
    startCatcher({ address, port: ports.catcher }),
    startEmulated(address),
    startS3({ address, port: ports.s3, dir: join(places.dir, 's3'), keys }),
    startReceivers({ address, port: ports.receivers, tlsPort: ports.receiversTls }),
    startGitHost({ address, port: ports.git, dir: join(places.dir, 'git') }),
    Tools.open(network, join(places.dir, 'tools')),
  ]);
  configureRegistry(tools, address);
  await configureAcme(tools, address, places.caFile);
  await tools.show({ '/images': registryDir });
  const [registry, acme] = await Promise.all([
    startRegistry(tools, address),
    startAcme(tools, address, places.caFile),
  ]);
  git.createAccount({ login: owner, name: 'Ada', kind: 'user' });
  const { token } = git.createToken({ login: owner, scopes: ['repo', 'admin:repo_hook', 'read:org'] });
  const gitUrl = `http://${address}:${ports.git}`;
  return {
    description: {
      dns: { address, port: ports.dns, zone },
      acme: { ...acme, caFile: places.caFile },
      registry,
      git: { url: gitUrl, api: `${gitUrl}/api/v3`, login: owner, token },
      s3: { endpoint: s3.endpoint, region, bucket, ...keys },
      slack: emulated.slack,
      smtp: `smtp://${address}:${ports.smtp}`,
      catcher: `http://${address}:${ports.catcher}`,
      receivers: receivers.addresses,
    },
    routes: (app) => {
      dnsRoutes(app, dns);
      mailRoutes(app, mail);
      catcherRoutes(app, catcher);
      receiverRoutes(app, receivers);
      gitRoutes(app, git);
      s3Routes(app, s3);
    },
    close: async () => {
      const all = [dns, mail, catcher, emulated, s3, receivers, git];
      await Promise.all(all.map((each) => each.close()));
    },
  };
}

function resolversOfThisMachine(): string[] {
  const lines = readFileSync('/etc/resolv.conf', 'utf8');
  return [...lines.matchAll(/^nameserver\s+(\S+)/gm)].map((found) => found[1] ?? '');
}

/** The one pair that the S3 knows; a fresh one keeps it from being copied into tests. */
function keyPair(): { accessKeyId: string; secretAccessKey: string } {
  return {
    accessKeyId: `LAB${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(24).toString('base64url'),
  };
}
