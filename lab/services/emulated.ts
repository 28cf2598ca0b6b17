/** Slack, as the package `emulate` plays it: stateful, in memory, gone with the lab. */
import { createEmulator } from 'emulate';
import { ports } from '../places.ts';

export interface Emulated {
  readonly slack: string;
  close(): Promise<void>;
}

export async function startEmulated(address: string): Promise<Emulated> {
  const seed = {
    slack: {
      team: { name: 'Lab', domain: 'lab' },
      channels: [{ name: 'deploys' }],
      bots: [{ name: 'slipway' }],
    },
  };
  const port = ports.slack;
  const baseUrl = `http://${address}:${port}`;
  const slack = await createEmulator({ service: 'slack', port, hostname: address, baseUrl, seed });
  return { slack: baseUrl, close: () => slack.close() };
}
