/** A small internet of name servers on loopback: two that have the zones, one that resolves, and any that play a part. */
import type { TestContext } from 'node:test';
import * as packet from 'dns-packet';
import { type LabDns, startDns } from '../../lab/services/dns/dns.ts';
import { listen, type Source } from '../../lab/services/dns/listen.ts';
import {
  createDns,
  type DnsOptions,
  type DomainCheck,
  type DomainToCheck,
  type Finding,
  type FindingCode,
} from '../../src/adapters/dns/dns.ts';
import { kindOfAddress } from '../../src/adapters/egress/address-kinds.ts';

export const hostname = 'app.example.test';
export const value = 'slipway-verification=abc123';
export const record = { name: `_slipway.${hostname}`, value };
/** Public ones, because what is private in DNS is a finding of its own. */
export const serverV4 = '9.9.9.9';
export const serverV6 = '2620:fe::9';
export const authority = ['letsencrypt.org'];

/** A port is one scene's alone, and addresses are told apart within it. */
const [firstAddress, secondAddress, resolverAddress] = ['127.60.0.1', '127.60.0.2', '127.60.0.9'];

export interface Scene {
  readonly first: LabDns;
  readonly second: LabDns;
  readonly resolver: LabDns;
  readonly port: number;
  /** At both servers of the zone. */
  set(name: string, type: string, values: readonly string[], ttl?: number): void;
  remove(name: string, type?: string): void;
  look(domain?: Partial<DomainToCheck>, options?: Partial<DnsOptions>): Promise<DomainCheck>;
}

export async function startScene(t: TestContext): Promise<Scene> {
  const common = { zones: ['test', 'example.test'], upstreams: [] };
  const first = await startDns({ ...common, address: firstAddress, port: 0, nameServer: firstAddress });
  t.after(() => first.close());
  const { port } = first;
  const second = await startDns({ ...common, address: secondAddress, port, nameServer: secondAddress });
  t.after(() => second.close());
  const resolver = await startDns({
    address: resolverAddress,
    port,
    zones: [],
    nameServer: resolverAddress,
    upstreams: [`${firstAddress}:${port}`, `${secondAddress}:${port}`],
    upstreamTimeoutMs: 1_000,
  });
  t.after(() => resolver.close());
  const both = [first, second];
  const set: Scene['set'] = (name, type, values, ttl) => {
    for (const server of both) server.set(name, type, values, ttl);
  };
  set('example.test', 'NS', ['ns1.example.test', 'ns2.example.test']);
  set('ns1.example.test', 'A', [firstAddress]);
  set('ns2.example.test', 'A', [secondAddress]);
  set(hostname, 'A', [serverV4]);
  set(record.name, 'TXT', [value]);
  return {
    first,
    second,
    resolver,
    port,
    set,
    remove: (name, type) => {
      for (const server of both) server.remove(name, type);
    },
    look: (domain = {}, options = {}) =>
      dnsOf(port, [`${resolverAddress}:${port}`], options).checkDomain(
        { hostname, record, serverAddresses: [serverV4, serverV6], authority, ...domain },
        t.signal,
      ),
  };
}

export function dnsOf(port: number, servers: readonly string[], options: Partial<DnsOptions> = {}) {
  return createDns({
    servers,
    allowPrivate: true,
    kindOfAddress,
    timeoutMs: 4_000,
    authorityPort: port,
    ...options,
  });
}

export function find(look: DomainCheck, code: FindingCode): Finding {
  const found = look.findings.find((finding) => finding.code === code);
  if (found) return found;
  throw new Error(`no finding ${code} among:\n${look.findings.map(shown).join('\n')}`);
}

const shown = ({ code, message, evidence }: Finding) => `${code}: ${message} [${evidence ?? ''}]`;

export function codesOf(look: DomainCheck): FindingCode[] {
  return look.findings.map(({ code }) => code).sort();
}

export interface Asked {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly isRecursive: boolean;
  /** Without CD. */
  readonly isValidated: boolean;
  readonly transport: Source['transport'];
}

/** A server that answers whatever it is told to: a message, bytes, or nothing. */
export async function startScripted(
  t: TestContext,
  address: string,
  port: number,
  answer: (asked: Asked) => Partial<packet.Packet> | Buffer | undefined,
): Promise<number> {
  const sockets = await listen(address, port, async (bytes, { transport }) => {
    const query = packet.decode(bytes);
    const [question] = query.questions ?? [];
    if (!question) return undefined;
    const id = query.id ?? 0;
    const flags = { isRecursive: query.flag_rd, isValidated: !query.flag_cd };
    const said = answer({ id, name: question.name.toLowerCase(), type: question.type, ...flags, transport });
    if (said === undefined || Buffer.isBuffer(said)) return said;
    return packet.encode({ type: 'response', id, questions: [question], ...said });
  });
  t.after(() => sockets.close());
  return sockets.port;
}
