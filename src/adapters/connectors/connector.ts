/**
 * What a kind of connector is: how it is set up, what of that may be shown, and how a message goes out in its format.
 * It sends once and tells how that ended; whoever owes the message decides whether it is sent again.
 */
import type { Static, TObject } from 'typebox';
import { Fault } from '../../fault.ts';
import type { OutboundFetch } from '../../outbound-fetch.ts';
import type { Secret } from '../../secret.ts';

export type Tone = 'good' | 'bad' | 'warning' | 'neutral';

export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** As every connector gets it: words and facts, not yet in anyone's format, and nothing in it escaped. */
export interface Message {
  /** The same over all tries: receivers that can tell a repeat know it by this. */
  readonly id: string;
  /** The kind of notice, `several` where they came close together, `test`. */
  readonly event: string;
  readonly tone: Tone;
  /** One line. */
  readonly title: string;
  readonly summary: string | null;
  readonly facts: readonly Fact[];
  /** The last lines of what failed. */
  readonly lines: readonly string[];
  readonly link: string | null;
  readonly at: Date;
  /** One line each, where several came close together. */
  readonly items: readonly string[];
  /** What it says, for programs. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** How a try ended, and what the receiver said. */
export type Sent = { readonly status: number | null; readonly detail: string } & (
  | { readonly outcome: 'delivered' }
  /** It did not take it. Final where asking again cannot help. */
  | { readonly outcome: 'refused'; readonly isFinal: boolean; readonly retryAfterMs?: number }
  /** It may have got it, and did not say so. */
  | { readonly outcome: 'unknown' }
  /** Nobody may be sent it: nothing failed, and nothing was sent. */
  | { readonly outcome: 'withheld' }
);

export interface Mail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly id: string;
}

/** How many mails the mail server took, and what it answered. */
export interface MailReceipt {
  readonly taken: number;
  readonly answer: string;
}

/** What messages are sent through. */
export interface Transports {
  readonly fetch: OutboundFetch;
  /** Sends to those of the recipients who agreed to it. */
  readonly mail: (mail: Mail) => Promise<MailReceipt>;
  readonly now: () => Date;
}

export interface ReadOptions {
  /** Addresses of one's own network, and http. */
  readonly allowPrivate: boolean;
  /** What it was set up with until now. */
  readonly before?: unknown;
}

/** One that was set up. */
export interface Connector {
  /** Where it leads, as far as it may be shown. */
  readonly target: string;
  /** The addresses that it sends mail to. */
  readonly recipients: readonly string[];
  readonly secrets: readonly Secret[];
  send(message: Message, signal: AbortSignal): Promise<Sent>;
}

export interface ConnectorKind {
  readonly type: string;
  /** As it is given: a closed object. */
  readonly Config: TObject;
  /** Whether the receiver can tell a repeat by the id. Where it cannot, a try of which nobody knows the end is the last one. */
  readonly canTellRepeats: boolean;
  /** What is kept of what was given, as JSON; refuses what could never work, by its form alone. */
  readConfig(given: unknown, options: ReadOptions): Promise<string>;
  open(kept: string, transports: Transports): Promise<Connector>;
  /** A secret that we made and that its owner sees this once. */
  madeSecret(given: unknown, kept: string): string | null;
}

export interface KindDefinition<Schema extends TObject> {
  readonly type: string;
  readonly Config: Schema;
  readonly canTellRepeats: boolean;
  readonly check: (config: Static<Schema>, options: ReadOptions) => Static<Schema>;
  readonly target: (config: Static<Schema>) => string;
  readonly recipients?: (config: Static<Schema>) => readonly string[];
  readonly secrets: (config: Static<Schema>) => readonly Secret[];
  readonly madeSecret?: (kept: Static<Schema>) => string;
  readonly send: (
    config: Static<Schema>,
    message: Message,
    transports: Transports,
    signal: AbortSignal,
  ) => Promise<Sent>;
}

export function defineConnector<Schema extends TObject>(kind: KindDefinition<Schema>): ConnectorKind {
  const read = async (value: unknown): Promise<Static<Schema>> => {
    // Loaded with the first connector: a start has no use for it.
    const { Check } = await import('typebox/value');
    if (Check(kind.Config, value)) return value;
    throw new Fault('invalid_input', `This is not how a connector of type ${kind.type} is set up.`, {
      errors: [{ path: 'config', message: `is not of the form that ${kind.type} has` }],
    });
  };
  return {
    type: kind.type,
    Config: kind.Config,
    canTellRepeats: kind.canTellRepeats,
    readConfig: async (given, options) => JSON.stringify(kind.check(await read(given), options)),
    open: async (kept, transports) => {
      const config = await read(JSON.parse(kept));
      return {
        target: kind.target(config),
        recipients: kind.recipients?.(config) ?? [],
        secrets: kind.secrets(config),
        send: (message, signal) => kind.send(config, message, transports, signal),
      };
    },
    madeSecret: (given, kept) => {
      const isGiven = typeof Object(given).secret === 'string';
      return kind.madeSecret && !isGiven ? kind.madeSecret(JSON.parse(kept)) : null;
    },
  };
}
