import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOf, portIn, segmentsOf, splitInstall, takenFolder } from './commands.ts';

test('What installs is told from what builds', () => {
  assert.deepEqual(splitInstall('npm ci && npm run build && npm run x'), {
    install: 'npm ci',
    build: 'npm run build && npm run x',
  });
  assert.deepEqual(splitInstall('yarn'), { install: 'yarn', build: null });
  assert.deepEqual(splitInstall('pip install -r requirements.txt; python build.py'), {
    install: 'pip install -r requirements.txt',
    build: 'python build.py',
  });
  assert.deepEqual(splitInstall('yarn build'), { install: null, build: 'yarn build' });
  assert.deepEqual(splitInstall('go build -o app && npm i'), {
    install: null,
    build: 'go build -o app && npm i',
  });
});

test('Quotes hold a command together', () => {
  assert.deepEqual(segmentsOf('echo "a && b" && c; d'), ['echo "a && b"', 'c', 'd']);
});

test('A command that first goes into a folder is one of that folder', () => {
  assert.deepEqual(takenFolder('cd ./web && npm i && npm start'), {
    folder: 'web',
    rest: 'npm i && npm start',
  });
  for (const line of ['cd .. && x', 'cd web && cd api && x', 'npm start', 'cd web', 'cd /etc && x'])
    assert.equal(takenFolder(line), undefined, line);
});

test('A list of words becomes a line, and what a shell is given is the line', () => {
  assert.equal(commandOf(['node', 'a b.js']), 'node "a b.js"');
  assert.equal(commandOf(['sh', '-c', 'npm start']), 'npm start');
  assert.equal(commandOf('# nothing'), undefined);
  assert.equal(commandOf({}), undefined);
});

test('A port that is said outright is found, one from the environment is not', () => {
  for (const line of [
    'serve --port 8000',
    'PORT=8000 node a',
    'gunicorn a:b -b 0.0.0.0:8000',
    `x \${PORT:-8000}`,
    'java -Dserver.port=8000 -jar a',
    'serve -l 8000',
    'uvicorn a:b --port=8000',
  ])
    assert.equal(portIn(line), 8000, line);
  for (const line of ['serve --port $PORT', 'node a.js', 'x --report 8000', 'gunicorn --workers 4'])
    assert.equal(portIn(line), undefined, line);
});
