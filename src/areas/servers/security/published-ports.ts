/** Ports that Docker publishes beyond the machine itself. They pass by the rules for INPUT. */
import { type Facts, isRecord, parseFactJson, UnreadableFact } from './facts.ts';

export interface PublishedPort {
  readonly container: string;
  readonly address: string;
  readonly port: number;
}

export function publishedPorts(facts: Facts): PublishedPort[] {
  return facts.lines('containers').flatMap((line) => {
    const [name = '', ports = ''] = splitValues(line);
    const container = String(parseFactJson(name, 'containers')).replace(/^\//, '');
    return bindings(parseFactJson(ports, 'containers')).flatMap(({ address, port }) =>
      address === '::1' || address.startsWith('127.') ? [] : [{ container, address, port }],
    );
  });
}

/** `"/name" {…} {…}`: a name of a container has neither blanks nor quotes. */
export function splitValues(line: string): string[] {
  const found = /^("[^"]*") (\{.*\}|null) (\{.*\}|null)$/.exec(line);
  if (!found) throw new UnreadableFact(`A container cannot be read: ${line.slice(0, 200)}`);
  return found.slice(1);
}

function bindings(ports: unknown): { address: string; port: number }[] {
  if (!isRecord(ports)) return [];
  return Object.entries(ports).flatMap(([inner, outer]) => {
    if (!inner.endsWith('/tcp') || !Array.isArray(outer)) return [];
    return outer.filter(isRecord).map(({ HostIp, HostPort }) => ({
      address: typeof HostIp === 'string' && HostIp !== '' ? HostIp : '0.0.0.0',
      port: Number(HostPort),
    }));
  });
}
