import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide, type Push, type PushedEnvironment } from './decide.ts';

const environment: PushedEnvironment = {
  branch: 'main',
  autoDeploy: true,
  watchPaths: [],
  decidedSha: null,
  hasServer: true,
  isStopped: false,
};
const push: Push = {
  branch: 'main',
  sha: 'abc',
  isDeleted: false,
  message: 'Mend it',
  changedPaths: ['src/a.ts'],
  isCurrent: 'yes',
};

test('an environment that stands on no server is not deployed to, and says so', () => {
  assert.equal(decide({ ...environment, hasServer: false }, push), 'no_server');
  assert.equal(decide({ ...environment, isStopped: true }, push), 'environment_stopped');
});

test('a push to the branch of an environment that deploys on push is deployed', () => {
  assert.equal(decide(environment, push), 'deployed');
});

test('what is no push to this branch is ignored, each with its own reason', () => {
  assert.equal(decide(environment, { ...push, branch: null }), 'no_branch');
  assert.equal(decide(environment, { ...push, branch: 'next' }), 'other_branch');
  assert.equal(decide(environment, { ...push, sha: null }), 'branch_deleted');
  assert.equal(decide(environment, { ...push, isDeleted: true }), 'branch_deleted');
  assert.equal(decide({ ...environment, autoDeploy: false }, push), 'environment_off');
  assert.equal(decide({ ...environment, decidedSha: 'abc' }, push), 'duplicate');
});

test('a commit that asks not to be deployed is not, in each way to ask', () => {
  for (const word of ['[skip ci]', '[ci skip]', '[skip deploy]', '[deploy skip]', '[no ci]', '[SKIP CI]']) {
    assert.equal(decide(environment, { ...push, message: `Docs ${word}` }), 'skip_requested', word);
  }
  assert.equal(decide(environment, { ...push, message: 'Explain skip ci' }), 'deployed');
});

test('watched paths are folders or patterns, and unknown changes count as watched', () => {
  const watching = (...watchPaths: string[]) => ({ ...environment, watchPaths });
  const changed = (...changedPaths: string[]) => ({ ...push, changedPaths });
  assert.equal(decide(watching('apps/web'), changed('apps/web/x.ts')), 'deployed');
  assert.equal(decide(watching('apps/web/'), changed('apps/web/deep/.env.example')), 'deployed');
  assert.equal(decide(watching('apps/web'), changed('apps/website/x.ts')), 'paths_not_watched');
  assert.equal(decide(watching('**/*.md', 'src/*'), changed('docs/a.md')), 'deployed');
  assert.equal(decide(watching('src/*'), changed('src/a/b.ts', 'README.md')), 'deployed');
  assert.equal(decide(watching('src'), changed('README.md')), 'paths_not_watched');
  assert.equal(decide(watching('src'), { ...push, changedPaths: null }), 'deployed');
});
