/** A person at the dashboard: they see what a page says, press and type, and that is all they can do. */
import type { Locator, Page } from 'playwright-core';

type Within = Pick<Page | Locator, 'getByRole' | 'getByLabel'>;

export class Hands {
  readonly page: Page;
  /** How often they did something. */
  acts = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async press(name: string | RegExp, within: Within = this.page): Promise<void> {
    this.acts += 1;
    await within.getByRole('button', { name, exact: typeof name === 'string' }).click();
  }

  async follow(name: string | RegExp, within: Within = this.page): Promise<void> {
    this.acts += 1;
    await within.getByRole('link', { name, exact: typeof name === 'string' }).click();
  }

  async type(label: string, text: string, within: Within = this.page): Promise<void> {
    this.acts += 1;
    await within.getByLabel(label, { exact: true }).fill(text);
  }

  async choose(label: string, option: string): Promise<void> {
    this.acts += 1;
    await this.page.getByLabel(label, { exact: true }).selectOption({ label: option });
  }

  /** What a screen reader is told to be there. */
  async sees(role: 'heading' | 'row' | 'article' | 'link', name: string | RegExp): Promise<Locator> {
    const found = this.page.getByRole(role, { name });
    await found.first().waitFor();
    return found.first();
  }
}
