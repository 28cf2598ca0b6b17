/** The browser of whoever sits at this machine, where there is one. */
import { spawn } from 'node:child_process';

const openers: Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Whether one was asked to open it; a machine without a desktop has none. */
export async function openBrowser(url: string): Promise<boolean> {
  // The address came from a service: another scheme could start another program.
  if (!/^https?:\/\//.test(url)) return false;
  const { DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME, BROWSER } = process.env;
  const own = openers[process.platform];
  if (!own && !DISPLAY && !WAYLAND_DISPLAY && !WSL_DISTRO_NAME && !BROWSER) return false;
  const [program, ...args] = own ?? ['xdg-open'];
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  opener.unref();
  return new Promise((resolve) => {
    opener.once('spawn', () => resolve(true));
    opener.once('error', () => resolve(false));
  });
}
