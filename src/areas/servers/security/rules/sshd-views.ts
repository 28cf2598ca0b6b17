/**
 * The effective settings of sshd, as `sshd -T -C` gives them for one user from one address. `Match` blocks make them
 * differ, so a setting is judged by the worst view of all who can log in.
 */
import { type Facts, UnreadableFact } from '../facts.ts';

export interface SshdView {
  readonly user: string;
  readonly address: string;
  readonly settings: ReadonlyMap<string, readonly string[]>;
}

/** Stands for the internet in the script. */
const anywhere = '192.0.2.1';

export function sshdViews(facts: Facts): SshdView[] {
  const views: { user: string; address: string; settings: Map<string, string[]> }[] = [];
  for (const line of facts.lines('sshd')) {
    const [key = '', ...rest] = line.split(' ');
    const current = views.at(-1);
    if (key === '=') views.push({ user: rest[0] ?? '', address: rest[1] ?? '', settings: new Map() });
    else current?.settings.set(key, [...(current.settings.get(key) ?? []), rest.join(' ')]);
  }
  if (!views.some(({ user, settings }) => user === 'root' && settings.has('permitrootlogin')))
    throw new UnreadableFact('`sshd -T` did not show its settings.');
  return views;
}

export function sshdSetting(view: SshdView, key: string): string {
  const value = view.settings.get(key)?.[0];
  if (value === undefined) throw new UnreadableFact(`\`sshd -T\` does not show ${key}.`);
  return value;
}

/** Those that `AllowUsers` and `DenyUsers` let through; the settings of others matter to nobody. */
export function admittedViews(facts: Facts): SshdView[] {
  return sshdViews(facts).filter(({ user, settings }) => {
    const named = (key: string) => (settings.get(key) ?? []).some((pattern) => matches(user, pattern));
    return !named('denyusers') && (!settings.has('allowusers') || named('allowusers'));
  });
}

function matches(user: string, pattern: string): boolean {
  const name = pattern.split('@')[0] ?? '';
  // For a deny with a host part, or a pattern beyond `*` and `?`, taking it as no match is the careful side.
  const source = name
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`).test(user);
}

/** Whether this user gets in with nothing but a password, in either of the two ways of typing it. */
export function takesPassword(view: SshdView, method: 'password' | 'keyboard-interactive'): boolean {
  const key = method === 'password' ? 'passwordauthentication' : 'kbdinteractiveauthentication';
  if (sshdSetting(view, key) !== 'yes') return false;
  if (view.user === 'root' && !['yes'].includes(sshdSetting(view, 'permitrootlogin'))) return false;
  const lists = (view.settings.get('authenticationmethods') ?? ['any']).flatMap((line) => line.split(' '));
  return lists.some(
    (list) => list === 'any' || list.split(',').every((each) => each.split(':')[0] === method),
  );
}

/** `key value: root, deploy; ours from 10.0.0.1`, the same values together. */
export function shownFor(views: readonly SshdView[], key: string): string {
  const byValue = Map.groupBy(views, (view) => view.settings.get(key)?.join(' ') ?? '(not shown)');
  return [...byValue].map(([value, group]) => `${key} ${value} (${group.map(whose).join(', ')})`).join('\n');
}

function whose({ user, address }: SshdView): string {
  return address === anywhere ? user : `${user} from ${address}`;
}
