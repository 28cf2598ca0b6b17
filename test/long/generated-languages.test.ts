import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploy, endsOnSigterm } from '../analysis/dockerfile/lab-deploy.ts';
import { languageApps } from '../analysis/dockerfile/language-apps.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('generated Dockerfiles of PHP, Ruby and Java build, answer and stop, with what their languages bring', async (t) => {
  const server = await lab.fresh(t, 'docker');

  await t.test('PHP behind Apache, with the rules of its .htaccess and an extension', async (t) => {
    const { url } = await deploy(t, server, { name: 'pages-php', files: languageApps.php });
    // Only the folder of pages is served: anything else is a path of the app.
    for (const path of ['/any/path', '/composer.json'])
      assert.deepEqual(await (await fetch(`${url}${path}`)).json(), { path, sum: '3', user: 33 });
    // The image's own signal lets Apache finish what it has begun.
    await endsOnSigterm(server, 'pages-php', [0]);
  });

  await t.test('Ruby, by Bundler from its lock file', async (t) => {
    const { url } = await deploy(t, server, { name: 'pages-ruby', files: languageApps.ruby });
    assert.deepEqual(await (await fetch(`${url}/x`)).json(), { path: '/x', env: 'production' });
    await endsOnSigterm(server, 'pages-ruby', [0]);
  });

  await t.test('Java, by Maven, as one archive', async (t) => {
    const { url } = await deploy(t, server, { name: 'pages-java', files: languageApps.java });
    assert.deepEqual(await (await fetch(`${url}/x`)).json(), { path: '/x' });
    assert.equal((await server.ssh('docker exec pages-java ls /app')).trim(), 'app.jar');
    // A JVM that is told to stop ends with the number of the signal.
    await endsOnSigterm(server, 'pages-java', [143]);
  });
});
