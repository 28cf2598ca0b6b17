/** What was asked for, checked by itself: names, versions, memory. What is there already is not looked at here. */
import type { ServiceKind } from '../../analysis/result.ts';
import { type Capacity, forContainers } from '../../engine/capacity.ts';
import { Fault, type FieldError } from '../../fault.ts';
import type { WantedService } from '../environments/hooks.ts';
import { kinds } from './kinds/kinds.ts';

export interface ServiceInput {
  readonly kind: ServiceKind;
  readonly name: string;
  /** Not said: the one that it has, or ours. */
  readonly version: string | undefined;
  readonly memoryMb: number | null;
  readonly storage: string | null;
}

/** The application has these names on its own network. */
const reserved = new Set(['web', 'localhost']);

/** `server`: null where it is not known yet. */
export function readServicesInput(
  wanted: readonly WantedService[],
  server: Capacity | null = null,
): ServiceInput[] {
  const inputs = wanted.map(({ kind, name = kind, version, memoryMb = null, storage = null }) => ({
    kind,
    name,
    version,
    memoryMb,
    storage,
  }));
  const most = server ? forContainers(server).memoryMb : Number.POSITIVE_INFINITY;
  const errors = inputs.flatMap((input, index) => wrongIn(input, index, inputs, most));
  if (errors.length > 0)
    throw new Fault('invalid_input', 'The services cannot be as they are wanted.', { errors });
  return inputs;
}

function wrongIn(
  input: ServiceInput,
  index: number,
  all: readonly ServiceInput[],
  mostMemoryMb: number,
): FieldError[] {
  const { title, versions, memoryMb } = kinds[input.kind];
  const errors: FieldError[] = [];
  const wrong = (field: string, message: string) =>
    errors.push({ path: `services[${index}].${field}`, message });
  const earlier = all.findIndex(({ name }) => name === input.name);
  if (earlier < index) wrong('name', `is the name of services[${earlier}] already: \`${input.name}\``);
  if (reserved.has(input.name)) wrong('name', 'is a name that the application has on its network');
  if (input.version !== undefined && !versions.includes(input.version))
    wrong('version', `must be one of ${versions.join(', ')}`);
  if (input.memoryMb !== null && input.memoryMb < memoryMb.least)
    wrong('memoryMb', `must be at least ${memoryMb.least}: ${title} does not start with less`);
  if (input.memoryMb !== null && input.memoryMb > mostMemoryMb)
    wrong('memoryMb', `must be at most ${mostMemoryMb}: the server has no more for containers`);
  return errors;
}
