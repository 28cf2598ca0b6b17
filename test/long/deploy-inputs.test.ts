import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/store/sql.ts';
import { type DeployScene, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

/** Says what it was built with and what it runs with. */
const files = {
  Dockerfile: [
    'FROM node:24-slim',
    'ARG FLAVOUR=none',
    'RUN --mount=type=secret,id=ADDED if [ -f /run/secrets/ADDED ]; then echo secret; else echo plain; fi > /added',
    'RUN echo "$FLAVOUR" > /flavour',
    'COPY server.js /server.js',
    'EXPOSE 8080',
    'CMD ["node", "/server.js"]',
  ].join('\n'),
  'server.js': `
    const { readFileSync } = require('node:fs');
    const built = ['/flavour', '/added'].map((path) => readFileSync(path, 'utf8').trim());
    require('node:http').createServer((_, answer) => answer.end([...built, process.env.MOOD].join(' '))).listen(8080);`,
};

interface Hold {
  /** Runs `change` when the step is about to begin (or never will), with all before it done, and lets it begin then. */
  readonly before: (step: string, change: () => Promise<unknown>) => Promise<void>;
}

/** The write that begins one of these steps waits for a lock, which is let go of once the change is made. */
async function holding<T>(scene: DeployScene, steps: readonly string[], work: (hold: Hold) => Promise<T>) {
  const { db } = scene.git.service.app.store;
  await db.run(sql`
    create function hold_step() returns trigger language plpgsql as $$
    begin
      if new.status = 'running' then perform pg_advisory_xact_lock(hashtext(new.name)); end if;
      return new;
    end $$`);
  await db.run(sql`
    create trigger hold_step before insert on operation_steps for each row execute function hold_step()`);
  const waiting = sql`
    select 1 from pg_locks join pg_database on oid = database
    where datname = current_database() and locktype = 'advisory' and not granted
    union all select 1 from deployments where finished_at is not null`;
  return db.session(async (locks) => {
    for (const step of steps) await locks.run(sql`select pg_advisory_lock(hashtext(${step}))`);
    return work({
      before: async (step, change) => {
        await until(() => db.one(waiting), `the step ${step} to be next`);
        await change();
        await locks.run(sql`select pg_advisory_unlock(hashtext(${step}))`);
      },
    });
  });
}

const variable = (key: string, value: string, more = {}) => ({
  key,
  value,
  secret: false,
  target: 'both',
  ...more,
});

test('a deployment is made of what was wanted when it was planned; what is changed meanwhile is for the next one', async (t) => {
  const scene = await startDeployScene(t, lab);
  const made = await scene.deployed({
    files,
    settings: { drainSeconds: 1, stopSeconds: 2, healthPath: '/first' },
    variables: [
      variable('FLAVOUR', 'first', { target: 'build' }),
      variable('MOOD', 'first', { target: 'runtime' }),
    ],
    deploy: false,
  });
  const environment = `/environments/${made.environmentId}`;
  const set = (...variables: object[]) => scene.call('POST', `${environment}/variables`, { variables });

  const first = await holding(scene, ['build', 'create-release'], async ({ before }) => {
    const begun = await scene.call('POST', `${environment}/deployments`, {});
    await before('build', () =>
      set(
        variable('FLAVOUR', 'second', { target: 'build' }),
        variable('ADDED', 'a secret of the second', { target: 'build', secret: true }),
      ),
    );
    await before('create-release', async () => {
      await set(variable('MOOD', 'second', { target: 'runtime' }));
      await scene.call('PATCH', environment, { settings: { healthPath: '/second' } });
    });
    return scene.ended(made.environmentId, String(begun.id));
  });
  succeeded(first);
  assert.equal(await scene.page(made.environmentId), 'first plain first');
  assert.deepEqual(Object(Object(first.plan).build).secrets, []);
  const probed = (deployment: Record<string, unknown>) =>
    Object(Object(Object(deployment.plan).run).health).path;
  assert.equal(probed(first), '/first');

  const second = await scene.deploy(made.environmentId);
  succeeded(second);
  assert.equal(await scene.page(made.environmentId), 'second secret second');
  assert.equal(probed(second), '/second');

  const { db } = scene.git.service.app.store;
  const left = await db.rows(sql`select id from deployments where inputs_sealed is not null`);
  assert.deepEqual(left, [], 'inputs are gone with the end of their deployment');
});
