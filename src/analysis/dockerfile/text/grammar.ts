/**
 * The only place where text becomes Dockerfile. What comes from a repository or a person is either of a form that means
 * nothing to Docker's parser, or goes into a JSON list, which the parser takes for data; anything else is refused. A
 * line that a value could end, continue (`\`), turn into a flag (`--mount`) or into a here-document (`<<`) is thus
 * not written at all.
 */
import { Fault } from '../../../fault.ts';

const longestCommand = 4_000;

/** `name:tag` as registries write them; every image of ours is looked at too, as its tag holds a version found somewhere. */
export function baseImageName(image: string): string {
  if (image.length <= 200 && /^[a-z0-9][a-z0-9./_-]*:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(image))
    return image;
  throw wrong('versions', `There is no base image of the name ${shown(image)}.`);
}

/**
 * A path inside the repository or the image. Letters of any language, digits and a few signs: none that Docker or a
 * shell expands. With `-` in front it would be an option, with `..` it would leave its place.
 */
export function plainPath(path: string): string {
  if (isPlainPath(path)) return path;
  throw wrong('path', `The path ${shown(path)} has characters that a Dockerfile cannot carry safely.`);
}

export function isPlainPath(path: string): boolean {
  if (path.length > 500 || !/^[\p{L}\p{N}._@/(][\p{L}\p{N}._@+,=()/ -]*$/u.test(path)) return false;
  return !path.endsWith(' ') && !path.split('/').includes('..');
}

export function variableKey(key: string): string {
  if (key.length <= 200 && /^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return key;
  throw wrong('variables', `${shown(key)} is no name of a variable.`);
}

export function portNumber(port: number): number {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw wrong('port', `${shown(String(port))} is no port.`);
}

export function urlPath(path: string): string {
  if (path.length <= 500 && /^\/[\x21-\x7e]*$/.test(path)) return path;
  throw wrong('healthPath', `${shown(path)} is no path of a URL.`);
}

/** Names of Debian packages. */
export function packageName(name: string): string {
  if (/^[a-z0-9][a-z0-9+.-]{0,99}$/.test(name)) return name;
  throw wrong('systemPackages', `${shown(name)} is no name of a Debian package.`);
}

export function commandText(command: string, field: string): string {
  const text = command.trim();
  if (text !== '' && text.length <= longestCommand && !text.includes('\0')) return text;
  const why = text === '' ? 'is empty' : text.includes('\0') ? 'has a zero byte' : 'is too long';
  throw wrong(field, `The command ${why}.`);
}

/** A list that Docker takes as it stands. Even in it a `<<` is escaped, so that no parser finds one. */
export function jsonList(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word).replaceAll('<<', '\\u003c\\u003c')).join(', ')}]`;
}

/** `COPY`, with the JSON form where a name has a space. */
export function copy(sources: readonly string[], target: string, options: readonly string[] = []): string {
  if (sources.length === 0)
    throw wrong('path', 'A manifest that the build starts from is not in this folder.');
  const words = [...sources, target].map((path) => (/^[.\p{L}\p{N}/]/u.test(path) ? path : `./${path}`));
  for (const word of words) plainPath(word);
  const head = ['COPY', ...options].join(' ');
  return words.some((word) => word.includes(' '))
    ? `${head} ${jsonList(words)}`
    : `${head} ${words.join(' ')}`;
}

export function workdir(path: string): string {
  return `WORKDIR ${plainPath(path)}`;
}

/**
 * `RUN` with a command of anyone's. One that reads the same to Docker and to a shell stands there as it was typed;
 * others go to the shell as one word of a list.
 */
export function run(command: string, mounts: readonly string[] = []): string {
  const isPlain = /^[A-Za-z0-9_./@$(][\x20-\x7e]*$/.test(command) && !/\\|<</.test(command);
  const body = isPlain ? command : jsonList(['/bin/sh', '-c', command]);
  const flags = mounts.map((mount) => `--mount=${mount}`);
  return ['RUN', [...flags, body].join(' \\\n    ')].join(' ');
}

/** For a shell. The paths were looked at before: there is no quote in them. */
export function quoted(path: string): string {
  return /^[A-Za-z0-9._/@+-]+$/.test(path) ? path : `'${path}'`;
}

export function wrong(path: string, message: string, hint?: string): Fault {
  const options = { errors: [{ path, message }], ...(hint === undefined ? {} : { hint }) };
  return new Fault('invalid_input', message, options);
}

function shown(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}
