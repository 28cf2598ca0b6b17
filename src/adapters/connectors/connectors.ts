/** The kinds of connectors there are. The next one is a file like those, and a line here. */
import type { ConnectorKind } from './connector.ts';
import { discord } from './discord.ts';
import { email } from './email.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';
import { telegram } from './telegram.ts';
import { webhook } from './webhook.ts';

export type {
  Connector,
  ConnectorKind,
  Fact,
  Mail,
  MailReceipt,
  Message,
  Sent,
  Tone,
  Transports,
} from './connector.ts';

export const connectorKinds = [
  slack,
  discord,
  telegram,
  teams,
  email,
  webhook,
] as const satisfies ConnectorKind[];

export function findConnectorKind(type: string): ConnectorKind | undefined {
  return connectorKinds.find((kind) => kind.type === type);
}
