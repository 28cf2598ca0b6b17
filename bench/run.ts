/** `npm run bench [name …]`: measures, prints a table. Figures worth keeping go into docs/benchmarks.md by hand. */
import { availableParallelism, totalmem } from 'node:os';
import { benchAnalysis } from './analysis.ts';
import { benchBackup } from './backup.ts';
import { benchDeploy } from './deploy.ts';
import { benchGit } from './git.ts';
import { benchHttp } from './http.ts';
import { benchImport } from './import.ts';
import { benchFirstLab, benchLab } from './lab.ts';
import { benchOperations } from './operations.ts';
import { benchRemote } from './remote.ts';
import { benchSearch } from './search.ts';
import { benchStart } from './start.ts';
import { benchStreams } from './streams.ts';

export interface Figure {
  readonly what: string;
  readonly value: string;
  readonly beside?: string;
}

const benches: Record<string, () => Promise<Figure[]>> = {
  http: benchHttp,
  start: benchStart,
  streams: benchStreams,
  operations: benchOperations,
  lab: benchLab,
  remote: benchRemote,
  git: benchGit,
  search: benchSearch,
  analysis: benchAnalysis,
  deploy: benchDeploy,
  backup: benchBackup,
  import: benchImport,
};

/** Only by name: it throws away what other runs would reuse. */
const costly: Record<string, () => Promise<Figure[]>> = { 'lab-first': benchFirstLab };

const wanted = process.argv.slice(2);
const machine = `${process.platform} ${process.arch}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`;
write(`${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${machine}`);
for (const [name, bench] of Object.entries({ ...benches, ...costly })) {
  if (wanted.length > 0 ? !wanted.includes(name) : name in costly) continue;
  write(`\n${name}`);
  for (const { what, value, beside } of await bench())
    write(`  ${what.padEnd(52)} ${value}${beside ? `   ${beside}` : ''}`);
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
