/** The table of roles and operations, from the document of the API. */
import { abilities, abilitiesAllow, permissions, roleAllows, roles } from '../src/principal.ts';

interface Described {
  readonly summary?: string;
  readonly 'x-permission'?: string;
  readonly 'x-projects'?: string;
  readonly 'x-tokens'?: boolean;
  readonly 'x-fresh-proof'?: true | Readonly<Record<string, readonly (string | boolean)[]>>;
}

const shownRoles = roles.toReversed();

/** `document` is the text of openapi.json. */
export function rolesGuide(document: string): string {
  const paths: Record<string, Record<string, Described>> = Object(JSON.parse(document)).paths;
  const rows: string[] = [];
  const fresh: string[] = [];
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const call = `\`${method.toUpperCase()} ${path.replace('/api/v1', '')}\``;
      const asks = operation['x-fresh-proof'];
      if (asks) fresh.push(`- ${call}${asks === true ? '' : `, where ${wordsOf(asks)}`}`);
      const permission = permissions.find((each) => each === operation['x-permission']);
      if (permission === undefined) continue;
      const may = shownRoles.map((role) => (roleAllows(role, permission) ? '✓' : ''));
      const limited = operation['x-projects'] === 'none' ? '' : '✓';
      const least = abilities.find((each) => abilitiesAllow([each], permission));
      const token = operation['x-tokens'] && least ? `\`${least}\`` : '';
      rows.push(`| ${call} | ${[...may, limited, token].join(' | ')} |`);
    }
  return `# Roles

Who may call what in a workspace. «Limited»: also somebody who is limited to some projects, in those, as what they are there. «Token»: the least ability that an API token needs. This page is written by \`npm run generate\`; \`test/attack/roles.test.ts\` tries every cell.

Removing a member is for oneself; somebody else takes \`manage\`. An owner is made, changed and removed by an owner. Of API tokens, each sees and makes their own.

| Call | ${shownRoles.join(' | ')} | limited | token |
|---|${'---|'.repeat(shownRoles.length + 2)}
${rows.join('\n')}

## What asks who it is again

A session does these only within ten minutes of its sign-in, or of \`POST /auth/confirm\` with the password or, where there is one, the second factor (\`403 fresh_proof_required\`). They hand out secrets, or weaken what protects an account, a workspace or the installation. An API token is its own proof. \`test/attack/fresh-proof.test.ts\` tries every call.

${fresh.join('\n')}
`;
}

function wordsOf(asks: Readonly<Record<string, readonly (string | boolean)[]>>): string {
  return Object.entries(asks)
    .map(([field, values]) => `\`${field}\` is ${values.map((each) => `\`${each}\``).join(' or ')}`)
    .join(', or ');
}
