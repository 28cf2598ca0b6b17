/** Foreign data by the shape that is hoped for: whatever has another shape is not there. */
import { isParsed, type Parsed } from '../repository.ts';

/** Longer than any command a person writes; what is longer is no command. */
const longestText = 4_000;
const mostItems = 500;

/** A sentence that says something. Numbers and booleans are what YAML makes of unquoted ones. */
export function asText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value.length > longestText) return undefined;
  const trimmed = value.trim();
  return trimmed === '' ? undefined : trimmed;
}

export function asObject(value: unknown): Parsed {
  return isParsed(value) ? value : {};
}

/** What lies under these keys, one below the other. */
export function valueAt(data: unknown, ...keys: readonly string[]): unknown {
  let at = data;
  for (const key of keys) at = isParsed(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return at;
}

export function objectAt(data: unknown, ...keys: readonly string[]): Parsed {
  return asObject(valueAt(data, ...keys));
}

export function stringAt(data: unknown, ...keys: readonly string[]): string | undefined {
  const value = valueAt(data, ...keys);
  return typeof value === 'string' ? value : undefined;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, mostItems) : [];
}

export function asTexts(value: unknown): readonly string[] {
  return asList(value).flatMap((each) => asText(each) ?? []);
}

export function asObjects(value: unknown): readonly Parsed[] {
  return asList(value).filter(isParsed);
}

export function asEntries(value: unknown): readonly (readonly [string, unknown])[] {
  return isParsed(value) ? Object.entries(value).slice(0, mostItems) : [];
}

/** A value that may stand alone or in a list. */
export function asMany(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return asList(value);
  return value === undefined || value === null ? [] : [value];
}

export function asPort(value: unknown): number | undefined {
  const text = asText(value);
  if (text === undefined || !/^\d{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port > 0 && port < 65_536 ? port : undefined;
}
