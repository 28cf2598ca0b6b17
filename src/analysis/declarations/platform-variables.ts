/** Variables as platform files list them: names with values, or records with a flag for secret and random ones. */
import type { VariableFinding } from '../detector.ts';
import { asEntries, asText } from '../readers/shape.ts';
import { mentioned } from '../variables/variable.ts';

interface Place {
  readonly file: string;
  readonly directory: string;
  /** Read while building. */
  readonly build: boolean;
}

export interface VariableEntry {
  readonly value?: unknown;
  readonly required?: boolean;
  readonly secret?: boolean;
  readonly given?: VariableFinding['given'];
  readonly build?: boolean;
}

export function variableIn(key: unknown, entry: VariableEntry, place: Place): VariableFinding | undefined {
  const name = asText(key);
  if (name === undefined) return undefined;
  const value =
    typeof entry.value === 'string' || typeof entry.value === 'number' || typeof entry.value === 'boolean'
      ? String(entry.value)
      : undefined;
  return mentioned({
    key: name,
    directory: place.directory,
    source: { file: place.file, note: name },
    value: value === undefined || isReference(value) ? undefined : value,
    required: entry.required,
    secret: entry.secret,
    given: entry.given,
    build: entry.build ?? (place.build || undefined),
  });
}

/** `${db.DATABASE_URL}`, `$OTHER`, `{{ … }}`: another place has the value. */
function isReference(value: string): boolean {
  return /^(?:\$\{[^}]*\}|\$[A-Z_]\w*|\{\{[^}]*\}\})$/.test(value.trim());
}

/** `NODE_VERSION: 22` and its kin are no variables of the app but the version of a tool. */
export function versionsIn(record: unknown): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [key, value] of asEntries(record)) {
    const tool = toolOfVariable(key);
    const version = asText(value)?.replace(/^[v=]/, '');
    if (tool && version && /^\d[\w.*]{0,20}$/.test(version)) found[tool] = version;
  }
  return found;
}

const toolNames: Readonly<Record<string, string>> = {
  CPYTHON: 'python',
  JVM: 'java',
  JDK: 'java',
  NODEJS: 'node',
  GOLANG: 'go',
  MRI: 'ruby',
};

export function toolOfVariable(key: string): string | undefined {
  const name =
    /^(?:NIXPACKS_|RAILPACK_|BP_|GOOGLE_)?(NODE|NODEJS|PYTHON|CPYTHON|GO|GOLANG|RUBY|MRI|JAVA|JVM|JDK|PHP|HUGO|BUN|DENO|RUST|ELIXIR|ERLANG|PNPM|NPM|YARN|POETRY|PDM|UV|ZOLA|SWIFT|DOTNET|CRYSTAL)_VERSION$/.exec(
      key.toUpperCase(),
    )?.[1];
  return name === undefined ? undefined : (toolNames[name] ?? name.toLowerCase());
}
