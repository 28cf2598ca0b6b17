/** A delivery in one form, whichever host it is from, and the parts that several hosts write alike. */
import type { Payload } from './payload.ts';

/** The paths that a commit changed; `null` where the host does not tell. */
export interface PushedCommit {
  readonly added: readonly string[] | null;
  readonly modified: readonly string[] | null;
  readonly removed: readonly string[] | null;
}

export interface PushDelivery {
  readonly type: 'push';
  /** The same when the host sends it again; no two deliveries of one answer share it. */
  readonly deliveryId: string | null;
  readonly repository: { readonly id: string; readonly fullName: string };
  readonly ref: { readonly type: 'branch' | 'tag'; readonly name: string };
  /** All zeros where it is gone. */
  readonly after: string;
  readonly isDeleted: boolean;
  /** `null` where the host does not tell; then what `before` had may be gone. */
  readonly isForced: boolean | null;
  readonly commits: readonly PushedCommit[];
  /** There are more commits, or more paths, than are listed. */
  readonly isTruncated: boolean;
  readonly headMessage: string | null;
}

export interface QuietDelivery {
  readonly type: 'ping' | 'other';
  readonly deliveryId: string | null;
}

export type Delivery = PushDelivery | QuietDelivery;

export interface About {
  readonly deliveryId: string | null;
  readonly event: string;
}

/** As all but Bitbucket write it. */
export function commitOf(commit: Payload): PushedCommit {
  const paths = (name: string) =>
    commit
      .at(name)
      .maybe?.list()
      .map((path) => path.text()) ?? null;
  return {
    added: paths('added'),
    modified: paths('modified'),
    removed: paths('removed'),
  };
}

export const noCommit = '0'.repeat(40);

export const isZero = (sha: string) => /^0+$/.test(sha);

export const quiet = (type: QuietDelivery['type'], about: About): QuietDelivery => ({
  type,
  deliveryId: about.deliveryId,
});

/** Branches and tags; notes, reviews and whatever else lives among the refs are nothing to deploy. */
export function pushTo(
  ref: string,
  about: About,
  rest: Omit<PushDelivery, 'type' | 'deliveryId' | 'ref'>,
): Delivery {
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/s.exec(ref) ?? [];
  if (kind === undefined || name === undefined) return quiet('other', about);
  const type = kind === 'heads' ? 'branch' : 'tag';
  return { type: 'push', deliveryId: about.deliveryId, ref: { type, name }, ...rest };
}
