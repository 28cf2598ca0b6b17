/** What a worker meets that was replaced: it has written nothing, and must not go on. */
export class LeaseLost extends Error {
  constructor() {
    super('the lease of this operation has passed on');
    this.name = 'LeaseLost';
  }
}
