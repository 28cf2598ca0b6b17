/** Every bench, with the line that says what it measures; docs/benchmarks.md is written from here. */
import type { Figure } from './figure.ts';

export interface Bench {
  readonly about: string;
  /** Loaded when it is its turn: each runs in a process of its own. */
  readonly run: () => Promise<readonly Figure[]>;
  /** Only by name: it throws away what other runs would reuse. */
  readonly isCostly?: true;
}

export const benches: Readonly<Record<string, Bench>> = {
  http: {
    about:
      'authenticated reads at 64 connections, with session check, limits and request log, beside a bare Fastify handler with the same query, driver and answer. Median of five rounds in turns; the p99 is the worst of the rounds.',
    run: async () => (await import('./http.ts')).benchHttp(),
  },
  start: {
    about:
      'from `npm start` (installed) to the first answer; the first start creates the database. Memory 20 s after a start, shared pages counted once, npm above them included.',
    run: async () => (await import('./start.ts')).benchStart(),
  },
  docs: {
    about:
      'the page of the API in a chromium on the same machine, from its address to what is drawn: the operations by their tags, then the reference with which calls are tried.',
    run: async () => (await import('./docs.ts')).benchDocs(),
  },
  memory: {
    about:
      'what all processes hold a minute after 60 sign-ins, 20 deployments and a backup, shared pages counted once, npm above them included.',
    run: async () => (await import('./memory.ts')).benchMemory(),
  },
  people: {
    about:
      'GET /auth/me with an API token, and as one of 200 members, beside the same call of an owner alone with a session, in turns, at 64 connections; lists of a workspace with 1,000 members and 10,000 entries of its audit log beside those of an empty one, one after the other.',
    run: async () => (await import('./people.ts')).benchPeople(),
  },
  streams: {
    about:
      'one event to 10,000 open streams of one instance, from the call that stores it to the arrival of each, beside a bare `node:http` server that writes the same bytes. 15 rounds.',
    run: async () => (await import('./streams.ts')).benchStreams(),
  },
  dashboard: {
    about:
      'the dashboard in chromium: a first visit of someone who is signed in, with nothing in the cache; a tab that stays open while its workspace changes 10,000 times, its heap after a collection; the log of a deployment of 100,000 lines; an overview of 1,000 environments. A long task is one of 50 ms or more, as the browser tells it.',
    run: async () => (await import('./dashboard.ts')).benchDashboard(),
  },
  operations: {
    about:
      'durable work that does nothing. Each step is two journal entries, and each of those a transaction that is synced to disk.',
    run: async () => (await import('./operations.ts')).benchOperations(),
  },
  recovery: {
    about:
      'a service on its embedded database, killed with `kill -9` during a build, and started again: from that start until the step is taken up again.',
    run: async () => (await import('./recovery.ts')).benchRecovery(),
  },
  lab: {
    about:
      'Debian 13 servers with Docker on this machine, everything built before; a server beside what systemd alone says it needs to boot.',
    run: async () => (await import('./lab.ts')).benchLab(),
  },
  'lab-first': {
    about: 'the first `up` of a machine, everything built from Debian’s packages.',
    run: async () => (await import('./lab.ts')).benchFirstLab(),
    isCostly: true,
  },
  remote: {
    about:
      'commands and bytes through `src/remote`, beside the `ssh` client over a warm ControlMaster, on one lab server, in turns.',
    run: async () => (await import('./remote.ts')).benchRemote(),
  },
  git: {
    about:
      'mirrors of a repository of 1,000 commits and 200 files beside plain git, from the same host on loopback. Median of seven, in turns.',
    run: async () => (await import('./git.ts')).benchGit(),
  },
  search: {
    about:
      'repositories searched letter by letter, beside one page of the host’s own list, the least that a search without memory would ask for.',
    run: async () => (await import('./search.ts')).benchSearch(),
  },
  analysis: {
    about:
      'from the files on disk to the result, over the trees in `test/analysis/fixtures`, beside two libraries on the same trees in turns; and a generated workspace of 50,000 files in a process of its own, its memory that of the whole process.',
    run: async () => (await import('./analysis.ts')).benchAnalysis(),
  },
  deploy: {
    about:
      'a small Node application with a Dockerfile of its own, from the call to the end of the deployment, beside a script that does the same docker and HAProxy commands over one warm `ssh` and asks nobody. Warm: median of seven, a changed file each. Then twenty deployments in a row under 16 keep-alive connections, GET and POST in turn, and twenty by hand under the same. At last twenty new environments at once.',
    run: async () => (await import('./deploy.ts')).benchDeploy(),
  },
  cluster: {
    about:
      'a small Node application of six replicas on three lab servers, from the call to the end of the deployment, beside a script over warm `ssh` that does it with plain `docker service update --update-order start-first`, all six at once, behind a HAProxy on each server that finds tasks by DNS. Both copy an image without the layers that the others have. Warm: median of five, a changed file each. Then five deployments under 12 keep-alive connections to the three proxies, and five by the script under the same.',
    run: async () => (await import('./cluster.ts')).benchCluster(),
  },
  backup: {
    about:
      'a PostgreSQL of 4.6 million rows to the local folder without the trial, beside `docker exec … pg_dump -Fc -Z0 | zstd -3` over `ssh` into a file, in turns, median of three. Slipway also counts every table in the dump’s snapshot, hashes, and syncs to disk.',
    run: async () => (await import('./backup.ts')).benchBackup(),
  },
  import: {
    about:
      '2 GB of SQL uploaded by `curl` into a PostgreSQL on a lab server, until the application is back with it.',
    run: async () => (await import('./import.ts')).benchImport(),
  },
  scale: {
    about:
      'lists and details of the API against 1,000 workspaces, 10,000 environments, 1,000,000 deployments and 10,000,000 lines of log, asked for one after the other in 50 workspaces, beside the same calls against one workspace with a handful, in turns, 300 each. Then a twentieth of it removed, as retention does it.',
    run: async () => (await import('./scale.ts')).benchScale(),
  },
  fleet: {
    about:
      '2,000 simulated servers of five environments each, looked after by one instance on one core. They answer over SSH what a lab server answered, and as late. Processor time, memory and reads over three minutes, with eight crashes in each; the reads beside those of the same instance before anything was to be looked at. See [scale.md](scale.md).',
    run: async () => (await import('./fleet.ts')).benchFleet(),
  },
};
