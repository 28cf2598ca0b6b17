/**
 * A server as whoever works on one thing has it: the thing's secrets are taken out of everything that a command there
 * complains of, wherever that goes to. What a program writes to its standard output is its own, as bytes; so is what is
 * streamed, which nothing keeps.
 */
import type { Secret } from '../secret.ts';
import { redactWhole } from './exec/redact.ts';
import type { Remote } from './remote.ts';

type Secrets = readonly Secret<string | Buffer>[];

export function withSecrets(remote: Remote, more: Secrets): Remote {
  const secrets = [...remote.secrets, ...more];
  const knowing = <Options extends { readonly secrets?: Secrets }>(options?: Options) => ({
    ...options,
    secrets: [...secrets, ...(options?.secrets ?? [])],
  });
  return {
    ...remote,
    secrets,
    run: async (argv, options) => {
      const outcome = await remote.run(argv, knowing(options));
      return { ...outcome, stderr: redactWhole(outcome.stderr, knowing(options).secrets) };
    },
    output: (argv, options) => remote.output(argv, knowing(options)),
    script: (text, args, options) => remote.script(text, args, knowing(options)),
    relay: (exchanges, options) => remote.relay(exchanges, knowing(options)),
  };
}
