import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEnvironmentScene } from './support/environments.ts';

type Body = Record<string, unknown>;

/** What a shell would run, with spaces and without. */
const nasty = `x$(touch /tmp/x)\`touch /tmp/x\`;touch /tmp/x;'"&& touch /tmp/x #%s%n ☃ \${HOME}`;
const dense = `$(touch$IFS/tmp/x);\`touch$IFS/tmp/x\`|'"&%s`;

test('what does not fit is refused by the name of its field', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { environmentId, projectId } = scene;
  const base = `/environments/${environmentId}`;
  const setting = (field: string, value: unknown) =>
    ['PATCH', base, { settings: { [field]: value } }, field] as const;
  const variable = (key: string) =>
    ['POST', `${base}/variables`, { variables: [{ key, value: 'x' }] }, 'variables[0].key'] as const;
  const refused: (readonly [method: string, path: string, body: Body, field: string])[] = [
    ...[variable(nasty), variable('A=$(id)'), variable('--option'), variable('A\nB'), variable('%s')],
    ...['installCommand', 'buildCommand', 'startCommand', 'releaseCommand'].map((field) =>
      setting(field, `true\n${nasty}`),
    ),
    ...['../../etc/passwd', '/etc/passwd', 'a\nb', 'a\\b'].flatMap((path) => [
      setting('dockerfilePath', path),
      setting('staticOutput', path),
    ]),
    ...[nasty, '--target', dense, 'a b', 'a\nb'].map((target) => setting('dockerfileTarget', target)),
    ...[nasty, 'no-slash', '/a b', '/a\r\nHost: x', '/☃'].map((path) => setting('healthPath', path)),
    ...['/a b', '/a\r\nX: y'].map(
      (path) => ['PATCH', base, { settings: { health: { path } } }, 'path'] as const,
    ),
    ...[nasty, dense, '-x', 'a b', 'web', 'a/b', '../x', 'a\nb'].map(
      (name) =>
        ['PATCH', base, { settings: { processes: { [name]: { command: 'true' } } } }, 'processes'] as const,
    ),
    ['PATCH', base, { settings: { processes: { a: { command: `true\n${nasty}` } } } }, 'command'],
    ...[`* * * * $(id)`, nasty, '* * * *', '* * * * *\n[Service]\nExecStart=/bin/true', '%h * * * *'].map(
      (schedule) =>
        [
          'PATCH',
          base,
          { settings: { processes: { a: { command: 'true', schedule } } } },
          'schedule',
        ] as const,
    ),
    ...[nasty, '-v', '../x', 'a/b', 'A'].map(
      (name) => ['PATCH', base, { settings: { volumes: [{ name, path: '/data' }] } }, 'name'] as const,
    ),
    ...['data', '/a:ro', '/a,b', '/../etc', '/a\nb', '/'].map(
      (path) => ['PATCH', base, { settings: { volumes: [{ name: 'data', path }] } }, 'path'] as const,
    ),
    ...['--upload-pack=touch', '-x', 'a b', 'a\nb', 'a..b', 'a:b', 'x.lock', '@{-1}x'].flatMap((branch) => [
      ['PATCH', `${base}/branch`, { branch }, 'branch'] as const,
      ['POST', `${base}/deployments`, { branch }, 'branch'] as const,
    ]),
    ...[nasty, '--all', 'HEAD', 'main', 'a'.repeat(39)].map(
      (commit) => ['POST', `${base}/deployments`, { commit }, 'commit'] as const,
    ),
    ...['a\nb', '\u0007', ' '].map((name) => ['PATCH', base, { name }, 'name'] as const),
    ['PUT', `/projects/${projectId}`, { name: 'a\nb' }, 'name'],
    ...[nasty, '-x', 'a b'].map((name) => {
      const body = { projectId, name: 'other', services: [{ kind: 'redis', name }] };
      return ['POST', '/environments', body, 'name'] as const;
    }),
  ];
  for (const [method, path, body, field] of refused) {
    const answer = await scene.ask(method, path, body);
    const what = `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`;
    assert.equal(answer.status, 400, what);
    const errors = Array.from(Object(answer.body.errors), (each: Body) => String(each.path));
    assert.ok(
      errors.some((each) => each.includes(field)),
      what,
    );
  }
});
