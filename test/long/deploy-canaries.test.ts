import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { type DeployScene, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();
const mark = `pwned-${process.pid}`;

/** Wherever a shell, or a program that reads options, gets hold of it, a file is made. */
const nasty = `x$(touch /tmp/${mark}-a)\`touch /tmp/${mark}-b\`;touch /tmp/${mark}-c;'"&& touch /tmp/${mark}-d #%s%n ☃ \${HOME}`;
/** Without spaces: for paths of HTTP and for branches. */
const dense = `$(touch$IFS/tmp/${mark}-e);\`touch$IFS/tmp/${mark}-f\`|'"&%s`;
/** A program for the shell of the user's own container, that may do there as it likes. */
const command = (then: string) =>
  `touch "/tmp/${mark}-own" && : '$(touch /tmp/x)' "%s ☃" --help \`touch /tmp/${mark}-own2\`; ${then}`;

const server = `require('node:http').createServer((request, response) => {
  response.end(JSON.stringify(process.env));
}).listen(process.env.PORT, '0.0.0.0');
`;
const nodeApp = {
  'package.json': JSON.stringify({ name: 'app', scripts: { start: 'node server.js', build: 'node -v' } }),
  'server.js': server,
};
/** Names that tar, git, a shell or a loop over lines may trip over. */
const oddNames = [
  ...['--checkpoint=1', `--checkpoint-action=exec=touch /tmp/${mark}-g`, '-rf', `$(touch ${mark}-h)`],
  ...[`\`touch ${mark}-i\``, `;touch ${mark}-j`, `new\nline`, `'"`, '☃ %s', `-I touch ${mark}-k`],
];
const oddFiles = Object.fromEntries(oddNames.map((name) => [name, name]));

test('what is taken is data, on the way to the server and there', async (t) => {
  const scene = await startDeployScene(t, lab);

  await t.test('variables, names, commands, paths and a branch', async () => {
    const settings = {
      port: 8080,
      drainSeconds: 1,
      stopSeconds: 1,
      healthPath: `/h${dense}`,
      installCommand: command('true'),
      buildCommand: command('true'),
      startCommand: command('exec node server.js'),
      releaseCommand: command('true'),
      volumes: [{ name: 'data', path: `/data/$(touch ${mark}-l);'"& %s ☃` }],
      processes: {
        worker: { command: command('exec sleep 1000') },
        nightly: { command: command('true'), schedule: '0 3 * * *' },
      },
    };
    const value = `${nasty}\nsecond line\n--option\n`;
    const variables = [
      ...['PLAIN', 'HIDDEN'].flatMap((key) => [
        { key, value: `${key} ${value}`, secret: key === 'HIDDEN', target: 'runtime' },
        { key: `${key}_BOTH`, value: `${key} ${value}`, secret: key === 'HIDDEN', target: 'both' },
      ]),
    ];
    const files = { ...nodeApp, ...oddFiles };
    const { environmentId, projectId, repository, deployment } = await scene.deployed({
      files,
      settings,
      variables,
    });
    succeeded(deployment);
    const seen = JSON.parse(await scene.page(environmentId));
    for (const each of variables)
      assert.equal(seen[each.key], each.value, `${each.key} of ${Object.keys(seen)}`);
    const inside = await scene.server.ssh(`docker exec slipway-${deployment.id}-web-1 ls /tmp`);
    assert.match(inside, new RegExp(`${mark}-own`), 'its own command ran where it belongs');

    await scene.call('PUT', `/projects/${projectId}`, { name: nasty.slice(0, 60) });
    await scene.call('PATCH', `/environments/${environmentId}`, { name: nasty.slice(0, 40) });
    const branch = `feature/${dense}`;
    const [owner = '', name = ''] = repository.split('/');
    const author = { name: nasty, email: 'ada@example.test' };
    const message = `${nasty}\n\n${nasty}`;
    const commit = { branch, message, author, files: { 'new.txt': nasty } };
    const { sha } = await scene.git.host.commit(owner, name, commit);
    const second = await scene.deploy(environmentId, { branch });
    succeeded(second);
    assert.deepEqual([Object(second.commit).sha, Object(second.commit).branch], [sha, branch]);
    const { service } = scene.git;
    const none = await service.call('POST', `/environments/${environmentId}/deployments`, {
      token: scene.token,
      body: { branch: `${branch}-nowhere` },
    });
    assert.deepEqual([none.status, none.body.code], [422, 'commit_not_found'], none.text);
  });

  await t.test('a Dockerfile of an odd name, with odd files beside it', async () => {
    const path = `odd $(touch ${mark}-m);'"& %s ☃.Dockerfile`;
    const dockerfile = `FROM node:24-slim AS base
# $(touch /tmp/${mark}-n)
LABEL odd='$(touch /tmp/${mark}-o)' other="\`touch /tmp/${mark}-p\`;%s"
ARG PLAIN
WORKDIR /app
COPY . .
FROM base AS prod.x_y-z
CMD ["node", "server.js"]
`;
    const settings = { port: 8080, dockerfilePath: path, dockerfileTarget: 'prod.x_y-z' };
    const variables = [{ key: 'PLAIN', value: nasty, secret: false, target: 'build' }];
    const files = { 'server.js': server, ...oddFiles, [path]: dockerfile };
    const { environmentId, deployment } = await scene.deployed({ files, settings, variables });
    succeeded(deployment);
    const listed = await scene.server.ssh(`docker exec slipway-${deployment.id}-web-1 ls -b /app`);
    for (const name of ['--checkpoint=1', '-rf', 'new\\nline']) assert.ok(listed.includes(name), listed);
    assert.match(await scene.page(environmentId), /PORT/);
  });

  await t.test('static files in a folder of an odd name', async () => {
    const folder = `out $(touch ${mark}-q);'"& %s ☃`;
    const files = { 'index.html': 'root', [`${folder}/index.html`]: '<html>odd</html>' };
    const { environmentId, deployment } = await scene.deployed({ files, settings: { staticOutput: folder } });
    if (deployment.status === 'succeeded') assert.match(await scene.page(environmentId), /odd/);
    else
      assert.match(
        String(Object(deployment.fault).code),
        /^(?!internal_error)/,
        JSON.stringify(deployment.fault),
      );
  });

  await nothingMade(scene);
});

/** Neither on the server, outside of the users' containers, nor on the machine of the service. */
async function nothingMade({ server, git }: DeployScene): Promise<void> {
  const there = await server.ssh(
    `find / -xdev \\( -path /proc -o -path /sys -o -path /var/lib/docker \\) -prune -o -name '${mark}-*' -print`,
  );
  assert.equal(there, '');
  const folder = dirname(git.service.app.store.folder.outboxDir);
  const places = ['/', '/tmp/', `${homedir()}/`, `${process.cwd()}/`, `${folder}/**/`];
  assert.deepEqual(globSync(places.map((place) => `${place}${mark}-*`)), []);
}
