/** How far apt is, read from what it prints anyway: every package is fetched, then unpacked, then set up. */
type Report = (fraction: number, text: string) => void;

const phases = [
  // Get:3 http://deb.debian.org/debian trixie/main arm64 runc arm64 1.1.15 [2,930 kB]
  { says: /^Get:\d+ \S+ \S+ \S+ (\S+) /, is: 'fetching' },
  { says: /^Unpacking (\S+) /, is: 'unpacking' },
  { says: /^Setting up (\S+) /, is: 'setting up' },
] as const;

/** Takes each line that apt prints. Nothing is told before it is known how many packages come. */
export function aptProgress(report: Report): (line: string) => void {
  let packages = 0;
  let far = 0;
  const counts = phases.map(() => 0);
  return (line) => {
    const [, upgraded, added] = /^(\d+) upgraded, (\d+) newly installed/.exec(line) ?? [];
    if (added !== undefined) packages = Number(upgraded) + Number(added);
    if (packages === 0) return;
    for (const [at, { says, is }] of phases.entries()) {
      const name = says.exec(line)?.[1];
      if (name === undefined) continue;
      const count = Math.min((counts[at] ?? 0) + 1, packages);
      counts[at] = count;
      // Some are set up before others are unpacked: it never goes back.
      far = Math.max(far, (at + count / packages) / phases.length);
      report(far, `${is} ${name}, ${count} of ${packages}`);
    }
  };
}
