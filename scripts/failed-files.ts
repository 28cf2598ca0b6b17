/** A reporter that tells only in which files something failed: one line each, as often as something did. */
import type { TestEvent } from 'node:test/reporters';

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'test:fail' && event.data.file !== undefined) yield `${event.data.file}\n`;
  }
}
