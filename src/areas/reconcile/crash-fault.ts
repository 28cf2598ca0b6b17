/** What is told of an application that ended by itself after it was deployed. */
import type { InstanceState } from '../../engine/engine.ts';
import type { OperationFault } from '../../operations/operations.ts';
import { redactWhole } from '../../remote/exec/redact.ts';
import type { Secret } from '../../secret.ts';

export function crashFault(
  { name, exitCode, isOutOfMemory, restarts, status }: InstanceState,
  lines: readonly string[],
  secrets: readonly Secret[],
  memoryMb: number | null,
): OperationFault {
  // Of one that runs again Docker no longer tells how it ended.
  const isKnown = status !== 'running';
  const how = isKnown ? ` with code ${exitCode}` : '';
  const text = redactWhole(Buffer.from(lines.join('\n')), secrets).toString('utf8');
  const evidence = [
    `${name}: ${status}, started again ${restarts} times${isKnown ? `, exit code ${exitCode}` : ''}`,
    text,
  ].join('\n');
  if (isOutOfMemory) {
    return {
      code: 'app_out_of_memory',
      step: null,
      evidence,
      message: `The app used more memory than it has${memoryMb === null ? '' : ` (${memoryMb} MB)`} and was ended.`,
      hint: 'Raise `memoryMb` in the settings, or find what needs so much.',
    };
  }
  return {
    code: restarts > 2 ? 'app_crash_loop' : 'app_crashed',
    step: null,
    evidence,
    message: `The app ended by itself${how}; it was started again.`,
    hint: 'The last lines in the evidence say why. An earlier release can be put back with a rollback.',
  };
}
