import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  applyStep,
  makePlan,
  type Plan,
  readRuns,
  type StepId,
  undoRun,
} from '../../src/areas/servers/hardening/hardening.ts';
import { Fault } from '../../src/fault.ts';
import { openLab } from '../support/lab.ts';
import { installing } from '../support/packages.ts';
import { connect, failsWith } from '../support/remote.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const noLog = () => undefined;
const changedSince = (path: string) => (error: unknown) =>
  failsWith('changed_since')(error) &&
  error instanceof Fault &&
  (error.errors ?? []).some((each) => each.path === path);

async function bareServer(t: TestContext) {
  const server = await lab.fresh(t, 'bare');
  const remote = connect(t, server);
  const wish = { username: 'root', sshPort: 22, ourAddress: lab.about.address, allowPorts: [] };
  return {
    ...{ server, remote },
    plan: (...steps: StepId[]) => makePlan(remote, { ...wish, hasKeyLogin: true, steps }),
    proveLogin: () => server.ssh('true').then(noLog),
    canLogIn: async () => (await server.trySsh('true')).code === 0 || undefined,
    console: async (...argv: string[]) => (await lab.client.console(server.about.name, ...argv)).stdout,
  };
}

/** The plan as it would be with a mistake in it: nobody gets in any more, whoever is in stays or not. */
function lockingOut(plan: Plan, keepsConnections: boolean): Plan {
  const damage = (text: string) =>
    text
      .split('\n')
      .filter((line) => !/tcp dport/.test(line) && (keepsConnections || !/established/.test(line)))
      .join('\n');
  const steps = plan.steps.map((step) => ({
    ...step,
    files: step.files.map((file) => ({ ...file, after: damage(file.after ?? '') })),
  }));
  return { ...plan, steps };
}

/** The first proof succeeds; then nothing is heard of us any more. */
function diesAfterFirst(proveLogin: () => Promise<void>): () => Promise<void> {
  let proofs = 0;
  return () => {
    proofs += 1;
    return proofs === 1 ? proveLogin() : new Promise<never>(() => undefined);
  };
}

test('a firewall that lets no new login in is taken back at once, through the connection that still lives', async (t) => {
  const { remote, plan, proveLogin, canLogIn, console } = await bareServer(t);
  const damaged = lockingOut(await plan('firewall'), true);
  let proofs = 0;
  const tryLogin = () => {
    proofs += 1;
    // The first one has all the time it needs; the second gets no answer, however long it waits.
    return proofs === 1 ? proveLogin() : withLimit(proveLogin, 3_000);
  };
  const options = { runId: 'one', proveLogin: tryLogin, log: noLog };
  await assert.rejects(applyStep(remote, damaged, 'firewall', options), failsWith('lockout_prevented'));
  assert.equal(proofs, 2);
  assert.equal(await canLogIn(), true);
  assert.equal(await console('ls', '/etc/slipway'), '');
  assert.doesNotMatch(await console('nft', 'list', 'tables'), /slipway/);
  assert.equal(await console('systemctl', 'list-unit-files', '--quiet', 'slipway-*'), '');

  const right = await plan('firewall');
  const again = { runId: 'two', proveLogin, log: noLog };
  assert.equal((await applyStep(remote, right, 'firewall', again)).state, 'applied');
});

async function withLimit(work: () => Promise<void>, withinMs: number): Promise<void> {
  const late = sleep(withinMs, undefined, { ref: false }).then(() => Promise.reject(new Error('no login')));
  await Promise.race([work(), late]);
}
