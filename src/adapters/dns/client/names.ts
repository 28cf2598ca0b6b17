/** Domain names as this folder keeps them: A-labels in lower case, without the last dot. The root is the empty text. */

export function plainName(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

export function parentOf(name: string): string {
  const dot = name.indexOf('.');
  return dot === -1 ? '' : name.slice(dot + 1);
}

export function isWithin(name: string, zone: string): boolean {
  return zone === '' || name === zone || name.endsWith(`.${zone}`);
}

/** The name itself first, then one label less each time; the root is left out. */
export function upwards(name: string): string[] {
  const names: string[] = [];
  for (let at = name; at !== ''; at = parentOf(at)) names.push(at);
  return names;
}

export function shownName(name: string): string {
  return name === '' ? 'the root zone' : name;
}
