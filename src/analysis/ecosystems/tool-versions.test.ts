import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Project } from '../project.ts';
import { Repository } from '../repository.ts';
import { toolVersion } from './tool-versions.ts';

function repositoryOf(files: Readonly<Record<string, string>>): Repository {
  const contents = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  const entries = [...contents].map(([path, { length }]) => ({ path, type: 'file' as const, size: length }));
  return new Repository(entries, contents);
}

function versionIn(
  files: Readonly<Record<string, string>>,
  tool: string,
  directory = '',
): string | undefined {
  return toolVersion(new Project(repositoryOf(files), directory), tool)?.value;
}

test('a version is read from the file of its own tool, without prefix and distribution', () => {
  assert.equal(versionIn({ '.nvmrc': 'v22.1.0\n' }, 'node'), '22.1.0');
  assert.equal(versionIn({ '.nvmrc': 'lts/iron' }, 'node'), 'lts/iron');
  assert.equal(versionIn({ 'runtime.txt': 'python-3.11.4\n' }, 'python'), '3.11.4');
  assert.equal(versionIn({ '.ruby-version': 'ruby-3.3.0' }, 'ruby'), '3.3.0');
  assert.equal(versionIn({ '.sdkmanrc': '# x\njava=21.0.2-tem\n' }, 'java'), '21.0.2');
  assert.equal(versionIn({ 'system.properties': 'java.runtime.version=17\n' }, 'java'), '17');
  assert.equal(versionIn({ 'rust-toolchain': '1.80.0' }, 'rust'), '1.80.0');
  assert.equal(versionIn({ 'rust-toolchain.toml': '[toolchain]\nchannel = "nightly"' }, 'rust'), 'nightly');
  assert.equal(versionIn({ 'global.json': '{"sdk":{"version":"8.0.100"}}' }, 'dotnet'), '8.0.100');
});

test('a version is read from the files that list many tools, under any of the names of the tool', () => {
  assert.equal(versionIn({ '.tool-versions': 'nodejs 20.1.0\ngolang 1.22.1 # x\n' }, 'go'), '1.22.1');
  assert.equal(versionIn({ '.tool-versions': 'elixir 1.17.2-otp-27' }, 'elixir'), '1.17.2');
  assert.equal(versionIn({ 'mise.toml': '[tools]\nnode = ["22", "20"]' }, 'node'), '22');
  assert.equal(versionIn({ '.mise.toml': '[tools]\njava = "temurin-21"' }, 'java'), '21');
  assert.equal(
    versionIn({ '.config/mise.toml': '[tools]\npython = { version = "3.12" }' }, 'python'),
    '3.12',
  );
  assert.equal(versionIn({ 'devbox.json': '{"packages":["python@3.11","nodejs@22"]}' }, 'node'), '22');
  assert.equal(versionIn({ '.prototools': 'bun = "1.1.0"' }, 'bun'), '1.1.0');
});

test('the nearest folder counts, and a file for one tool before a list of many', () => {
  const files = {
    '.python-version': '3.9',
    'api/.tool-versions': 'python 3.12.1',
    'api/.python-version': '3.11',
  };
  assert.equal(versionIn(files, 'python', 'api/src'), '3.11');
  assert.equal(versionIn(files, 'python', 'web'), '3.9');
});

test('what is no version is none', () => {
  assert.equal(versionIn({ 'mise.toml': '[tools]\nnode = "latest"' }, 'node'), undefined);
  assert.equal(versionIn({ '.tool-versions': 'node system\npython ref:main' }, 'python'), undefined);
  assert.equal(versionIn({ 'runtime.txt': 'ruby-3.3.0' }, 'python'), undefined);
  assert.equal(versionIn({ 'mise.toml': 'tools = "x"' }, 'node'), undefined);
  assert.equal(versionIn({ '.tool-versions': '__proto__ 1.0' }, 'node'), undefined);
  assert.equal(versionIn({ 'devbox.json': '{"packages": 3}' }, 'toString'), undefined);
});
