/**
 * Why work stops here although it goes on: another worker takes it over. Whoever is stopped by it leaves what runs
 * elsewhere alone, because the next one joins it. Any other reason to stop means that it is not wanted any more.
 */
export class Handover extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'Handover';
  }
}
