/** Headers as Node gives them. One that came twice is none: it would be up to luck which of them was checked. */
export type HeaderLines = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The first of these that is there. */
export function headerOf(headers: HeaderLines, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}
