import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mistakeIn, parseDockerfile } from './dockerfile.ts';

test('Arguments fill the names of images, and a stage has what its base set', () => {
  const { stages } = parseDockerfile(`ARG NODE=22
FROM node:\${NODE}-alpine AS base
ENV PORT=8080
FROM base AS build
COPY package.json ./
FROM base
EXPOSE $PORT/tcp 53/udp
VOLUME ["/data"]
CMD ["node", "a b.js"]
`);
  const last = stages.at(-1);
  assert.equal(stages.length, 3);
  assert.equal(last?.image, 'node:22-alpine');
  assert.deepEqual(last?.ports, [8080]);
  assert.deepEqual(last?.volumes, ['/data']);
  assert.deepEqual(last?.command?.words, ['node', 'a b.js']);
  assert.deepEqual(last?.copies, []);
});

test('An entry point forgets the command of the base, and NONE is no health check', () => {
  const { stages } = parseDockerfile('FROM a AS b\nCMD x\nFROM b\nENTRYPOINT ["y"]\nHEALTHCHECK NONE\n');
  assert.equal(stages.at(-1)?.command, null);
  assert.deepEqual(stages.at(-1)?.entrypoint?.words, ['y']);
  assert.equal(stages.at(-1)?.healthcheck, null);
});

test('Copies from other stages are not of the context', () => {
  const { stages } = parseDockerfile(
    'FROM a\nCOPY --from=b /x /y\nCOPY --chown=1:1 src lib ./\nADD app.tar /\n',
  );
  assert.deepEqual(stages[0]?.copies, ['src', 'lib', 'app.tar']);
});

test('What is no Dockerfile has no stages', () => {
  assert.deepEqual(parseDockerfile('\0\0 nothing\n{}').stages, []);
});

test('What Docker would refuse is told with its line, and nothing else is', () => {
  const refused: readonly (readonly [string, number])[] = [
    ['FROM a\n\nRUNN x\n', 3],
    ['# x\nRUN x\nFROM a\n', 2],
    ['ARG A\nFROM\n', 2],
    ['FROM a b\n', 1],
    ['FROM a\nCOPY\n', 2],
    ['', 1],
  ];
  for (const [text, line] of refused) assert.equal(mistakeIn(text)?.line, line, text);
  const taken = [
    '# syntax=docker/dockerfile:1\nARG A=1\nfrom a AS b\nRUN x \\\n  # why\n  y\nCMD not json [\n',
    'FROM a\nRUN <<EOF\necho FORM\nnothing of Docker\nEOF\nCOPY --from=b x y\n',
    '# syntax=example/other\nINCLUDE x\n',
    '# escape=`\r\nFROM a\r\nRUN x `\r\n  y\r\n',
  ];
  for (const text of taken) assert.equal(mistakeIn(text), undefined, text);
});
