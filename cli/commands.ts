/** Every command, in the order in which the help shows them. */
import type { Command, Flag } from './command.ts';

const detach: Flag = { name: 'detach', about: 'Begin it and do not wait for its end.' };
const limit: Flag = { name: 'limit', short: 'n', value: 'COUNT', about: 'How many at most; 20 if not said.' };

export const commands: readonly Command[] = [
  {
    heading: 'Begin',
    name: 'login',
    takes: '[url]',
    about: 'Sign in to an installation, and remember it.',
    details:
      'Shows a code and opens the browser: type the code there, where you are signed in, and allow this machine. Any browser will do, also one on another machine. Without one, sign in with --email or --with-token.\nWhat is remembered is readable by you alone. In a CI nothing is remembered: set SLIPWAY_URL and SLIPWAY_TOKEN.',
    flags: [
      { name: 'with-token', about: 'Take an API token: asked for, or read from a pipe.' },
      {
        name: 'email',
        value: 'ADDRESS',
        about: 'Sign in with this address and its password, which is asked for, or read from a pipe.',
      },
      { name: 'name', value: 'NAME', about: 'What to call the context; the name of the host if not said.' },
    ],
    examples: [
      'slipway login https://slipway.example.com',
      'slipway login slipway.example.com --name work',
      'slipway login slipway.example.com --email ada@example.com',
      'pass show slipway-token | slipway login slipway.example.com --with-token',
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
    about: 'List where you are signed in, or choose one.',
    load: async () => (await import('./commands/account.ts')).contexts,
  },
  {
    name: 'init',
    about: 'Link this folder to a project.',
    details:
      'Finds the repository, shows what is in it and asks only what is open. Makes the project and its first environment where there are none yet, and writes .slipway.json, which tells no secret and may be committed. Deploys nothing.',
    flags: [
      { name: 'url', value: 'URL', about: 'The repository; the remote `origin` if not said.' },
      { name: 'branch', value: 'BRANCH', about: 'The branch; the one that is checked out if not said.' },
      { name: 'name', value: 'NAME', about: 'What to call the project.' },
      { name: 'root', value: 'FOLDER', about: 'The folder of the app in the repository.' },
      { name: 'app', value: 'PATH', about: 'Which app, where several were found.' },
      { name: 'server', value: 'NAME', about: 'The server it runs on, by name or id.' },
      { name: 'set', value: 'KEY=VALUE', isRepeated: true, about: 'A variable of the environment.' },
    ],
    examples: [
      'slipway init',
      'slipway init --server web-1 --set LOG_LEVEL=info',
      'slipway init --url https://git.example.com/ada/shop.git --name Shop',
    ],
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    heading: 'Deploy, and see what runs',
    name: 'deploy',
    about: 'Deploy, and follow it until it is live.',
    details:
      'The newest pushed commit, or another one, or with --local the files here. Ends with 0 only when the new release is live. Ctrl-C asks whether to cancel the deployment or to leave it alone.\nWith --local the working tree is sent as it is, committed or not: all that Git knows or would add, from the root of the repository on, and nothing that a .gitignore names.',
    flags: [
      { name: 'local', about: 'The files of this working tree as they are, pushed or not.' },
      { name: 'message', short: 'm', value: 'TEXT', about: 'What to show with it; of --local alone.' },
      { name: 'commit', value: 'SHA', about: 'This commit, by its whole id.' },
      { name: 'branch', value: 'BRANCH', about: 'The newest commit of this branch, only this time.' },
      { name: 'logs', short: 'l', about: 'Show every line of the log.' },
      detach,
    ],
    examples: [
      'slipway deploy',
      'slipway deploy --branch feature/prices -e staging',
      'slipway deploy --local -m "Try the new prices"',
    ],
    load: async () => (await import('./commands/deploy.ts')).deploy,
  },
  {
    name: 'status',
    about: 'Show what runs, of this folder or of all.',
    flags: [{ name: 'all', short: 'a', about: 'All projects of the workspace, wherever you are.' }],
    load: async () => (await import('./commands/status.ts')).status,
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
    about: 'Put an earlier release back.',
    details: 'Without a build. It is the release before the live one, if no number is said.',
    flags: [
      { name: 'new-variables', about: 'With the variables of today, instead of those of then.' },
      { name: 'logs', short: 'l', about: 'Show every line of the log.' },
      detach,
    ],
    examples: ['slipway rollback', 'slipway rollback 41'],
    load: async () => (await import('./commands/deploy.ts')).rollback,
  },
  {
    name: 'logs',
    about: 'Show what the app prints.',
    flags: [
      { name: 'follow', short: 'f', about: 'Go on with what comes, until Ctrl-C.' },
      { name: 'tail', short: 'n', value: 'COUNT', about: 'How many earlier lines; 100 if not said.' },
      { name: 'process', value: 'NAME', about: 'Of this process alone, such as web.' },
      { name: 'deployment', short: 'd', value: 'NUMBER', about: 'The log of this deployment instead.' },
    ],
    examples: ['slipway logs -f', 'slipway logs --process worker -n 500', 'slipway logs --deployment 42'],
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  {
    name: 'open',
    about: 'Print the address of the app, and open it.',
    details: 'The browser is opened where there is one, and where a person looks at the output.',
    load: async () => (await import('./commands/status.ts')).open,
  },
  {
    heading: 'What belongs to an environment',
    name: 'env list',
    about: 'List the variables; secrets stay hidden.',
    load: async () => (await import('./commands/env.ts')).list,
  },
  {
    name: 'env set',
    takes: '<key=value>...',
    about: 'Set variables.',
    details:
      'A key without a value is asked for, and what is typed is not shown. They count from the next deployment on.',
    flags: [
      { name: 'plain', about: 'They may be shown; else they are secret, and never shown again.' },
      { name: 'target', value: 'WHEN', about: '`runtime`, `build` or `both`; both if not said.' },
    ],
    examples: [
      'slipway env set API_KEY',
      'slipway env set LOG_LEVEL=debug --plain',
      'slipway env set NEXT_PUBLIC_URL=https://shop.example.com --plain --target build',
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
    about: 'Write the variables to a file.',
    details: 'To `.env` if no file is said. Secrets are never handed out, so they are not in it.',
    examples: ['slipway env pull .env.production'],
    load: async () => (await import('./commands/env.ts')).pull,
  },
  {
    name: 'env push',
    takes: '[file]',
    about: 'Set the variables of a file.',
    details: 'Of `.env` if no file is said.',
    flags: [{ name: 'plain', about: 'They may be shown; else they are secret, and never shown again.' }],
    examples: ['slipway env push .env.production -e production'],
    load: async () => (await import('./commands/env.ts')).push,
  },
  {
    name: 'domains',
    about: 'List the host names of the environment.',
    load: async () => (await import('./commands/domains.ts')).list,
  },
  {
    name: 'domains add',
    takes: '<hostname>',
    about: 'Connect a host name, with a certificate.',
    details:
      'The first time it says which DNS record proves that the name is yours. Put the record in place and run the command again.',
    examples: ['slipway domains add shop.example.com'],
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
    about: 'Open a database of the environment from here.',
    details:
      'Listens on a port of this machine that leads through Slipway to the service, and starts psql, mysql or redis-cli there; what follows -- goes to the program. Where there is no such program, or with --tunnel or --json, the address is printed and stays until Ctrl-C.\nTakes the permission to read secrets.',
    flags: [
      { name: 'service', value: 'NAME', about: 'The service, where there are several.' },
      { name: 'tunnel', about: 'Start no program: print the address, and keep the way open.' },
      { name: 'port', value: 'PORT', about: 'The port of this machine; a free one if not said.' },
    ],
    examples: [
      'slipway connect',
      'slipway connect --service postgres -- -c "select count(*) from orders"',
      'slipway connect --tunnel --port 5433',
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
    about: 'Make a backup, and wait until it is proven.',
    details: 'It counts once it was restored somewhere and compared.',
    flags: [detach],
    load: async () => (await import('./commands/backups.ts')).make,
  },
  {
    name: 'backups restore',
    takes: '<id>',
    about: 'Put the data of a backup back.',
    details: 'What is there now is backed up first.',
    flags: [detach],
    examples: ['slipway backups', 'slipway backups restore 01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b'],
    load: async () => (await import('./commands/backups.ts')).restore,
  },
  {
    name: 'backups download',
    takes: '<id> <file>',
    about: 'Write a backup to a file.',
    examples: ['slipway backups download 01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b shop.dump'],
    load: async () => (await import('./commands/backups.ts')).download,
  },
  {
    heading: 'The workspace',
    name: 'servers',
    about: 'List the servers of the workspace.',
    load: async () => (await import('./commands/servers.ts')).list,
  },
  {
    name: 'servers add',
    takes: '<name> <host>',
    about: 'Register a server, and print the key for it.',
    flags: [
      { name: 'port', value: 'PORT', about: 'Of its SSH server; 22 if not said.' },
      { name: 'user', value: 'NAME', about: 'Who logs in; root if not said.' },
    ],
    examples: [
      'slipway servers add web-1 203.0.113.10',
      'slipway servers add web-1 203.0.113.10 --user deploy --port 2222',
    ],
    load: async () => (await import('./commands/servers.ts')).add,
  },
  {
    name: 'servers test',
    takes: '<name>',
    about: 'Try the connection to a server, step by step.',
    load: async () => (await import('./commands/servers.ts')).test,
  },
  {
    name: 'servers provision',
    takes: '<name>',
    about: 'Install Docker and the proxy on a server.',
    flags: [detach],
    load: async () => (await import('./commands/servers.ts')).provision,
  },
  {
    name: 'servers harden',
    takes: '<name>',
    about: 'Make a server safer, by a plan that is shown.',
    details:
      'Asks before anything is changed. A step after which a new login does not succeed is taken back by itself: nobody is locked out.',
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
    examples: ['slipway tokens make "CI of the shop" --project shop --can deploy --days 365'],
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
    examples: ['slipway members invite grace@example.com --role admin'],
    load: async () => (await import('./commands/people.ts')).invite,
  },
  {
    name: 'events',
    about: 'Follow what happens in the workspace.',
    load: async () => (await import('./commands/logs.ts')).events,
  },
  {
    heading: 'Everything else',
    name: 'api',
    takes: '[operation]',
    about: 'Call any operation of the API, or list them.',
    details:
      'The fields of an operation are flags: `slipway api <operation> --help` lists them. Prints JSON.',
    examples: [
      'slipway api',
      'slipway api getServer --help',
      'slipway api getServer --id 01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b',
    ],
    load: async () => (await import('./commands/api.ts')).api,
  },
  {
    name: 'mcp',
    about: 'Serve the Model Context Protocol.',
    details:
      'For assistants that start such a server: reads messages from standard input, and writes the answers of Slipway to standard output. An assistant gets the same tools as at /mcp, and can do what you can, or what the token in SLIPWAY_TOKEN may.',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  {
    name: 'completion',
    takes: '<bash|zsh|fish>',
    about: 'Print the completion for a shell.',
    examples: ['slipway completion bash > ~/.local/share/bash-completion/completions/slipway'],
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  {
    name: 'doctor',
    about: 'Look for what is wrong, from here to the apps.',
    details:
      'Of the context, Slipway, your account, this folder, the servers and the environments, in this order.',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
];
