/** What hands out secrets or weakens protection asks who it is again: here, once, for every command. */
import { type Operations, ProblemError } from '../sdk/index.ts';
import type { Terminal } from './terminal.ts';

/** The same calls. One that asks for a fresh proof is repeated after it was given. */
export function proving(client: Operations, terminal: Terminal): Operations {
  const isAsked = (error: unknown) =>
    error instanceof ProblemError && error.code === 'fresh_proof_required' && terminal.canAsk;
  return new Proxy(client, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name);
      if (typeof call !== 'function') return call;
      return (...args: unknown[]) => {
        const made: unknown = Reflect.apply(call, target, args);
        // A stream is no promise, and asks for nothing.
        if (!(made instanceof Promise)) return made;
        return made.catch(async (error: unknown) => {
          if (!isAsked(error)) throw error;
          await prove(target, terminal);
          return Reflect.apply(call, target, args);
        });
      };
    },
  });
}

async function prove(client: Operations, terminal: Terminal): Promise<void> {
  const { totp, recoveryCodes } = await client.getSecondFactors();
  terminal.note('This asks who you are again.');
  if (totp === null && recoveryCodes === null)
    return client.verifyPassword({ body: { password: await terminal.askSecret('Password') } });
  const code = (await terminal.ask('Code of the authenticator app, or a recovery code')).trim();
  const method = /^[0-9]{6}$/.test(code) ? 'totp' : 'recovery_code';
  return client.verifyPassword({ body: { method, code } });
}
