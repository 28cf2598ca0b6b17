/**
 * `.env.example` and its kin, and a `.env` that was checked in. What looks like somebody's real secret is never passed
 * on: a checked-in one is said as a warning.
 */
import type { VariableFinding } from '../detector.ts';
import { parseEnvFile } from '../readers/env-file.ts';
import { join, type Repository } from '../repository.ts';
import { isSecretName } from '../resolve/variable-names.ts';
import type { Warning } from '../result.ts';
import { isAnalysed } from './analysed-folders.ts';
import { isLocal, isPlaceholder, looksSecret } from './values.ts';
import { mentioned } from './variable.ts';

const exampleWord =
  /(?:^|[._-])(?:example|sample|template|tmpl|tpl|dist|defaults?|skeleton|schema|EXAMPLE|SAMPLE)(?:[._-]|$)/;
const envName =
  /^(?:\.env|\.envrc|env)(?:[._-][\w.-]{1,60})?$|^[\w.-]{1,60}\.env$|^\.[\w-]{1,20}\.env(?:\.[\w-]{1,20})?$|^\.dev\.vars(?:\.\w{1,20})?$/;

export type EnvFileKind = 'example' | 'committed' | 'other';

/** `other`: for tests, or no such file. `env.ts` and `.env.d.ts` are code. */
export function envFileKind(name: string): EnvFileKind {
  // Asked of every file there is, so the cheap question comes first.
  if (!name.includes('env') && !name.startsWith('.dev.vars')) return 'other';
  if (
    !envName.test(name) ||
    /\.(?:[cm]?[jt]sx?|py|rb|go|rs|php|sh|json|ya?ml|toml|md|vault|keys|enc|gpg|age)$/.test(name)
  )
    return 'other';
  if (exampleWord.test(name)) return 'example';
  if (name === 'env' || /(?:^|[._-])(?:test|testing|ci|e2e)(?:[._-]|$)/.test(name)) return 'other';
  return 'committed';
}

interface EnvFile {
  readonly folder: string;
  readonly name: string;
  readonly kind: EnvFileKind;
  readonly lines: ReturnType<typeof parseEnvFile>;
}

/** Once for each repository: who looks for leaks needs them too. */
function envFilesIn(repository: Repository): readonly EnvFile[] {
  const found: EnvFile[] = [];
  for (const [folder, { files }] of repository.directories) {
    if (!isAnalysed(repository, folder)) continue;
    for (const name of files) {
      const kind = envFileKind(name);
      if (kind === 'other') continue;
      const lines = repository.parsed(join(folder, name), 'env-file', parseEnvFile) ?? [];
      found.push({ folder, name, kind, lines });
    }
  }
  return found;
}

export function variablesInEnvFiles(repository: Repository): readonly VariableFinding[] {
  return repository.derived(envFilesIn).flatMap(variablesIn);
}

function variablesIn({ folder, name, kind, lines }: EnvFile): VariableFinding[] {
  const file = join(folder, name);
  const values = new Map(lines.map(({ key, value }) => [key, value]));
  // Of the environment of a developer only the names count.
  const isOfDevelopment =
    /(?:^|[._-])(?:local|dev|development|docker)(?:[._-]|$)/.test(name) && kind === 'committed';
  return lines.flatMap(({ key, value, line, comment }) => {
    const isOptional = /\boptional\b|not required/i.test(comment);
    const finding = mentioned({
      key,
      directory: folder,
      source: { file, line, note: `${key} in ${name}` },
      value: isOfDevelopment ? undefined : filled(value, values),
      ...(isOptional ? { required: false } : {}),
      isExample: kind === 'example',
    });
    return finding ?? [];
  });
}

/** `${APP_NAME}` with the value that the same file gives it; one step is all that people write. */
function filled(value: string, values: ReadonlyMap<string, string>): string {
  if (!value.includes('$') || value.length > 2_000) return value;
  let isKnown = true;
  const whole = value.replace(
    /\$\{(\w{1,100})(?::?-([^}]{0,200}))?\}/g,
    (_, name: string, other?: string) => {
      const found = values.get(name) ?? other;
      isKnown &&= found !== undefined && !found.includes('$');
      return found ?? '';
    },
  );
  return isKnown ? whole : '';
}

export function leakedSecrets(repository: Repository): readonly Warning[] {
  return repository.derived(envFilesIn).flatMap(({ folder, name, kind, lines }) => {
    const keys = lines.filter(({ key, value }) => isLeaked(key, value, kind)).map(({ key }) => key);
    if (keys.length === 0) return [];
    const file = join(folder, name);
    const names = keys.slice(0, 5).join(', ') + (keys.length > 5 ? ', …' : '');
    const message = `${file} seems to hold real secrets (${names}). They were not taken over; change them and remove the file from the repository.`;
    return [{ code: 'secret_in_repository', message, file }];
  });
}

/** In an example only what has the form of a real key counts; in a real file the name says enough. */
function isLeaked(key: string, value: string, kind: EnvFileKind): boolean {
  if (isPlaceholder(value) || isLocal(value)) return false;
  if (looksSecret(value))
    return (
      kind === 'committed' ||
      !isSecretName(key) ||
      /^(?:sk_live|rk_live|AKIA|ghp_|github_pat|-----BEGIN)/.test(value)
    );
  return (
    kind === 'committed' &&
    isSecretName(key) &&
    value.length >= 12 &&
    /\d/.test(value) &&
    !value.includes('://')
  );
}
