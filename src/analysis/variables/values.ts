/** What a value in a file is worth: a default, a placeholder that stands for one, or somebody's real secret. */

/** Longer than any sensible default. */
const longestDefault = 500;

const placeholderWords =
  /(?:^|[^a-z0-9])(?:your|yours|changeme|change-?me|change_?me|change[-_ ]this|change[-_ ]it|replace[-_ ]?me|replace[-_ ](?:with|this)|todo|fixme|tbd|placeholder|insert|enter[-_ ]|dummy|fill[-_ ]?(?:me|in|this)|xxx+|example\.(?:com|org|net)|my[-_](?:secret|key|token|api)|some[-_]|put[-_]|paste|generate[-_ ]|here)(?:$|[^a-z0-9])/i;

export function isPlaceholder(value: string): boolean {
  const text = value.trim();
  if (text === '' || text.length > longestDefault) return true;
  if (/^(?:<[^<>]*>|\[[^[\]]*\]|\{\{?[^{}]*\}?\}|\(.*\))$/.test(text)) return /[a-z]/i.test(text);
  if (/^(?:x{2,}|\*+|\.{2,}|-+|_+|\?+|…|null|none|undefined|changeit|secret|password)$/i.test(text))
    return true;
  if (/(?:\.\.\.|…|\*{3,}|x{4,})/i.test(text)) return true;
  return placeholderWords.test(text) || /^your|here$/i.test(text);
}

/** Right on the machine of whoever wrote it, wrong everywhere else. */
export function isLocal(value: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]{0,20}:\/\/)?(?:[^\s@/]{0,100}@)?(?:localhost|127\.0\.0\.1|\[::1\]|host\.docker\.internal)(?:[:/?]|$)/i.test(
    value.trim().slice(0, longestDefault),
  );
}

const knownSecrets =
  /^(?:sk[-_](?:live|test|proj|ant|or)[-_]\w|sk-[A-Za-z0-9]{20}|rk_live_|pk_live_|gh[pousr]_\w{20}|github_pat_\w{10}|glpat-|xox[abeprs]-|AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}|AIza[\w-]{30}|SG\.[\w-]{16}|ya29\.|-----BEGIN|eyJ[\w-]{10,}\.eyJ|npm_[A-Za-z0-9]{30}|dop_v1_|hf_[A-Za-z]{20}|whsec_\w{16}|re_[A-Za-z0-9]{16}|shpat_|key-[0-9a-f]{32}|EAACEdEose0cBA|base64:[A-Za-z0-9+/]{40})/;

/** Whether it looks like the real thing: a known form, a password inside an address, or pure chance. */
export function looksSecret(value: string): boolean {
  const text = value.trim().slice(0, 2_000);
  if (isPlaceholder(text)) return false;
  if (knownSecrets.test(text)) return true;
  const address = /^[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{0,100}:([^\s@/]{1,200})@([^\s/:?]{1,200})/i.exec(
    text,
  );
  if (address) return !isLocal(text) && (address[2] ?? '').includes('.') && !isPlaceholder(address[1] ?? '');
  if (text.length < 20 || text.length > 1_000 || !/^[\w+/=.:~?&%#-]+$/.test(text)) return false;
  return !/^[\w.-]+\.[a-z]{2,}(?::\d+)?$/i.test(text) && hasChance(text);
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/**
 * A stretch without any mark between words, in which letters and digits change too often for a name. The names of models
 * (`gpt-4o-mini-2024-07-18`), buckets and addresses are words and numbers with marks between them.
 */
function hasChance(text: string): boolean {
  if (uuid.test(text)) return true;
  return text.split(/[-_./:~?&%#]+/).some((part) => {
    const changes = part.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
    return part.length >= 16 && changes >= 3 && entropyOf(part) > 3;
  });
}

function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const mark of text) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  let sum = 0;
  for (const count of counts.values()) sum -= (count / text.length) * Math.log2(count / text.length);
  return sum;
}

/** `file:./dev.db`, `sqlite:///app.db`: the folder of the file, from where the app runs. */
export function sqliteFolder(value: string): string | undefined {
  const found =
    /^(?:file:|(?:jdbc:)?sqlite3?(?:\+\w{1,20})?:)(?:\/\/\/?(?=[^/]))?([^?\s]{1,300})/i.exec(value.trim()) ??
    /^(\.{0,2}\/?[\w./-]{1,300}\.(?:db|sqlite3?|db3))$/i.exec(value.trim());
  const file = found?.[1];
  if (file === undefined || file.includes(':memory:') || file.includes('..')) return undefined;
  const absolute = /^(?:jdbc:)?sqlite[\w+]*:\/{4}/i.test(value.trim()) || file.startsWith('/');
  const folders = file.split('/').filter((part) => part !== '' && part !== '.');
  const folder = folders.slice(0, -1).join('/');
  if (absolute) return `/${folder}`;
  return folder === '' ? '.' : folder;
}

/** The kind of service behind an address. */
export function schemeOf(value: string): 'postgres' | 'mysql' | 'mariadb' | 'mongodb' | 'redis' | undefined {
  const scheme = /^["']?(?:jdbc:|r2dbc:)?([a-z][a-z0-9]{1,20})(?:\+[\w.]{1,20})?:(?:\/\/|thin:)/i.exec(
    value.trim().slice(0, 200),
  )?.[1];
  switch (scheme?.toLowerCase()) {
    case 'postgres':
    case 'postgresql':
    case 'postgis':
    case 'psql':
    case 'pgsql':
    case 'ecto':
      return 'postgres';
    case 'mysql':
    case 'mysql2':
      return 'mysql';
    case 'mariadb':
      return 'mariadb';
    case 'mongodb':
      return 'mongodb';
    case 'redis':
    case 'rediss':
    case 'valkey':
      return 'redis';
    default:
      return undefined;
  }
}

/** Fit to be shown and to be used as it is. */
export function asDefault(value: string | undefined): string | undefined {
  return value === undefined || value.length > longestDefault || looksSecret(value) ? undefined : value;
}
