/** What was seen of a domain at the last look, as it is kept and shown. */
export interface ShownFinding {
  readonly code: string;
  readonly severity: 'ok' | 'info' | 'warning' | 'error';
  readonly message: string;
  readonly hint: string | null;
  readonly evidence: string | null;
}

export interface LastCheck {
  readonly at: string;
  readonly findings: readonly ShownFinding[];
}
