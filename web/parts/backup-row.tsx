/** A backup with its proof: it counts as one only after it was restored somewhere and checked. */
import type { ComponentChildren } from 'preact';
import type { Backup, BackupPart } from '../../sdk/index.ts';
import { bytes, words } from '../data/words.ts';
import { CopyRow } from '../ui/copy.tsx';
import { Icon } from '../ui/icon.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

export function Proof({ backup }: { readonly backup: Backup }) {
  if (backup.verifiedAt)
    return (
      <div class="proof" title="It was restored into a scratch database and compared.">
        <Icon name="shield" />
        <div>
          restored and checked
          <div class="fine">
            <Time at={backup.verifiedAt} />
          </div>
        </div>
      </div>
    );
  const reasons = backup.parts.flatMap(({ verification }) => verification.reason ?? []);
  return <span class="fine">{reasons[0] ?? (backup.finishedAt ? 'not proven' : 'proof follows')}</span>;
}

interface TableProps {
  /** Head of the last column, where each row has what belongs to its page. */
  readonly last?: string;
  readonly children: ComponentChildren;
}

export function BackupTable({ last = '', children }: TableProps) {
  return (
    <Table label="Backups made" heads={['When', 'State', 'What', 'Size', 'Proof', last]}>
      {children}
    </Table>
  );
}

interface RowProps {
  readonly backup: Backup;
  readonly children?: ComponentChildren;
}

export function BackupRow({ backup, children }: RowProps) {
  const { createdAt, status, parts, sizeBytes, trigger, fault, environmentName } = backup;
  return (
    <tr>
      <td>
        <Time at={createdAt} />
        <div class="fine">{words(trigger)}</div>
      </td>
      <td>
        <Status status={status} />
        {fault && <div class="fine">{fault.message}</div>}
      </td>
      <td>
        {parts.length === 0 ? (
          environmentName
        ) : (
          <details>
            <summary>{parts.map(({ source }) => source.name).join(', ')}</summary>
            <ul class="plain stack">
              {parts.map((part) => (
                <Part key={part.id} part={part} />
              ))}
            </ul>
          </details>
        )}
      </td>
      <td class="size">{sizeBytes === null ? '' : bytes(sizeBytes)}</td>
      <td>
        <Proof backup={backup} />
      </td>
      <td class="end">{children}</td>
    </tr>
  );
}

/** What of it shows that it is whole: how it was proven, how large it is, and its sum. */
function Part({ part }: { readonly part: BackupPart }) {
  const { source, kind, version, format, sizeBytes, sha256, isEncrypted, verification, warning } = part;
  return (
    <li class="fine">
      <Status status={verification.status} text={`${source.name}: ${words(verification.status)}`} />
      <div>
        {[kind, version].filter(Boolean).join(' ')}, {format}
        {sizeBytes !== null && `, ${bytes(sizeBytes)}`}
        {isEncrypted && ', encrypted'}
      </div>
      {verification.reason && <div>{verification.reason}</div>}
      {warning && <div>{warning}</div>}
      {sha256 && <CopyRow label="SHA-256" value={sha256} />}
    </li>
  );
}
