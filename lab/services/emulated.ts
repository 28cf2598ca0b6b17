/** S3 and Slack, as the package `emulate` plays them: stateful, in memory, gone with the lab. */
import { createEmulator, type Emulator } from 'emulate';
import { ports } from '../places.ts';

export const bucket = 'backups';
export const region = 'us-east-1';

export interface Emulated {
  readonly s3: string;
  readonly slack: string;
  close(): Promise<void>;
}

export async function startEmulated(address: string): Promise<Emulated> {
  const seed = {
    aws: { region, s3: { buckets: [{ name: bucket }] } },
    slack: {
      team: { name: 'Lab', domain: 'lab' },
      channels: [{ name: 'deploys' }],
      bots: [{ name: 'slipway' }],
    },
  };
  const start = (service: 'aws' | 'slack', port: number): Promise<Emulator> => {
    const baseUrl = `http://${address}:${port}`;
    return createEmulator({ service, port, hostname: address, baseUrl, seed });
  };
  const s3 = await start('aws', ports.s3);
  const slack = await start('slack', ports.slack);
  return {
    s3: `http://${address}:${ports.s3}`,
    slack: `http://${address}:${ports.slack}`,
    close: async () => {
      await Promise.all([s3.close(), slack.close()]);
    },
  };
}
