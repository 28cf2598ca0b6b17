/** Keys that are ours to set: refused by name, so that nobody wonders why a value has no effect. */
import { Fault } from '../../../fault.ts';

const ours = 'SLIPWAY_';
/** To BuildKit these are orders: which frontend reads the Dockerfile, and whose caches it mounts. */
const orders = ['BUILDKIT_SYNTAX', 'BUILDKIT_CACHE_MOUNT_NS'];

export function checkKeys(variables: readonly { readonly key: string }[], field: string): void {
  const errors = variables.flatMap(({ key }, index) => {
    const message = wrongWith(key);
    return message === undefined ? [] : [{ path: `${field}[${index}].key`, message }];
  });
  if (errors.length === 0) return;
  throw new Fault('invalid_input', 'Some variables are set by Slipway itself.', {
    ...(variables.some(({ key }) => key === 'PORT') && {
      hint: 'The port that the app listens on is set with `settings.port`; it has it as `PORT`.',
    }),
    errors,
  });
}

function wrongWith(key: string): string | undefined {
  if (key === 'PORT') return 'is set by Slipway; say the port with `settings.port`';
  if (key.toUpperCase().startsWith(ours)) return `must not begin with ${ours}, which is Slipway’s own`;
  if (orders.includes(key)) return 'is an order to BuildKit, and Slipway’s to give';
  return undefined;
}
