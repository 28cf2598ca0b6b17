import type { LabClient } from '../../lab/client.ts';
import { until } from './until.ts';

/** Ends when the server has taken the order. Systemd takes none while it reads its units anew, as after an installation. */
export async function orderReboot(lab: LabClient, server: string): Promise<void> {
  await until(
    async () => (await lab.console(server, 'systemctl', 'reboot')).code === 0,
    `${server} to take the order to reboot`,
  );
}
