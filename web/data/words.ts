/** Times, sizes and states in words. */

const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

export function ago(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1_000;
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return seconds > 5 ? 'in a moment' : 'just now';
}

export function duration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 1) return `${Math.max(0, Math.round(ms))} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds - minutes * 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(count: number): string {
  const size = ['B', 'KB', 'MB', 'GB', 'TB'];
  const at = count < 1 ? 0 : Math.min(size.length - 1, Math.floor(Math.log(count) / Math.log(1000)));
  const value = count / 1000 ** at;
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${size[at]}`;
}

/** Memory, as it is sold: in powers of two. */
export function memory(megabytes: number): string {
  if (megabytes < 1024) return `${megabytes} MB`;
  const value = megabytes / 1024;
  return `${value >= 10 ? Math.round(value) : Number(value.toFixed(1))} GB`;
}

/** `host_key_changed` and `registerDomain` as a person reads them. */
export function words(name: string): string {
  return name.replaceAll(/[_-]/g, ' ').replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const works: Readonly<Record<string, string>> = {
  backup_import: 'import',
  backup_make: 'backup',
  backup_restore: 'restore',
  cluster_availability: 'draining or activating',
  cluster_join: 'joining',
  cluster_leave: 'leaving',
  cluster_reboot: 'rolling reboot',
  cluster_managers: 'choosing managers',
  environment_services: 'services',
  project_analysis: 'analysis',
  server_harden: 'hardening',
  server_provision: 'preparation',
  server_remove: 'removal',
  server_undo_hardening: 'undoing the hardening',
};

/** What long work of a kind is called. */
export function work(kind: string): string {
  return capital(works[kind] ?? words(kind));
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
