/** Every command, in the order in which the help shows them. */
import type { Command, Flag } from './command.ts';

const detach: Flag = { name: 'detach', about: 'Begin it and do not wait for its end.' };
const limit: Flag = { name: 'limit', short: 'n', value: 'COUNT', about: 'How many at most; 20 if not said.' };

export const commands: readonly Command[] = [
  {
    name: 'login',
    takes: '[url]',
    about: 'Sign in to an installation, and remember it as a context.',
    details:
      'Shows a code and opens the browser: type the code there, where you are signed in, and allow this machine. Any browser will do, also one on another machine. Without one, sign in with --email or --with-token. What is remembered is readable by you alone. In a CI nothing is remembered: set SLIPWAY_URL and SLIPWAY_TOKEN.',
    flags: [
      { name: 'with-token', about: 'Take an API token: asked for, or read from a pipe.' },
      {
        name: 'email',
        value: 'ADDRESS',
        about: 'Sign in with this address and its password, which is asked for, or read from a pipe.',
      },
      { name: 'name', value: 'NAME', about: 'What to call the context; the name of the host if not said.' },
    ],
    load: async () => (await import('./commands/account.ts')).login,
  },
  {
    name: 'logout',
    about: 'End the session, and forget the context.',
    load: async () => (await import('./commands/account.ts')).logout,
  },
  {
    name: 'contexts',
    takes: '[name]',
    about: 'List the installations you are signed in to, or choose one.',
    load: async () => (await import('./commands/account.ts')).contexts,
  },
  {
    name: 'status',
    about: 'Show what runs: of this folder, or with --all of the workspace.',
    flags: [{ name: 'all', short: 'a', about: 'All projects.' }],
    load: async () => (await import('./commands/status.ts')).status,
  },
  {
    name: 'init',
    about: 'Link this folder: find its repository, show what was found in it, make project and environment.',
    flags: [
      { name: 'url', value: 'URL', about: 'The repository; the remote `origin` if not said.' },
      { name: 'branch', value: 'BRANCH', about: 'The branch; the one that is checked out if not said.' },
      { name: 'name', value: 'NAME', about: 'What to call the project.' },
      { name: 'root', value: 'FOLDER', about: 'The folder of the app in the repository.' },
      { name: 'app', value: 'PATH', about: 'Which app, where several were found.' },
      { name: 'server', value: 'NAME', about: 'The server it runs on, by name or id.' },
      { name: 'set', value: 'KEY=VALUE', isRepeated: true, about: 'A variable of the environment.' },
    ],
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'deploy',
    about: 'Deploy the newest pushed commit, or with --local the files here, and follow it until it is live.',
    details:
      'Ends with 0 only when the new release is live. Ctrl-C asks whether to cancel the deployment or to leave it alone. With --local the working tree is sent as it is, committed or not: all that Git knows or would add, from the root of the repository on, and nothing that a .gitignore names.',
    flags: [
      { name: 'local', about: 'The files of this working tree as they are, pushed or not.' },
      { name: 'message', short: 'm', value: 'TEXT', about: 'What to show with it; of --local alone.' },
      { name: 'commit', value: 'SHA', about: 'This commit, by its whole id.' },
      { name: 'branch', value: 'BRANCH', about: 'The newest commit of this branch, only this time.' },
      { name: 'logs', short: 'l', about: 'Show every line of the log.' },
      detach,
    ],
    load: async () => (await import('./commands/deploy.ts')).deploy,
  },
  {
    name: 'deployments',
    about: 'List the deployments of the environment.',
    flags: [limit],
    load: async () => (await import('./commands/deploy.ts')).list,
  },
  {
    name: 'rollback',
    takes: '[number]',
    about: 'Put an earlier release back; the one before the live one if not said.',
    flags: [
      { name: 'new-variables', about: 'With the variables of today, instead of those of then.' },
      { name: 'logs', short: 'l', about: 'Show every line of the log.' },
      detach,
    ],
    load: async () => (await import('./commands/deploy.ts')).rollback,
  },
  {
    name: 'logs',
    about: 'Show what the app prints.',
    flags: [
      { name: 'follow', short: 'f', about: 'Go on with what comes.' },
      { name: 'tail', short: 'n', value: 'COUNT', about: 'How many earlier lines; 100 if not said.' },
      { name: 'process', value: 'NAME', about: 'Of this process alone.' },
      { name: 'deployment', short: 'd', value: 'NUMBER', about: 'The log of a deployment instead.' },
    ],
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  {
    name: 'open',
    about: 'Open the app in the browser.',
    load: async () => (await import('./commands/status.ts')).open,
  },
  {
    name: 'env list',
    about: 'List the variables; secrets stay hidden.',
    load: async () => (await import('./commands/env.ts')).list,
  },
  {
    name: 'env set',
    takes: '<key=value>...',
    about: 'Set variables; a key without a value is asked for.',
    flags: [
      { name: 'plain', about: 'They may be shown; else they are secret, and never shown again.' },
      { name: 'target', value: 'WHEN', about: '`runtime`, `build` or `both`; both if not said.' },
    ],
    load: async () => (await import('./commands/env.ts')).set,
  },
  {
    name: 'env unset',
    takes: '<key>...',
    about: 'Remove variables.',
    load: async () => (await import('./commands/env.ts')).unset,
  },
  {
    name: 'env pull',
    takes: '[file]',
    about: 'Write the variables to a file; `.env` if not said. Secrets are left out.',
    load: async () => (await import('./commands/env.ts')).pull,
  },
  {
    name: 'env push',
    takes: '[file]',
    about: 'Set the variables of a file; `.env` if not said.',
    flags: [{ name: 'plain', about: 'They may be shown; else they are secret, and never shown again.' }],
    load: async () => (await import('./commands/env.ts')).push,
  },
  {
    name: 'domains',
    about: 'List the names of the environment.',
    load: async () => (await import('./commands/domains.ts')).list,
  },
  {
    name: 'domains add',
    takes: '<hostname>',
    about: 'Connect a name to the environment; says which DNS record proves that it is yours.',
    load: async () => (await import('./commands/domains.ts')).add,
  },
  {
    name: 'services',
    about: 'List the services of the environment.',
    load: async () => (await import('./commands/domains.ts')).services,
  },
  {
    name: 'connect',
    takes: '[-- arguments]',
    about: 'Open a database of the environment from here: with psql, mysql or redis-cli where there is one.',
    details:
      'Listens on a port of this machine that leads through Slipway to the service, and starts its program there; what follows -- goes to the program. Where there is none, or with --tunnel or --json, the address is printed and stays until Ctrl-C. Takes the permission to read secrets.',
    flags: [
      { name: 'service', value: 'NAME', about: 'The service, where there are several.' },
      { name: 'tunnel', about: 'Start no program: print the address, and keep the way open.' },
      { name: 'port', value: 'PORT', about: 'The port of this machine; a free one if not said.' },
    ],
    load: async () => (await import('./commands/connect.ts')).connect,
  },
  {
    name: 'backups',
    about: 'List the backups of the environment.',
    flags: [limit],
    load: async () => (await import('./commands/backups.ts')).list,
  },
  {
    name: 'backups make',
    about: 'Make a backup, and wait until it was restored and checked.',
    flags: [detach],
    load: async () => (await import('./commands/backups.ts')).make,
  },
  {
    name: 'backups restore',
    takes: '<id>',
    about: 'Put the data of a backup back; what is there now is backed up first.',
    flags: [detach],
    load: async () => (await import('./commands/backups.ts')).restore,
  },
  {
    name: 'backups download',
    takes: '<id> <file>',
    about: 'Write a backup to a file.',
    load: async () => (await import('./commands/backups.ts')).download,
  },
  {
    name: 'servers',
    about: 'List the servers of the workspace.',
    load: async () => (await import('./commands/servers.ts')).list,
  },
  {
    name: 'servers add',
    takes: '<name> <host>',
    about: 'Register a server, and show the key to install on it.',
    flags: [
      { name: 'port', value: 'PORT', about: 'Of its SSH server; 22 if not said.' },
      { name: 'user', value: 'NAME', about: 'Who logs in; root if not said.' },
    ],
    load: async () => (await import('./commands/servers.ts')).add,
  },
  {
    name: 'servers test',
    takes: '<name>',
    about: 'Try the connection, step by step.',
    load: async () => (await import('./commands/servers.ts')).test,
  },
  {
    name: 'servers provision',
    takes: '<name>',
    about: 'Install Docker and the proxy on it.',
    flags: [detach],
    load: async () => (await import('./commands/servers.ts')).provision,
  },
  {
    name: 'servers harden',
    takes: '<name>',
    about: 'Show the plan of hardening, ask, and do it.',
    flags: [detach],
    load: async () => (await import('./commands/servers.ts')).harden,
  },
  {
    name: 'tokens',
    about: 'List your API tokens.',
    load: async () => (await import('./commands/people.ts')).tokens,
  },
  {
    name: 'tokens make',
    takes: '<name>',
    about: 'Make an API token, and show it this once.',
    flags: [
      {
        name: 'can',
        value: 'ABILITY',
        isRepeated: true,
        about: '`read`, `deploy`, `change`, `manage` or `read_secrets`; deploy if not said.',
      },
      { name: 'days', value: 'COUNT', about: 'How long it lasts; for ever if not said.' },
    ],
    load: async () => (await import('./commands/people.ts')).makeToken,
  },
  {
    name: 'tokens revoke',
    takes: '<id>',
    about: 'Revoke an API token.',
    load: async () => (await import('./commands/people.ts')).revokeToken,
  },
  {
    name: 'members',
    about: 'List who is in the workspace.',
    load: async () => (await import('./commands/people.ts')).members,
  },
  {
    name: 'members invite',
    takes: '<email>',
    about: 'Invite somebody to the workspace.',
    flags: [
      { name: 'role', value: 'ROLE', about: '`viewer`, `member`, `admin` or `owner`; member if not said.' },
    ],
    load: async () => (await import('./commands/people.ts')).invite,
  },
  {
    name: 'events',
    about: 'Follow what happens in the workspace.',
    load: async () => (await import('./commands/logs.ts')).events,
  },
  {
    name: 'api',
    takes: '[operation]',
    about: 'Call any operation of the API; its fields are flags. Lists all, if none is said.',
    load: async () => (await import('./commands/api.ts')).api,
  },
  {
    name: 'mcp',
    about: 'Be a server of the Model Context Protocol, for assistants that start one.',
    details:
      'Reads messages from standard input and writes the answers of Slipway to standard output. An assistant gets the same tools as at /mcp, and can do what you can, or what the token in SLIPWAY_TOKEN may.',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  {
    name: 'completion',
    takes: '<shell>',
    about: 'Print what completes commands in bash, zsh or fish.',
    details: 'For example: slipway completion bash > ~/.local/share/bash-completion/completions/slipway',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  {
    name: 'doctor',
    about: 'Look for what is wrong between here, Slipway and the servers.',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
];
