/** Scripts that report several things print them in sections, each begun by a line `#=name`. */
export function parseNamedSections(printed: string): (name: string) => string[] {
  const sections = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of printed.split('\n')) {
    if (line.startsWith('#=')) {
      current = [];
      sections.set(line.slice(2), current);
    } else if (line !== '') current.push(line);
  }
  return (name) => sections.get(name) ?? [];
}
