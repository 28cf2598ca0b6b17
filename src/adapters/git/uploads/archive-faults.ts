/** What is wrong with an archive, in words: the entry or the limit by its name. */
import { Fault } from '../../../fault.ts';

const shownName = 200;

export function refusedArchive(why: string, cause?: unknown): Fault {
  return new Fault('archive_invalid', `The archive is not taken. ${why}`, {
    hint: 'Send what `tar cz .` makes of the folder.',
    ...(cause !== undefined && { cause }),
  });
}

/** `why` goes on where the name ends: `is a block device`. */
export function refusedEntry(name: string, why: string): Fault {
  const shown = name.length > shownName ? `${name.slice(0, shownName)}…` : name;
  return new Fault('archive_invalid', `The archive is not taken: «${shown}» ${why}.`, {
    hint: 'Leave the entry out (`tar --exclude`), or mend it, and upload again.',
    errors: [{ path: shown, message: why }],
  });
}

export function tooLarge(what: string, setting?: string): Fault {
  const raise = setting ? ` Whoever runs the service can allow more with ${setting}.` : '';
  return new Fault('payload_too_large', `The archive is not taken: ${what}.`, {
    hint: `Leave out what is not needed for the build: dependencies, caches, results of builds.${raise}`,
  });
}
