/** Fields out of what Docker answers, of which nothing is taken for granted. */

type Fields = Readonly<Record<string, unknown>>;

/** The fields along the way; none where it ends early. */
export function fieldsOf(value: unknown, ...way: readonly string[]): Fields {
  let at: unknown = value;
  for (const name of way) at = isFields(at) ? at[name] : undefined;
  return isFields(at) ? at : {};
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Only those that are text. */
export function textsOf(value: unknown): Record<string, string> {
  const pairs = Object.entries(fieldsOf(value));
  return Object.fromEntries(
    pairs.flatMap(([name, each]) => (typeof each === 'string' ? [[name, each]] : [])),
  );
}

/** What `filters` takes: everything that has all of these labels. */
export function labelFilter(labels: Readonly<Record<string, string>>): string {
  const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return encodeURIComponent(JSON.stringify({ label }));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
