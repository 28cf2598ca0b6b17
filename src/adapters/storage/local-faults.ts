/** What a file system says when it cannot, as faults. */
import { errorCode, errorText, Fault } from '../../fault.ts';

/** A code that says nothing of disks is a mistake of ours, and goes on as it is. */
export function localFault(error: unknown, folder: string, written: number): unknown {
  const code = errorCode(error);
  const words = { evidence: errorText(error), cause: error };
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new Fault('storage_full', `The disk was full after ${written} bytes of the backup.`, {
        hint: 'Make room there, keep fewer backups, or choose another destination.',
        ...words,
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ELOOP':
    case 'EEXIST':
      return new Fault('storage_refused', `The folder ${folder} cannot be used for backups.`, {
        hint: 'The service needs a folder of its own that it may write to.',
        ...words,
      });
    case 'EIO':
    case 'ENOENT':
    case 'ESTALE':
    case 'EMFILE':
    case 'ENFILE':
      return new Fault('storage_failed', 'The disk of the backups failed.', {
        hint: 'Look at the disk of the machine that Slipway runs on.',
        ...words,
      });
    default:
      return error;
  }
}

export function missing(error: unknown): Fault {
  return new Fault('backup_missing', 'There is no such backup in the folder.', {
    hint: 'It was removed by someone else. Use another one.',
    evidence: errorText(error),
  });
}
