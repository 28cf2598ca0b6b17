/** What a connector tells of, one by one. */
import type { NoticeKind } from '../../sdk/index.ts';
import { capital, words } from '../data/words.ts';

/** Every one of them, or the compiler says which is missing; false for those that are of no project. */
const told: Readonly<Record<NoticeKind, boolean>> = {
  deployment_started: true,
  deployment_succeeded: true,
  deployment_failed: true,
  deployment_cancelled: true,
  environment_degraded: true,
  environment_recovered: true,
  backup_failed: true,
  backup_missed: true,
  backup_recovered: true,
  certificate_failing: true,
  certificate_expiring: true,
  domain_lost: false,
  server_unreachable: false,
  server_back: false,
  server_host_key_changed: false,
  server_security_worse: false,
  cluster_degraded: false,
  cluster_no_quorum: false,
  cluster_unreachable: false,
  cluster_recovered: false,
  token_revoked: false,
};

function kindsOf(isOfProject: boolean): NoticeKind[] {
  const isKind = (kind: string): kind is NoticeKind => kind in told;
  return Object.keys(told)
    .filter(isKind)
    .filter((kind) => told[kind] || !isOfProject);
}

/** What it tells of, the shorter way. */
export function toldOf(events: readonly NoticeKind[]): string {
  const left = kindsOf(false).filter((kind) => !events.includes(kind));
  if (events.length === 0) return 'nothing';
  if (left.length === 0) return 'everything';
  return left.length < events.length
    ? `everything but ${left.map(words).join(', ')}`
    : events.map(words).join(', ');
}

interface ChoiceProps {
  readonly chosen: readonly NoticeKind[];
  /** Only what can be told of one project. */
  readonly isOfProject?: boolean;
}

export function NoticeChoice({ chosen, isOfProject = false }: ChoiceProps) {
  return (
    <fieldset class="pairs">
      <legend>It tells of</legend>
      {kindsOf(isOfProject).map((kind) => (
        <label class="check" key={kind}>
          <input type="checkbox" name={kind} defaultChecked={chosen.includes(kind)} />
          {capital(words(kind))}
        </label>
      ))}
    </fieldset>
  );
}

export function chosenNotices(fields: Readonly<Record<string, string>>): NoticeKind[] {
  return kindsOf(false).filter((kind) => fields[kind] === 'on');
}
