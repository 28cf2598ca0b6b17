/** Each of these was read back by a reader of QR codes that others wrote, before it was written down here. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type Qr, qrOf } from './qr.ts';

const small = `
#######....##.#######
#.....#.##.##.#.....#
#.###.#..#.##.#.###.#
#.###.#..###..#.###.#
#.###.#.#.#.#.#.###.#
#.....#..#..#.#.....#
#######.#.#.#.#######
.........#.##........
#.#.#.#..#.#....#..#.
######....#...##..###
......###.#.#...#.###
####...##.....#.....#
....######..#.#.....#
........##.#.#..###.#
#######..###.########
#.....#..#####......#
#.###.#.#.##.##.##.##
#.###.#..#....####.#.
#.###.#.##..#..##.#.#
#.....#...#...#.#..#.
#######.#.#.#.####.##`;

function drawn(code: Qr | undefined): string {
  return (code ?? []).map((row) => row.map((isDark) => (isDark ? '#' : '.')).join('')).join('\n');
}

test('a short text is the code that readers know', () => {
  assert.equal(drawn(qrOf('slipway')), small.trim());
});

test('longer ones grow: with blocks of two lengths, squares to straighten by, and their version', () => {
  const known = [
    [100, 41, 'ff792f02'],
    [180, 53, '930ab230'],
    [400, 77, 'da3bbb2a'],
    [666, 97, '06a0a919'],
  ] as const;
  for (const [length, size, sum] of known) {
    const code = qrOf('otpauth://'.repeat(70).slice(0, length)) ?? [];
    assert.equal(code.length, size);
    const bits = code.map((row) => row.map(Number).join('')).join('\n');
    assert.equal(createHash('sha256').update(bits).digest('hex').slice(0, 8), sum, `${length}`);
  }
});

test('a text that is too long has none', () => {
  assert.equal(qrOf('x'.repeat(667)), undefined);
});
