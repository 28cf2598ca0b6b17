import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { root } from '../../scripts/commands.ts';
import { sdkSource } from '../../scripts/sdk-source.ts';
import { operations } from '../../sdk/client.ts';
import { createClient } from '../../sdk/index.ts';
import { apiDocument } from '../support/document.ts';

const read = (name: string) => readFileSync(`${root}${name}`, 'utf8');

test('the SDK is made from the document that is committed (else: npm run generate)', () => {
  const { schemas, operations: signatures } = sdkSource(read('openapi.json'));
  assert.equal(read('sdk/generated/schemas.ts'), schemas);
  assert.equal(read('sdk/generated/operations.ts'), signatures);
});

test('there is a function for every operation, and none besides', () => {
  const documented = [...apiDocument().operations.keys()];
  assert.ok(documented.length > 100);
  assert.deepEqual(Object.keys(createClient()), documented);
  assert.deepEqual(
    operations().map(({ name }) => name),
    documented,
  );
  const declared = [...read('sdk/generated/operations.ts').matchAll(/^ {2}(\w+)\(input/gm)];
  assert.deepEqual(
    declared.map(([, name]) => name),
    documented,
  );
});

test('all of it is smaller than 12 KB compressed, for browsers, and needs nothing', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [`${root}sdk/index.ts`],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
  });
  const bytes = gzipSync(outputFiles[0]?.contents ?? '').length;
  assert.ok(bytes > 1_000 && bytes < 12 * 1024, `${bytes} bytes`);
  const inputs = Object.keys(metafile.inputs).map((path) => path.slice(path.indexOf('sdk/')));
  const own = globSync('sdk/**/*.ts', { cwd: root });
  assert.deepEqual(
    inputs.filter((path) => !own.includes(path)),
    [],
  );
});

test('a schema that the generator does not know, and two inputs of one name, fail it', () => {
  const document = (operation: object, schema: object = { type: 'string' }) =>
    JSON.stringify({
      paths: { '/api/v1/things/{id}': { get: { operationId: 'getThing', responses: {}, ...operation } } },
      components: { schemas: { Thing: schema }, parameters: {} },
    });
  assert.throws(() => sdkSource(document({}, { type: 'tuple' })), /type tuple is not known/);
  const id = { name: 'id', schema: { type: 'string' } };
  const parameters = [
    { ...id, in: 'path', required: true },
    { ...id, in: 'query' },
  ];
  assert.throws(() => sdkSource(document({ parameters })), /getThing has two inputs of one name: id, id/);
});

test('types are what the schemas say', () => {
  const { schemas, operations: signatures } = sdkSource(
    JSON.stringify({
      paths: {
        '/api/v1/things/{id}': {
          put: {
            operationId: 'setThing',
            parameters: [
              { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
              { name: 'dry-run', in: 'query', schema: { type: 'boolean' } },
            ],
            requestBody: {
              content: {
                'application/json': { schema: { $ref: '#/components/schemas/Change' } },
                'application/gzip': { schema: { type: 'string', format: 'binary' } },
              },
            },
            responses: {
              200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
              204: {},
              400: {},
            },
            security: [{ accessToken: [] }],
          },
        },
      },
      components: {
        parameters: {},
        schemas: {
          Change: { type: 'object', properties: { size: { enum: ["it's", 2, null] } } },
          Thing: {
            type: 'object',
            description: 'Ends */ early.',
            required: ['many', 'both', 'of'],
            properties: {
              many: { type: 'array', items: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
              both: { allOf: [{ $ref: '#/components/schemas/Change' }, { type: 'object', properties: {} }] },
              of: { type: 'object', additionalProperties: { const: 1 } },
              'a-b': {},
            },
          },
        },
      },
    }),
  );
  assert.match(
    schemas,
    /export interface Change \{\n {2}readonly size\?: 'it\\'s' \| 2 \| null \| undefined;\n\}/,
  );
  assert.match(schemas, /\/\*\* Ends \*\\\/ early\. \*\/\nexport interface Thing/);
  assert.match(schemas, /readonly many: readonly \(number \| null\)\[\];/);
  assert.match(schemas, /readonly of: \{ readonly \[name: string\]: 1 \};\n {2}readonly "a-b"\?: unknown;/);
  assert.match(schemas, /readonly both: Change & \{\n/);
  assert.match(
    signatures,
    /setThing\(input: \{\n {4}readonly id: string;\n {4}readonly "dry-run"\?: boolean/,
  );
  assert.match(signatures, /readonly body\?: Change \| Bytes \| undefined;/);
  assert.match(signatures, /\): Promise<Thing \| undefined>;/);
  assert.match(signatures, /`setThing PUT things\/\{id\} aj application\/gzip`/);
});
