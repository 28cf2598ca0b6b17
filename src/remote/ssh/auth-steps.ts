/** How we prove who we are: with one key, or with one password in either of the two ways that servers ask for it. */
import type { AnyAuthMethod, AuthHandlerMiddleware } from 'ssh2';
import type { Secret } from '../../secret.ts';

export type Auth = { readonly privateKey: Secret } | { readonly password: Secret };

export interface AuthSteps {
  readonly next: AuthHandlerMiddleware;
  /** The methods that the server named when it refused; undefined where it never came to that. */
  offered(): readonly string[] | undefined;
}

export function authSteps(username: string, auth: Auth | undefined): AuthSteps {
  const left = auth ? stepsOf(username, auth) : [];
  let offered: readonly string[] | undefined;
  const next: AuthHandlerMiddleware = (methods: readonly string[] | null, _partial, use) => {
    if (methods) offered = methods;
    const step = left.shift();
    // The library takes `false` for «no more»; its types leave that out, and an unknown method ends the same way.
    if (!step || (methods && !methods.includes(step.type))) return false;
    use(step);
    return undefined;
  };
  return { next, offered: () => offered };
}

function stepsOf(username: string, auth: Auth): AnyAuthMethod[] {
  if ('privateKey' in auth) return [{ type: 'publickey', username, key: auth.privateKey.reveal() }];
  const password = auth.password.reveal();
  return [
    { type: 'password', username, password },
    {
      type: 'keyboard-interactive',
      username,
      // Only hidden questions get the password: one that is echoed asks for something else.
      prompt: (_name, _instructions, _language, prompts, finish) =>
        finish(prompts.map(({ echo }) => (echo ? '' : password))),
    },
  ];
}
