/** One variable as somebody mentions it. What its value is worth is judged here, for every reader alike. */
import type { VariableFinding } from '../detector.ts';
import type { Source } from '../evidence.ts';
import { isPublicName, isSecretName } from '../resolve/variable-names.ts';
import { isKey, serviceOf } from './names.ts';
import { asDefault, isLocal, isPlaceholder, looksSecret, schemeOf, sqliteFolder } from './values.ts';

export interface Mention {
  readonly key: string;
  readonly directory: string;
  readonly source: Source;
  /** What is written beside it; `undefined` where nothing is, which is not the same as nothing (`KEY=`). */
  readonly value?: string | undefined;
  readonly required?: boolean | undefined;
  readonly secret?: boolean | undefined;
  readonly build?: boolean | undefined;
  readonly given?: VariableFinding['given'] | undefined;
  /** An example is filled in by hand; a placeholder or an address of the own machine in it is no default. */
  readonly isExample?: boolean;
}

/** The value of a secret, and the address of a service that runs elsewhere, are never passed on. */
export function mentioned(mention: Mention): VariableFinding | undefined {
  const { key, directory, source, value, build, given } = mention;
  if (!isKey(key)) return undefined;
  const isFile = value !== undefined && sqliteFolder(value) !== undefined;
  const isAddress = !isFile && (serviceOf(key) !== undefined || schemeOf(value ?? '') !== undefined);
  const secret =
    mention.secret ?? (value !== undefined && looksSecret(value) && !isPublicName(key) ? true : undefined);
  const mayPass = isFile || (!isAddress && secret !== true && !isSecretName(key));
  const fallback =
    mayPass && value !== undefined && isUsable(value, mention.isExample ?? false)
      ? asDefault(value)
      : undefined;
  const required = fallback === undefined ? (mention.required ?? isAsked(mention)) : false;
  return {
    key,
    directory,
    source,
    ...(secret === undefined ? {} : { secret }),
    ...(build === undefined ? {} : { build }),
    ...(required === undefined ? {} : { required }),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(given === undefined ? {} : { given }),
    ...(value === undefined || value === '' ? {} : { behind: databaseOf(value) }),
  };
}

function databaseOf(value: string): NonNullable<VariableFinding['behind']> {
  const [kind, folder] = [schemeOf(value), sqliteFolder(value)];
  return { ...(kind ? { kind } : {}), ...(folder === undefined ? {} : { sqliteFolder: folder }) };
}

/** A value that stands there and is not passed on has to come from somebody else. Of examples: `variables.ts`. */
function isAsked({ value, isExample }: Mention): true | undefined {
  return value !== undefined && value !== '' && !isExample ? true : undefined;
}

function isUsable(value: string, isExample: boolean): boolean {
  return value !== '' && (!isExample || (!isPlaceholder(value) && !isLocal(value)));
}
