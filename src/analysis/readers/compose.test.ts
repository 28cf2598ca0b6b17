import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isParsed } from '../repository.ts';
import { readCompose } from './compose.ts';
import { parseYaml } from './yaml.ts';

function read(text: string) {
  const value = parseYaml(text);
  assert(isParsed(value));
  return readCompose(value);
}

test('Anchors, extended services and both forms of an environment are understood', () => {
  const [, web] = read(`services:
  base: { image: node, environment: &env { A: "1" } }
  web:
    extends: { service: base }
    build: { context: ./web, dockerfile: Prod }
    environment:
      <<: *env
      B: \${B:-two}
      C: \${C:?needed}
      D: \${D}
      E:
`);
  assert.deepEqual(web?.build, { context: './web', dockerfile: 'Prod', args: [] });
  assert.equal(web?.image, 'node');
  assert.deepEqual(web?.environment, [
    { key: 'A', value: '1', required: false },
    { key: 'B', value: 'two', required: false },
    { key: 'C', value: undefined, required: true },
    { key: 'D', value: undefined, required: false },
    { key: 'E', value: undefined, required: true },
  ]);
});

test('Ports are those inside the container, in every notation', () => {
  const [web] = read(
    `services:\n  web:\n    ports: ["127.0.0.1:80:3000", "\${P:-1}:4000/tcp", 5000, {target: 6000}, "7:7/udp"]\n    expose: [9000]\n`,
  );
  assert.deepEqual(web?.ports, [3000, 4000, 5000, 6000, 9000]);
});

test('Only what lies on a named volume is kept', () => {
  const [web] = read(
    'services:\n  web:\n    volumes: ["./src:/app", "up:/app/uploads", "nm:/app/node_modules", "/anonymous"]\nvolumes: { up: {}, nm: {} }\n',
  );
  assert.deepEqual(web?.volumes, ['/app/uploads']);
});

test('Wrong types are not there', () => {
  assert.deepEqual(read('services: [1, 2]'), []);
  const [only] = read(
    'services:\n  a: { ports: x, environment: 3, depends_on: 4, volumes: {}, build: 7 }\n  b: 1\n',
  );
  assert.deepEqual([only?.ports, only?.environment, only?.dependsOn, only?.build], [[], [], [], undefined]);
});
