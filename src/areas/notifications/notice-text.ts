/**
 * The text of a notice. Its data was written by whoever raised it, perhaps by an older version: every field may
 * be missing, and the sentence stands without it.
 */
import type { Fact, Tone } from '../../adapters/connectors/connectors.ts';
import { oneLine, plain } from '../../adapters/connectors/fit-text.ts';
import type { Notice, NoticeKind } from '../../events/notices.ts';

/** What it is about, as far as it is known when the message is composed. */
export interface Names {
  readonly project: string | null;
  readonly environment: string | null;
  readonly address: string | null;
}

export interface NoticeText {
  readonly tone: Tone;
  readonly title: string;
  readonly summary: string | null;
  readonly facts: readonly Fact[];
  readonly lines: readonly string[];
}

const maxLines = 30;
const maxTextLength = 4_000;

const texts: Record<NoticeKind, { readonly tone: Tone; readonly what: (data: Data) => string }> = {
  deployment_started: { tone: 'neutral', what: (data) => `${numbered(data)} started` },
  deployment_succeeded: { tone: 'good', what: (data) => `${numbered(data)} succeeded` },
  deployment_failed: { tone: 'bad', what: (data) => `${numbered(data)} failed` },
  deployment_cancelled: { tone: 'warning', what: (data) => `${numbered(data)} was cancelled` },
  environment_degraded: { tone: 'bad', what: () => 'the app does not run as it should' },
  environment_recovered: { tone: 'good', what: () => 'the app runs again' },
  backup_failed: { tone: 'bad', what: (data) => `the backup${of(data, 'serviceName')} failed` },
  backup_missed: {
    tone: 'bad',
    what: (data) => `no backup${of(data, 'serviceName')} was made when it was due`,
  },
  backup_recovered: { tone: 'good', what: (data) => `backups${of(data, 'serviceName')} are made again` },
  certificate_failing: {
    tone: 'bad',
    what: (data) => `no certificate could be issued for ${text(data, 'hostname') ?? 'a name'}`,
  },
  certificate_expiring: {
    tone: 'warning',
    what: (data) => `the certificate of ${text(data, 'hostname') ?? 'a name'} ends soon and was not renewed`,
  },
  domain_lost: {
    tone: 'bad',
    what: (data) => `${text(data, 'hostname') ?? 'a domain'} is not verified any more`,
  },
  server_unreachable: { tone: 'bad', what: (data) => `the server ${server(data)} cannot be reached` },
  server_back: { tone: 'good', what: (data) => `the server ${server(data)} is back` },
  server_host_key_changed: {
    tone: 'bad',
    what: (data) => `the server ${server(data)} shows another host key`,
  },
  server_security_worse: {
    tone: 'warning',
    what: (data) => `the security of the server ${server(data)} has become worse`,
  },
  cluster_degraded: {
    tone: 'warning',
    what: (data) => `the cluster${named(data)} goes on without one of its servers`,
  },
  cluster_no_quorum: {
    tone: 'bad',
    what: (data) => `the managers of the cluster${named(data)} have lost their majority`,
  },
  cluster_unreachable: {
    tone: 'bad',
    what: (data) => `no manager of the cluster${named(data)} can be reached`,
  },
  cluster_recovered: { tone: 'good', what: (data) => `the cluster${named(data)} is whole again` },
  token_revoked: {
    tone: 'bad',
    what: (data) => `${text(data, 'provider') ?? 'a Git provider'} refuses the token${of(data, 'label')}`,
  },
};

type Data = Readonly<Record<string, unknown>>;

export function noticeText({ kind, data }: Pick<Notice, 'kind' | 'data'>, names: Names): NoticeText {
  // A newer version may have known more kinds than this one does.
  const { tone, what } = Object.hasOwn(texts, kind)
    ? texts[kind]
    : { tone: 'neutral' as const, what: () => String(kind).replaceAll('_', ' ') };
  const place = [names.project, names.environment].filter((each) => each !== null).map(oneLine);
  const sentence = what(data);
  const title = place.length > 0 ? `${place.join(' / ')}: ${sentence}` : upper(sentence);
  const fault = record(data.fault);
  const reason = [text(fault, 'message') ?? text(data, 'reason') ?? text(data, 'message')];
  const hint = text(fault, 'hint') ?? text(data, 'hint');
  const summary = [...reason, hint].filter((each) => each !== undefined).join(' ');
  return {
    tone,
    title,
    summary: summary === '' ? null : summary,
    facts: factsOf(data, fault, names),
    lines: linesOf(text(fault, 'evidence') ?? text(data, 'evidence')),
  };
}

function factsOf(data: Data, fault: Data, names: Names): Fact[] {
  const commit = record(data.commit);
  const subject = (text(commit, 'message') ?? '').split('\n', 1)[0] ?? '';
  const author = text(commit, 'author') ?? text(record(commit.author), 'name');
  const sha = text(commit, 'sha')?.slice(0, 12);
  const shown = [sha, subject, author && `(${author})`].filter(Boolean).join(' ');
  const duration = typeof data.durationMs === 'number' ? durationText(data.durationMs) : undefined;
  const all: [name: string, value: string | null | undefined][] = [
    ['Project', names.project],
    ['Environment', names.environment],
    ['Commit', shown],
    ['Branch', text(commit, 'branch')],
    ['Trigger', text(data, 'trigger')],
    ['Duration', duration],
    ['Step', text(fault, 'step')],
    ['Code', text(fault, 'code')],
    ['Service', text(data, 'serviceName')],
    ['Server', text(data, 'serverName')],
    ['Cluster', text(data, 'clusterName')],
    ['Host', text(data, 'host')],
    ['Name', text(data, 'hostname')],
    ['Ends', text(data, 'notAfter')],
    ['Now', text(data, 'now')],
    ['Address', text(data, 'url') ?? names.address],
  ];
  return all.flatMap(([name, value]) => (value ? [{ name, value: oneLine(value) }] : []));
}

function linesOf(evidence: string | undefined): string[] {
  if (evidence === undefined) return [];
  return evidence.trimEnd().split('\n').slice(-maxLines);
}

function numbered(data: Data): string {
  return typeof data.number === 'number' ? `deployment #${data.number}` : 'a deployment';
}

function of(data: Data, field: string): string {
  const name = text(data, field);
  return name === undefined ? '' : ` of ${oneLine(name)}`;
}

function server(data: Data): string {
  return oneLine(text(data, 'serverName') ?? text(data, 'host') ?? 'of yours');
}

function named(data: Data): string {
  const name = text(data, 'clusterName');
  return name === undefined ? '' : ` ${oneLine(name)}`;
}

function text(data: Data, field: string): string | undefined {
  const value = data[field];
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return undefined;
  // The end says more than the beginning where lines are many.
  const clean = plain(value.length > maxTextLength ? value.slice(-maxTextLength) : value);
  return clean.trim() === '' ? undefined : clean;
}

function record(value: unknown): Data {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function upper(sentence: string): string {
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;
}
