/**
 * One instance of the service for all tests of a file that ask for the same settings: started by the first, stopped
 * after the last. Each test works in it as people and workspaces of its own, whom tenancy keeps apart.
 */
import { after } from 'node:test';
import { closeTestApp, openTestApp, type TestApp } from './app.ts';

const opened = new Map<string, Promise<TestApp>>();
// Here, and not where it is opened: a hook that is made inside of a test belongs to that test.
after(async () => {
  for (const service of opened.values()) await closeTestApp(await service);
});

export function sharedTestApp(env: Record<string, string> = {}): Promise<TestApp> {
  const key = JSON.stringify(Object.entries(env).sort());
  const service = opened.get(key) ?? openTestApp({ env });
  opened.set(key, service);
  return service;
}
