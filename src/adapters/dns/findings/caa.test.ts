import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CaaRecord } from '../client/records.ts';
import { judgeCaa } from './caa.ts';

const us = ['letsencrypt.org', 'other-name.test'];
const set = (...texts: readonly string[]): CaaRecord[] =>
  texts.map((text) => {
    const [flags = '', tag = '', ...value] = text.split(' ');
    return { name: 'a.test', ttl: 1, type: 'CAA', isCritical: flags === '128', tag, value: value.join(' ') };
  });

test('CAA is judged as RFC 8659 and RFC 8657 say', () => {
  const cases: readonly (readonly [string, boolean, readonly string[], string])[] = [
    ['no restriction', false, ['0 iodef mailto:a@b.test'], 'allowed'],
    ['ours', false, ['0 issue letsencrypt.org'], 'allowed'],
    ['ours by another name and case', false, ['0 issue OTHER-name.test ; x=y'], 'allowed'],
    ['ours among others', false, ['0 issue a.test', '0 issue letsencrypt.org'], 'allowed'],
    ['others', false, ['0 issue a.test'], 'forbidden'],
    ['nobody', false, ['0 issue ;'], 'forbidden'],
    ['a name of which ours is a part', false, ['0 issue letsencrypt.org.evil.test'], 'forbidden'],
    ['issuewild for a plain name', false, ['0 issuewild a.test'], 'allowed'],
    ['issuewild for a wildcard', true, ['0 issuewild a.test', '0 issue letsencrypt.org'], 'forbidden'],
    ['issue for a wildcard', true, ['0 issue a.test'], 'forbidden'],
    ['issuewild lets us', true, ['0 issuewild letsencrypt.org', '0 issue a.test'], 'allowed'],
    ['an unknown tag', false, ['0 future x', '0 issue letsencrypt.org'], 'allowed'],
    ['a critical unknown tag', false, ['128 future x', '0 issue letsencrypt.org'], 'forbidden'],
    ['a critical known tag', false, ['128 issue letsencrypt.org'], 'allowed'],
    ['by DNS only', false, ['0 issue letsencrypt.org; validationmethods=dns-01'], 'method'],
    ['by HTTP too', false, ['0 issue letsencrypt.org;validationmethods=dns-01,http-01'], 'allowed'],
    ['an account', false, ['0 issue letsencrypt.org; accounturi=https://a.test/1'], 'account'],
    [
      'one that lets us beside one that does not',
      false,
      ['0 issue letsencrypt.org; validationmethods=dns-01', '0 issue letsencrypt.org'],
      'allowed',
    ],
  ];
  for (const [what, isWildcard, texts, verdict] of cases)
    assert.equal(judgeCaa(set(...texts), us, isWildcard).kind, verdict, what);
});
