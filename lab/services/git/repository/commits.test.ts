import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inItsZone, inUtc, parseCommit } from './commits.ts';

const signed = `tree ${'1'.repeat(40)}
parent ${'2'.repeat(40)}
parent ${'3'.repeat(40)}
author Ada Lovelace <ada@lab.test> 1557919230 +0200
committer Ölaf <> 1557919230 -0330
gpgsig -----BEGIN SSH SIGNATURE-----
 abc

 def
 -----END SSH SIGNATURE-----

Subject

Body with a line like this:
author Nobody <x@y.z> 1 +0000
`.replace('abc\n\n def', 'abc\n \n def');

test('a signed merge commit is read with parents, people, signature and the whole message', () => {
  const commit = parseCommit('4'.repeat(40), Buffer.from(signed));
  assert.deepEqual(commit.parents, ['2'.repeat(40), '3'.repeat(40)]);
  assert.deepEqual(commit.author, {
    name: 'Ada Lovelace',
    email: 'ada@lab.test',
    seconds: 1557919230,
    zone: '+0200',
  });
  assert.deepEqual([commit.committer.name, commit.committer.email], ['Ölaf', '']);
  assert.match(commit.signature ?? '', /^-----BEGIN SSH SIGNATURE-----\nabc\n\ndef\n-----END/);
  assert.equal(commit.message, 'Subject\n\nBody with a line like this:\nauthor Nobody <x@y.z> 1 +0000');
});

test('a time is said in UTC for the API and in its own zone for webhooks', () => {
  const { author, committer } = parseCommit('', Buffer.from(signed));
  assert.equal(inUtc(author), '2019-05-15T11:20:30Z');
  assert.equal(inItsZone(author), '2019-05-15T13:20:30+02:00');
  assert.equal(inItsZone(committer), '2019-05-15T07:50:30-03:30');
});
