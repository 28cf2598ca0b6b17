import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BusyLoop } from '../support/busy-loop.ts';
import { startGitScene } from '../support/git.ts';
import { analysed, expressApp, newProject } from '../support/projects.ts';

/** Of processor time in one go; what hurts does so for seconds. */
const mostBusyMs = 1_000;
const endless = { ...expressApp, 'src/bomb.js': `process.env.A;${'(a='.repeat(9_000)}` };
const stars = {
  'package.json': JSON.stringify({ private: true, workspaces: ['packages/*a*a*a*a*b'] }),
  [`packages/${'a'.repeat(200)}/package.json`]: expressApp['package.json'],
  [`packages/${'a'.repeat(200)}/server.js`]: expressApp['server.js'],
};

test('whoever wants to stop the service with one repository cannot, and it is analysed or stopped for good', async (t) => {
  const scene = await startGitScene(t, { analysisLimits: { cpuMs: 3_000 } });
  const { service, person } = scene;
  const { token } = person;
  const providerId = await scene.connect();
  const busy = new BusyLoop();
  t.after(() => busy.stop());
  for (const [name, files] of Object.entries({ endless, stars })) await scene.repository(name, files);

  const made = (name: string) =>
    newProject(service, token, { name, repository: { providerId, fullName: `ada/${name}` } });
  const [bomb, pattern] = [await made('endless'), await made('stars')];
  const failed = Object((await analysed(service, token, bomb.id)).analysis);
  assert.equal(failed.status, 'failed');
  assert.equal(failed.fault.code, 'analysis_stopped');
  assert.match(failed.fault.message, /3 seconds of processor time\. It was at src\/bomb\.js\./);
  assert.match(failed.fault.hint, /rootDirectory/);
  assert.equal(Object((await analysed(service, token, pattern.id)).analysis).status, 'succeeded');

  const path = `/projects/analyze-repo?providerId=${providerId}&repo=ada/endless`;
  const asked = await service.call('GET', path, { token });
  assert.deepEqual([asked.status, asked.body.code], [422, 'analysis_stopped'], asked.text);
  const most = busy.longestMs();
  assert.ok(most < mostBusyMs, `the service was busy for ${Math.round(most)} ms in one go`);
});
