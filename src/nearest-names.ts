/** Which of the names that there are someone may have meant: spelled nearly the same, or with one inside of the other. */
const mostShown = 3;
/** Others' names, as many and as long as they like: no more of them are compared. */
const mostCompared = 2_000;
const longestCompared = 100;

export function nearestNames(wanted: string, names: Iterable<string>): string[] {
  const given = wanted.slice(0, longestCompared).toLowerCase();
  const scored: { readonly name: string; readonly score: number }[] = [];
  let compared = 0;
  for (const name of names) {
    compared += 1;
    if (compared > mostCompared) break;
    if (name.length > longestCompared) continue;
    const score = scoreOf(given, name.toLowerCase());
    if (score !== undefined) scored.push({ name, score });
  }
  return scored
    .sort((one, other) => one.score - other.score || one.name.localeCompare(other.name))
    .slice(0, mostShown)
    .map(({ name }) => name);
}

function scoreOf(given: string, name: string): number | undefined {
  const most = Math.max(1, Math.floor(given.length / 3));
  const distance = editDistance(given, name, most);
  if (distance <= most) return distance;
  // `login` for `feature/login`.
  const [short, long] = given.length < name.length ? [given, name] : [name, given];
  return short.length >= 3 && long.includes(short) ? most + 1 : undefined;
}

/** How many letters have to be put in, taken out or changed; more than `most` is not counted. */
function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let index = 1; index <= other.length; index += 1) {
      const changed = (row[index - 1] ?? 0) + (one[at - 1] === other[index - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? most + 1;
}
