/** What the API says of itself. */
import { ok } from './answers.ts';
import { forAnyone } from './operation.ts';
import type { Allowance } from './rate-limits.ts';

export const serviceOperations = [
  forAnyone({ id: 'rate-limit/get', method: 'GET', path: '/rate_limit', resource: 'free' }, (call) => {
    const core = shown(call.allowance('core'));
    return ok({ resources: { core, search: shown(call.allowance('search')) }, rate: core });
  }),

  forAnyone({ id: 'meta/get', method: 'GET', path: '/meta' }, () =>
    ok({ verifiable_password_authentication: false, installed_version: '3.17.0' }),
  ),
];

function shown({ limit, used, remaining, reset }: Allowance) {
  return { limit, used, remaining, reset };
}
