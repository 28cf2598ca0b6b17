/** A lab as a person wants to see it. */
import type { LabDescription, ServerDescription } from './description.ts';

export function shown(lab: LabDescription): string {
  const { dns, acme, git, s3, settings } = lab;
  const rows: [string, string][] = [
    ['DNS', `${dns.address}:${dns.port}, authority for ${dns.zone}`],
    ['ACME', `${acme.directory} (its own certificate: ${acme.caFile})`],
    ['Git', `${git.url}, GitHub's API at ${git.api}`],
    ['', `user ${git.login}, token ${git.token}`],
    ['S3', `${s3.endpoint}, region ${s3.region}, bucket ${s3.bucket}`],
    ['', `key ${s3.accessKeyId}, secret ${s3.secretAccessKey}`],
    ['Images', `${lab.registry}, mirror of the servers`],
    ['Mail', `${lab.smtp}, read it at ${lab.control}/mail`],
    ['Slack', lab.slack],
    ['Webhooks', `${lab.catcher} catches, read at ${lab.control}/requests`],
    [
      'Chats',
      `Discord, Telegram and Teams at ${lab.receivers.telegram.apiUrl}, read at ${lab.control}/receivers`,
    ],
    ['Control', lab.control],
  ];
  return [
    `Lab «${lab.name}» is up on ${lab.cidr}.`,
    '',
    ...lab.servers.flatMap((server) => serverLines(server, lab.knownHosts)),
    '',
    ...rows.map(([what, text]) => `${what.padEnd(9)} ${text}`),
    '',
    'Start Slipway with it:',
    `  ${Object.entries(settings)
      .map(([name, value]) => `${name}=${quoted(value)}`)
      .join(' \\\n  ')} \\\n  npm start`,
    '',
  ].join('\n');
}

function serverLines(server: ServerDescription, knownHosts: string): string[] {
  const { name, address, user, password, keyFile, about, isCut } = server;
  const how = keyFile ? `ssh -i ${keyFile} -o UserKnownHostsFile=${knownHosts} ${user}@${address}` : '';
  return [
    `${name.padEnd(9)} ${address}  ${about}${isCut ? ' (cut off)' : ''}`,
    `          ${password ? `user ${user}, password ${password}` : how}`,
  ];
}

function quoted(value: string): string {
  return /^[\w:./@-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
