/** What the routes of a workspace declare again and again: who may call them, and what a repeated call may meet. */

export const read = { access: { kind: 'workspace', permission: 'read' } } as const;
export const change = { access: { kind: 'workspace', permission: 'change' } } as const;
export const manage = { access: { kind: 'workspace', permission: 'manage' } } as const;
/** Browsers open streams without headers: a ticket stands for the token. */
export const stream = { access: { kind: 'workspace', permission: 'read', ticket: true } } as const;

/** Faults of the calls that take an `Idempotency-Key`. */
export const repeatable = ['idempotency_in_progress', 'idempotency_mismatch'] as const;
