/** How the text of a setting becomes a value, or a phrase that completes the sentence «X is wrong: "…" …». */
import { accessSync, constants } from 'node:fs';
import { isIP, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { fromBase64 } from './base64.ts';
import { isId, type WorkspaceId } from './ids.ts';
import { type Role, roles } from './principal.ts';
import { Secret } from './secret.ts';

export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };
export type Reader<T> = (raw: string) => Reading<T>;

export type MonitorListen =
  | { readonly at: 'main' | 'off' }
  | { readonly at: 'address'; readonly host: string; readonly port: number };

const right = <T>(value: T): Reading<T> => ({ ok: true, value });
const wrong = (problem: string): Reading<never> => ({ ok: false, problem });

export const text: Reader<string> = (raw) => (raw.trim() === '' ? wrong('is empty') : right(raw.trim()));

export const folder: Reader<string> = (raw) => right(resolve(raw));

export function wholeNumber(least: number, most: number): Reader<number> {
  return (raw) => {
    const value = /^\d{1,10}$/.test(raw) ? Number(raw) : Number.NaN;
    if (value >= least && value <= most) return right(value);
    return wrong(`is not a whole number from ${least} to ${most}`);
  };
}

export function oneOf<const T extends string>(...values: readonly T[]): Reader<T> {
  return (raw) => {
    const value = values.find((each) => each === raw);
    return value === undefined ? wrong(`is not one of ${values.join(', ')}`) : right(value);
  };
}

export const onOff: Reader<boolean> = (raw) => {
  const value = raw.toLowerCase();
  if (['on', 'true', '1'].includes(value)) return right(true);
  return ['off', 'false', '0'].includes(value) ? right(false) : wrong('is neither on nor off');
};

function url(raw: string, protocols: readonly string[]): URL | undefined {
  const parsed = URL.parse(raw);
  return parsed && protocols.includes(parsed.protocol) && parsed.hostname !== '' ? parsed : undefined;
}

export const webOrigin: Reader<string> = (raw) => {
  const parsed = url(raw, ['http:', 'https:']);
  if (parsed?.pathname !== '/' || parsed.search || parsed.hash || parsed.username) {
    return wrong('is not an address such as https://deploy.example.com, without a path');
  }
  return right(parsed.origin);
};

export const webAddress: Reader<string> = (raw) => {
  const parsed = url(raw, ['http:', 'https:']);
  if (!parsed || parsed.username)
    return wrong('is not an address such as https://authority.example/directory');
  return right(parsed.href);
};

export const webOriginList: Reader<readonly string[]> = listOf(webOrigin);

export const postgresUrl: Reader<Secret> = (raw) => {
  const parsed = URL.parse(raw);
  if (parsed && ['postgres:', 'postgresql:'].includes(parsed.protocol)) return right(new Secret(raw));
  return wrong('is not an address such as postgres://user:password@host:5432/slipway');
};

export const smtpUrl: Reader<Secret> = (raw) =>
  url(raw, ['smtp:', 'smtps:'])
    ? right(new Secret(raw))
    : wrong('is not an address such as smtps://user:password@mail.example.com:465');

/** The current key first, then those that may still open older values. */
export const masterKeys: Reader<readonly Secret<Buffer>[]> = (raw) => {
  const keys = raw.split(',').flatMap((each) => fromBase64(each.trim()) ?? Buffer.alloc(0));
  if (keys.every((key) => key.length === 32)) return right(keys.map((key) => new Secret(key)));
  return wrong('is not 32 bytes in base64 (make one with: openssl rand -base64 32)');
};

export const addressList: Reader<readonly string[]> = listOf((raw) => {
  const [address = '', prefix, ...rest] = raw.split('/');
  const family = isIP(address);
  const bits = prefix === undefined ? 0 : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  const fits = family !== 0 && rest.length === 0 && bits <= (family === 4 ? 32 : 128);
  return fits ? right(raw) : wrong('is not a list of addresses or CIDR blocks such as 10.0.0.0/8,::1');
});

/** `none`, or networks in which servers may stand; `private` is all private ranges. */
export const serverNetworks: Reader<{
  readonly allowPrivate: boolean;
  readonly networks: readonly string[];
}> = (raw) => {
  const words = raw.split(',').map((each) => each.trim());
  if (words.length === 1 && words[0] === 'none') return right({ allowPrivate: false, networks: [] });
  const listed = addressList(words.filter((each) => each !== 'private').join(','));
  if (!listed.ok)
    return wrong('is neither none nor a list of private, addresses or CIDR blocks such as 10.0.0.0/8');
  return right({ allowPrivate: words.includes('private'), networks: listed.value });
};

export const dnsServerList: Reader<readonly string[]> = listOf((raw) => {
  const match = /^(?:\[([^\]]+)\](?::(\d{1,5}))?|([\d.]+)(?::(\d{1,5}))?|([\da-f:.]+))$/i.exec(raw);
  const address = match?.[1] ?? match?.[3] ?? match?.[5] ?? '';
  const port = Number(match?.[2] ?? match?.[4] ?? 53);
  const fits = isIP(address) !== 0 && port >= 1 && port <= 65_535;
  return fits ? right(raw) : wrong('is not a list of addresses such as 192.0.2.53,[2001:db8::53]:5353');
});

export const readableFile: Reader<string> = (raw) => {
  const path = resolve(raw);
  try {
    accessSync(path, constants.R_OK);
    return right(path);
  } catch {
    return wrong('is not a file that can be read');
  }
};

export const monitorListen: Reader<MonitorListen> = (raw) => {
  if (raw === 'main' || raw === 'off') return right({ at: raw });
  const match = /^(?:\[([^\]]+)\]|([^\s/[\]]+)):(\d{1,5})$/.exec(raw);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535 || (match?.[1] !== undefined && !isIPv6(host)))
    return wrong('is neither main, off, nor HOST:PORT');
  return right({ at: 'address', host, port });
};

/** What an `Authorization` header can carry. */
export const monitorToken: Reader<Secret> = (raw) =>
  /^[\w.~+/=-]{16,4096}$/.test(raw)
    ? right(new Secret(raw))
    : wrong(
        'is not 16 or more letters, digits and characters of -._~+/= (make one with: openssl rand -hex 32)',
      );

/** What a provider calls itself is compared as it is: nothing is put in order here. */
export const issuer: Reader<string> = (raw) => {
  const parsed = url(raw, ['https:', 'http:']);
  const isPlain = parsed && !parsed.search && !parsed.hash && !parsed.username && !parsed.password;
  if (!isPlain || raw.includes('/.well-known/'))
    return wrong('is not an issuer such as https://id.example.com/realms/main, without /.well-known');
  if (parsed.protocol === 'http:' && !isLoopbackUrl(raw))
    return wrong('is plain http: only a provider on this machine can be reached without TLS');
  return right(raw);
};

/** Read from a file, it comes with the end of a line: that is not the secret, and no provider would say so. */
export const secretText: Reader<Secret> = (raw) =>
  /^\S(.*\S)?$/.test(raw)
    ? right(new Secret(raw))
    : wrong('is not one line of text without spaces at its ends');

export const scopes: Reader<string> = (raw) => {
  const words = raw.split(/\s+/).filter(Boolean);
  const areTokens = words.every((each) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(each));
  return areTokens && words.includes('openid')
    ? right(words.join(' '))
    : wrong('is not a list of scopes with openid among them, such as openid email profile');
};

export const domainList: Reader<readonly string[]> = listOf((raw) =>
  /^(?:[a-z0-9-]+\.)+[a-z0-9-]+$/i.test(raw)
    ? right(raw.toLowerCase())
    : wrong('is not a list of domains such as example.com,example.org'),
);

/** Values of a claim: words such as `mfa`, or addresses. */
export const claimValues: Reader<readonly string[]> = listOf((raw) =>
  /^[\x21-\x2b\x2d-\x7e]{1,200}$/.test(raw)
    ? right(raw)
    : wrong('is not a list of values of the claims amr and acr, such as mfa'),
);

/** Of each group, its role in each workspace that is named. */
export type GroupRoles = ReadonlyMap<string, ReadonlyMap<WorkspaceId, Role>>;

const mostGroups = 1_000;

export const groupRoles: Reader<GroupRoles> = (raw) => {
  const given = parsedObject(raw);
  if (!given || Object.keys(given).length === 0 || Object.keys(given).length > mostGroups)
    return wrong('is not JSON such as {"platform": {"<workspace id>": "admin"}}');
  const groups = new Map<string, ReadonlyMap<WorkspaceId, Role>>();
  for (const [group, places] of Object.entries(given)) {
    const byWorkspace = new Map<WorkspaceId, Role>();
    for (const [id, name] of Object.entries(Object(places))) {
      const role = roles.find((each) => each === name);
      if (!isId<WorkspaceId>(id) || role === undefined)
        return wrong(
          `is not right for the group ${JSON.stringify(group)}: each of its fields is a workspace id with one of ${roles.join(', ')}`,
        );
      byWorkspace.set(id, role);
    }
    groups.set(group, byWorkspace);
  }
  return right(groups);
};

function parsedObject(raw: string): object | undefined {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function listOf<T>(reader: Reader<T>): Reader<readonly T[]> {
  return (raw) => {
    const values: T[] = [];
    for (const part of raw.split(',').map((each) => each.trim())) {
      if (part === '') continue;
      const reading = reader(part);
      if (!reading.ok) return reading;
      values.push(reading.value);
    }
    return right(values);
  };
}

export function isLoopbackUrl(url = 'http://localhost'): boolean {
  return isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''));
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
