import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceFactsOf } from './facts.ts';

const env = (text: string) => sourceFactsOf('a.ts', text).env.map(({ line: _, ...read }) => read);
const port = (text: string) => sourceFactsOf('a.ts', text).listens.map((each) => [each.port, each.variable]);

test('a read of the environment says what happens without the variable', () => {
  assert.deepEqual(env("f(process.env.A ?? 'x')"), [
    { key: 'A', via: 'process', required: false, default: 'x' },
  ]);
  assert.deepEqual(env('f(Number(process.env.A) || 3)'), [
    { key: 'A', via: 'process', required: false, default: '3' },
  ]);
  assert.deepEqual(env('f(process.env.A!)'), [{ key: 'A', via: 'process', required: true }]);
  assert.deepEqual(env("if (!process.env['A']) throw new Error('no')"), [
    { key: 'A', via: 'process', required: true },
  ]);
  assert.deepEqual(env('if (process.env.A) f()'), [{ key: 'A', via: 'process', required: false }]);
  assert.deepEqual(env('f(process.env.A)'), [{ key: 'A', via: 'process' }]);
  assert.deepEqual(env("process.env.A = 'x'"), []);
});

test('reads are found in every form in which frameworks offer them', () => {
  const keys = (text: string) => env(text).map(({ key }) => key);
  assert.deepEqual(keys("const { AB, CD = '1' } = process.env"), ['AB', 'CD']);
  assert.deepEqual(keys("Deno.env.get('API_URL')"), ['API_URL']);
  assert.deepEqual(keys("import { API_KEY } from '$env/static/private'"), ['API_KEY']);
  assert.deepEqual(keys("configService.getOrThrow('JWT_SECRET')"), ['JWT_SECRET']);
  assert.deepEqual(keys('import.meta.env.VITE_URL + import.meta.env.MODE'), ['VITE_URL']);
  assert.deepEqual(keys("env.int('PORT', 1337)"), ['PORT']);
});

test('keys of a schema are variables, optional or with a default as it says', () => {
  const read = env(
    'z.object({ AA: z.string().url(), BB: z.coerce.number().default(5), CC: z.string().optional() }).parse(process.env)',
  );
  assert.deepEqual(read, [
    { key: 'AA', via: 'schema', required: true },
    { key: 'BB', via: 'schema', required: false, default: '5' },
    { key: 'CC', via: 'schema', required: false },
  ]);
});

test('the port is found behind names, settings, conversions and options', () => {
  assert.deepEqual(port('const p = parseInt(process.env.PORT, 10) || 3001; app.listen(p)'), [[3001, 'PORT']]);
  assert.deepEqual(port("app.set('port', process.env.PORT || 3002); app.listen(app.get('port'))"), [
    [3002, 'PORT'],
  ]);
  assert.deepEqual(port('const { PORT = 3003 } = process.env; app.listen(PORT)'), [[3003, 'PORT']]);
  assert.deepEqual(port("const config = { port: 3004 }; server.listen({ port: config.port, host: '::' })"), [
    [3004, null],
  ]);
  assert.deepEqual(port('startStandaloneServer(s, { listen: { port: 3005 } })'), [[3005, null]]);
  assert.deepEqual(port('export default { port: 3006, fetch: app.fetch }'), [[3006, null]]);
  assert.deepEqual(port('window.listen(5)'), []);
});

test('configuration is read as data, with calls kept by name and nothing run', () => {
  const config = (text: string) => sourceFactsOf('vite.config.ts', text).config;
  const adapter = { $call: 'node', $from: '@astrojs/node', $arguments: [{ mode: 'standalone' }] };
  assert.deepEqual(
    config(
      "import node from '@astrojs/node'; export default defineConfig({ adapter: node({ mode: 'standalone' }) })",
    ),
    { adapter },
  );
  assert.deepEqual(
    config("const base = { a: 1 }; module.exports = () => { f(); return { ...base, b: ['x'] }; }"),
    { a: 1, b: ['x'] },
  );
  assert.deepEqual(config("export default { out: path.resolve(__dirname, 'build/web') } satisfies Config"), {
    out: 'build/web',
  });
  assert.deepEqual(config('export default withA(withB({ output: "export" }))'), { output: 'export' });
  const polluting: unknown = config("export default { ['__proto__']: { polluted: true } }");
  assert.equal(Object(polluting).polluted, undefined);
  assert.equal(Object({}).polluted, undefined);
});

test('components give their scripts, at the lines where they stand', () => {
  const text =
    '<template>\n<p/>\n</template>\n<script setup lang="ts">\nconst a: string = import.meta.env.VITE_A\n</script>';
  assert.deepEqual(sourceFactsOf('A.vue', text).env, [{ key: 'VITE_A', via: 'meta', line: 5 }]);
  assert.deepEqual(
    sourceFactsOf('a.astro', '---\nconst a = import.meta.env.B_URL\n---\n<p>{a}</p>').env[0]?.line,
    2,
  );
});

test('a health route is found where it is registered as a literal', () => {
  const paths = (text: string) => sourceFactsOf('a.ts', text).routes.map(({ path }) => path);
  assert.deepEqual(paths("app.get('/healthz', f); app.get('/users', f)"), ['/healthz']);
  assert.deepEqual(paths("fastify.route({ method: 'GET', url: '/health', handler })"), ['/health']);
  assert.deepEqual(paths("@Controller('health') class A { @Get('live') f() {} }"), ['/health/live']);
  assert.deepEqual(paths("fetch.get('/health')"), []);
});
