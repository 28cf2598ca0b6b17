/** Modes of files that only root reads. The content of none of them is touched. */
import { type StepMaker, step } from './step.ts';

export const maxModes: Readonly<Record<string, string>> = {
  '/etc/crontab': '0600',
  '/etc/cron.d': '0700',
  '/etc/cron.hourly': '0700',
  '/etc/cron.daily': '0700',
  '/etc/cron.weekly': '0700',
  '/etc/cron.monthly': '0700',
  '/etc/ssh/sshd_config': '0600',
  '/etc/sudoers.d': '0750',
};

export const fileModes: StepMaker = ({ state }) => {
  const tooOpen = Object.entries(maxModes).filter(([path, wanted]) => {
    const mode = state.modes.get(path);
    return mode !== undefined && (Number.parseInt(mode, 8) & ~Number.parseInt(wanted, 8)) !== 0;
  });
  if (tooOpen.length === 0) return undefined;
  return step({
    id: 'file_modes',
    title: 'Close files that only root needs to read',
    why: `Readable by everyone now: ${tooOpen.map(([path]) => path).join(', ')}.`,
    commands: tooOpen.map(([path, mode]) => ['chmod', mode, path]),
    alsoTouches: tooOpen.map(([path]) => path),
    checks: tooOpen.map(([path, mode]) => ({
      kind: 'succeeds',
      argv: ['stat', '--format=%a', path],
      says: mode.replace(/^0+/, ''),
    })),
  });
};
