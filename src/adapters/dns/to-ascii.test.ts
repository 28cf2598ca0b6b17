import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAscii } from './to-ascii.ts';

test('names are taken in either form, and come out as A-labels', () => {
  for (const [given, ascii] of [
    ['app.example.com', 'app.example.com'],
    [' App.EXAMPLE.com. ', 'app.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['faß.de', 'xn--fa-hia.de'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['a-b.1a.com', 'a-b.1a.com'],
  ] as const)
    assert.deepEqual(toAscii(given), { ok: true, ascii }, given);
});

test('a wildcard is taken where it is allowed, as the whole first label only', () => {
  const wildcard = { wildcard: true };
  const taken = toAscii('*.bücher.example', wildcard);
  assert.ok(taken.ok && taken.ascii === '*.xn--bcher-kva.example');
  const refused = (text: string, options = {}) => {
    const result = toAscii(text, options);
    return result.ok ? 'taken' : result.message;
  };
  assert.match(refused('*.example.com'), /wildcard is not possible here/);
  for (const text of ['a.*.com', '*a.example.com', '*.*.example.com', '*'])
    assert.match(refused(text, wildcard), /whole first label/, text);
  assert.match(refused('*.com', wildcard), /belongs to nobody/);
});

test('what is wrong with a name is said', () => {
  for (const [given, words] of [
    ['', /empty/],
    ['   ', /empty/],
    ['localhost', /single word/],
    ['com.', /single word/],
    ['192.0.2.1', /address and not a name/],
    ['2001:db8::1', /address and not a name/],
    ['[2001:db8::1]', /address and not a name/],
    ['0x7f.1', /address and not a name/],
    ['1.2', /address and not a name/],
    ['example.123', /address and not a name/],
    ['https://example.com', /cannot have “:”/],
    ['example.com/path', /cannot have “\/”/],
    ['example.com:443', /cannot have “:”/],
    ['me@example.com', /cannot have “@”/],
    ['ex%61mple.com', /cannot have “%”/],
    ['my_app.example.com', /underscore/],
    ['a..example.com', /two dots/],
    ['.example.com', /two dots/],
    ['-a.example.com', /hyphen/],
    ['a-.example.com', /hyphen/],
    ['ab--c.example.com', /internationalised/],
    ['xn--zzzzzzzz9999999.com', /internationalised|characters/],
    ['exa mple.com', /space/],
    ['exam\u0000ple.com', /characters/],
    ['exam!ple.com', /character/],
    ['a\u202eb.com', /characters/],
    [`${'a'.repeat(64)}.com`, /has 64 characters, and 63/],
    [`${'ü'.repeat(62)}.com`, /characters, and 63/],
    [`${'abcdefgh.'.repeat(30)}com`, /longer than 253/],
    ['a'.repeat(5_000), /longer than 253/],
  ] as const) {
    const result = toAscii(given);
    assert.ok(!result.ok, `${given} was taken`);
    assert.match(result.message, words, given.slice(0, 60));
    assert.ok(result.hint.length > 0);
  }
  assert.equal(toAscii(`${'abcdefgh.'.repeat(27)}abcdefghij`).ok, true, 'exactly 253');
});
