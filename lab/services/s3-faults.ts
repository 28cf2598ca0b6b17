/** Trouble on purpose: what the S3 of the lab does wrong, for as often as it was told. */
import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false };
const afterBytes = Type.Integer({ minimum: 0 });
const times = Type.Optional(Type.Integer({ minimum: 1 }));

export const S3Fault = Type.Union([
  /** The next uploads of a part (or of a whole object) end with this status; 503 says SlowDown. */
  Type.Object(
    {
      kind: Type.Literal('uploads'),
      status: Type.Union([Type.Literal(500), Type.Literal(503)]),
      retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 0 })),
      times,
    },
    closed,
  ),
  /** The connection is broken after so many bytes of the body of an upload. */
  Type.Object({ kind: Type.Literal('break_upload'), afterBytes, times }, closed),
  /** The same of a download. */
  Type.Object({ kind: Type.Literal('break_download'), afterBytes, times }, closed),
  /** No more than so many bytes, objects and parts together; 507 as MinIO says it, 403 as Ceph does. */
  Type.Object(
    {
      kind: Type.Literal('quota'),
      bytes: Type.Integer({ minimum: 0 }),
      status: Type.Optional(Type.Union([Type.Literal(507), Type.Literal(403)])),
    },
    closed,
  ),
  /** Every request, or the next ones. */
  Type.Object({ kind: Type.Literal('refuse'), times }, closed),
  /** The bucket is said to be in another region. */
  Type.Object({ kind: Type.Literal('redirect'), region: Type.String() }, closed),
  /** Status 200 and an error inside, instead of joining the parts. */
  Type.Object({ kind: Type.Literal('complete_error'), times }, closed),
  /** The parts are joined, and the answer is lost. */
  Type.Object({ kind: Type.Literal('complete_lost'), times }, closed),
  /** What is kept is not what came, and the tag is that of what is kept. */
  Type.Object({ kind: Type.Literal('store_damaged'), times }, closed),
  /** Tags are not made of the content, as where a store encrypts. */
  Type.Object({ kind: Type.Literal('opaque_tags') }, closed),
]);
export type S3Fault = Static<typeof S3Fault>;
type Kind = S3Fault['kind'];

export class S3Faults {
  readonly #byKind = new Map<Kind, { readonly fault: S3Fault; left: number }>();

  set(fault: S3Fault): void {
    const left = 'times' in fault && fault.times !== undefined ? fault.times : Number.POSITIVE_INFINITY;
    this.#byKind.set(fault.kind, { fault, left });
  }

  clear(): void {
    this.#byKind.clear();
  }

  list(): S3Fault[] {
    return [...this.#byKind.values()].map(({ fault }) => fault);
  }

  /** The fault of this kind, counted down; undefined where there is none. */
  take<K extends Kind>(kind: K): Extract<S3Fault, { kind: K }> | undefined {
    const found = this.#byKind.get(kind);
    if (!found) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.#byKind.delete(kind);
    return isOf(found.fault, kind) ? found.fault : undefined;
  }
}

function isOf<K extends Kind>(fault: S3Fault, kind: K): fault is Extract<S3Fault, { kind: K }> {
  return fault.kind === kind;
}
