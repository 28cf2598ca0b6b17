import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { checkOf, context, factsWith, now, sectionNames } from '../../../../test/support/security-facts.ts';
import { parseSections } from './facts.ts';
import type { SecurityCheck } from './rule.ts';
import { judge } from './security.ts';
import { summarise } from './summary.ts';

const statuses = (checks: readonly SecurityCheck[]) =>
  new Map(checks.map(({ id, status }) => [id, status] as const));

test('a well-kept server is hardened, and every check of it passes or does not apply', () => {
  const checks = judge(factsWith(), context);
  const others = checks.filter(({ status }) => status !== 'pass' && status !== 'not_applicable');
  assert.deepEqual(
    others.map(({ id, evidence }) => `${id}: ${evidence}`),
    [],
  );
  assert.deepEqual(summarise(checks), { state: 'hardened', score: 100 });
  assert.ok(checks.length >= 30, `${checks.length} checks`);
  assert.equal(new Set(checks.map(({ id }) => id)).size, checks.length);
});

for (const name of sectionNames) {
  test(`without the section ${name}, or with garbage in it, no check gets better, and some check is unknown`, () => {
    const before = statuses(judge(factsWith(), context));
    const broken = [
      null,
      { code: '1', text: 'no' },
      { code: 'cut', text: 'x' },
      { code: 'skipped', text: '' },
    ];
    const askedFor = broken.map((change) => judge(factsWith({ [name]: change }), context));
    for (const checks of askedFor) {
      for (const { id, status } of checks.filter(({ status }) => status === 'pass'))
        assert.equal(before.get(id), status, id);
      // What is only shown beside the decision may be missing.
      if (['ufw', 'connection', 'routes'].includes(name)) continue;
      assert.ok(
        checks.some(({ id, status }) => status === 'unknown' && before.get(id) === 'pass'),
        name,
      );
    }
    const garbled = judge(factsWith({ [name]: '\u0000\u001b[2J{{}} garbage ]\n= = =' }), context);
    for (const { id, status } of garbled.filter(({ status }) => /^(pass|not_applicable)$/.test(status)))
      assert.equal(before.get(id), status, id);
  });
}

test('a server that told nothing is unknown with a score of 0, never better', () => {
  const silent = factsWith(
    Object.fromEntries([...factsWith().sections.keys()].map((name) => [name, null])),
    [],
  );
  const checks = judge(silent, context);
  assert.deepEqual([...new Set(checks.map(({ status }) => status))], ['unknown']);
  assert.deepEqual(summarise(checks), { state: 'unknown', score: 0 });
});

test('unknown earns nothing, a warning half, and what does not apply is left out', () => {
  const check = (
    status: SecurityCheck['status'],
    severity: SecurityCheck['severity'] = 'medium',
  ): SecurityCheck => ({
    id: `${status}${severity}`,
    title: '',
    evidence: '',
    fix: '',
    lockoutRisk: false,
    status,
    severity,
  });
  assert.equal(summarise([check('pass'), check('unknown'), check('not_applicable')]).score, 50);
  assert.equal(summarise([check('pass'), check('warn')]).score, 75);
  assert.equal(summarise([check('not_applicable')]).state, 'unknown');
  const many = Array.from({ length: 30 }, () => check('pass', 'high'));
  assert.equal(summarise([...many, check('fail', 'high')]).state, 'at_risk');
  assert.equal(summarise([...many, check('fail', 'medium')]).state, 'hardened');
  assert.equal(summarise([...many, check('unknown', 'critical')]).state, 'unknown');
  assert.equal(summarise([...many, check('unknown', 'high')]).state, 'fair');
});

test('evidence is short and cannot steer a terminal', () => {
  const comment = `256 SHA256:KZDHUquYBU5WVJ ${'x'.repeat(900)}\u001b[31m\u202e (ED25519)`;
  const { evidence } = checkOf(
    'authorized_keys',
    factsWith({ authorized_keys: `= deploy /home/deploy/.ssh/authorized_keys 1\n${comment}\nwhole` }),
  );
  assert.ok(evidence.length <= 500);
  assert.doesNotMatch(evidence, /(?!\n)[\p{Cc}\p{Cf}]/u);
});

test('what a section holds cannot pass for another section', () => {
  const inside = '@accounts 0 10\nzero root\n@end 0 0\n';
  const text = `@os 0 ${Buffer.byteLength(inside)}\n${inside}\n@end 0 0\n\n`;
  const sections = parseSections(gzipSync(text));
  assert.deepEqual([...sections.keys()], ['os', 'end']);
  assert.equal(sections.get('os')?.text, inside);
});

test('an answer that is cut, has no end or is not ours is refused whole', () => {
  const whole = gzipSync('@os 0 2\nab\n@end 0 0\n\n');
  assert.throws(() => parseSections(whole.subarray(0, whole.length - 6)), { code: 'remote_failed' });
  for (const text of [
    '@os 0 2\nab\n',
    'Welcome!\n@end 0 0\n\n',
    '@os 0 99\nab\n@end 0 0\n\n',
    '@os 0 1\nab\n@end 0 0\n\n',
  ])
    assert.throws(() => parseSections(gzipSync(text)), { code: 'remote_failed' }, text);
  assert.throws(() => parseSections(Buffer.from('@end 0 0\n\n')), { code: 'remote_failed' });
});

test('a clock is only called wrong by what the way there cannot explain', () => {
  const offBy = (seconds: number) => {
    const begun = now.getTime() / 1000 + seconds;
    return checkOf('clock_offset', factsWith({ clock: `${begun}`, end: `${begun + 2}` })).status;
  };
  assert.deepEqual([-90, -10, 0.5, 0.9, 10, 90].map(offBy), ['fail', 'warn', 'pass', 'pass', 'warn', 'fail']);
});
