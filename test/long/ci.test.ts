/** The recipes of the guide for a CI: their own commands, in the container that they name, until the app is live. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { version } from '../../cli/command.ts';
import { root } from '../../scripts/commands.ts';
import { Desk } from '../cli/support.ts';
import { type DeployScene, startDeployScene } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { site as files, greeting as page } from '../support/site.ts';

const lab = await openLab();

type Variables = Readonly<Record<string, string>>;

interface Recipe {
  readonly name: string;
  readonly image: string;
  readonly variables: Variables;
  readonly commands: readonly string[];
}

/** As each CI reads its file; a runner of GitHub has Node, as the image has. */
function recipes(): Recipe[] {
  const guide = readFileSync(join(root, 'docs/guides/ci.md'), 'utf8');
  const found = [...guide.matchAll(/^## ([^\n]+)\n.*?^```yaml\n(.*?)^```$/gms)];
  return found.map(([, name = '', text = '']) => {
    const file = Object(parse(text));
    const job = Object(file.jobs?.deploy ?? file.deploy);
    const steps: { run: string }[] = job.steps ?? [];
    return {
      name,
      image: job.image ?? job.container?.image ?? 'node:24-slim',
      variables: { ...job.env, ...job.variables },
      commands: job.script ?? steps.map(({ run }) => run),
    };
  });
}

/** What the CI puts into the variables of a recipe; what it does not know is a mistake in the guide. */
function filled(variables: Variables, known: Variables): string {
  const lines = Object.entries(variables).map(([key, value]) => {
    const told = value.replaceAll(/\$\{\{ ([\w.]+) \}\}/g, (_, name) => known[name] ?? assert.fail(name));
    return `${key}=${told}\n`;
  });
  return lines.join('');
}

/** Packed as the guide says, beside what a CI would know. */
async function prepare(t: TestContext, scene: DeployScene) {
  const desk = new Desk(t);
  const folder = join(desk.folder, 'ci');
  const made = join(desk.folder, 'made');
  mkdirSync(folder);
  execFileSync(process.execPath, [join(root, 'scripts/pack-cli.ts'), made]);
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: made, env: desk.env });
  renameSync(join(folder, `slipway-${version}.tgz`), join(folder, 'slipway.tgz'));
  const { environmentId } = await scene.deployed({ name: 'shop', files });
  const { service, person } = scene.git;
  const login = ['login', service.url, '--email', person.email];
  assert.equal((await desk.run(login, { input: person.password })).code, 0);
  const make = ['tokens', 'make', 'CI of the shop', '--project', 'shop', '--can', 'deploy', '--days', '365'];
  const { out, err } = await desk.run(make);
  assert.match(out, /^slw_\w{38}\n$/, err);
  return { folder, environmentId, token: out.trim() };
}

/** In a container on a server of the lab, to which the service leads by a port of its loopback. */
async function runThere({ server, git }: DeployScene, image: string, name: string): Promise<string> {
  const { port } = new URL(git.service.url);
  const mounted = ['--volume', '/root/ci:/ci', '--workdir', '/ci', '--env-file', `/root/ci/${name}.env`];
  const docker = ['docker', 'run', '--rm', '--network', 'host', ...mounted, image, 'sh', '-e', `${name}.sh`];
  const ssh = ['-R', `4400:127.0.0.1:${port}`, ...server.sshArguments, ...docker];
  return (await promisify(execFile)('ssh', ssh, { maxBuffer: 2 ** 26 })).stdout;
}

test('each recipe of the guide deploys its commit, and shows the address', async (t) => {
  const scene = await startDeployScene(t, lab);
  const { host } = scene.git;
  const { folder, environmentId, token } = await prepare(t, scene);
  const url = await scene.url(environmentId);
  const all = recipes();
  assert.deepEqual(
    all.map(({ name }) => name),
    ['GitHub Actions', 'GitLab CI', 'Forgejo Actions'],
  );
  for (const [at, { name, image, variables, commands }] of all.entries())
    await t.test(name, async () => {
      const text = `by recipe ${at}`;
      const change = { branch: 'main', message: name, files: { ...files, 'server.js': page(text) } };
      const { sha } = await host.commit('ada', 'shop', change);
      const own = {
        SLIPWAY_URL: 'http://127.0.0.1:4400',
        SLIPWAY_TOKEN: token,
        SLIPWAY_PACKAGE: '/ci/slipway.tgz',
      };
      const inner = Object.fromEntries(
        Object.entries(own).flatMap(([key, value]) => [
          [`vars.${key}`, value],
          [`secrets.${key}`, value],
        ]),
      );
      // GitLab gives the variables of the project to every job; the others only what a file names.
      const given = name === 'GitLab CI' ? { ...own, CI_COMMIT_SHA: sha } : { GITHUB_OUTPUT: '/ci/output' };
      const env = filled({ ...given, ...variables }, { ...inner, 'github.sha': sha });
      writeFileSync(join(folder, `${at}.env`), env);
      writeFileSync(join(folder, `${at}.sh`), `${commands.join('\n')}\n`);
      await scene.server.ssh('rm -rf ci');
      await scene.server.copy(folder, 'ci');
      const said = await runThere(scene, image, String(at));
      assert.match(said, new RegExp(`^Live: #\\d+ ${sha.slice(0, 7)} ${name}\\n${url}\\n`, 'm'));
      assert.equal(await scene.page(environmentId), text);
      if (name === 'GitHub Actions') assert.equal(await scene.server.ssh('cat ci/output'), `url=${url}\n`);
      if (name === 'GitLab CI') assert.equal(await scene.server.ssh('cat ci/deploy.env'), `APP_URL=${url}\n`);
    });
});
