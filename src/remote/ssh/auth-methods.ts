/** Authentication: one key, or one password by either of the two methods that servers ask for it. */
import type { AnyAuthMethod, AuthHandlerMiddleware } from 'ssh2';
import type { Secret } from '../../secret.ts';

export type SshAuth = { readonly privateKey: Secret } | { readonly password: Secret };

export interface AuthMethods {
  readonly next: AuthHandlerMiddleware;
  /** The methods that the server offered when it refused; undefined where it never did. */
  offered(): readonly string[] | undefined;
}

export function authMethods(username: string, auth: SshAuth | undefined): AuthMethods {
  const left = auth ? methodsOf(username, auth) : [];
  let offered: readonly string[] | undefined;
  const next: AuthHandlerMiddleware = (methods: readonly string[] | null, _partial, use) => {
    if (methods) offered = methods;
    const method = left.shift();
    // The library takes `false` for «no more»; its types leave that out, and an unknown method ends the same way.
    if (!method || (methods && !methods.includes(method.type))) return false;
    use(method);
    return undefined;
  };
  return { next, offered: () => offered };
}

function methodsOf(username: string, auth: SshAuth): AnyAuthMethod[] {
  if ('privateKey' in auth) return [{ type: 'publickey', username, key: auth.privateKey.reveal() }];
  const password = auth.password.reveal();
  return [
    { type: 'password', username, password },
    {
      type: 'keyboard-interactive',
      username,
      // Only hidden prompts get the password: one that is echoed asks for something else.
      prompt: (_name, _instructions, _language, prompts, finish) =>
        finish(prompts.map(({ echo }) => (echo ? '' : password))),
    },
  ];
}
