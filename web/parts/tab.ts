import type { Environment } from '../../sdk/index.ts';

/** What every tab of an environment is given. */
export interface TabProps {
  readonly environment: Environment;
  /** What comes behind the tab in the address. */
  readonly item: string | undefined;
}
