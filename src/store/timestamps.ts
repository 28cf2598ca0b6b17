/**
 * Timestamps from PostgreSQL. The driver's own parser is made for every style the server can be set to; in a list
 * it takes a seventh of the request. Ours reads the one that is usual, in UTC, and leaves the rest to the driver.
 */
import pg from 'pg';

const timestamptz = pg.types.builtins.TIMESTAMPTZ;
const driverParser = pg.types.getTypeParser(timestamptz, 'text');
const code = { dash: 45, space: 32, dot: 46, plus: 43, zero: 48 } as const;

export function parseTimestamp(text: string): Date {
  if (!isUsual(text)) return driverParser(text);
  const hasFraction = text.charCodeAt(19) === code.dot;
  const ms = hasFraction ? part(text, 20) * 100 + part(text, 21) * 10 + part(text, 22) : 0;
  const year = two(text, 0) * 100 + two(text, 2);
  return new Date(
    Date.UTC(year, two(text, 5) - 1, two(text, 8), two(text, 11), two(text, 14), two(text, 17), ms),
  );
}

function two(text: string, index: number): number {
  return digit(text, index) * 10 + digit(text, index + 1);
}

/** Of a fraction, which may be shorter; what follows it is the zone. */
function part(text: string, index: number): number {
  return index < text.length - 3 ? digit(text, index) : 0;
}

function digit(text: string, index: number): number {
  return text.charCodeAt(index) - code.zero;
}

/** `2026-11-15 03:04:05.123456+00`: a year of four digits, in UTC. */
function isUsual(text: string): boolean {
  const end = text.length - 3;
  return (
    end >= 19 &&
    text.charCodeAt(4) === code.dash &&
    text.charCodeAt(10) === code.space &&
    text.charCodeAt(end) === code.plus &&
    text.charCodeAt(end + 1) === code.zero &&
    text.charCodeAt(end + 2) === code.zero
  );
}

/** For the driver: our parser where it is better, its own elsewhere. */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === timestamptz && format !== 'binary' ? parseTimestamp : pg.types.getTypeParser(oid, format),
};
