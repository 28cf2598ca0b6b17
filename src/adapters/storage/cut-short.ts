import { Fault } from '../../fault.ts';

/** For bytes that end before those that were promised. */
export function cutShort(seen: number, expected: number): Fault {
  return new Fault('storage_failed', `The stored backup ended after ${seen} of ${expected} bytes.`, {
    hint: 'Try again. If it stays, use another backup.',
  });
}
