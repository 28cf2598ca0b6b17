/** What the name of a container image tells: a service and its version, or the language that is in it. */
import type { ServiceKind } from '../result.ts';

export interface ImageName {
  /** Without registry and owner. */
  readonly name: string;
  readonly owner: string;
  readonly tag: string | null;
}

export function parseImageName(reference: string): ImageName | undefined {
  const plain = reference.trim().slice(0, 300).split('@')[0] ?? '';
  const parts = plain.split('/');
  const last = parts.pop() ?? '';
  const [name = '', tag = null] = last.split(':');
  return /^[\w.-]+$/.test(name)
    ? { name: name.toLowerCase(), owner: parts.at(-1)?.toLowerCase() ?? '', tag }
    : undefined;
}

const services: readonly (readonly [RegExp, ServiceKind])[] = [
  [
    /^(?:postgres|postgresql|postgis|pgvector|timescaledb|timescaledb-ha|paradedb|pgvecto-rs|spilo|postgres-ssl|cloudnative-pg)(?:$|-(?!exporter|backup|operator|bouncer))/,
    'postgres',
  ],
  [/^(?:mysql|mysql-server|percona|percona-server)$/, 'mysql'],
  [/^(?:mariadb|mariadb-galera)$/, 'mariadb'],
  [/^(?:mongo|mongodb|mongodb-community-server|mongodb-sharded)$/, 'mongodb'],
  [/^(?:redis|redis-stack|redis-stack-server|valkey|keydb|dragonfly|redis-cluster)$/, 'redis'],
];

export function serviceOfImage(reference: string): { kind: ServiceKind; version: string | null } | undefined {
  const image = parseImageName(reference);
  const kind = image && services.find(([pattern]) => pattern.test(image.name))?.[1];
  if (!image || !kind) return undefined;
  const isOther = /^(?:keydb|dragonfly|redis-stack|valkey)/.test(image.name);
  const version = /(?:^|pg|v)(\d{1,2}(?:\.\d{1,3}){0,2})/.exec(image.tag ?? '')?.[1] ?? null;
  return { kind, version: isOther ? null : version };
}

const languages: Readonly<Record<string, readonly [language: string, tool: string]>> = {
  node: ['javascript', 'node'],
  bun: ['javascript', 'bun'],
  deno: ['typescript', 'deno'],
  python: ['python', 'python'],
  pypy: ['python', 'python'],
  golang: ['go', 'go'],
  rust: ['rust', 'rust'],
  ruby: ['ruby', 'ruby'],
  php: ['php', 'php'],
  frankenphp: ['php', 'php'],
  openjdk: ['java', 'java'],
  'eclipse-temurin': ['java', 'java'],
  amazoncorretto: ['java', 'java'],
  maven: ['java', ''],
  gradle: ['java', ''],
  sdk: ['csharp', 'dotnet'],
  aspnet: ['csharp', 'dotnet'],
  elixir: ['elixir', 'elixir'],
  erlang: ['erlang', 'erlang'],
  swift: ['swift', 'swift'],
  dart: ['dart', 'dart'],
  crystal: ['crystal', 'crystal'],
  haskell: ['haskell', 'haskell'],
  clojure: ['clojure', ''],
  gleam: ['gleam', 'gleam'],
  perl: ['perl', 'perl'],
  gcc: ['c', ''],
  julia: ['julia', 'julia'],
  nginx: ['html', ''],
  httpd: ['html', ''],
  caddy: ['html', ''],
};

/** `node:22-alpine` is JavaScript on Node 22. A tag without a number says no version. */
export function languageOfImage(reference: string) {
  const image = parseImageName(reference);
  const base = image && (Object.hasOwn(languages, image.name) ? languages[image.name] : undefined);
  if (!image || !base) return undefined;
  const version = /^(?:v|lts-|jdk-|php)?(\d{1,4}(?:\.\d{1,4}){0,2})/.exec(image.tag ?? '')?.[1];
  return { language: base[0], tool: base[1], version: base[1] === '' ? undefined : version };
}
