/** Does what sshd says of itself agree with what is wanted? */
import type { SshdExpectation } from './plan.ts';

export function meets(expected: SshdExpectation, values: ReadonlyMap<string, readonly string[]>): boolean {
  const [value] = values.get(expected.key) ?? [];
  if (value === undefined) return false;
  const { oneOf, atMost, atLeast, without, includes } = expected;
  const items = value.split(',');
  if (oneOf && !oneOf.includes(value)) return false;
  if (atMost !== undefined && !(Number(value) <= atMost)) return false;
  if (atLeast !== undefined && !(Number(value) >= atLeast)) return false;
  if (without?.some((start) => items.some((item) => item.startsWith(start)))) return false;
  return includes === undefined || items.includes(includes);
}
