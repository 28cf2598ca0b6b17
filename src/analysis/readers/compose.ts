/** A compose file as data: its services, with anchors laid in and `${…}` understood. Nothing is looked up outside. */
import { isParsed, type Parsed } from '../repository.ts';
import { asEntries, asList, asMany, asObject, asText } from './shape.ts';

export interface ComposeService {
  readonly name: string;
  readonly image: string | undefined;
  readonly build:
    | {
        readonly context: string;
        readonly dockerfile: string | undefined;
        readonly args: readonly ComposeSetting[];
      }
    | undefined;
  readonly command: unknown;
  readonly entrypoint: unknown;
  /** Inside the container, those that are published before those that are only exposed. */
  readonly ports: readonly number[];
  readonly environment: readonly ComposeSetting[];
  readonly dependsOn: readonly string[];
  readonly healthcheck: string | undefined;
  /** Folders in the container that lie on a named volume. */
  readonly volumes: readonly string[];
  readonly profiles: readonly string[];
}

export interface ComposeSetting {
  readonly key: string;
  /** What the file says, `${X:-x}` filled in; `undefined` where another place has it. */
  readonly value: string | undefined;
  /** By `${X:?}`, or a name without value that is passed through. */
  readonly required: boolean;
}

const mostServices = 100;

export function readCompose(file: Parsed): readonly ComposeService[] {
  const all = asObject(file.services);
  return Object.entries(all)
    .slice(0, mostServices)
    .filter(([, value]) => isParsed(value))
    .map(([name, value]) => serviceOf(name, extended(asObject(value), all), asObject(file.volumes)));
}

/** `<<` as older YAML has it, then `extends` of the same file; each one step deep, which is all that people write. */
function extended(service: Parsed, all: Parsed): Parsed {
  const plain = merged(service);
  const base =
    isParsed(plain.extends) && plain.extends.file === undefined
      ? asText(plain.extends.service)
      : asText(plain.extends);
  if (base === undefined || !Object.hasOwn(all, base)) return plain;
  return { ...merged(asObject(all[base])), ...plain };
}

function merged(value: Parsed): Parsed {
  if (!Object.hasOwn(value, '<<')) return value;
  const bases = asMany(value['<<']).map(asObject);
  const { '<<': _, ...own } = value;
  return Object.assign({}, ...bases.toReversed(), own);
}

function serviceOf(name: string, service: Parsed, named: Parsed): ComposeService {
  const build = service.build;
  const record = asObject(build);
  const context =
    typeof build === 'string' ? build : isParsed(build) ? (asText(record.context) ?? '.') : undefined;
  return {
    name,
    image: filled(asText(service.image) ?? '')?.trim() || undefined,
    build:
      context === undefined
        ? undefined
        : {
            context: filled(context) ?? '.',
            dockerfile: filled(asText(record.dockerfile) ?? '') || undefined,
            args: settingsOf(record.args),
          },
    command: inText(service.command),
    entrypoint: inText(service.entrypoint),
    ports: [
      ...asList(service.ports).flatMap((each) => portOf(each) ?? []),
      ...asList(service.expose).flatMap((each) => portOf(each) ?? []),
    ],
    environment: settingsOf(service.environment),
    dependsOn: Array.isArray(service.depends_on)
      ? asList(service.depends_on).flatMap((each) => asText(each) ?? [])
      : Object.keys(asObject(service.depends_on)),
    healthcheck: healthOf(asObject(service.healthcheck).test),
    volumes: asList(service.volumes).flatMap((each) => volumeOf(each, named) ?? []),
    profiles: asMany(service.profiles).flatMap((each) => asText(each) ?? []),
  };
}

function settingsOf(value: unknown): readonly ComposeSetting[] {
  if (Array.isArray(value))
    return asList(value).flatMap((each) => {
      const text = asText(each);
      if (text === undefined) return [];
      const at = text.indexOf('=');
      return at === -1
        ? [{ key: text, value: undefined, required: true }]
        : [settingOf(text.slice(0, at), text.slice(at + 1))];
    });
  return asEntries(isParsed(value) ? merged(value) : value).map(([key, each]) =>
    each === null || each === undefined
      ? { key, value: undefined, required: true }
      : settingOf(key, isParsed(each) ? '' : String(each)),
  );
}

function settingOf(key: string, text: string): ComposeSetting {
  return { key: key.trim(), value: filled(text), required: /\$\{\w{1,100}:?\?/.test(text.slice(0, 1_000)) };
}

/** Another value is used where the file has none of its own, so the whole is not known. */
function filled(text: string): string | undefined {
  let isKnown = true;
  const whole = text
    .slice(0, 2_000)
    .replace(
      /\$\$|\$\{(\w{1,100})(?:(:?[-?+])([^}]{0,500}))?\}|\$(\w{1,100})/g,
      (all, _name, mark?: string, other?: string) => {
        if (all === '$$') return '$';
        if (mark?.endsWith('-')) return other ?? '';
        isKnown = false;
        return '';
      },
    );
  return isKnown ? whole : undefined;
}

function inText(value: unknown): unknown {
  if (typeof value === 'string') return filled(value) ?? value;
  return Array.isArray(value)
    ? asList(value).map((each) => (typeof each === 'string' ? (filled(each) ?? each) : each))
    : undefined;
}

/** `127.0.0.1:8080:80/tcp`, `"3000"`, `{target: 80}`. */
function portOf(value: unknown): number | undefined {
  const text = isParsed(value) ? asText(value.target) : filled(asText(value) ?? '');
  const last = text?.split(':').at(-1);
  const port = Number(/^(\d{1,5})(?:\/tcp)?$/.exec(last ?? '')?.[1] ?? Number.NaN);
  return port > 0 && port < 65_536 ? port : undefined;
}

/** A folder of the host is how developers see their changes; a named volume is kept. */
function volumeOf(value: unknown, named: Parsed): string | undefined {
  if (isParsed(value))
    return value.type === 'volume' && asText(value.source) ? asText(value.target) : undefined;
  const [source = '', target] = (asText(value) ?? '').split(':');
  if (target === undefined || !Object.hasOwn(named, source)) return undefined;
  return /node_modules|\.venv|\/(?:\.?cache|vendor|target|\.next|bundle|gems)(?:\/|$)/.test(target)
    ? undefined
    : target;
}

function healthOf(value: unknown): string | undefined {
  return Array.isArray(value) ? asList(value).map(String).join(' ').slice(0, 1_000) : asText(value);
}
