/** Talking to a running lab: what the command line and the tests use to steer it. */
import type { Outcome } from './command.ts';
import type { LabDescription, ServerDescription } from './description.ts';
import type { VariantName } from './servers/variants.ts';

export class LabClient {
  readonly control: string;

  constructor(control: string) {
    this.control = control;
  }

  describe(): Promise<LabDescription> {
    return this.call('GET', '/');
  }

  addServer(variant: VariantName, name?: string): Promise<ServerDescription> {
    return this.call('POST', '/servers', { variant, ...(name && { name }) });
  }

  async removeServer(name: string): Promise<void> {
    await this.call('DELETE', `/servers/${encodeURIComponent(name)}`);
  }

  reset(name: string, options: { newHostKeys?: boolean } = {}): Promise<ServerDescription> {
    return this.call('POST', `/servers/${encodeURIComponent(name)}/reset`, options);
  }

  async cut(name: string): Promise<void> {
    await this.call('POST', `/servers/${encodeURIComponent(name)}/cut`);
  }

  async heal(name: string): Promise<void> {
    await this.call('POST', `/servers/${encodeURIComponent(name)}/heal`);
  }

  /** As root on the server, without its network: what a provider's console is for. */
  console(name: string, ...argv: string[]): Promise<Outcome> {
    return this.call('POST', `/servers/${encodeURIComponent(name)}/console`, { argv });
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(`${this.control}${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const text = await answer.text();
    const told = text === '' ? undefined : JSON.parse(text);
    if (!answer.ok) throw new Error(told?.error ?? `${method} ${path} was answered with ${answer.status}`);
    return told;
  }
}
